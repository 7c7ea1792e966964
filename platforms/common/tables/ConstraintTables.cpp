// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintTables.h"
#include "CentroidDistance.h"
#include <algorithm>
#include <map>
#include <numeric>

namespace ConstraintPlugin {

namespace {

/** Sort by keys 0 ... numKeys-1 and keep the order of equal ones. @return [numKeys] where each key's items end */
template <class T, class Key>
std::vector<int> sortStably(std::vector<T>& items, int numKeys, Key key) {
    std::vector<int> next(numKeys + 1);
    for (const T& item : items)
        next[key(item) + 1]++;
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<T> sorted(items.size());
    for (const T& item : items)
        sorted[next[key(item)]++] = item;
    items.swap(sorted);
    next.pop_back();
    return next;
}

RowKind kindOf(const ConstraintSet& set, const Constraint& c) {
    if (c.kind != CoordinateKind::Custom)
        return (RowKind) c.kind; // the same list
    return dynamic_cast<const CentroidDistance*>(set.custom[c.form].get()) != nullptr ? RowKind::Centroid
                                                                                      : RowKind::Expression;
}

/** Weights of bond vectors x_s - x_(s+1) in a row that is linear in them. */
std::vector<double> bondWeights(const ConstraintSet& set, const Constraint& c) {
    std::vector<double> weights;
    if (c.kind == CoordinateKind::AffinePosition) {
        weights = set.affine[c.form].weights; // w_s = sum_(b>s) C_b
        for (int s = (int) weights.size() - 2; s >= 0; s--)
            weights[s] += weights[s + 1];
    } else if (kindOf(set, c) == RowKind::Centroid) {
        weights = dynamic_cast<const CentroidDistance&>(*set.custom[c.form]).getWeights(); // w_s = sum_(i<=s) of these
        for (std::size_t s = 1; s < weights.size(); s++)
            weights[s] += weights[s - 1];
    }
    weights.resize(c.size());
    return weights;
}

} // namespace

ConstraintTables::ConstraintTables(const ConstraintSolver& solver, bool smallInRegisters, const ThreadGroups& available)
    : smallInRegisters(smallInRegisters), available(available) {
    numParticles = solver.getSet().numParticles();
    readsEnd = mustReadEnd(solver);
    readsBodies = !solver.getSet().recognized.empty();
    const ConstraintSet& set = solver.getSet();
    const ConstraintGraph& graph = solver.getGraph();
    std::vector<char> isTaken(set.numParticles(), 0); // by a cluster
    std::vector<int> others;
    for (const Cluster& cluster : graph.clusters)
        if (!smallInRegisters || !isSmall(set, graph, cluster))
            others.insert(others.end(), graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
    for (int k : others)
        for (int p : set.constraints[k].particles)
            if (set.inverseMass[p] > 0)
                isTaken[p] = 1;
    addBodies(set, available.hasBlocks ? available.largestBlock : 1, graph.border.reachedBodies(set));
    addReach(graph.border, numParticles, numNodes(), [this](int node) { return nodeOf(node); });
    for (int p : bodyParticle)
        isTaken[p] = 1;
    addSmall(set, graph, isTaken);

    slotStart.assign(numRows + 1, 0);
    const int before = numRows;
    rowKind.assign(before, 0);
    rowIsLeaf = rowKind;
    rowForm = rowPeriodic = rowFirstParameter = rowKind;
    rowTarget.assign(before, 0.0);
    rowRate = rowInverseScale = rowTarget;
    rowDirection.assign(3 * before, 0.0);
    if (numJoinedBodies() > 0)
        rowPoints.assign(before, {0, 0});
    isJoinedRow.assign(rowPoints.size(), 0);
    // Matrices are never dense here. The solver's own graph is used if it has no dense ones.
    const bool isSame = std::all_of(graph.clusters.begin(), graph.clusters.end(), [&](const Cluster& cluster) {
        return cluster.kind == ClusterSolverKind::Sparse || cluster.kind == ClusterSolverKind::Iterative;
    });
    if (isSame && numSmallClusters == 0)
        addGeneral(set, graph);
    else
        addGeneral(set, ConstraintGraph(set, others, solver.getMethod(), 0));
    if (hasBorder())
        addBorder(set, graph);
    for (int k : solver.getChecked())
        if (set.isMovable(set.constraints[k]) || set.isMoving(set.constraints[k])) {
            redundant.push_back(k);
            addRow(set, k, false);
        }
    addPointSlots();
    customParameters = set.parameters;
    for (const auto& custom : set.custom) {
        const std::vector<double> table = custom->tableData();
        customTables.insert(customTables.end(), table.begin(), table.end());
    }
    customGlobals = solver.getGlobals();
}

/** A node's number on the device: only joined bodies have some there. */
int ConstraintTables::nodeOf(int node) const {
    const int i = node - numParticles;
    return i < 0 ? node : numParticles + 2 * (numberOfBody[i / 2] - numFreeBodies) + i % 2;
}

/** The joined body along whose axes the direction of a joint is; -1: that of another constraint is fixed. */
int ConstraintTables::frameOfJoint(const ConstraintSet& set, const Constraint& c) const {
    const int first = c.joint[0];
    return first >= 0 && set.bodies[first].constants.rotations > 0 ? numberOfBody[first] - numFreeBodies : -1;
}

/** @param isSolved  otherwise it is checked, on particles
 *  @param isOwn     otherwise a copy in another subdomain of its cluster */
void ConstraintTables::addRow(const ConstraintSet& set, int constraint, bool isSolved, bool isOwn) {
    const Constraint& c = set.constraints[constraint];
    const int row = (int) constraintOf.size();
    constraintOf.push_back(constraint);
    const bool joins = isSolved && set.isJoined(c);
    const std::vector<double> weights = bondWeights(set, c);
    const std::vector<int>& nodes = isSolved ? set.nodesOf(c) : c.particles;
    if (numJoinedBodies() > 0)
        addPoints(set, c, isSolved);
    for (std::size_t s = 0; s < nodes.size(); s++) {
        slotParticle.push_back(nodeOf(nodes[s]));
        slotNode.push_back(slotParticle.back());
        slotWeight.push_back(joins ? 0 : weights[s]);
        slotInverseMass.push_back(set.inverseMassOf(nodes[s]));
        slotRow.push_back(row);
    }
    slotStart.push_back((int) slotParticle.size());
    const RowKind kind = kindOf(set, c);
    rowKind.push_back((int) kind);
    rowForm.push_back(kind == RowKind::AffinePosition ? frameOfJoint(set, c) : c.form);
    rowPeriodic.push_back(c.periodic);
    rowFirstParameter.push_back(c.firstParameter);
    rowTarget.push_back(wrapResidual(c.kind, c.targetAt(0)));
    rowRate.push_back(c.rate);
    rowInverseScale.push_back(1 / set.scale(c));
    const Real3 axis = kind == RowKind::AffinePosition ? set.affine[c.form].axis : Real3();
    rowDirection.insert(rowDirection.end(), {axis.x, axis.y, axis.z});
    if (isSolved && isOwn)
        ownRows.push_back(row);
    if (set.isMoving(c) && isOwn && isSolved)
        movingRows.push_back(row);
}

/** Add the points of the next row. */
void ConstraintTables::addPoints(const ConstraintSet& set, const Constraint& c, bool isSolved) {
    const int firstSlot = (int) slotParticle.size(), row = (int) rowPoints.size();
    if (!isSolved || !set.isJoined(c)) {
        rowPoints.push_back({firstSlot, firstSlot + c.size()});
        isJoinedRow.push_back(0);
        return;
    }
    rowPoints.push_back({(int) points.size(), (int) points.size() + c.size()}); // from firstPointSlot on
    isJoinedRow.push_back(1);
    const std::vector<double> weights = bondWeights(set, c);
    std::map<int, int> slotOf; // of bodies' origins
    for (std::size_t s = 0; s < c.nodes.size(); s++)
        slotOf[c.nodes[s]] = firstSlot + (int) s;
    int nextSlot = firstSlot; // of free particles and new bodies: the order is that of the points
    for (int s = 0; s < c.size(); s++) {
        points.push_back({c.particles[s], row, weights[s]});
        const ConstraintSet::Place place = set.placeOf(c, s);
        if (place.body < 0) {
            pointNodes.push_back({nextSlot++, -1, -1, -1});
            continue;
        }
        const RigidBody& body = set.bodies[place.body];
        const int number = numberOfBody[place.body], origin = slotOf.at(set.originNodeOf(place.body)),
                  before = (int) std::count_if(body.mass.begin(), body.mass.begin() + place.place,
                                               [](double mass) { return mass > 0; });
        pointNodes.push_back(
            {origin, slotOf.at(set.turnNodeOf(place.body)), number - numFreeBodies, bodyStart[number] + before});
        nextSlot += origin == nextSlot ? 2 : 0;
    }
}

/** Add the slots of points behind those of nodes. */
void ConstraintTables::addPointSlots() {
    firstPointSlot = (int) slotParticle.size();
    for (const Point& point : points) {
        slotParticle.push_back(point.particle);
        slotNode.push_back(point.particle);
        slotWeight.push_back(point.weight);
        slotInverseMass.push_back(0); // only nodes move
        slotRow.push_back(point.row);
    }
    for (std::size_t n = 0; n < points.size(); n++) {
        Int2& range = rowPoints[points[n].row];
        if (n == 0 || points[n].row != points[n - 1].row)
            range = {range[0] + firstPointSlot, range[1] + firstPointSlot};
    }
}

/** @param isSubdomain  its kernel takes it for a subdomain  @param isCopy  it is also there in subdomains */
void ConstraintTables::addWhole(const ConstraintSet& set, const ConstraintGraph& graph,
                                const std::vector<const Cluster*>& clusters, bool isSubdomain, bool isCopy) {
    const int first = numRows;
    std::vector<const SymbolicFactor*> factors;
    std::vector<Coupling> couplings;
    int firstEntry = 0;
    for (const Cluster* cluster : clusters) {
        const int slotShift = (int) slotParticle.size() - graph.slotStart[cluster->begin];
        for (int row = cluster->begin; row < cluster->end; row++) {
            rowOwner.push_back((int) rowOwner.size());
            rowWhole.push_back((int) rowWhole.size());
            addRow(set, graph.rows[row], true, !isCopy);
        }
        if (cluster->kind == ClusterSolverKind::Iterative)
            continue;
        factors.push_back(&graph.factors[cluster->factor]);
        for (int i = cluster->couplingBegin; i < cluster->couplingEnd; i++) {
            Coupling c = graph.couplings[i];
            c.slotRow += slotShift;
            c.slotColumn += slotShift;
            c.entry += firstEntry;
            couplings.push_back(c);
        }
        firstEntry += (int) factors.back()->entryRow.size();
    }
    numRows = (int) rowOwner.size();
    solvedEnd.push_back(numRows);
    addParticles(first, numRows, numRows, isSubdomain);
    ownsNode.resize(clusterParticle.size(), 1);
    rowIsLeaf.resize(numRows);
    if (factors.empty())
        addColours(first, numRows);
    else
        addFactor(factors.size() == 1 ? *factors[0] : sideBySide(factors), std::move(couplings), first);
    subdomainsOfCluster.push_back({numGeneralClusters, numGeneralClusters + 1, numGeneralClusters, 0});
    addClusterBodies(first, numRows);
    if (isSubdomain)
        addPlaces(first, numRows);
    bodyPlace.resize(clusterBody.size(), -1);
    placeBodies.resize(clusterParticle.size(), -1);
    endCluster((int) clusters.size());
}

/** Close the lists of clusters or a subdomain whose rows were added. */
void ConstraintTables::endCluster(int numTogether) {
    rowStart.push_back(numRows);
    entryStart.push_back((int) couplingStart.size() - 1);
    levelStart.push_back((int) levelTargetStart.size() - 1);
    colourStart.push_back((int) colourRowStart.size() - 1);
    bundled.push_back(numTogether);
    numGeneralClusters++;
}

/** Add the movable nodes of the rows that are solved, and which slots of all rows they are. */
void ConstraintTables::addParticles(int firstRow, int solvedEnd, int lastRow, bool isSubdomain) {
    std::vector<int> particles;
    placeOf.resize(numNodes(), -1); // among the cluster's particles; -1 again in the end
    const auto forEachMovable = [&](int last, auto visit) {
        for (int s = slotStart[firstRow]; s < slotStart[last]; s++)
            if (slotInverseMass[s] > 0)
                visit(slotParticle[s], s);
    };
    const auto add = [&](int p) {
        if (placeOf[p] < 0)
            particles.push_back(p);
        placeOf[p] = 0;
    };
    forEachMovable(solvedEnd, [&](int p, int) {
        add(p);
        if (isSubdomain && p >= numParticles) // both nodes of a body
            add(numParticles + ((p - numParticles) ^ 1));
    });
    std::sort(particles.begin(), particles.end());
    for (std::size_t i = 0; i < particles.size(); i++)
        placeOf[particles[i]] = (int) i;
    std::vector<int> next(particles.size() + 1);
    const auto forEachSlot = [&](auto visit) {
        forEachMovable(lastRow, [&](int p, int s) {
            if (placeOf[p] >= 0)
                visit(placeOf[p], s);
        });
    };
    forEachSlot([&](int place, int) { next[place + 1]++; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    const int first = (int) particleSlot.size();
    for (std::size_t i = 0; i < particles.size(); i++)
        particleSlotStart.push_back(first + next[i + 1]);
    particleSlot.resize(first + next.back());
    forEachSlot([&](int place, int s) { particleSlot[first + next[place]++] = s; });
    for (int p : particles)
        placeOf[p] = -1;
    clusterParticle.insert(clusterParticle.end(), particles.begin(), particles.end());
    particleStart.push_back((int) clusterParticle.size());
}

void ConstraintTables::addClusterBodies(int firstRow, int lastRow) {
    std::vector<int> bodies;
    for (int s = slotStart[firstRow]; s < slotStart[lastRow]; s++)
        if (slotParticle[s] >= numParticles && slotInverseMass[s] > 0)
            bodies.push_back((slotParticle[s] - numParticles) / 2);
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    clusterBody.insert(clusterBody.end(), bodies.begin(), bodies.end());
    clusterBodyStart.push_back((int) clusterBody.size());
}

/** @param couplings  of the factor's rows, with slots of the tables */
void ConstraintTables::addFactor(const SymbolicFactor& factor, std::vector<Coupling> couplings, int firstRow) {
    const int n = factor.size(), numEntries = (int) factor.entryRow.size(), numLevels = factor.numLevels;
    for (int end : sortStably(couplings, numEntries, [](const Coupling& c) { return c.entry; }))
        couplingStart.push_back((int) couplingSlots.size() + end);
    for (const Coupling& c : couplings)
        couplingSlots.push_back({c.slotRow, c.slotColumn});

    // The lists are made column by column, then sorted: updates by target, then all by level.
    struct Update {
        int level, target;
        Int3 source;
    };
    std::vector<Update> updates;
    std::vector<Int3> entries;
    updates.reserve(numEntries + factor.updateTarget.size());
    entries.reserve(numEntries);
    const int* target = factor.updateTarget.data();
    for (int k = 0; k < n; k++) {
        const int level = factor.level[k], end = factor.columnStart[k + 1];
        rowIsLeaf[firstRow + k] = level == 0;
        for (int a = factor.columnStart[k]; a < end; a++) {
            const int row = factor.entryRow[a], isLast = factor.level[row] == level + 1;
            entries.push_back({a, k, row});
            updates.push_back({level, ~(2 * row + isLast), {a, a, k}});
            for (int b = a + 1; b < end; b++)
                updates.push_back({level, *target++, {b, a, k}});
        }
    }
    for (int end : sortStably(entries, numLevels, [&](const Int3& entry) { return factor.level[entry[2]]; }))
        levelEntryStart.push_back((int) levelEntry.size() + end);
    levelEntry.insert(levelEntry.end(), entries.begin(), entries.end());
    // Diagonal elements come first.
    sortStably(updates, 2 * n + numEntries, [&](const Update& u) { return 2 * n + u.target; });
    const std::vector<int> ends = sortStably(updates, numLevels, [](const Update& u) { return u.level; });
    for (int level = 0, i = 0; level < numLevels; level++) {
        levelDiagonalEnd.push_back((int) updateTarget.size());
        for (const int begin = i; i < ends[level]; i++) {
            if (i == begin || updates[i].target != updates[i - 1].target) {
                updateTarget.push_back(updates[i].target);
                updateStart.push_back(updateStart.back());
                levelDiagonalEnd.back() += updates[i].target < 0;
            }
            updateSource.push_back(updates[i].source);
            updateStart.back()++;
        }
        levelTargetStart.push_back((int) updateTarget.size());
    }
}

std::vector<double> ConstraintTables::targetsAt(const ConstraintSet& set, double time) const {
    std::vector<double> targets;
    for (int k : constraintOf)
        targets.push_back(wrapResidual(set.constraints[k].kind, set.constraints[k].targetAt(time)));
    return targets;
}

void ConstraintTables::releaseRows() {
    const auto release = [](auto&... lists) { ((lists = std::decay_t<decltype(lists)>()), ...); };
    release(smallLanes, smallLengths, clusterParticle, particleSlotStart, particleSlot, slotStart, slotParticle,
            slotRow, slotNode, rowOwner, rowWhole, ownsNode, subdomainTables, slotWeight, slotInverseMass, rowKind,
            rowForm, rowPeriodic, rowFirstParameter, rowTarget, rowRate, rowInverseScale, rowDirection, couplingStart,
            couplingSlots, rowIsLeaf, updateTarget, updateStart, updateSource, levelEntry, colourRow, bodyPlace,
            placeBodies, isJoinedRow, subdomainCounts, customParameters, customTables, placeOf, rowPoints, pointNodes,
            points, clusterBody, fieldRow, fieldSlot, borderPlace, coupled, rowsAtBorder, borderPoints, borderPieces,
            borderBodies);
}

void ConstraintTables::addColours(int firstRow, int lastRow) {
    std::map<int, std::vector<int>> coloursAt; // of rows at each node
    std::vector<std::vector<int>> rowsOf;
    for (int row = firstRow; row < lastRow; row++) {
        std::vector<int> used;
        for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
            if (slotInverseMass[s] > 0)
                used.insert(used.end(), coloursAt[slotParticle[s]].begin(), coloursAt[slotParticle[s]].end());
        int colour = 0;
        while (std::find(used.begin(), used.end(), colour) != used.end())
            colour++;
        for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
            coloursAt[slotParticle[s]].push_back(colour);
        rowsOf.resize(std::max(rowsOf.size(), (std::size_t) colour + 1));
        rowsOf[colour].push_back(row);
    }
    for (const auto& rows : rowsOf) {
        colourRow.insert(colourRow.end(), rows.begin(), rows.end());
        colourRowStart.push_back((int) colourRow.size());
    }
}

} // namespace ConstraintPlugin
