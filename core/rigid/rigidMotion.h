// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RIGID_MOTION_H_
#define CONSTRAINTS_CORE_RIGID_MOTION_H_

#include "Real3.h"
#include <cmath>

namespace ConstraintPlugin {

/** The equations of rigid motion (rigidMotion.cc) in double precision. */
namespace rigid {
using mixed = double;
using mixed3 = Real3;
using std::fabs;
using std::sqrt;
inline mixed3 make_mixed3(double x, double y, double z) {
    return {x, y, z};
}
inline double inverseRoot(double x) {
    return 1 / sqrt(x);
}
#define DEVICE inline
#define ROTATION_ACCURACY 1e-8
#include "rigidMotion.cc"
#undef ROTATION_ACCURACY
#undef DEVICE
} // namespace rigid

} // namespace ConstraintPlugin

#endif
