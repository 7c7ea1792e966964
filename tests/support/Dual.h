// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_DUAL_H_
#define CONSTRAINTS_TESTS_DUAL_H_

#include <cmath>

namespace ConstraintTests {

/** A number and its derivative with respect to time: arithmetic with it differentiates exactly. */
struct Dual {
    double value = 0, rate = 0;

    Dual() = default;
    Dual(double value, double rate = 0) : value(value), rate(rate) {
    }
};

inline Dual operator-(const Dual& a) {
    return {-a.value, -a.rate};
}
inline Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.rate + b.rate};
}
inline Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.rate - b.rate};
}
inline Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.rate * b.value + a.value * b.rate};
}
inline Dual operator/(const Dual& a, const Dual& b) {
    const double q = a.value / b.value;
    return {q, (a.rate - q * b.rate) / b.value};
}
inline Dual sqrt(const Dual& a) {
    const double root = std::sqrt(a.value);
    return {root, 0.5 * a.rate / root};
}
inline Dual atan2(const Dual& y, const Dual& x) {
    return {std::atan2(y.value, x.value),
            (y.rate * x.value - y.value * x.rate) / (x.value * x.value + y.value * y.value)};
}

} // namespace ConstraintTests

#endif
