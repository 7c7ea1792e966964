// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// That the pieces of tests' molecules are rigid by their distances and angles, and what joins them is not, by a search
// that knows nothing of bodies.
#include "support/Dense.h"
#include "support/MoleculeSystem.h"

using namespace ConstraintTests;

namespace {

/** Differences of listed distances (nm) and angles (rad, times 0.1 nm) from their values at the molecule's places. */
class Residuals {
public:
    explicit Residuals(const MoleculeSystem& system) : listed(system.listed()), numParticles(system.numParticles()) {
        for (const std::vector<int>& p : listed)
            values.push_back(valueOf(p, system.places));
    }
    int size() const {
        return (int) listed.size();
    }
    Vector at(const Arrays& x) const {
        Vector r(size());
        for (int k = 0; k < size(); k++)
            r[k] = unitOf(k) * (valueOf(listed[k], x) - values[k]);
        return r;
    }
    /** By differences. */
    Matrix derivatives(Arrays x) const {
        constexpr double h = 1e-5;
        Matrix J = Matrix::Zero(size(), 3 * numParticles);
        for (int k = 0; k < size(); k++)
            for (int p : listed[k])
                for (int axis = 0; axis < 3; axis++) {
                    double Real3::*const part = axis == 0 ? &Real3::x : axis == 1 ? &Real3::y : &Real3::z;
                    const double before = x[p].*part;
                    x[p].*part = before + h;
                    const double above = valueOf(listed[k], x);
                    x[p].*part = before - h;
                    J(k, 3 * p + axis) = unitOf(k) * (above - valueOf(listed[k], x)) / (2 * h);
                    x[p].*part = before;
                }
        return J;
    }

private:
    double unitOf(int k) const {
        return listed[k].size() == 2 ? 1 : 0.1;
    }
    std::vector<std::vector<int>> listed;
    int numParticles;
    std::vector<double> values;
};

/** Positions near by with the listed values, by Levenberg and Marquardt. */
Arrays settled(const Residuals& residuals, Arrays x) {
    double damping = 1e-3, value = residuals.at(x).squaredNorm();
    for (int iteration = 0; iteration < 300 && value > 1e-19; iteration++) {
        const Matrix J = residuals.derivatives(x);
        Matrix A = product(J.transpose(), J);
        A.diagonal().array() += damping;
        const Vector step = solveSymmetric(A, apply(J.transpose(), residuals.at(x)));
        Arrays trial = x;
        for (std::size_t i = 0; i < x.size(); i++)
            trial[i] += Real3{-step[3 * i], -step[3 * i + 1], -step[3 * i + 2]};
        const double now = residuals.at(trial).squaredNorm();
        damping = std::max(1e-12, damping * (now < value ? 0.1 : 10));
        if (now < value) {
            x = trial;
            value = now;
        }
    }
    EXPECT_LT(value, 1e-17);
    return x;
}

class RecognizedShapes : public testing::TestWithParam<int> {};

TEST_P(RecognizedShapes, AreTheOnlyOnesNearBy) {
    const Molecule& molecule = recognizedMolecules()[GetParam()];
    const MoleculeSystem system({molecule});
    const Residuals residuals(system);
    double turned = 0; // largest change of a distance in the molecule
    for (unsigned seed = 1; seed < 4; seed++) {
        Random random(seed);
        Arrays x = system.places;
        for (Real3& r : x)
            r += random.inCube(0.015);
        x = settled(residuals, x);
        // A residual of 3e-9 nm leaves a flat piece bent by the root of that.
        EXPECT_LT(system.deformation(toVectors(system.places), toVectors(x)), 1e-6);
        for (const auto& [i, j] : allPairs(0, system.numParticles() - 1))
            turned = std::max(turned, std::abs(distance(x[i], x[j]) - distance(system.places[i], system.places[j])));
    }
    const bool isOne = molecule.degreesOfFreedom <= 6;
    if (isOne)
        EXPECT_LT(turned, 1e-6);
    else
        EXPECT_GT(turned, 1e-3);
}

/** All but large ones, and one with an angle of 180 degrees, which has no derivative. */
std::vector<int> smallOnes() {
    std::vector<int> all;
    for (int m = 0; m < (int) recognizedMolecules().size(); m++)
        if (recognizedMolecules()[m].places.size() < 25 &&
            recognizedMolecules()[m].name != "acetonitrile by bonds and angles")
            all.push_back(m);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Molecules, RecognizedShapes, testing::ValuesIn(smallOnes()), [](const auto& info) {
    std::string name = recognizedMolecules()[info.param].name;
    name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !std::isalnum((unsigned char) c); }),
               name.end());
    return name;
});

} // namespace
