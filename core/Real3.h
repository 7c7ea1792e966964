// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_REAL3_H_
#define CONSTRAINTS_CORE_REAL3_H_

#include <cmath>

namespace ConstraintPlugin {

/** A 3-vector; with the names below, coordinates.cc compiles as C++. */
struct Real3 {
    double x = 0, y = 0, z = 0;
};

inline Real3 operator+(const Real3& a, const Real3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Real3 operator-(const Real3& a, const Real3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Real3 operator-(const Real3& a) {
    return {-a.x, -a.y, -a.z};
}
inline Real3 operator*(double s, const Real3& a) {
    return {s * a.x, s * a.y, s * a.z};
}
inline Real3& operator+=(Real3& a, const Real3& b) {
    return a = a + b;
}
inline double dot(const Real3& a, const Real3& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

} // namespace ConstraintPlugin

#endif
