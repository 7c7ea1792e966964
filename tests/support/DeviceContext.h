// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_DEVICE_CONTEXT_H_
#define CONSTRAINTS_TESTS_DEVICE_CONTEXT_H_

#include "openmm/Context.h"
#include "openmm/System.h"
#include "openmm/VerletIntegrator.h"
#include "openmm/common/ComputeContext.h"
#include <memory>
#include <string>

namespace ConstraintTests {

/** Compiles and runs kernels on OpenMM's OpenCL platform, with the definitions that it puts before their text. */
class DeviceContext {
public:
    /** @param precision  "single", "mixed" or "double"
     *  @throws OpenMMException if the platform is not loaded or there is no device */
    explicit DeviceContext(const std::string& precision);
    OpenMM::ComputeContext& compute() {
        return *computeContext;
    }
    /** An array of `mixed`. */
    std::unique_ptr<OpenMM::ArrayInterface> upload(const std::vector<double>& values);
    std::vector<double> download(OpenMM::ArrayInterface& array);

private:
    OpenMM::System system;
    OpenMM::VerletIntegrator integrator{0.001};
    OpenMM::ComputeContext* computeContext = nullptr;
    std::unique_ptr<OpenMM::Context> context;
};

} // namespace ConstraintTests

#endif
