// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Mixture.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

namespace {

double angleAt(const Vec3& a, const Vec3& b) { // between two vectors from the vertex
    return std::atan2(length(a.cross(b)), a.dot(b));
}

/** Of bonds a = r1-r2, b = r2-r3, c = r3-r4, with PeriodicTorsionForce's sign. */
double dihedralOf(const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 m = a.cross(b), n = b.cross(c);
    return -std::atan2(length(b) * a.dot(n), m.dot(n));
}

/** Coordinates with the minimum image, which is found by trying all images near by. */
struct Geometry {
    bool periodic;
    Vec3 box[3];

    Vec3 separation(const Vectors& x, int i, int j) const {
        const Vec3 r = x[i] - x[j];
        Vec3 shortest = r;
        const int images = periodic ? 3 : 0; // particles are moved by up to one box each way
        for (int a = -images; a <= images; a++)
            for (int b = -images; b <= images; b++)
                for (int c = -images; c <= images; c++) {
                    const Vec3 image = r + box[0] * a + box[1] * b + box[2] * c;
                    if (image.dot(image) < shortest.dot(shortest))
                        shortest = image;
                }
        return shortest;
    }
    double distance(const Vectors& x, int i, int j) const {
        return length(separation(x, i, j));
    }
    double angle(const Vectors& x, int i, int j, int k) const {
        return angleAt(separation(x, i, j), separation(x, k, j));
    }
    double dihedral(const Vectors& x, int i, int j, int k, int l) const {
        return dihedralOf(separation(x, i, j), separation(x, j, k), separation(x, k, l));
    }
};

/** Draws a Mixture at random. */
class MixtureBuilder {
public:
    MixtureBuilder(unsigned seed, bool periodic, bool moving)
        : random(seed), isMoving(moving), geometry{periodic, {Vec3(7, 0, 0), Vec3(-2, 7.5, 0), Vec3(1.5, 2.5, 8)}} {
        mixture.system = std::make_unique<System>();
        force = addForce(new ConstraintForce());
        second = addForce(new ConstraintForce());
        if (periodic)
            mixture.system->setDefaultPeriodicBoxVectors(geometry.box[0], geometry.box[1], geometry.box[2]);
    }
    Mixture draw() {
        // One block of each kind, two of some, apart from each other in a grid of cells.
        std::vector<std::function<void()>> kinds = {[&] { linear(); },      [&] { planar(); }, [&] { body(); },
                                                    [&] { molecule(); },    [&] { chain(); },  [&] { straightAngle(); },
                                                    [&] { freeParticle(); }};
        for (std::size_t kind = 0; kind < kinds.size(); kind++)
            for (int copy = random.below(2); copy < 2; copy++)
                kinds[kind]();
        constrainWithinBlocks();
        for (int link = 0; link < 12; link++)
            constrainBetweenBlocks(link % 6);
        springs();
        for (std::size_t i = 0; i < x.size(); i++)
            if (mixture.system->getParticleMass((int) i) > 0)
                v.push_back(vector(0.3));
            else
                v.emplace_back();
        if (geometry.periodic)
            for (std::size_t i = 0; i < x.size(); i++)
                if (!isNotWrapped.count((int) i))
                    for (const Vec3& side : geometry.box)
                        x[i] += side * (random.below(3) - 1);
        mixture.positions = x;
        mixture.velocities = v;
        return std::move(mixture);
    }

private:
    /** Particles that belong together, and the number of further constraints that they can have. */
    struct Block {
        std::vector<int> particles;
        int constraintsLeft;
    };

    template <class ForceType>
    ForceType* addForce(ForceType* made) {
        made->setUsesPeriodicBoundaryConditions(geometry.periodic);
        mixture.system->addForce(made);
        return made;
    }
    Vec3 vector(double size) {
        const Real3 r = random.inCube(size);
        return {r.x, r.y, r.z};
    }
    // ---- constraints, each with its check

