// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Systems.h"
#include "support/LargeSystems.h"

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

Example chainsOf(const std::vector<int>& chains) {
    Example example;
    auto* force = new ConstraintForce();
    for (std::size_t n = 0; n < chains.size(); n++)
        for (int i = 0; i <= chains[n]; i++) {
            const int particle = example.system->addParticle(12);
            example.positions.push_back(Vec3(0.1 * i, 0.05 * (i % 2), 0.1 * n));
            if (i > 0)
                force->addDistance(particle - 1, particle,
                                   length(example.positions[particle] - example.positions[particle - 1]));
        }
    example.system->addForce(force);
    auto* springs = new HarmonicBondForce();
    springs->addBond(0, chains[0], 1, 1);
    example.system->addForce(springs);
    return example;
}

namespace {

/** Some of the table's systems side by side. */
Example table(const std::vector<const char*>& names, Declared declared) {
    Example example;
    auto force = std::make_unique<ConstraintForce>();
    for (const char* name : names) {
        const TestSystem& part = findSystem(name);
        const int first = example.system->getNumParticles();
        for (int i = 0; i < part.numParticles(); i++) {
            example.system->addParticle(part.masses[i]);
            const Real3 x = part.positions[i];
            example.positions.push_back(Vec3(x.x + first, x.y, x.z));
        }
        for (const auto& bond : part.bonds)
            if (declared == Declared::InSystem)
                example.system->addConstraint(first + bond.i, first + bond.j, bond.length);
            else
                force->addDistance(first + bond.i, first + bond.j, bond.length);
    }
    if (declared == Declared::InForce)
        example.system->addForce(force.release());
    auto* springs = new HarmonicBondForce(); // a System without forces would launch nothing for them
    springs->addBond(0, example.system->getNumParticles() - 1, 1, 1);
    example.system->addForce(springs);
    return example;
}

/** What only Forces can declare, each on eight particles that bend and twist, side by side. */
Example declared() {
    using Declare = std::function<void(ConstraintForce&, int)>; // on particles from an index on
    const Vec3 one(0.1, 0.07, 0.05), two(0.1, -0.07, 0.05);     // bonds from particle 0 to 1, and 1 to 2
    const double bend = std::acos(-one.dot(two) / (length(one) * length(two)));
    const std::vector<Vec3> linear{{0, 0, 0}, {0.1, 0, 0}, {0.25, 0, 0}};
    const std::vector<Vec3> planar{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.1, 0.1, 0}, {0.05, 0.05, 0}};
    const std::vector<Declare> kinds{
        [&](auto& force, int i) {
            force.addDistance(i, i + 1, length(one));
            force.addAngle(i, i + 1, i + 2, bend);
            force.addDihedral(i + 4, i + 5, i + 6, i + 7, 1.5);
        },
        [&](auto& force, int i) {
            force.addRigidBody({i, i + 1, i + 2}, linear);
            force.addRigidBody({i + 3, i + 4, i + 5, i + 6, i + 7}, planar);
        },
        [&](auto& force, int i) {
            force.addCentroidDistance({i, i + 1, i + 2}, {i + 5, i + 6, i + 7}, 0.5);
        },
        [&](auto& force, int i) { force.addDistance(i, i + 1, length(one), 0.01); },
    };
    Example example;
    const auto addParticles = [&example] {
        const int first = example.system->getNumParticles();
        for (int i = 0; i < 8; i++) {
            example.system->addParticle(1 + i);
            example.positions.push_back(Vec3(0.1 * i, first + 0.07 * (i % 2), 0.05 * (i % 3)));
        }
        return first;
    };
    auto* listed = new ConstraintForce();
    for (const Declare& declare : kinds)
        declare(*listed, addParticles());
    auto* relation = new CustomConstraintForce(3, "distance(p1, p2) - scale*distance(p2, p3) - r0");
    relation->addPerConstraintParameter("r0");
    relation->addGlobalParameter("scale", 1);
    int first = addParticles();
    relation->addConstraint({first, first + 1, first + 2}, {0.0});
    relation->addConstraint({first + 3, first + 4, first + 5}, {0.0});
    auto* surface = new CustomConstraintForce(1, "x1^2 + (y1 - y0)^2 + z1^2 - (0.5 + 0.001*t)^2");
    first = addParticles();
    surface->addGlobalParameter("y0", first);
    surface->addConstraint({first + 5}, {});
    auto* springs = new HarmonicBondForce();
    springs->addBond(0, 7, 0.7, 100);
    for (Force* force : std::initializer_list<Force*>{listed, relation, surface, springs})
        example.system->addForce(force);
    return example;
}

