// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "VanishingGradient.h"
#include "Jacobian.h"
#include "SplitMix.h"

namespace ConstraintPlugin {

namespace {

/** How far beside the surface Newton's step is measured, and how closely the surface is found before (nm): far beyond
 *  what rounding changes, and closer than surfaces bend. */
constexpr double beside = 1e-4, closest = 0.01 * beside;
/** Part of the way back to the surface that Newton's step covers, at most, if the root is a multiple one. */
constexpr double mostCovered = 0.8;
constexpr int maxIterations = 200;                  // of the error an m-fold root leaves 1 - 1/m each time
constexpr double longestStep = 0.1, scatter = 1e-3; // nm
constexpr int numDirections = 4;

enum class Root { Unknown, Proper, Multiple };

/** An expression as a function of displacements of its particles. */
class Surface {
public:
    struct Place {
        std::vector<Real3> displacement, gradient; // of each particle; 0 without mass
        VanishingGradient::Values values;

        bool isZero() const {
            return values.sigma == 0 && values.gradient == 0;
        }
    };
    /** @param J      with its start set
     *  @param field  [numParticles] zero, but while a place is measured */
    Surface(const ConstraintSet& set, int constraint, Jacobian& J, int row, std::vector<Real3>& field)
        : set(set), particles(set.constraints[constraint].particles), J(J), row(row), field(field),
          lengthOfAll(1 / set.custom[set.constraints[constraint].form]->errorFactor()) {
    }
    Place at(std::vector<Real3> displacement) const {
        Place place;
        place.displacement = std::move(displacement);
        for (std::size_t i = 0; i < particles.size(); i++)
            field[particles[i]] = place.displacement[i];
        place.values.sigma = J.evaluate(row, field.data());
        double square = 0;
        for (std::size_t i = 0; i < particles.size(); i++) {
            place.gradient.push_back(isMovable(i) ? J.current[J.slotStart[row] + i] : Real3());
            square += dot(place.gradient[i], place.gradient[i]);
            field[particles[i]] = Real3();
        }
        place.values.gradient = std::sqrt(square);
        return place;
    }
    Place start() const {
        return at(std::vector<Real3>(particles.size()));
    }
    /** Move to the surface. @return what it is there */
    Root findRoot(Place& place) const {
        for (int iteration = 0; !(errorAt(place) <= closest); iteration++) {
            if (place.isZero())
                return Root::Multiple;
            if (iteration == maxIterations || !std::isfinite(errorAt(place)))
                return Root::Unknown;
            place = along(place, (place.values.sigma > 0 ? -1 : 1) * std::min(errorAt(place), longestStep));
        }
        return isCoveredTooLittle(place, beside) && isCoveredTooLittle(place, -beside) ? Root::Multiple : Root::Proper;
    }
    /** The same from around a place. @return Proper, if it is that from anywhere */
    Root findRootAround(const Place& centre) const {
        Root found = Root::Unknown;
        SplitMix random(1);
        for (int i = 0; i < numDirections && found != Root::Proper; i++) {
            std::vector<Real3> displacement = centre.displacement;
            for (std::size_t p = 0; p < particles.size(); p++) {
                const Real3 r{random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5};
                displacement[p] += (isMovable(p) ? scatter * lengthOfAll : 0) * r;
            }
            Place place = at(std::move(displacement));
            const Root root = findRoot(place);
            found = root == Root::Unknown ? found : root;
        }
        return found;
    }

private:
    bool isMovable(std::size_t i) const {
        return set.inverseMass[particles[i]] > 0;
    }
    /** How far the particles, or the centroids of groups, are from the surface to first order (nm). */
    double errorAt(const Place& place) const {
        return std::abs(place.values.sigma) / (place.values.gradient * lengthOfAll);
    }
    /** The place at a distance (nm) along the gradient. */
    Place along(const Place& from, double distance) const {
        std::vector<Real3> displacement = from.displacement;
        for (std::size_t i = 0; i < particles.size(); i++)
            displacement[i] += (distance * lengthOfAll / from.values.gradient) * from.gradient[i];
        return at(std::move(displacement));
    }
    bool isCoveredTooLittle(const Place& root, double distance) const {
        const Place place = along(root, distance);
        double slope = 0;
        for (std::size_t i = 0; i < particles.size(); i++)
            slope += dot(place.gradient[i], root.gradient[i]) / root.values.gradient;
        const double step = place.values.sigma / (slope * lengthOfAll);
        return place.isZero() || std::abs(step) < mostCovered * std::abs(distance);
    }
    const ConstraintSet& set;
    const std::vector<int>& particles;
    Jacobian& J;
    int row;
    std::vector<Real3>& field;
    double lengthOfAll; // of the displacement of all particles that moves a centroid by 1
};

} // namespace

VanishingGradient findVanishingGradient(const ConstraintSet& set, const std::vector<int>& among, const Real3* given,
                                        const Real3* near, const Box& box, double time) {
    std::vector<int> expressions;
    for (int k : among)
        if (set.isExpression(set.constraints[k]))
            expressions.push_back(k);
    if (expressions.empty())
        return {};
    ConstraintSet ofParticles; // also of those in bodies
    ofParticles.inverseMass = set.inverseMass;
    ofParticles.custom = set.custom;
    ofParticles.parameters = set.parameters;
    std::vector<int> rows;
    for (int k : expressions) {
        rows.push_back((int) rows.size());
        ofParticles.constraints.push_back(set.constraints[k]);
        ofParticles.constraints.back().nodes.clear();
    }
    Jacobian J(ofParticles, rows);
    J.setStart(near, box, time);
    std::vector<Real3> field(set.numParticles());
    for (int row : rows) {
        const Surface surface(ofParticles, row, J, row, field);
        Surface::Place place = surface.start();
        if (surface.findRoot(place) != Root::Multiple || surface.findRootAround(place) != Root::Multiple)
            continue;
        std::vector<Real3> back;
        for (int p : ofParticles.constraints[row].particles)
            back.push_back(given[p] - near[p]);
        return {expressions[row], surface.at(std::move(back)).values, place.values};
    }
    return {};
}

} // namespace ConstraintPlugin