    void check(const std::string& name, const std::vector<int>& particles,
               std::function<double(const Vectors&, double)> error) {
        std::ostringstream full;
        full << name;
        for (int p : particles)
            full << ' ' << p;
        mixture.checks.push_back({full.str(), particles, std::move(error)});
    }
    double drawRate(bool moves, double largest) {
        const double rate = moves ? random.uniform(-largest, largest) : 0;
        return isMoving ? rate : 0;
    }
    std::string timeTerm(double rate) const {
        std::ostringstream text;
        text.precision(17);
        text << " + (" << rate << ")*t";
        return isMoving ? text.str() : "";
    }
    ConstraintForce* eitherForce() {
        return random.below(2) ? force : second;
    }
    bool isMovable(int p) const {
        return mixture.system->getParticleMass(p) > 0;
    }
    void distance(int i, int j, bool moves = false) {
        const double d = geometry.distance(x, i, j), rate = drawRate(moves, 0.1);
        if (!moves && isMovable(i) && isMovable(j) && random.below(3) == 0)
            mixture.system->addConstraint(i, j, d);
        else
            eitherForce()->addDistance(i, j, d, rate);
        check("distance", {i, j}, [=, g = geometry](const Vectors& at, double t) {
            return std::abs(g.distance(at, i, j) / (d + rate * t) - 1);
        });
    }
    void angle(int i, int j, int k, bool moves = false) {
        const double value = geometry.angle(x, i, j, k), rate = drawRate(moves, 0.5);
        eitherForce()->addAngle(i, j, k, value, rate);
        check("angle", {i, j, k}, [=, g = geometry](const Vectors& at, double t) {
            return std::abs(g.angle(at, i, j, k) - value - rate * t);
        });
    }
    void dihedral(int i, int j, int k, int l, bool moves = false) {
        const double value = geometry.dihedral(x, i, j, k, l), rate = drawRate(moves, 0.5);
        eitherForce()->addDihedral(i, j, k, l, value, rate);
        check("dihedral", {i, j, k, l}, [=, g = geometry](const Vectors& at, double t) {
            return std::abs(std::remainder(g.dihedral(at, i, j, k, l) - value - rate * t, 2 * M_PI));
        });
    }
    bool isWellBent(int i, int j, int k) const {
        const double a = geometry.angle(x, i, j, k);
        return a > 0.6 && a < 2.5;
    }
    void centroids(const std::vector<int>& a, const std::vector<int>& b, bool moves = false) {
        // w_p of sum_p w_p x_p, from the centre of one group to that of the other
        std::vector<std::pair<int, double>> weights;
        for (const std::vector<int>& group : {a, b}) {
            double mass = 0;
            for (int p : group)
                mass += mixture.system->getParticleMass(p);
            for (int p : group)
                weights.emplace_back(p,
                                     (weights.size() < a.size() ? 1 : -1) * mixture.system->getParticleMass(p) / mass);
        }
        const auto separation = [weights](const Vectors& at) {
            Vec3 sum;
            for (const auto& [p, w] : weights)
                sum += at[p] * w;
            return length(sum);
        };
        const double d = separation(x), rate = drawRate(moves, 0.1);
        if (d < 0.05)
            return;
        eitherForce()->addCentroidDistance(a, b, d, rate);
        std::vector<int> all = a;
        all.insert(all.end(), b.begin(), b.end());
        doNotWrap(all);
        check("centroids", all,
              [=](const Vectors& at, double t) { return std::abs(separation(at) / (d + rate * t) - 1); });
    }
    /** A linear function of all coordinates with a small quadratic term or, if internal, a function of distances. */
    void expression(const std::vector<int>& particles, bool isInternal, bool moves = false) {
        const int n = (int) particles.size();
        std::vector<Vec3> weights;
        for (int i = 0; i < n; i++)
            weights.push_back(vector(1));
        const double quadratic = random.uniform(0.1, 0.3), rate = drawRate(moves, 0.1);
        std::ostringstream text;
        text.precision(17);
        if (isInternal)
            text << "distance(p1,p" << n << ")^2 - distance(p" << (n + 1) / 2 << ",p" << n << ")";
        else {
            text << quadratic << "*(x1^2+y" << n << "*z1)";
            for (int i = 0; i < n; i++)
                text << " + (" << weights[i][0] << ")*x" << i + 1 << " + (" << weights[i][1] << ")*y" << i + 1 << " + ("
                     << weights[i][2] << ")*z" << i + 1;
        }
        text << timeTerm(rate) << " - q";
        const auto value = [=](const Vectors& at) {
            if (isInternal) {
                const Vec3 a = at[particles[0]] - at[particles[n - 1]],
                           b = at[particles[(n + 1) / 2 - 1]] - at[particles[n - 1]];
                return a.dot(a) - length(b);
            }
            const Vec3 &first = at[particles[0]], &last = at[particles[n - 1]];
            double sum = quadratic * (first[0] * first[0] + last[1] * first[2]);
            for (int i = 0; i < n; i++)
                sum += weights[i].dot(at[particles[i]]);
            return sum;
        };
        const double q = value(x);
        auto* custom = addForce(new CustomConstraintForce(n, text.str()));
        custom->addPerConstraintParameter("q");
        custom->addConstraint(particles, {q});
        checkExpression(particles, value, rate, q);
    }
    /** A linear function of two centroids, one by given weights and one by masses, with a small quadratic term. */
    void centroidExpression(const std::vector<int>& a, const std::vector<int>& b, bool moves) {
        std::vector<double> weights, masses;
        for (std::size_t i = 0; i < a.size(); i++)
            weights.push_back(random.uniform(0.2, 1));
        for (int p : b)
            masses.push_back(mixture.system->getParticleMass(p));
        const Vec3 u = vector(1), w = vector(1);
        const double rate = drawRate(moves, 0.1);
        std::ostringstream text;
        text.precision(17);
        text << "0.2*(x1^2+y2*z1)" << timeTerm(rate) << " - q";
        for (int axis = 0; axis < 3; axis++)
            text << " + (" << u[axis] << ")*"
                 << "xyz"[axis] << "1 + (" << w[axis] << ")*"
                 << "xyz"[axis] << "2";
        const auto centre = [](const Vectors& at, const std::vector<int>& group, const std::vector<double>& weights) {
            Vec3 sum;
            double total = 0;
            for (std::size_t i = 0; i < group.size(); i++) {
                sum += at[group[i]] * weights[i];
                total += weights[i];
            }
            return sum / total;
        };
        const auto value = [=](const Vectors& at) {
            const Vec3 first = centre(at, a, weights), second = centre(at, b, masses);
            return 0.2 * (first[0] * first[0] + second[1] * first[2]) + u.dot(first) + w.dot(second);
        };
        const auto part = [](const std::vector<double>& weights) { // sum_i w_i^2 of weights of sum 1
            double sum = 0, squares = 0;
            for (double weight : weights) {
                sum += weight;
                squares += weight * weight;
            }
            return squares / (sum * sum);
        };
        const double q = value(x);
        auto* custom = addForce(new CustomCentroidConstraintForce(2, text.str()));
        custom->addPerConstraintParameter("q");
        custom->addConstraint({custom->addGroup(a, weights), custom->addGroup(b)}, {q});
        std::vector<int> all = a;
        all.insert(all.end(), b.begin(), b.end());
        checkExpression(all, value, rate, q, std::sqrt(std::max(part(weights), part(masses))));
    }
    template <class Value>
    void checkExpression(const std::vector<int>& particles, Value value, double rate, double q, double factor = 1) {
        doNotWrap(particles);
        check("expression", particles, [=](const Vectors& at, double t) {
            Vectors moved = at;
            double square = 0;
            for (int p : particles)
                for (int axis = 0; axis < 3; axis++) {
                    const double h = 1e-5;
                    moved[p][axis] = at[p][axis] + h;
                    double slope = value(moved);
                    moved[p][axis] = at[p][axis] - h;
                    slope = (slope - value(moved)) / (2 * h);
                    moved[p][axis] = at[p][axis];
                    square += slope * slope;
                }
            return factor * std::abs(value(at) + rate * t - q) / std::sqrt(square);
        });
    }
    void doNotWrap(const std::vector<int>& particles) {
        isNotWrapped.insert(particles.begin(), particles.end());
    }

