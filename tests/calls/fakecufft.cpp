// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// A stand-in for cuFFT beside that for the driver: PME on OpenMM's CUDA platform makes plans of transforms, which the
// real one refuses without a GPU, and executes them, which does nothing here.
extern "C" {

int cufftPlan3d(int* plan, int, int, int, int) {
    *plan = 1;
    return 0;
}
int cufftDestroy(int) {
    return 0;
}
int cufftSetStream(int, void*) {
    return 0;
}
#define TRANSFORM(name)                                                                                                \
    int name(int, void*, void*, ...) {                                                                                 \
        return 0;                                                                                                      \
    }
TRANSFORM(cufftExecC2C)
TRANSFORM(cufftExecC2R)
TRANSFORM(cufftExecD2Z)
TRANSFORM(cufftExecR2C)
TRANSFORM(cufftExecZ2D)
TRANSFORM(cufftExecZ2Z)
}
