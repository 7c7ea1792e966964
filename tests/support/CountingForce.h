// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_COUNTING_FORCE_H_
#define CONSTRAINTS_TESTS_COUNTING_FORCE_H_

#include "openmm/Force.h"
#include "openmm/internal/ContextImpl.h"
#include "openmm/internal/ForceImpl.h"
#include <utility>

namespace ConstraintTests {

/** A Force without forces that counts how often it is evaluated, on any platform. */
class CountingForce : public OpenMM::Force {
public:
    explicit CountingForce(int group) {
        setForceGroup(group);
    }
    bool usesPeriodicBoundaryConditions() const override {
        return false;
    }
    /** Since the last call. */
    int takeCount() {
        return std::exchange(count, 0);
    }

protected:
    OpenMM::ForceImpl* createImpl() const override;

private:
    friend class CountingForceImpl;
    mutable int count = 0;
};

class CountingForceImpl : public OpenMM::ForceImpl {
public:
    explicit CountingForceImpl(const CountingForce& owner) : owner(owner) {
    }
    void initialize(OpenMM::ContextImpl&) override {
    }
    const OpenMM::Force& getOwner() const override {
        return owner;
    }
    void updateContextState(OpenMM::ContextImpl&, bool&) override {
    }
    double calcForcesAndEnergy(OpenMM::ContextImpl&, bool includesForces, bool, int groups) override {
        owner.count += includesForces && (groups >> owner.getForceGroup() & 1) != 0;
        return 0;
    }
    std::map<std::string, double> getDefaultParameters() override {
        return {};
    }
    std::vector<std::string> getKernelNames() override {
        return {};
    }

private:
    const CountingForce& owner;
};

inline OpenMM::ForceImpl* CountingForce::createImpl() const {
    return new CountingForceImpl(*this);
}

} // namespace ConstraintTests

#endif
