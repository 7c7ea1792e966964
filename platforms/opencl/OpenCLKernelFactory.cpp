// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonKernelFactory.h"
#include "openmm/opencl/OpenCLContext.h"
#include "openmm/opencl/OpenCLPlatform.h"

extern "C" void registerPlatforms() {
}

extern "C" void registerKernelFactories() {
    ConstraintPlugin::CommonKernelFactory<OpenMM::OpenCLPlatform::PlatformData>::registerWith("OpenCL");
}
