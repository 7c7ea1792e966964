// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_ABSORBED_SAMPLE_H_
#define CONSTRAINTS_TESTS_ABSORBED_SAMPLE_H_

#include "support/Simulation.h"

namespace ConstraintTests {

/** Two rigid waters, the second one turned and shifted. */
inline Vectors twoWaters() {
    const double d = 0.09572, half = 0.5 * 1.82421813;
    const OpenMM::Vec3 first(d * std::cos(half), d * std::sin(half), 0),
        second(d * std::cos(half), -d * std::sin(half), 0);
    Vectors x = {OpenMM::Vec3(), first, second};
    for (int i = 0; i < 3; i++) {
        const OpenMM::Vec3 r = x[i];
        x.emplace_back(OpenMM::Vec3(0.1, 0.21, 0.28) + OpenMM::Vec3(r[1], 0.6 * r[0], 0.8 * r[0]));
    }
    return x;
}

inline const std::vector<int> allOfBody = {0, 1, 2, 3, 4, 5};

/** Eight particles: 0 to 5 are two waters in one rigid body, 6 and 7 are free. */
struct AbsorbedSample {
    OpenMM::System system;
    ConstraintPlugin::ConstraintForce* force = new ConstraintPlugin::ConstraintForce();
    Vectors x = twoWaters();

    explicit AbsorbedSample(bool withBody = true) {
        for (int i = 0; i < 6; i++)
            system.addParticle(i % 3 == 0 ? 16 : 1);
        for (int i = 0; i < 2; i++)
            system.addParticle(12);
        x.emplace_back(-0.12, 0.05, 0.02);
        x.emplace_back(-0.3, 0.3, 0.1);
        system.setDefaultPeriodicBoxVectors(OpenMM::Vec3(3, 0, 0), OpenMM::Vec3(0, 3, 0), OpenMM::Vec3(0, 0, 3));
        if (withBody)
            addBody({0, 1, 2, 3, 4, 5});
        force->setParticleNames({"W1:O", "W1:H1", "W1:H2", "W2:O", "W2:H1", "W2:H2", "C", "D"});
        system.addForce(force);
        auto* field = new OpenMM::CustomExternalForce("40*x + 25*sin(30*y) - 30*z*x");
        for (int i = 0; i < system.getNumParticles(); i++)
            field->addParticle(i);
        system.addForce(field);
    }
    void addBody(const std::vector<int>& particles) {
        force->addRigidBody(particles, at(particles));
    }
    Vectors at(const std::vector<int>& particles) const {
        Vectors positions;
        for (int p : particles)
            positions.push_back(x[p]);
        return positions;
    }
    double distance(int i, int j) const {
        return length(x[i] - x[j]);
    }
    ConstraintPlugin::CustomConstraintForce* addExpression(const std::string& text, const std::vector<int>& particles) {
        auto* expression = new ConstraintPlugin::CustomConstraintForce((int) particles.size(), text);
        expression->addConstraint(particles, {});
        system.addForce(expression);
        return expression;
    }
};

} // namespace ConstraintTests

#endif
