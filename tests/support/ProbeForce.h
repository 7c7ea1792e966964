// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_PROBE_FORCE_H_
#define CONSTRAINTS_TESTS_PROBE_FORCE_H_

#include "openmm/Force.h"
#include "openmm/OpenMMException.h"
#include "openmm/internal/ContextImpl.h"
#include "openmm/internal/ForceImpl.h"
#include <functional>

namespace ConstraintTests {

/** Log and settings of a ProbeForce, shared with the test. */
struct Probe {
    int forceEvaluations = 0;
    int lastGroups = 0;
    int throwAtEvaluation = -1;         ///< the number of the evaluation that fails
    int energyEvaluations = 0;          ///< of energies without forces
    int throwAtEnergy = -1;             ///< likewise
    std::function<void()> atEvaluation; ///< called in each
};

/** A Force that exerts no force. It counts evaluations, or throws at one of them. Like the Forces of many plugins, it
 *  throws if it is asked whether it uses periodic boundaries. */
class ProbeForce : public OpenMM::Force {
public:
    explicit ProbeForce(Probe& probe) : probe(probe) {
    }

protected:
    OpenMM::ForceImpl* createImpl() const override {
        return new Impl(*this);
    }

private:
    class Impl : public OpenMM::ForceImpl {
    public:
        explicit Impl(const ProbeForce& owner) : owner(owner) {
        }
        void initialize(OpenMM::ContextImpl&) override {
        }
        const OpenMM::Force& getOwner() const override {
            return owner;
        }
        void updateContextState(OpenMM::ContextImpl&, bool&) override {
        }
        double calcForcesAndEnergy(OpenMM::ContextImpl&, bool includeForces, bool, int groups) override {
            Probe& probe = owner.probe;
            if (includeForces) {
                if (probe.forceEvaluations == probe.throwAtEvaluation)
                    throw OpenMM::OpenMMException("the probe fails");
                probe.forceEvaluations++;
                probe.lastGroups = groups;
                if (probe.atEvaluation)
                    probe.atEvaluation();
            } else if (probe.energyEvaluations++ == probe.throwAtEnergy)
                throw OpenMM::OpenMMException("the probe fails");
            return 0;
        }
        std::map<std::string, double> getDefaultParameters() override {
            return {};
        }
        std::vector<std::string> getKernelNames() override {
            return {};
        }

    private:
        const ProbeForce& owner;
    };
    Probe& probe;
};

} // namespace ConstraintTests

#endif