/** Chains of so many CH2 groups with all their bonds, side by side, and water. */
Example methylenes(const std::vector<int>& chains) {
    Example example = table({"water", "water"}, Declared::InSystem);
    auto* force = new ConstraintForce();
    for (std::size_t n = 0; n < chains.size(); n++)
        for (int i = 0, before = -1; i < chains[n]; i++) {
            const Vec3 carbon(0.12 * i, 0.04 * (i % 2), 1 + 0.5 * n);
            const Vec3 places[] = {carbon, carbon + Vec3(0, 0.06, 0.08), carbon + Vec3(0, 0.06, -0.08)};
            const int first = example.system->getNumParticles();
            for (int k = 0; k < 3; k++) {
                example.system->addParticle(k == 0 ? 12 : 1);
                example.positions.push_back(places[k]);
                if (const int other = k == 0 ? before : first; other >= 0)
                    force->addDistance(other, first + k, length(places[k] - example.positions[other]));
            }
            before = first;
        }
    example.system->addForce(force);
    return example;
}

/** @param sizes  particles of rigid bodies, side by side */
Example bodiesOf(const std::vector<int>& sizes) {
    Example example;
    auto* force = new ConstraintForce();
    for (std::size_t n = 0; n < sizes.size(); n++) {
        std::vector<int> particles;
        std::vector<Vec3> shape;
        for (int i = 0; i < sizes[n]; i++) {
            particles.push_back(example.system->addParticle(12));
            shape.push_back(Vec3(0.1 * (i % 19), 0.1 * (i / 19), 0.05 * (i % 2)));
            example.positions.push_back(shape.back() + Vec3(0, 0, (double) n));
        }
        force->addRigidBody(particles, shape);
    }
    example.system->addForce(force);
    auto* springs = new HarmonicBondForce();
    springs->addBond(0, sizes[0], 1, 1);
    example.system->addForce(springs);
    return example;
}

/** Pairs of rigid bodies that share two particles each, and water. */
Example hinges() {
    Example example = table({"water", "water"}, Declared::InSystem);
    auto* force = new ConstraintForce();
    for (int n = 0; n < 3; n++) {
        Vectors x{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.1, 0.1, 0.05}, {0, 0.2, 0}, {0.1, 0.2, 0.1}};
        std::vector<int> particles;
        for (const Vec3& each : x) {
            particles.push_back(example.system->addParticle(12));
            example.positions.push_back(each + Vec3(0, 0, 1 + n));
        }
        force->addRigidBody({particles.begin(), particles.begin() + 4}, {x.begin(), x.begin() + 4});
        force->addRigidBody({particles.begin() + 2, particles.end()}, {x.begin() + 2, x.end()});
    }
    example.system->addForce(force);
    return example;
}

/** A cluster that is cut with a narrow halo. */
Example network() {
    const TestSystem system = honeycomb(30);
    return {toOpenMM(system, Declared::InForce), toVectors(system.positions)};
}

/** A chain of bonds that ends at a rigid ring. */
Example chainWithRing() {
    constexpr int ringSize = 20;
    Example example = chainsOf({20});
    auto* force = new ConstraintForce();
    std::vector<int> ring;
    Vectors shape;
    for (int i = 0; i < ringSize; i++) {
        const double angle = 6.28 / ringSize * i;
        ring.push_back(example.system->addParticle(12));
        shape.push_back(Vec3(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0));
        example.positions.push_back(Vec3(2.7, 0, 0) + shape.back());
    }
    force->addRigidBody(ring, shape);
    force->addDistance(20, ring[ringSize / 2], length(example.positions[20] - example.positions[ring[ringSize / 2]]));
    example.system->addForce(force);
    return example;
}

/** Waters, a methyl group and a chain, the heights of groups of them and a distance of two: six bordered rows. All are
 * in two groups, and no molecule is in more than one of the others. */
