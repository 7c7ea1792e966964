// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Numbers of a solve. COARSE: the tolerance that is solved to can be met in single precision, if what does not change
// while a solve iterates is computed as `mixed` (ConstraintProgram::isCoarse). Below it they are `mixed` themselves.

#if COARSE
typedef float number;
typedef float3 number3;
typedef float4 number4;
#define make_number3 make_float3
#else
typedef mixed number;
typedef mixed3 number3;
typedef mixed4 number4;
#define make_number3 make_mixed3
#endif

DEVICE number3 toNumbers(mixed3 v) {
    return make_number3((number) v.x, (number) v.y, (number) v.z);
}

DEVICE mixed3 toMixed(number3 v) {
    return make_mixed3(v.x, v.y, v.z);
}
