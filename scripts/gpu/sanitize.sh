#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Piece of gpu-check.sh: compute-sanitizer on small cases of every path: one thread or a block for a cluster,
# either solver, every kind of constraint, every scheme, projections, failures.
source scripts/gpu/common.sh

need_tests "compute-sanitizer"
cases='*/Devices.*CUDAMixed*:*/Mixtures.*CUDAMixed*:*/SmallClusters.GoWhere*CUDAMixed*:*/SharedFactors.*CUDAMixed*'
cases+=':*/IllConditioned.*CUDAMixed:*/Geodesic.KeepsTo*CUDAMixed*'
cases+=':*/NoseHoover.ReturnsIts*CUDAMixed*:*/NotFinite.*CUDAMixed*:*/Failures.ReadingsAre*CUDAMixed*'
cases+='-*/SharedFactors.EndWhere*:*/SharedFactors.RepeatBit*'
for tool in memcheck racecheck synccheck; do
    sanitize "$tool" "$cases"
done
exit "$failed"
