// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_REAL3_H_
#define CONSTRAINTS_CORE_REAL3_H_

#include <cmath>
#include <type_traits>

namespace ConstraintPlugin {

/** A 3-vector. coordinates.cc uses the functions below if it is compiled as C++. */
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
Vector3<T> operator*(const std::common_type_t<T>& s, const Vector3<T>& a) { // any number that converts to T
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
inline bool operator==(const Real3& a, const Real3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
inline double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}
/** Whether no component is NaN or infinite. */
inline bool isFinite(const Real3& a) {
    return std::isfinite(a.x + a.y + a.z);
}
/** One of two unit vectors perpendicular to a vector and to each other. @param component  0 or 1 */
inline Real3 perpendicular(const Real3& a, int component) {
    const double x = std::abs(a.x), y = std::abs(a.y), z = std::abs(a.z);
    const Real3 farthest = x <= y && x <= z ? Real3{1, 0, 0} : y <= z ? Real3{0, 1, 0} : Real3{0, 0, 1};
    const Real3 first = cross(a, farthest);
    const Real3 chosen = component == 0 ? first : cross(a, first);
    return (1 / std::sqrt(dot(chosen, chosen))) * chosen;
}

} // namespace ConstraintPlugin

#endif
