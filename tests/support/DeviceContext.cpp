// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/DeviceContext.h"
#include "openmm/Force.h"
#include "openmm/Platform.h"
#include "openmm/internal/ContextImpl.h"
#include "openmm/internal/ForceImpl.h"
#include "openmm/opencl/OpenCLPlatform.h"
#include <algorithm>

using namespace OpenMM;

namespace ConstraintTests {

namespace {

/** A Force that exerts no force; it finds the ComputeContext. */
class ComputeContextFinder : public Force {
public:
    explicit ComputeContextFinder(ComputeContext*& found) : found(found) {
    }

protected:
    ForceImpl* createImpl() const override {
        return new Impl(*this);
    }

private:
    class Impl : public ForceImpl {
    public:
        explicit Impl(const ComputeContextFinder& owner) : owner(owner) {
        }
        void initialize(ContextImpl& context) override {
            const auto* data = static_cast<OpenCLPlatform::PlatformData*>(context.getPlatformData());
            // ComputeContext is OpenCLContext's only base. The header that says so needs OpenCL's own headers.
            owner.found = reinterpret_cast<ComputeContext*>(data->contexts[0]);
        }
        const Force& getOwner() const override {
            return owner;
        }
        void updateContextState(ContextImpl&, bool&) override {
        }
        double calcForcesAndEnergy(ContextImpl&, bool, bool, int) override {
            return 0;
        }
        std::map<std::string, double> getDefaultParameters() override {
            return {};
        }
        std::vector<std::string> getKernelNames() override {
            return {};
        }

    private:
        const ComputeContextFinder& owner;
    };
    ComputeContext*& found;
};

} // namespace

DeviceContext::DeviceContext(const std::string& precision) {
    system.addParticle(1);
    system.addForce(new ComputeContextFinder(computeContext));
    context = std::make_unique<Context>(system, integrator, Platform::getPlatformByName("OpenCL"),
                                        std::map<std::string, std::string>{{"Precision", precision}});
}

std::unique_ptr<ArrayInterface> DeviceContext::upload(const std::vector<double>& values) {
    const bool isDouble = computeContext->getUseDoublePrecision() || computeContext->getUseMixedPrecision();
    std::unique_ptr<ArrayInterface> array(computeContext->createArray());
    std::vector<double> some = values;
    some.resize(std::max<std::size_t>(1, values.size())); // no device has empty arrays
    array->initialize(*computeContext, some.size(), isDouble ? sizeof(double) : sizeof(float), "array");
    array->upload(some, true);
    return array;
}

std::vector<double> DeviceContext::download(ArrayInterface& array) {
    std::vector<double> values(array.getSize());
    if (array.getElementSize() == sizeof(double))
        array.download(values);
    else {
        std::vector<float> some(array.getSize());
        array.download(some);
        values.assign(some.begin(), some.end());
    }
    return values;
}

} // namespace ConstraintTests
