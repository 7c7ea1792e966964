// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_OPENMM_VECTORS_H_
#define OPENMM_CONSTRAINTS_OPENMM_VECTORS_H_

#include "Box.h"
#include "openmm/Vec3.h"
#include <algorithm>
#include <vector>

namespace ConstraintPlugin {

// OpenMM's vectors as core's, and back.

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

static_assert(sizeof(Real3) == sizeof(OpenMM::Vec3), "arrays of Vec3 are passed to core as arrays of Real3");
inline OpenMM::Vec3 toVec3(const Real3& v) {
    return {v.x, v.y, v.z};
}
inline std::vector<OpenMM::Vec3> toVectors(const Real3* x, int n) {
    std::vector<OpenMM::Vec3> result(n);
    std::transform(x, x + n, result.begin(), toVec3);
    return result;
}
inline Real3* asReal3(std::vector<OpenMM::Vec3>& v) {
    return reinterpret_cast<Real3*>(v.data());
}

} // namespace ConstraintPlugin

#endif
