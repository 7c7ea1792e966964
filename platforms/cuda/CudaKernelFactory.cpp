// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonKernelFactory.h"
#include "openmm/cuda/CudaContext.h"
#include "openmm/cuda/CudaPlatform.h"

extern "C" void registerPlatforms() {
}

extern "C" void registerKernelFactories() {
    ConstraintPlugin::CommonKernelFactory<OpenMM::CudaPlatform::PlatformData>::registerWith("CUDA");
}
