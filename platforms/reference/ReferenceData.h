// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_DATA_H_
#define OPENMM_CONSTRAINTS_REFERENCE_DATA_H_

#include "openmm/internal/ContextImpl.h"
#include "openmm/reference/ReferencePlatform.h"

namespace ConstraintPlugin {

/** The arrays of a Context on Reference and CPU. */
inline OpenMM::ReferencePlatform::PlatformData& data(OpenMM::ContextImpl& context) {
    return *(OpenMM::ReferencePlatform::PlatformData*) context.getPlatformData();
}

} // namespace ConstraintPlugin

#endif
