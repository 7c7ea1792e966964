// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_INLINE_H_
#define CONSTRAINTS_CORE_INLINE_H_

#define CONSTRAINTS_INLINE __attribute__((always_inline)) inline

#define CONSTRAINTS_INLINE_LAMBDA __attribute__((always_inline))

/** Loops of so few iterations are unrolled, so that arrays are in registers. */
#define CONSTRAINTS_UNROLL _Pragma("GCC unroll 8")

#endif
