// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_REAL3_H_
#define CONSTRAINTS_CORE_REAL3_H_

#include <cmath>

namespace ConstraintPlugin {

/** A 3-vector; with the names below, coordinates.cc compiles as C++. */
template <class T>
struct Vector3 {
    T x{}, y{}, z{};
};

using Real3 = Vector3<double>;

template <class T>
Vector3<T> operator+(const Vector3<T>& a, const Vector3<T>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
Vector3<T> operator-(const Vector3<T>& a, const Vector3<T>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
Vector3<T> operator-(const Vector3<T>& a) {
    return {-a.x, -a.y, -a.z};
}
template <class T>
Vector3<T> operator*(const T& s, const Vector3<T>& a) {
    return {s * a.x, s * a.y, s * a.z};
}
template <class T>
Vector3<T>& operator+=(Vector3<T>& a, const Vector3<T>& b) {
    return a = a + b;
}
template <class T>
T dot(const Vector3<T>& a, const Vector3<T>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

} // namespace ConstraintPlugin

#endif