Example groups() {
    std::vector<const char*> names(60, "water");
    names.push_back("CH3");
    names.push_back("chain"); // rows of a subdomain
    Example example = table(names, Declared::InSystem);
    const int numParticles = example.system->getNumParticles();
    const auto range = [](int begin, int end) {
        std::vector<int> all;
        for (int i = begin; i < end; i++)
            all.push_back(i);
        return all;
    };
    auto* heights = new CustomCentroidConstraintForce(2, "z1 - z2 - h");
    heights->addGlobalParameter("h", 0);
    const auto add = [&](int begin, int middle, int end) {
        heights->addConstraint({heights->addGroup(range(begin, middle)), heights->addGroup(range(middle, end))}, {});
    };
    add(0, 90, numParticles);
    heights->addConstraint({heights->addGroup(range(0, 30)), heights->addGroup(range(30, numParticles))}, {});
    for (int i : {0, 45, 90})
        add(i, i + 24, i + 45);
    auto* distance = new ConstraintForce();
    const auto centre = [&](const std::vector<int>& group) {
        return centroidOf(*example.system, example.positions, group);
    };
    const std::vector<int> first = range(135, 165), second = range(165, numParticles);
    distance->addCentroidDistance(first, second, length(centre(first) - centre(second)));
    example.system->addForce(heights);
    example.system->addForce(distance);
    return example;
}

/** Waters, whose halves are at a height. @param withHinge  besides, a hinge of two rigid bodies in one of the halves */
Example slabs(bool withHinge) {
    Example example = table(std::vector<const char*>(60, "water"), Declared::InSystem);
    auto* height = new CustomCentroidConstraintForce(2, "z1 - z2");
    std::vector<int> halves[2];
    for (int i = 0; i < 180; i++)
        halves[i / 90].push_back(i);
    if (withHinge) {
        auto* bodies = new ConstraintForce();
        std::vector<int> body;
        Vectors shape;
        const auto add = [&](int count) {
            for (int i = 0; i < count; i++) {
                body.push_back(example.system->addParticle(12));
                halves[0].push_back(body.back());
                shape.push_back(Vec3(0.2 * std::cos(i), 0.2 * std::sin(2 * i), 0.05 * (i % 7)));
                example.positions.push_back(shape.back());
            }
            bodies->addRigidBody(body, shape);
            body.erase(body.begin(), body.end() - 2); // the next one shares two particles
            shape.erase(shape.begin(), shape.end() - 2);
        };
        add(12);
        add(8);
        example.system->addForce(bodies);
    }
    height->addConstraint({height->addGroup(halves[0]), height->addGroup(halves[1])}, {});
    example.system->addForce(height);
    return example;
}

} // namespace

const std::vector<Kind>& kinds() {
    using Names = std::vector<const char*>;
    static const Names hydrogens = {"water", "OH", "CH2", "CH3"};
    static const Names clusters = {"water", "CH3", "chain", "ring", "branched", "star"};
    static const Names upToEight = {"ring", "star", "rings", "stars"}; // distances, from four on
    static const std::vector<Kind> all{
        {"hydrogens", [] { return table(hydrogens, Declared::InSystem); }},
        {"clusters", [] { return table(clusters, Declared::InSystem); }},
        {"upToEight", [] { return table(upToEight, Declared::InSystem); }},
        // More than a device has room for at once.
        {"manyMolecules",
         [] {
             Names many;
             for (int i = 0; i < 9000; i++)
                 many.insert(many.end(), hydrogens.begin(), hydrogens.end());
             return table(many, Declared::InSystem);
         }},
        {"special",
         [] {
             return table({"triangle", "disjoint", "anchor", "duplicates"}, Declared::InForce);
         }},
        {"declared", declared},
        {"fullerenes",
         [] {
             return bodiesOf({60, 60, 60});
         }},
        {"bodies",
         [] {
             return bodiesOf({3, 20, 300, 5000});
         }}, // a thread, a block of either size, subdomains
        {"hinges", hinges},
        {"groups", groups},
        {"slabs", [] { return slabs(false); }},
        {"slabsWithHinge", [] { return slabs(true); }},
        {"chainWithRing", chainWithRing},
        // One in subdomains that are all on a device at once, and one in more subdomains.
        {"longChain", [] { return chainsOf({2600}); }},
        // Subdomains of one cluster that share multiprocessors.
        {"longerChain", [] { return chainsOf({25600}); }},
        {"network", network},
        {"longestChain", [] { return chainsOf({1000000}); }},
        // All together have more subdomains than there are multiprocessors, each has fewer.
        {"longChains", [] { return chainsOf(std::vector<int>(100, 300)); }},
        // A protein among lipids, of which a block has several.
        {"longLipids",
         [] {
             std::vector<int> chains(301, 44);
             chains[0] = 700;
             return methylenes(chains);
         }},
    };
    return all;
}

Example makeExample(const std::string& kind) {
    for (const Kind& each : kinds())
        if (each.name == kind)
            return each.make();
    throw std::out_of_range(kind);
}

} // namespace ConstraintTests
