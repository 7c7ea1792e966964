// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_SUBDOMAIN_NEWTON_H_
#define CONSTRAINTS_TESTS_SUBDOMAIN_NEWTON_H_

#include "ConstraintGraph.h"
#include "Jacobian.h"
#include "SparseMatrix.h"
#include "Subdomain.h"
#include <vector>

namespace ConstraintTests {

/** Newton's method in overlapping subdomains, as thread blocks of a device do it, in double precision and in turn. In
 * each correction every subdomain solves for its rows, halo included, with the true residuals; each row takes its
 * owner's correction; all particles move; residuals are evaluated again. Shows how fast that converges. */
class SubdomainNewton {
public:
    /** Joined bodies are nodes, as in ConstraintSolver; of free ones nothing is solved. Constraints must be
     * independent.
     *  @throws std::runtime_error if a cluster cannot be cut within the limits */
    SubdomainNewton(const ConstraintPlugin::ConstraintSet& set, const ConstraintPlugin::SubdomainLimits& limits);

    void setStart(const std::vector<ConstraintPlugin::Real3>& positions, const ConstraintPlugin::Box& box);
    /** Largest relative error before the first correction and after each.
     *  @param delta  [numParticles] nm; in: unconstrained, out: after the last correction */
    std::vector<double> solvePositions(std::vector<ConstraintPlugin::Real3>& delta, int corrections);
    /** The same for the velocity stage. Errors: of displacements over `timeScale` ps. */
    std::vector<double> solveVelocities(std::vector<ConstraintPlugin::Real3>& velocity, double timeScale,
                                        int corrections);

    int numRows() const {
        return graph.numRows();
    }
    int numSubdomains() const {
        return (int) subdomains.size();
    }
    /** Solved rows over own rows. */
    double padding() const;
    /** Of the largest subdomain. */
    int mostOwn() const, mostSolved() const, mostLevels() const;

private:
    struct Term {
        int coupling;
        int entry;         // of the subdomain's factor
        bool isTransposed; // the coupling's row comes before its column there
    };
    struct SubdomainOfCluster {
        explicit SubdomainOfCluster(const ConstraintPlugin::SymbolicFactor& factor) : matrix(factor) {
        }
        ConstraintPlugin::SparseMatrix matrix;
        std::vector<int> rows;   // of the whole set, by position in the elimination
        std::vector<char> isOwn; // the same
        std::vector<Term> terms;
    };
    void addSubdomain(const ConstraintPlugin::Cluster& cluster, const ConstraintPlugin::Subdomain& subdomain);
    /** A field of the particles as one of all nodes. */
    std::vector<ConstraintPlugin::Real3> toNodes(const std::vector<ConstraintPlugin::Real3>& field) const;
    /** Take it from the nodes to the particles, those of joined bodies by `ofBody(body, place)`. */
    template <class OfBody>
    void toParticles(const std::vector<ConstraintPlugin::Real3>& nodes, std::vector<ConstraintPlugin::Real3>& field,
                     OfBody ofBody) const;
    void factorize(SubdomainOfCluster& subdomain, const std::vector<ConstraintPlugin::Real3>& gradients);
    template <class Residual, class Error>
    std::vector<double> newton(std::vector<ConstraintPlugin::Real3>& x, int corrections, bool isFrozen,
                               Residual residual, Error error);

    ConstraintPlugin::ConstraintSet set; // the Jacobian refers to it
    ConstraintPlugin::ConstraintGraph graph;
    ConstraintPlugin::Jacobian J;
    std::vector<ConstraintPlugin::Real3> start; // [numParticles]
    ConstraintPlugin::Box box;
    std::vector<std::vector<ConstraintPlugin::Subdomain>> subdomainsOf; // by cluster: their factors are referred to
    std::vector<SubdomainOfCluster> subdomains;
};

/** The fewest corrections that reach a tolerance; -1 if none does. @param errors  as SubdomainNewton returns them */
int correctionsTo(double tolerance, const std::vector<double>& errors);

} // namespace ConstraintTests

#endif
