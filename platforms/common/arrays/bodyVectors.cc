// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The vectors that are the state of a joined body in a stage (joinedBodies.cc). This text is both C++ (DeviceArrays.h) and
// kernel text.

/** At: position of the reference particle at the start of the stage. Origin: relative to it. Rotation, Shift, Motion:
 *  the displacement at present, as quaternion's vector part along the axes, and as a RigidMotion. Of an explicit
 *  constraint force these are the rigid part of the velocities, and Fitted are axes with which feedback exerts no torque.
 *  Flag: 0 if a projection leaves the body as it is. */
enum {
    BodyVector_At,
    BodyVector_Origin,
    BodyVector_Axis1,
    BodyVector_Axis2,
    BodyVector_Axis3,
    BodyVector_Rotation,
    BodyVector_Shift,
    BodyVector_Motion1,
    BodyVector_Motion2,
    BodyVector_Motion3,
    BodyVector_Fitted1,
    BodyVector_Fitted2,
    BodyVector_Fitted3,
    BodyVector_Flag,
    numBodyVectors
};
