// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "NormalNumbers.h"
#include <cmath>

namespace ConstraintPlugin {

namespace plain {

namespace {

using real = double;
using mixed3 = Real3;
using mm_ulong = std::uint64_t;
using std::fabs;
using std::log;
using std::sqrt;

/** As OpenCL and CUDA have them. */
double sinpi(double x) {
    return std::sin(M_PI * x);
}
double cospi(double x) {
    return std::cos(M_PI * x);
}

Real3 make_mixed3(double x, double y, double z) {
    return {x, y, z};
}

#define DEVICE
#include "normalNumbers.cc"
#undef DEVICE

} // namespace

} // namespace plain

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, const NoiseKey& key) {
    plain::philox(counter.data(), key[0], key[1]);
    return counter;
}

Real3 normalNumbers(const NoiseKey& key, std::uint64_t step, int particle) {
    return plain::normalNumbers(key[0], key[1], (std::uint32_t) step, (std::uint32_t)(step >> 32),
                                (std::uint32_t) particle);
}

} // namespace ConstraintPlugin