    // ---- blocks

    Block& addBlock(const Vectors& shape, int constraintsLeft) {
        const Real3 e = random.direction(), f = random.direction();
        const Vec3 a = Vec3(e.x, e.y, e.z), g = Vec3(f.x, f.y, f.z), c = a.cross(g) / length(a.cross(g)),
                   b = c.cross(a);
        const int cell = (int) blocks.size();
        const Vec3 place = Vec3(cell % 3, cell / 3 % 3, cell / 9) * 0.75 + vector(0.1) + Vec3(0.3, 0.3, 0.3);
        blocks.push_back({{}, constraintsLeft});
        for (const Vec3& r : shape) {
            blocks.back().particles.push_back(mixture.system->addParticle(random.uniform(1, 40)));
            x.push_back(place + a * r[0] + b * r[1] + c * r[2]);
        }
        return blocks.back();
    }
    void allDistances(const std::vector<int>& p) {
        for (std::size_t i = 0; i < p.size(); i++)
            for (std::size_t j = 0; j < i; j++)
                distance(p[i], p[j]);
    }
    /** Three to five particles on a line, by distances or by bonds and angles of 180 degrees. */
    void linear() {
        Vectors shape(1);
        for (int n = 2 + random.below(3); n > 0; n--)
            shape.push_back(shape.back() + Vec3(random.uniform(0.1, 0.15), 0, 0));
        const std::vector<int> p = addBlock(shape, 3).particles;
        const int how = random.below(3);
        if (how == 0)
            allDistances(p);
        else
            for (std::size_t i = 1; i < p.size(); i++) {
                distance(p[i - 1], p[i]);
                if (i > 1 && how == 1)
                    distance(p[i - 2], p[i]);
                else if (i > 1)
                    angle(p[i - 2], p[i - 1], p[i]);
            }
    }
    /** Benzene, a regular ring, or points of a plane at random: by all distances, or by 1-2 and 1-3 ones. */
    void planar() {
        Vectors shape;
        const int how = random.below(3), n = how == 2 ? 4 + random.below(4) : 6;
        for (double radius : {0.139, 0.248})
            for (int i = 0; i < n && (radius < 0.2 || how == 0); i++) {
                const double r = how == 2 ? random.uniform(0.1, 0.2) : radius;
                shape.emplace_back(r * std::cos(2 * M_PI * i / n), r * std::sin(2 * M_PI * i / n), 0);
            }
        const std::vector<int> p = addBlock(shape, 4).particles;
        const bool all = how == 2 || random.below(2);
        for (std::size_t i = 0; i < p.size(); i++)
            for (std::size_t j = 0; j < i; j++)
                if (all || length(x[p[i]] - x[p[j]]) < 0.26)
                    distance(p[i], p[j]);
    }
    /** A rigid body that is declared by its shape: linear, planar or three-dimensional. */
    void body() {
        Vectors shape;
        const int dimension = 1 + random.below(3);
        for (int n = 2 + dimension + random.below(3); n > 0; n--) {
            Vec3 r = vector(0.1) + Vec3(0.12 * n, 0, 0);
            for (int axis = dimension; axis < 3; axis++)
                r[axis] = 0;
            shape.push_back(r);
        }
        const std::vector<int> p = addBlock(shape, dimension == 1 ? 3 : 4).particles;
        eitherForce()->addRigidBody(p, shape);
        for (std::size_t i = 0; i < p.size(); i++)
            for (std::size_t j = 0; j < i; j++) {
                const double d = length(shape[i] - shape[j]);
                check("body", {p[i], p[j]}, [a = p[i], b = p[j], d, g = geometry](const Vectors& at, double) {
                    return std::abs(g.distance(at, a, b) / d - 1);
                });
            }
    }
    /** Water, or a tetrahedron by six distances. */
    void molecule() {
        Vectors shape = {Vec3(), Vec3(0.1, 0, 0), Vec3(-0.03, 0.09, 0)};
        if (random.below(2))
            shape.emplace_back(0.02, 0.03, 0.1);
        allDistances(addBlock(shape, 4).particles);
    }
    /** A chain with fixed and free bonds, angles and dihedrals, at times anchored. */
    void chain() {
        Vectors shape(1);
        const int n = 5 + random.below(3);
        for (int i = 1; i < n; i++)
            shape.push_back(shape.back() + Vec3(0.12, i % 2 ? 0.08 : -0.08, 0.05 * (i % 3) - 0.05) + vector(0.01));
        const std::vector<int> p = addBlock(shape, 3).particles;
        if (random.below(2))
            mixture.system->setParticleMass(p[0], 0);
        for (int i = 1; i < n; i++) {
            if (i == 1 || random.below(3) > 0)
                distance(p[i - 1], p[i], i > 1 && random.below(4) == 0);
            if (i > 1 && random.below(2))
                angle(p[i - 2], p[i - 1], p[i], random.below(3) == 0);
            if (i > 2 && random.below(2))
                dihedral(p[i - 3], p[i - 2], p[i - 1], p[i], random.below(3) == 0);
        }
    }
    /** An angle of 180 degrees between free bonds. */
    void straightAngle() {
        const std::vector<int> p = addBlock({Vec3(), Vec3(0.12, 0, 0), Vec3(0.26, 0, 0)}, 4).particles;
        angle(p[0], p[1], p[2]);
    }
    /** A particle that only constraints between blocks may hold. */
    void freeParticle() {
        addBlock({Vec3()}, 2);
    }

