// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonKernelFactory.h"
#include "CudaDevice.h"
#include "openmm/cuda/CudaPlatform.h"

extern "C" void registerPlatforms() {
}

extern "C" void registerKernelFactories() {
    using namespace ConstraintPlugin;
    CommonKernelFactory<OpenMM::CudaPlatform::PlatformData, CudaDevice>::registerWith("CUDA");
}
