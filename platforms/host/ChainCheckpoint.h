// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CHAIN_CHECKPOINT_H_
#define OPENMM_CONSTRAINTS_CHAIN_CHECKPOINT_H_

#include "HeatBathKernel.h"
#include <iosfwd>

namespace ConstraintPlugin {

/** Write the part of a checkpoint that belongs to a Nose-Hoover chain. */
void writeChain(std::ostream& stream, const HeatBathKernel& kernel);
/** @throws OpenMMException if the checkpoint has a chain of another length, or ends */
void readChain(std::istream& stream, HeatBathKernel& kernel);

} // namespace ConstraintPlugin

#endif
