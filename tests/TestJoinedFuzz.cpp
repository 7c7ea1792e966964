// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies that are joined at random, against the same bodies held by distances.
#include "support/BodySystems.h"
#include "support/JoinedBodies.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

std::vector<int> someOf(std::vector<int> all, int count, Random& random) {
    for (int i = 0; i < count; i++)
        std::swap(all[i], all[i + random.below((int) all.size() - i)]);
    all.resize(count);
    return all;
}

/** Two to five bodies; each shares up to two particles with one before. Then constraints of all kinds between particles
 *  of any two to four bodies or atoms, and at times an anchor. */
Assembly drawn(unsigned seed) {
    Random random(seed);
    Assembly a;
    a.name = "seed " + std::to_string(seed);
    const int count = 2 + random.below(4);
    std::vector<std::vector<int>> groups; // particles that constraints may join, of each body and atom
    for (int b = 0; b < count; b++) {
        const Real3 centre{0.3 * b, 0.1 * (b % 2), random.uniform(-0.1, 0.1)};
        std::vector<int> shared;
        if (b > 0) {
            const std::vector<int>& partner = a.bodies[random.below(b)];
            shared = someOf(partner, std::min(random.below(3), (int) partner.size()), random);
        }
        const int added = 3 - (int) shared.size() / 2 + random.below(3);
        groups.push_back(a.body(shared.empty() ? 3 + random.below(3) : added, centre, random, shared));
    }
    for (int atoms = random.below(3); atoms > 0; atoms--)
        groups.push_back({a.atom({random.uniform(-0.2, 0.2), 0.4 + 0.2 * atoms, 0}, random.uniform(2, 20))});
    if (random.below(4) == 0)
        a.masses[groups[0][0]] = 0;
    // One constraint less than there are bodies and atoms, none twice between the same ones
    std::set<std::set<int>> joined;
    for (int k = random.below((int) groups.size()); k > 0; k--) {
        const int kind = random.below(6), wanted = std::min((int) groups.size(), 2 + random.below(3));
        const std::vector<int> from = someOf(range(0, (int) groups.size() - 1), wanted, random);
        if (!joined.insert(std::set<int>(from.begin(), from.end())).second)
            continue;
        std::vector<int> p;
        for (int g : from)
            p.push_back(groups[g][random.below((int) groups[g].size())]);
        const auto bent = [&](int i, int j, int l) {
            const double angle = angleOf(a.places[i], a.places[j], a.places[l]);
            return angle > 0.5 && angle < 2.6;
        };
        const auto holds = [&](const std::vector<int>& body) { // it would be absorbed
            return std::all_of(p.begin(), p.begin() + 2,
                               [&](int i) { return std::count(body.begin(), body.end(), i); });
        };
        if (std::any_of(p.begin(), p.end(), [&](int i) { return a.masses[i] == 0; }) ||
            std::any_of(a.bodies.begin(), a.bodies.end(), holds))
            continue;
        if (kind == 0)
            a.joins.push_back({Join::SystemDistance, {p[0], p[1]}});
        else if (kind == 1)
            a.joins.push_back({Join::Distance, {p[0], p[1]}});
        else if (kind == 2 && p.size() > 2 && bent(p[0], p[1], p[2]))
            a.joins.push_back({Join::Angle, {p[0], p[1], p[2]}});
        else if (kind == 3 && p.size() > 3 && bent(p[0], p[1], p[2]) && bent(p[1], p[2], p[3]))
            a.joins.push_back({Join::Dihedral, p});
        else if (kind == 4)
            a.joins.push_back({Join::Centroids, p, 1});
        else if (kind == 5)
            a.joins.push_back({Join::Surface, {p[0]}});
    }
    return a;
}

class JoinedFuzz : public testing::TestWithParam<std::string> {};

TEST_P(JoinedFuzz, BodiesMoveAsTheirDistancesDo) {
    const std::string platform = GetParam();
    const Precision precision = precisionOf(platform);
    const char* const integrators[] = {"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin", "RattleNoseHoover"};
    int joints = 0, joins = 0;
    for (unsigned seed = 1; seed <= (isDevice(platform) ? 4 : 300); seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::vector<Assembly> parts = {drawn(seed)};
        if (isDevice(platform)) // several in each Context
            for (unsigned more = 1; more < 12; more++)
                parts.push_back(drawn(seed + 100 * more));
        const JoinedSystem system(parts);
        const std::string integrator = integrators[seed % 5];
        const Solver solver = seed % 3 == 0 ? Solver::Iterative : Solver::Automatic;
        try {
            Simulation bodies = system.simulate({platform, solver, integrator}, 0.001),
                       distances = system.simulate(
                           {isDevice(platform) ? "Reference" : platform, Solver::MatrixInversion, integrator}, 0.001,
                           Held::ByDistances);
            EXPECT_EQ(bodies.integrator->getNumDegreesOfFreedom(), distances.integrator->getNumDegreesOfFreedom());
            bodies.integrator->step(10);
            distances.integrator->step(10);
            EXPECT_LT(distance(bodies.positions(), distances.positions()),
                      1e-10 + 200 * precision.position + 1e-3 * precision.force);
            EXPECT_LT(system.deformation(bodies.positions()), 1e-12 + 4 * precision.position);
            const std::vector<double> multipliers = bodies.integrator->getMultipliers(),
                                      expected = distances.integrator->getMultipliers();
            for (std::size_t k = 0; k < multipliers.size(); k++)
                EXPECT_NEAR(multipliers[k], expected[k],
                            1e-4 + 6e7 * (precision.position + 0.1 * precision.constraint) + 1e4 * precision.force);
            joins += (int) multipliers.size();
            for (const Assembly& part : parts)
                for (const auto& body : part.bodies)
                    joints += std::count_if(body.begin(), body.end(), [&](int p) {
                        return std::count_if(part.bodies.begin(), part.bodies.end(), [&](const auto& other) {
                                   return std::count(other.begin(), other.end(), p) > 0;
                               }) > 1;
                    });
        } catch (const OpenMMException& error) {
            ADD_FAILURE() << error.what();
        }
    }
    EXPECT_GT(joints, 20);
    EXPECT_GT(joins, 20);
}

INSTANTIATE_TEST_SUITE_P(Platforms, JoinedFuzz, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
