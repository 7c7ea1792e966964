// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_OPENMM_VECTORS_H_
#define OPENMM_CONSTRAINTS_OPENMM_VECTORS_H_

#include "Box.h"
#include "openmm/Vec3.h"
#include <vector>

namespace ConstraintPlugin {

// OpenMM's vectors as core's.

inline Real3 toReal3(const OpenMM::Vec3& v) {
    return {v[0], v[1], v[2]};
}
inline std::vector<Real3> toReal3(const std::vector<OpenMM::Vec3>& vectors) {
    std::vector<Real3> result;
    result.reserve(vectors.size());
    for (const OpenMM::Vec3& v : vectors)
        result.push_back(toReal3(v));
    return result;
}
inline Box toBox(const OpenMM::Vec3& a, const OpenMM::Vec3& b, const OpenMM::Vec3& c) {
    return {toReal3(a), toReal3(b), toReal3(c)};
}

} // namespace ConstraintPlugin

#endif
