// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CUDA_DEVICE_H_
#define OPENMM_CONSTRAINTS_CUDA_DEVICE_H_

#include "Device.h"
#include "openmm/cuda/CudaContext.h"

namespace ConstraintPlugin {

class CudaDevice : public Device {
public:
    explicit CudaDevice(OpenMM::CudaContext& cu) : cu(cu) {
    }
    OpenMM::ComputeContext& context() override {
        return cu;
    }
    std::size_t sharedMemory() override;
    std::size_t memory() override;
    int blocksInSharedMemory(std::size_t bytes) override;
    int largestBlock() override;
    int cooperatingBlocks() override;
    bool hasNamespaces() override {
        return true;
    }
    std::unique_ptr<DevicePoll> makePoll() override;
    OpenMM::ComputeProgram compile(const std::string& text, std::size_t sharedBytes, bool isCooperative) override;

private:
    int attribute(CUdevice_attribute which);
    OpenMM::CudaContext& cu;
};

} // namespace ConstraintPlugin

#endif
