// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_LARGE_GROUPS_H_
#define CONSTRAINTS_TESTS_LARGE_GROUPS_H_

#include "support/Simulation.h"

namespace ConstraintTests {

/** Constraints of centroids that reach some hundred others: of waters, of a chain and of a protein's bonds, each of
 * which would be more than one subdomain on a device, and of free particles. Several of them share molecules, two have
 * one molecule only, one is an expression with weights, one moves, and two follow the parameter "lambda" (0). Springs
 * act between particles of small difference in index. */
struct LargeGroups {
    std::unique_ptr<OpenMM::System> system;
    ConstraintPlugin::ConstraintForce* distances;
    ConstraintPlugin::CustomCentroidConstraintForce* heights;
    OpenMM::HarmonicBondForce* springs;
    Vectors positions; ///< constraints hold there, at the time 0
    std::vector<int> waters, chain, protein, free;
    std::vector<int> large; ///< of addBodies(); from firstShared on a second constraint has it
    static constexpr int firstShared = 40;

    enum class Place { NoBox, Box, Triclinic };
    /** @param place  in a triclinic box each particle is wrapped by itself
     *  @param moves  false: no constraint does */
    explicit LargeGroups(Place place = Place::NoBox, bool moves = true);
    /** Add rigid bodies, before a Context is created: one bonded to a new particle; one that shares a particle with it
     *  and is bonded to the chain; and a large one that no constraint reaches but those of centroids that are added,
     * too: of the whole large body with free particles, and of parts of all. */
    void addBodies();
    void removeSprings();
    /** Random, for all particles. */
    Vectors random(double size, unsigned seed) const;
    /** Index of the distance of the centroids of both ends of the chain. */
    static constexpr int endToEnd = 1;
    std::vector<int> ends[2];
    /** How far constraints of centroids are off, at most (nm). */
    double error(const Vectors& x, double time, double lambda) const;

private:
    struct Centroids {
        std::vector<std::pair<int, double>> particles[2]; ///< with weights, whose sum is 1
        double start, rate, change;
        bool isHeight;
    };
    void addMolecules(const struct TestSystem& molecule, int count, std::vector<int>& to);
    std::vector<int> addBody(std::vector<int> particles, int count, const OpenMM::Vec3& place);
    void addBond(int i, int j);
    void addDistance(const std::vector<int>& group1, const std::vector<int>& group2, double rate = 0,
                     double change = 0);
    void addHeight(const std::vector<int>& group1, const std::vector<int>& group2, double rate, double change);
    double valueOf(const Centroids& of, const Vectors& x) const;
    OpenMM::Vec3 minimumImage(OpenMM::Vec3 r) const;
    bool isPeriodic;
    Vectors box;
    std::vector<Centroids> centroids;
};

} // namespace ConstraintTests

#endif
