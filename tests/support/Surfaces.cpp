// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Surfaces.h"
#include <algorithm>
#include <cmath>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

static double square(double x) {
    return x * x;
}

const std::vector<Surface>& surfaceTable() {
    static const std::vector<Surface> table = {
        {"Sphere",
         "x1^2 + y1^2 + z1^2 - r^2",
         {{"r", 0.5}},
         {},
         [](const Vec3& x) { return x.dot(x) - 0.25; },
         Vec3(0.3, 0.3, 0.3)},
        {"SphereAsALength",
         "sqrt(x1^2 + y1^2 + z1^2) - r",
         {{"r", 0.5}},
         {},
         [](const Vec3& x) { return std::sqrt(x.dot(x)) - 0.5; },
         Vec3(0.3, 0.3, 0.3)},
        {"Plane",
         "a*x1 + b*y1 + c*z1 - d",
         {{"a", 3}, {"b", -5}, {"c", 8}},
         {{"d", 1}},
         [](const Vec3& x) { return 3 * x[0] - 5 * x[1] + 8 * x[2] - 1; },
         Vec3(0.1, 0.2, 0.2)},
        {"Cylinder",
         "x1^2 + y1^2 - r^2",
         {{"r", 0.4}},
         {},
         [](const Vec3& x) { return square(x[0]) + square(x[1]) - 0.16; },
         Vec3(0.3, 0.2, 0.1)},
        {"Paraboloid",
         "z1 - a*(x1^2+y1^2)",
         {{"a", 1.5}},
         {},
         [](const Vec3& x) { return x[2] - 1.5 * (square(x[0]) + square(x[1])); },
         Vec3(0.4, 0.2, 0.3)},
        {"Ellipsoid",
         "(x1/a)^2 + (y1/b)^2 + (z1/c)^2 - 1",
         {{"a", 0.5}, {"b", 0.7}},
         {{"c", 0.4}},
         [](const Vec3& x) { return square(x[0] / 0.5) + square(x[1] / 0.7) + square(x[2] / 0.4) - 1; },
         Vec3(0.3, 0.3, 0.2)},
        {"Torus",
         "(sqrt(x1^2 + y1^2) - R)^2 + z1^2 - r^2",
         {},
         {{"R", 0.8}, {"r", 0.3}},
         [](const Vec3& x) { return square(std::hypot(x[0], x[1]) - 0.8) + square(x[2]) - 0.09; },
         Vec3(0.9, 0.1, 0.3)},
        {"Gyroid",
         "sin(k*x1)*cos(k*y1) + sin(k*y1)*cos(k*z1) + sin(k*z1)*cos(k*x1)",
         {{"k", 5}},
         {},
         [](const Vec3& x) {
             return std::sin(5 * x[0]) * std::cos(5 * x[1]) + std::sin(5 * x[1]) * std::cos(5 * x[2]) +
                    std::sin(5 * x[2]) * std::cos(5 * x[0]);
         },
         Vec3(0.1, -0.1, 0.05)},
        {"Hyperboloid",
         "x1^2 + y1^2 - (slope*z1)^2 - a^2",
         {{"a", 0.4}},
         {{"slope", 0.6}},
         [](const Vec3& x) { return square(x[0]) + square(x[1]) - square(0.6 * x[2]) - 0.16; },
         Vec3(0.3, 0.3, 0.2)},
    };
    return table;
}

void PrintTo(const Surface& surface, std::ostream* out) {
    *out << surface.expression;
}

const Surface& findSurface(const std::string& name) {
    const auto& table = surfaceTable();
    return *std::find_if(table.begin(), table.end(), [&](const Surface& s) { return s.name == name; });
}

Vec3 Surface::gradient(const Vec3& x) const {
    const double h = 1e-4;
    Vec3 g;
    for (int axis = 0; axis < 3; axis++) {
        Vec3 step;
        step[axis] = h;
        // Fourth order.
        g[axis] = (8 * (sigma(x + step) - sigma(x - step)) - (sigma(x + step * 2) - sigma(x - step * 2))) / (12 * h);
    }
    return g;
}

double Surface::distance(const Vec3& x) const {
    const Vec3 g = gradient(x);
    return std::abs(sigma(x)) / std::sqrt(g.dot(g));
}

CustomConstraintForce* makeForce(const Surface& surface, const std::vector<int>& particles) {
    auto* force = new CustomConstraintForce(1, surface.expression);
    std::vector<double> values;
    for (const auto& [name, value] : surface.parameters) {
        force->addPerConstraintParameter(name);
        values.push_back(value);
    }
    for (const auto& [name, value] : surface.globals)
        force->addGlobalParameter(name, value);
    for (int particle : particles)
        force->addConstraint({particle}, values);
    return force;
}

Simulation simulateSurfaces(const Setup& setup, double stepSize, double tolerance) {
    auto system = std::make_unique<System>();
    auto* potential = new CustomExternalForce("30*z + 20*(x - 0.1)^2 + 10*y^2");
    // Not a HarmonicBondForce: a projection from far off would hold its bonds at their lengths.
    auto* springs = new CustomCompoundBondForce(2, "100*(distance(p1,p2) - 0.1)^2");
    Vectors positions, velocities;
    for (const Surface& surface : surfaceTable()) {
        std::vector<int> particles;
        for (int i = 0; i < particlesPerSurface; i++) {
            particles.push_back(system->addParticle(8 + 6 * i));
            potential->addParticle(particles.back());
            positions.push_back(surface.near + Vec3(0.02 * i, -0.03 * i, 0.01 * i));
            velocities.push_back(Vec3(0.8 - 0.5 * i, 0.4 * i, 0.7 - 0.3 * i * i));
            if (i > 0)
                springs->addBond({particles[i - 1], particles[i]});
        }
        system->addForce(makeForce(surface, particles));
    }
    system->addForce(potential);
    system->addForce(springs);
    Simulation simulation(std::move(system), makeIntegrator(setup, stepSize, tolerance), std::get<0>(setup));
    simulation.context->setPositions(positions);
    simulation.context->setVelocities(velocities);
    simulation.integrator->applyConstraints();
    simulation.integrator->applyVelocityConstraints();
    return simulation;
}

} // namespace ConstraintTests