    // ---- constraints within and between blocks

    std::vector<int> someOf(std::vector<int> all, int n) {
        for (int i = 0; i < n; i++)
            std::swap(all[i], all[i + random.below((int) all.size() - i)]);
        all.resize(n);
        return all;
    }
    std::vector<int> movableOf(const Block& block) const {
        std::vector<int> movable;
        std::copy_if(block.particles.begin(), block.particles.end(), std::back_inserter(movable),
                     [&](int p) { return isMovable(p); });
        return movable;
    }
    /** Constraints whose particles all belong to one block. */
    void constrainWithinBlocks() {
        for (Block& block : blocks) {
            const int n = (int) block.particles.size();
            const bool isRigid = n >= 3 && block.constraintsLeft == 4; // or nearly so
            if (random.below(2) == 0 && isRigid && n >= 4 &&
                length(x[block.particles[0]] - x[block.particles[1]]) < 0.2)
                addRedundant(block.particles);
            if (random.below(2) == 0) {
                expression(someOf(block.particles, 1 + random.below(n)), false);
                block.constraintsLeft--;
            }
        }
    }
    /** Constraints within a block that is rigid, or nearly so. */
    void addRedundant(const std::vector<int>& p) {
        if (isWellBent(p[0], p[1], p[2]) && isWellBent(p[1], p[2], p[3]))
            dihedral(p[0], p[1], p[2], p[3]);
        centroids({p[0], p[1]}, {p[2], p[3]});
        expression(p, true);
    }
    /** A constraint of some kind whose particles belong to several blocks. */
    void constrainBetweenBlocks(int kind) {
        const bool moves = random.below(3) == 0;
        std::vector<Block*> open;
        for (Block& block : blocks)
            if (block.constraintsLeft > 1 && !movableOf(block).empty())
                open.push_back(&block);
        const int wanted = std::vector<int>{2, 3, 4, 2, 3, 4}[kind];
        if ((int) open.size() < wanted)
            return;
        for (int i = 0; i < wanted; i++)
            std::swap(open[i], open[i + random.below((int) open.size() - i)]);
        open.resize(wanted);
        std::vector<int> p;
        for (Block* block : open)
            p.push_back(someOf(movableOf(*block), 1)[0]);
        const std::size_t before = mixture.checks.size();
        if (kind == 0)
            distance(p[0], p[1], moves);
        else if (kind == 1 && isWellBent(p[0], p[1], p[2]))
            angle(p[0], p[1], p[2], moves);
        else if (kind == 2 && isWellBent(p[0], p[1], p[2]) && isWellBent(p[1], p[2], p[3]))
            dihedral(p[0], p[1], p[2], p[3], moves);
        else if (kind == 3)
            centroids(movableOf(*open[0]), movableOf(*open[1]), moves);
        else if (kind == 5) {
            std::vector<int> others = movableOf(*open[1]);
            others.push_back(p[2]);
            centroidExpression(movableOf(*open[0]), others, moves);
        } else if (kind > 3) {
            std::vector<int> all;
            for (Block* block : open)
                for (int i : movableOf(*block))
                    all.push_back(i);
            expression(someOf(all, std::min((int) all.size(), 1 + random.below(12))), false, moves);
        }
        if (mixture.checks.size() > before)
            for (Block* block : open)
                block->constraintsLeft--;
    }
    void springs() {
        auto* bonds = new HarmonicBondForce();
        bonds->setUsesPeriodicBoundaryConditions(geometry.periodic);
        for (std::size_t i = 0; i < x.size(); i++) {
            const int j = random.below((int) x.size());
            if (j != (int) i)
                bonds->addBond((int) i, j, (float) (1.1 * length(x[i] - x[j])), 300);
        }
        mixture.system->addForce(bonds);
    }

    Random random;
    const bool isMoving;
    const Geometry geometry;
    Mixture mixture;
    ConstraintForce *force, *second;
    std::vector<Block> blocks;
    Vectors x, v;
    std::set<int> isNotWrapped;
};

} // namespace

testing::AssertionResult Mixture::holds(const Vectors& x, double time, double tolerance) const {
    auto result = testing::AssertionSuccess();
    for (const Check& check : checks) {
        const double error = check.error(x, time);
        if (!(error <= tolerance)) {
            if (result)
                result = testing::AssertionFailure();
            result << check.name << " is off by " << error << ", tolerance " << tolerance << "; ";
        }
    }
    return result;
}

Mixture drawMixture(unsigned seed, bool periodic, bool moving) {
    return MixtureBuilder(seed, periodic, moving).draw();
}

} // namespace ConstraintTests
