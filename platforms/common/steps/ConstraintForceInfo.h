// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_INFO_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_INFO_H_

#include "Border.h"
#include "openmm/common/ComputeForceInfo.h"
#include <map>

namespace ConstraintPlugin {

/** Lists the particles of the constraints for OpenMM, and which constraints are equal. OpenMM then neither exchanges
 *  molecules with different constraints when it reorders atoms, nor wraps parts of a molecule separately. System
 *  constraints are not listed, because OpenMM treats them itself. Nor are constraints of centroids, which would join
 *  thousands of molecules to one: their particles differ from others instead, and positions in them are unwrapped. */
class ConstraintForceInfo : public OpenMM::ComputeForceInfo {
public:
    explicit ConstraintForceInfo(const ConstraintSet& set) {
        take(set);
    }
    void take(const ConstraintSet& given) {
        set = given;
        groups.clear();
        weightsOf.clear();
        for (std::size_t k = 0; k < set.constraints.size(); k++)
            if (isOfGroups(set, set.constraints[k]))
                addWeights((int) k);
            else if (set.constraints[k].force >= 0 || (int) k >= set.numListed)
                groups.push_back((int) k);
    }
    bool areParticlesIdentical(int particle1, int particle2) override {
        const auto a = weightsOf.find(particle1), b = weightsOf.find(particle2);
        return a == weightsOf.end() || b == weightsOf.end() ? a == b : a->second == b->second;
    }
    int getNumParticleGroups() override {
        return (int) (groups.size() + set.bodies.size());
    }
    void getParticlesInGroup(int index, std::vector<int>& particles) override {
        const int body = bodyOf(index);
        particles = body < 0 ? set.constraints[groups[index]].particles : set.bodies[body].particles;
    }
    bool areGroupsIdentical(int group1, int group2) override {
        if (const int b1 = bodyOf(group1), b2 = bodyOf(group2); b1 >= 0 || b2 >= 0)
            return b1 >= 0 && b2 >= 0 && areEqual(set.bodies[b1], set.bodies[b2]);
        const Constraint &a = set.constraints[groups[group1]], &b = set.constraints[groups[group2]];
        if (a.kind != b.kind || a.size() != b.size() || a.target != b.target || a.rate != b.rate ||
            a.startTime != b.startTime || a.parameter != b.parameter || a.target0 != b.target0 ||
            a.target1 != b.target1 || a.periodic != b.periodic || a.force != b.force || a.isAbsorbed != b.isAbsorbed)
            return false;
        if (a.kind == CoordinateKind::AffinePosition) {
            const AffineForm &f = set.affine[a.form], &g = set.affine[b.form];
            return f.axis == g.axis && f.weights == g.weights;
        }
        if (a.form != b.form)
            return false;
        if (a.kind != CoordinateKind::Custom)
            return true;
        const auto first = set.parameters.begin() + a.firstParameter;
        return std::equal(first, first + (int) set.custom[a.form]->numParameters(),
                          set.parameters.begin() + b.firstParameter);
    }

private:
    void addWeights(int k) {
        const Constraint& c = set.constraints[k];
        const std::vector<double>& weights = set.custom[c.form]->getWeights();
        const int each = (int) weights.size() / c.size();
        for (int i = 0; i < c.size(); i++) {
            std::vector<double>& own = weightsOf[c.particles[i]];
            own.push_back(k);
            own.insert(own.end(), weights.begin() + i * each, weights.begin() + (i + 1) * each);
        }
    }
    /** Bodies in closed form come after the constraints. */
    int bodyOf(int group) const {
        return group - (int) groups.size();
    }
    static bool areEqual(const RigidBody& a, const RigidBody& b) {
        return a.force == b.force && a.periodic == b.periodic && a.mass == b.mass && a.shape == b.shape;
    }
    ConstraintSet set;
    std::vector<int> groups;                      // constraints
    std::map<int, std::vector<double>> weightsOf; // of a particle in centroids: constraint, weights, ...
};

} // namespace ConstraintPlugin

#endif
