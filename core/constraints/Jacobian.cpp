// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Jacobian.h"
#include "JoinedRows.h"

namespace ConstraintPlugin {

Jacobian::~Jacobian() = default;
Jacobian::Jacobian(Jacobian&&) noexcept = default;

Jacobian::Jacobian(const ConstraintSet& set, const std::vector<int>& rows) : numParticles(set.numParticles()) {
    slotStart.push_back(0);
    std::size_t largest = 0;
    std::vector<int> withBodies;
    for (int k : rows) {
        const Constraint& c = set.constraints[k];
        const int row = numRows();
        for (int node : set.nodesOf(c)) {
            particle.push_back(node);
            inverseMass.push_back(set.inverseMassOf(node));
        }
        joinedRow.push_back(set.isJoined(c) ? (int) withBodies.size() : -1);
        if (set.isJoined(c))
            withBodies.push_back(k);
        slotStart.push_back((int) particle.size());
        target.push_back(c.target);
        inverseScale.push_back(1 / set.scale(c));
        kind.push_back(c.kind);
        periodic.push_back(c.periodic);
        largest = std::max(largest, c.particles.size());
        if (set.isMoving(c))
            movingRows.push_back({row, c.target, c.rate, c.startTime});
        if (c.parameter >= 0)
            interpolatedRows.push_back({row, k});
        if (isListed(c.kind))
            continue;
        special.resize(rows.size());
        special[row] = (int) specials.size();
        specials.emplace_back();
        Special& extra = specials.back();
        if (c.kind == CoordinateKind::LinearAngle)
            extra.component = c.form;
        if (c.kind == CoordinateKind::AffinePosition) {
            extra.direction = set.affine[c.form].axis;
            extra.weights = set.affine[c.form].weights; // w_s = sum_(b>s) C_b
            for (int s = (int) extra.weights.size() - 2; s >= 0; s--)
                extra.weights[s] += extra.weights[s + 1];
        }
        if (c.kind == CoordinateKind::Custom) {
            extra.custom = set.custom[c.form];
            const auto first = set.parameters.begin() + c.firstParameter;
            extra.parameters.assign(first, first + (std::ptrdiff_t) extra.custom->numParameters());
            extra.place.resize(c.size());
        }
    }
    if (!withBodies.empty())
        joined = std::make_unique<JoinedRows>(set, withBodies);
    start.resize(particle.size());
    current.resize(particle.size());
    value.resize(rows.size());
    timeDerivative.resize(rows.size());
    bond.resize(particle.size() - rows.size());
    if (!specials.empty()) {
        bondBuffer.resize(largest);
        gradientBuffer.resize(largest);
    }
}

int Jacobian::setStart(const Real3* positions, const Box& box, double time) {
    return setStart(positions, box, time, {{0, numRows()}});
}

int Jacobian::setStart(const Real3* positions, const Box& box, double time, const std::vector<RowRange>& ranges) {
    stepState.box = box;
    if (joined != nullptr)
        joined->setStart(positions, box, time);
    setTime(time);
    int bad = -1;
    for (const RowRange& range : ranges) {
        const int badOne = setRows(positions, box, range);
        bad = bad < 0 ? badOne : bad;
    }
    for (const MovingRow& moving : movingRows) {
        const int row = moving.row;
        timeDerivative[row] = -moving.rate;
        if (isJoined(row))
            timeDerivative[row] = joined->onParticles.timeDerivative[joinedRow[row]];
        else if (hasLengthAsError(row)) {
            const Special& extra = specials[special[row]];
            timeDerivative[row] += extra.custom->timeDerivative(extra.place.data(), extra.parameters.data(), stepState);
        }
    }
    return bad;
}

int Jacobian::setRows(const Real3* positions, const Box& box, const RowRange& range) {
    int bad = -1;
    for (int row = range.begin; row < range.end; row++) {
        const int first = slotStart[row], size = slotStart[row + 1] - first;
        Real3* b = bond.data() + (first - row); // a row of one particle has no bond vector
        const bool isLong = kind[row] == CoordinateKind::Distance && target[row] > box.halfWidth();
        const bool useImage = periodic[row] && !isLong;
        auto takeBonds = [&](int numBonds) {
            for (int s = 0; s < numBonds; s++) {
                b[s] = positions[particle[first + s]] - positions[particle[first + s + 1]];
                if (useImage)
                    b[s] = box.minimumImage(b[s]);
            }
        };
        if (isJoined(row)) {
            const int number = joinedRow[row];
            joined->startGradient(number, &start[first]);
            value[row] = joined->onParticles.startValue(number);
            inverseScale[row] = joined->onParticles.inverseScale[number];
        } else if (!isSpecial(row))
            value[row] = forPlainSize(row, [&](auto n) {
                takeBonds(n() - 1);
                return evaluateAt<n()>(row, b, &start[first]);
            });
        else {
            Special& extra = specials[special[row]];
            if (kind[row] != CoordinateKind::Custom) // which has places instead
                takeBonds(size - 1);
            for (std::size_t s = 0; s < extra.place.size(); s++)
                extra.place[s] = positions[particle[first + s]];
            if (kind[row] == CoordinateKind::LinearAngle)
                extra.direction = perpendicular(b[0] + b[1], extra.component);
            value[row] = evaluateSpecialAt(row, b, extra.place.data(), &start[first]);
            if (hasLengthAsError(row))
                inverseScale[row] = inverseNorm(row, start);
        }
        const double size2 = diagonal(row, start.data());
        if (bad < 0 && !(std::isfinite(size2 + value[row]) && (size2 > 0 || kind[row] != CoordinateKind::Custom)))
            bad = row;
    }
    return bad;
}

void Jacobian::setTime(double time) {
    stepState.time = time;
    if (joined != nullptr)
        joined->onParticles.setTime(time);
    for (const MovingRow& moving : movingRows) {
        target[moving.row] = moving.target + moving.rate * (time - moving.startTime);
        if (isDistance(moving.row))
            inverseScale[moving.row] = 1 / target[moving.row];
    }
}

void Jacobian::takeTargets(const ConstraintSet& set) {
    if (joined != nullptr)
        joined->onParticles.takeTargets(set);
    auto moving = movingRows.begin(); // both lists are in the order of rows
    for (const auto& [row, constraint] : interpolatedRows) {
        target[row] = set.constraints[constraint].target;
        if (isDistance(row))
            inverseScale[row] = 1 / target[row];
        while (moving != movingRows.end() && moving->row < row)
            ++moving;
        if (moving != movingRows.end() && moving->row == row)
            moving->target = target[row];
    }
}

double Jacobian::evaluateJoined(int row, const Real3* nodes) {
    return joined->evaluate(joinedRow[row], nodes, &current[slotStart[row]]);
}

bool Jacobian::isFolded(int row) const {
    return isJoined(row) ? joined->onParticles.isFolded(joinedRow[row]) : specials[special[row]].isFolded;
}

double Jacobian::evaluateSpecial(int row, const Real3* displacement) {
    const int first = slotStart[row], size = slotStart[row + 1] - first;
    Real3* const buffer = bondBuffer.data();
    if (kind[row] == CoordinateKind::Custom) {
        const Special& extra = specials[special[row]];
        for (int s = 0; s < size; s++)
            buffer[s] = extra.place[s] + displacement[particle[first + s]];
    } else
        for (int s = 0; s < size - 1; s++)
            buffer[s] =
                bond[first - row + s] + (displacement[particle[first + s]] - displacement[particle[first + s + 1]]);
    return evaluateSpecialAt(row, buffer, buffer, &current[first]);
}

double Jacobian::evaluateSpecialAt(int row, const Real3* b, const Real3* x, Real3* gradient) {
    Special& extra = specials[special[row]];
    const int size = slotStart[row + 1] - slotStart[row];
    if (kind[row] == CoordinateKind::Custom)
        return extra.custom->evaluate(x, extra.parameters.data(), stepState, gradient);
    Real3* const G = gradientBuffer.data();
    double q;
    if (kind[row] == CoordinateKind::LinearAngle) {
        q = plain::linearAngleCoordinate(b, extra.direction, G);
        extra.isFolded = !(dot(b[0], b[1]) > 0);
    } else
        q = plain::affinePositionCoordinate(size - 1, b, extra.weights.data(), extra.direction, G);
    toParticles(size, G, gradient);
    return q;
}

double Jacobian::inverseNorm(int row) const {
    return isJoined(row) ? joined->onParticles.inverseNorm(joinedRow[row]) : inverseNorm(row, current);
}

double Jacobian::inverseNorm(int row, const std::vector<Real3>& gradients) const {
    const double square = sumSlots(row, [&](int s) { return dot(gradients[s], gradients[s]); });
    return specials[special[row]].custom->errorFactor() / std::sqrt(square);
}

double Jacobian::curvature(int row, const Real3* velocity, double scale) const {
    const int first = slotStart[row];
    if (isJoined(row))
        return joined->curvature(joinedRow[row], velocity, scale);
    if (kind[row] == CoordinateKind::AffinePosition)
        return 0.0;
    if (kind[row] == CoordinateKind::Custom) {
        const Special& extra = specials[special[row]];
        std::vector<Real3> v(extra.place.size());
        for (std::size_t s = 0; s < v.size(); s++)
            v[s] = scale * velocityOf(first + (int) s, velocity);
        return extra.custom->curvature(extra.place.data(), v.data(), extra.parameters.data(), stepState);
    }
    const Real3* b = &bond[first - row];
    const int numBonds = slotStart[row + 1] - first - 1;
    Real3 rate[3];
    for (int s = 0; s < numBonds; s++)
        rate[s] = scale * (velocityOf(first + s, velocity) - velocityOf(first + s + 1, velocity));
    if (kind[row] == CoordinateKind::LinearAngle)
        return plain::linearAngleCurvature(b, rate, specials[special[row]].direction);
    return coordinateCurvature(kind[row], b, rate);
}

void Jacobian::addForce(int row, double multiplier, Real3* force) const {
    if (isJoined(row)) {
        joined->forEachGradient(joinedRow[row],
                                [&](int p, const auto&, const Real3& g) { force[p] += multiplier * g; });
        return;
    }
    for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
        force[particle[s]] += multiplier * start[s];
}

void Jacobian::addVirial(int row, double multiplier, double* tensor) const {
    if (isJoined(row)) {
        joined->onParticles.addVirial(joinedRow[row], multiplier, tensor);
        return;
    }
    const int first = slotStart[row], size = slotStart[row + 1] - first;
    auto add = [&](const Real3& r, const Real3& gradient) {
        const double x[3] = {r.x, r.y, r.z}, g[3] = {gradient.x, gradient.y, gradient.z};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                tensor[3 * i + j] += multiplier * x[i] * g[j];
    };
    if (kind[row] == CoordinateKind::Custom) {
        const Special& extra = specials[special[row]];
        const std::vector<Real3>& place = extra.place;
        Real3 sum;
        double sumOfSquares = 0;
        for (int s = first; s < first + size; s++) {
            sum += start[s];
            sumOfSquares += dot(start[s], start[s]);
        }
        if (dot(sum, sum) < 1e-16 * sumOfSquares)
            extra.custom->addInternalVirial(place.data(), extra.parameters.data(), stepState, multiplier, tensor);
        else
            for (int s = 0; s < size; s++)
                add(place[s], start[first + s]);
        return;
    }
    Real3 G; // sum_i r_i (x) grad_i q = sum_s b_s (x) G_s
    for (int s = 0; s < size - 1; s++) {
        G += start[first + s];
        add(bond[first + s - row], G);
    }
}

} // namespace ConstraintPlugin
