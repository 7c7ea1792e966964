// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BodyLoops.h"
#include "Lanes.h"

namespace ConstraintPlugin::bodyLoops {

namespace {

using Vector = PaddedVector;

CONSTRAINTS_INLINE Vector load(const Real3& a) {
    return Vector{a.x, a.y, a.z, 0};
}
CONSTRAINTS_INLINE void store(const Vector& a, Real3& to) {
    to.x = a[0];
    to.y = a[1];
    to.z = a[2];
}

/** t + s1 p1 + s2 p2 + s3 p3 in registers. */
struct Affine {
    Vector t, p1, p2, p3;
    CONSTRAINTS_INLINE Affine(const Real3& t, const Real3& p1, const Real3& p2, const Real3& p3)
        : t(load(t)), p1(load(p1)), p2(load(p2)), p3(load(p3)) {
    }
    CONSTRAINTS_INLINE Vector operator()(const Real3& s) const {
        return t + s.x * p1 + s.y * p2 + s.z * p3;
    }
};

CONSTRAINTS_INLINE Affine affine(const rigid::RigidMotion& motion) {
    return {motion.t, motion.p1, motion.p2, motion.p3};
}

/** Moments in registers. */
struct Sum {
    Vector total{}, first{}, second{}, third{};
    CONSTRAINTS_INLINE void add(const BodyPlace& place, const Vector& y) {
        const Vector my = place.mass * y;
        total += my;
        first += place.shape.x * my;
        second += place.shape.y * my;
        third += place.shape.z * my;
    }
    CONSTRAINTS_INLINE void store(rigid::Moments& moments) const {
        bodyLoops::store(total, moments.total);
        bodyLoops::store(first, moments.first);
        bodyLoops::store(second, moments.second);
        bodyLoops::store(third, moments.third);
    }
};

/** Positions relative to a reference. */
struct Relative {
    const Real3* positions;
    const Box& box;
    Vector reference;
    CONSTRAINTS_INLINE Relative(const Real3* positions, const Real3& reference, const Box& box)
        : positions(positions), box(box), reference(load(reference)) {
    }
    template <bool isPeriodic>
    CONSTRAINTS_INLINE Vector of(int particle) const {
        const Vector r = load(positions[particle]) - reference;
        if constexpr (isPeriodic) {
            Real3 image;
            store(r, image);
            return load(box.minimumImage(image));
        }
        return r;
    }
};

template <bool isPeriodic>
CONSTRAINTS_CLONES void findMomentsOf(const BodyRange& range, const Real3* positions, const Real3& reference,
                                      const Box& box, const Real3* field, rigid::Moments& ofPlaces,
                                      rigid::Moments& ofField) {
    const Relative relative(positions, reference, box);
    Sum place, moved;
    for (int i = 0; i < range.count; i++) {
        const int p = range.particles[i];
        const BodyPlace& at = range.places[i];
        if (at.mass == 0) // whose velocity may be anything
            continue;
        place.add(at, relative.template of<isPeriodic>(p));
        moved.add(at, load(field[p]));
    }
    place.store(ofPlaces);
    moved.store(ofField);
}

CONSTRAINTS_CLONES void findMomentsOfField(const BodyRange& range, const Real3* field, rigid::Moments& moments) {
    Sum sum;
    for (int i = 0; i < range.count; i++)
        if (range.places[i].mass != 0)
            sum.add(range.places[i], load(field[range.particles[i]]));
    sum.store(moments);
}

template <bool isPeriodic, bool hasPlaces, bool hasVelocities>
CONSTRAINTS_CLONES void displaceBy(const BodyRange& range, const rigid::RigidMotion& motion, const Frame& frame,
                                   const Real3* positions, const Real3& reference, const Box& box, Real3* delta,
                                   double perTime, Real3* velocity, Real3* impulses) {
    const Relative relative(positions, reference, box);
    const Affine displacementOf = affine(motion), placeOf(frame.origin, frame.axes.e1, frame.axes.e2, frame.axes.e3);
    for (int i = 0; i < range.count; i++) {
        const BodyPlace& at = range.places[i];
        if (at.mass == 0)
            continue;
        const int p = range.particles[i];
        Vector displacement = displacementOf(at.shape);
        const Vector change = displacement - load(delta[p]);
        store(at.mass * change, impulses[i]);
        if constexpr (hasVelocities)
            store(load(velocity[p]) + perTime * change, velocity[p]);
        if constexpr (hasPlaces) // what rounding of positions moved it from its place; this is no impulse
            displacement += placeOf(at.shape) - relative.template of<isPeriodic>(p);
        store(displacement, delta[p]);
    }
}

CONSTRAINTS_CLONES void setVelocitiesTo(const BodyRange& range, const rigid::RigidMotion& motion, Real3* velocity,
                                        Real3* impulses) {
    const Affine velocityOf = affine(motion);
    for (int i = 0; i < range.count; i++) {
        const BodyPlace& at = range.places[i];
        if (at.mass == 0)
            continue;
        Real3& v = velocity[range.particles[i]];
        const Vector tangent = velocityOf(at.shape);
        store(at.mass * (tangent - load(v)), impulses[i]);
        store(tangent, v);
    }
}

} // namespace

void findMoments(const BodyRange& range, const Real3* positions, const Real3& reference, const Box& box,
                 const Real3* field, rigid::Moments& ofPlaces, rigid::Moments& ofField) {
    if (box.isEmpty())
        findMomentsOf<false>(range, positions, reference, box, field, ofPlaces, ofField);
    else
        findMomentsOf<true>(range, positions, reference, box, field, ofPlaces, ofField);
}

void findMoments(const BodyRange& range, const Real3* field, rigid::Moments& ofField) {
    findMomentsOfField(range, field, ofField);
}

void displace(const BodyRange& range, const rigid::RigidMotion& motion, const Frame* frame, const Real3* positions,
              const Real3& reference, const Box& box, Real3* delta, double perTime, Real3* velocity, Real3* impulses) {
    const auto choose = [&](auto hasVelocities) {
        constexpr bool v = decltype(hasVelocities)::value;
        return frame == nullptr ? displaceBy<false, false, v>
               : box.isEmpty()  ? displaceBy<false, true, v>
                                : displaceBy<true, true, v>;
    };
    static const Frame none;
    const auto loop = velocity == nullptr ? choose(std::false_type()) : choose(std::true_type());
    loop(range, motion, frame == nullptr ? none : *frame, positions, reference, box, delta, perTime, velocity,
         impulses);
}

void setVelocities(const BodyRange& range, const rigid::RigidMotion& motion, Real3* velocity, Real3* impulses) {
    setVelocitiesTo(range, motion, velocity, impulses);
}

} // namespace ConstraintPlugin::bodyLoops
