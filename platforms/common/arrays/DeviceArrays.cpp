// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeviceArrays.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

/** Numbers of all expressions of a set: their tables and Context parameters, and those of targets. */
void countCustom(const ConstraintSet& set, ArraySizes& sizes) {
    sizes.customParameters = (double) set.parameters.size();
    for (const auto& custom : set.custom) {
        sizes.customGlobals += (double) custom->getGlobalNames().size();
        sizes.customTables += (double) custom->tableData().size();
    }
    sizes.customGlobals += (double) set.globals.size();
}

} // namespace

ArraySizes::ArraySizes(const ConstraintTables& t)
    : particles(t.numParticles), smallClusters(t.numSmallClusters), smallShapes((double) t.smallShapes.size()),
      smallLanes((double) t.smallLanes.size()), smallLengths((double) t.smallLengths.size()), rows(t.numRows),
      redundant((double) t.redundant.size()), moving((double) t.movingRows.size()), subdomains(t.numSubdomains()),
      places(t.numSubdomains() > 0 ? (double) t.clusterParticle.size() : 0),
      subdomainTables((double) t.subdomainTables.size()), generalClusters(t.numGeneralClusters),
      clusterParticles((double) t.clusterParticle.size()), particleSlots((double) t.particleSlot.size()),
      slots((double) t.slotParticle.size()), entries((double) t.levelEntry.size()),
      couplings((double) t.couplingSlots.size()), levels((double) t.levelDiagonalEnd.size()),
      targets((double) t.updateTarget.size()), updates((double) t.updateSource.size()),
      colours((double) t.colourRowStart.size() - 1), colourRows((double) t.colourRow.size()),
      customParameters((double) t.customParameters.size()), customGlobals((double) t.customGlobals.size()),
      customTables((double) t.customTables.size()), bodies(t.numBodies), bodyPlaces(t.numBodyPlaces()),
      bodyParts((double) t.bodyParts.size()), joinedBodies(t.numJoinedBodies()),
      joinedPlaces((double) t.placeBody.size()), ownedPlaces((double) t.ownedPlaces.size()),
      clusterBodies((double) t.clusterBody.size()), rowPoints((double) t.rowPoints.size()),
      pointNodes((double) t.pointNodes.size()), bordered(t.numBordered), borderPlaces(t.numPlaces),
      borderParticles((double) t.borderParticle.size()), borderFields(t.numFields),
      borderCoupled((double) t.coupled.size()), rowsAtBorder((double) t.rowsAtBorder.size()),
      borderPoints((double) t.borderPoints.size()), borderPieces((double) t.borderPieces.size()),
      borderBodies((double) t.borderBodies.size()), readsEnd(t.readsEnd), readsBodies(t.readsBodies),
      hasShortNumbers(t.hasShortNumbers()) {
}

ArraySizes::ArraySizes(const ConstraintSolver& solver, bool smallInRegisters, bool hasSubdomains) {
    const ConstraintSet& set = solver.getSet();
    const ConstraintGraph& graph = solver.getGraph();
    particles = set.numParticles();
    rows = graph.numRows();
    redundant = (double) solver.getChecked().size();
    readsEnd = ConstraintTables::mustReadEnd(solver);
    readsBodies = !set.recognized.empty();
    countCustom(set, *this);
    for (const Constraint& c : set.constraints)
        moving += set.isMoving(c);
    for (int k : solver.getChecked())
        slots += set.constraints[k].size();
    std::vector<char> isTaken(set.numNodes(), 0);
    SubdomainCounts largestSubdomain;
    std::vector<int> dense; // constraints of clusters that the tables order anew: they have no dense matrices
    std::map<std::pair<bool, SmallShape>, int> ofShape; // small clusters
    const auto takeCluster = [&](const ConstraintGraph& of, const Cluster& cluster) {
        const bool isSmall = smallInRegisters && ConstraintTables::isSmall(set, of, cluster);
        const double n = cluster.size();
        if (!isSmall && hasSubdomains && n > maxThreadRows && cluster.factor < 0 &&
            cluster.kind != ClusterSolverKind::Iterative) {
            dense.insert(dense.end(), of.rows.begin() + cluster.begin, of.rows.begin() + cluster.end);
            return;
        }
        ConstraintTables::InSubdomains inSubdomains;
        if (!isSmall)
            inSubdomains = ConstraintTables::subdomainsFor(set, of, cluster, hasSubdomains);
        for (int row = cluster.begin; row < cluster.end; row++) {
            const Constraint& c = set.constraints[of.rows[row]];
            for (int node : set.nodesOf(c)) {
                const bool isMovable = set.inverseMassOf(node) > 0;
                clusterParticles += !isSmall && isMovable && !isTaken[node];
                particleSlots += !isSmall && isMovable;
                if (isMovable)
                    isTaken[node] = 1;
            }
            if (set.isJoined(c)) { // its points have slots of their own
                slots += c.size();
                pointNodes += c.size();
            }
        }
        if (isSmall) {
            smallClusters++;
            ofShape[{cluster.isAtBorder, ConstraintTables::shapeOf(set, of, cluster)}]++;
            return;
        }
        subdomains += (double) inSubdomains.subdomains.size();
        for (const SubdomainCounts& counts : inSubdomains.counts)
            largestSubdomain.include(counts);
        if (inSubdomains.subdomains.size() > 1) // and as a whole
            takeSubdomains(set, of, cluster, inSubdomains);
        generalClusters++;
        slots += of.slotStart[cluster.end] - of.slotStart[cluster.begin];
        double clusterEntries = 0;
        if (cluster.kind == ClusterSolverKind::Iterative) {
            colours += n; // at most
            colourRows += n;
        } else if (cluster.factor >= 0) {
            const SymbolicFactor& factor = of.factors[cluster.factor];
            clusterEntries = (double) factor.entryRow.size();
            updates += clusterEntries + (double) factor.numUpdates;
            levels += factor.numLevels;
        } else { // a factor that is made later, as full as a dense one at most
            clusterEntries = n * (n - 1) / 2;
            updates += clusterEntries + n * (n - 1) * (n - 2) / 6;
            levels += n;
        }
        if (cluster.kind != ClusterSolverKind::Iterative)
            couplings += cluster.couplingEnd - cluster.couplingBegin;
        entries += clusterEntries;
        hasShortNumbers = hasShortNumbers && std::max(n, clusterEntries) <= ConstraintTables::maxShortNumbers;
    };
    for (const Cluster& cluster : graph.clusters)
        takeCluster(graph, cluster);
    if (!dense.empty()) {
        const ConstraintGraph own(set, dense, solver.getMethod(), 0);
        for (const Cluster& cluster : own.clusters)
            takeCluster(own, cluster);
    }
    takeBorder(set, graph);
    BodyTables ofBodies;
    ofBodies.addBodies(set, 1);
    bodies = ofBodies.numBodies;
    bodyPlaces = ofBodies.numBodyPlaces();
    bodyParts = (double) ofBodies.bodyParts.size();
    joinedBodies = ofBodies.numJoinedBodies();
    clusterBodies += joinedBodies;    // beside those of subdomains
    clusterParticles += joinedBodies; // an immovable node of each
    places = subdomains > 0 ? clusterParticles : 0;
    subdomainTables = subdomains * SubdomainLayout(largestSubdomain).tableInts();
    joinedPlaces = (double) ofBodies.placeBody.size();
    ownedPlaces = (double) ofBodies.ownedPlaces.size();
    rowPoints = joinedBodies > 0 ? rows + redundant : 0;
    for (int p : ofBodies.bodyParticle)
        isTaken[p] = 1;
    int lengthsOfLane = 1;
    for (const auto& [shape, count] : ofShape) {
        smallShapes++;
        smallLanes += (double) smallBlock * shape.second.blocks(count);
        lengthsOfLane = std::max(lengthsOfLane, shape.second.lengthsOfLane());
    }
    // Others, at the border and elsewhere.
    smallLanes +=
        particles - (double) std::count(isTaken.begin(), isTaken.begin() + set.numParticles(), 1) + 2 * smallBlock;
    smallLengths = lengthsOfLane * smallLanes;
    targets = updates; // at most
}

void ArraySizes::takeBorder(const ConstraintSet& set, const ConstraintGraph& graph) {
    const Border& border = graph.border;
    bordered = (double) border.rows.size();
    if (bordered == 0)
        return;
    generalClusters++;
    std::vector<char> isReached(set.numNodes(), 0);
    for (const Border::Row& row : border.rows) {
        for (int node : row.reach)
            isReached[node] = 1;
        const Constraint& c = set.constraints[row.constraint];
        if (!set.isJoined(c))
            continue;
        slots += c.size(); // its points
        pointNodes += c.size();
        const auto bodiesOfRow = 0.5 * (double) std::count_if(c.nodes.begin(), c.nodes.end(),
                                                              [&](int node) { return node >= set.numParticles(); });
        borderPoints += c.size();
        borderBodies += bodiesOfRow;
        const int fullPieces = c.size() / ConstraintTables::pointsOfPiece;
        borderPieces += bodiesOfRow + fullPieces;
    }
    const auto afterParticles = isReached.begin() + set.numParticles();
    borderParticles = (double) std::count(isReached.begin(), afterParticles, 1);
    borderPlaces = borderParticles + (double) std::count(afterParticles, isReached.end(), 1);
    borderFields = (double) border.fields.size();
    for (int c : border.clusters)
        rowsAtBorder += graph.clusters[c].size();
    slots += graph.slotStart.back() - graph.slotStart[graph.borderBegin()];
    const auto ofFactor = (double) border.factor.entryRow.size();
    borderCoupled = bordered + 2 * ofFactor;
    entries += ofFactor;
    updates += ofFactor + (double) border.factor.numUpdates;
    levels += border.factor.numLevels;
}

/** Rows of subdomains are copies, with nodes, slots and couplings of their own. */
void ArraySizes::takeSubdomains(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster,
                                const ConstraintTables::InSubdomains& inSubdomains) {
    const auto nodesOf = [&](int r) { return set.nodesOf(set.constraints[graph.rows[cluster.begin + r]]); };
    std::vector<int> couplingsOf(cluster.size()); // by the later row
    for (int i = cluster.couplingBegin; i < cluster.couplingEnd; i++)
        couplingsOf[graph.couplings[i].row - cluster.begin]++;
    for (const SubdomainCounts& counts : inSubdomains.counts)
        clusterParticles += counts.places;
    for (const Subdomain& subdomain : inSubdomains.subdomains) {
        generalClusters++;
        rows += (double) (subdomain.solved.size() + subdomain.ring.size());
        for (const std::vector<int>* list : {&subdomain.solved, &subdomain.ring})
            for (int r : *list) {
                const Constraint& c = set.constraints[graph.rows[cluster.begin + r]];
                slots += (double) nodesOf(r).size();
                particleSlots += (double) nodesOf(r).size();
                if (set.isJoined(c)) {
                    slots += c.size();
                    pointNodes += c.size();
                }
            }
        for (int r : subdomain.solved) {
            for (int node : nodesOf(r))
                clusterBodies += node >= set.numParticles();
            if (inSubdomains.counts.empty())
                clusterParticles += (double) nodesOf(r).size(); // each may be of several rows
            couplings += couplingsOf[r];
        }
        const auto subdomainEntries = (double) subdomain.factor.entryRow.size();
        entries += subdomainEntries;
        updates += subdomainEntries + (double) subdomain.factor.numUpdates;
        levels += subdomain.factor.numLevels;
    }
}

DeviceArrays::DeviceArrays(const ArraySizes& n) {
    using T = ConstraintTables;
    const double allRows = n.rows + n.redundant, clusters = n.smallClusters + n.generalClusters + n.bodies;
    const double reports = numStepSolves * clusters;
    const double subdomainClusters = n.subdomains > 0 ? n.generalClusters : 0;
    const std::string triple = n.hasShortNumbers ? "int2" : "int4";
    // A factor of 2 is for two buffers, which steps write alternately, so that a failed step does not overwrite the
    // last good one.
    const double kept = 2 * n.moments;
    own = {{"heat", "mm_long", n.hasHeatBath ? 2 * n.particles : 0},
           {"startPosq", "real4", kept * n.particles},
           {"startCorrection", "real4", n.hasCorrections ? kept * n.particles : 0},
           {"startVelm", "mixed4", n.particles},
           {"endPosq", "real4", n.readsEnd ? n.particles : 0},
           {"endCorrection", "real4", n.readsEnd && n.hasCorrections ? n.particles : 0},
           {"lambda", "mixed", kept * n.rows},
           {"mu", "mixed", kept * n.rows},
           {"work", "mixed2", 2 * n.moving}, // of multipliers, and of the contribution of a heat bath
           {"velocityChange", "mixed", n.notesVelocityChanges ? 3 * kept * n.particles : 0},
           {"slowForce", "mixed", n.hasSlowForces ? 3 * n.particles : 0},
           {"reportErrors", "mixed2", 2 * reports},
           {"reportRows", "int4", 2 * reports},
           {"redundantErrors", "mixed2", 2 * 2 * n.redundant},
           {"energySums", "mixed2", n.hasKineticEnergy ? 1.0 * numEnergySums : 0},
           {"bathSums", "mixed", n.hasThermostat ? 1.0 * numBathSums : 0},
           {"bathFactor", "mixed", n.hasThermostat ? 1.0 : 0},
           {"failure", "int", 2},
           {"bodyShape", "mixed4", n.bodyPlaces, &T::bodyShape}, // or its mirror image
           {"bodyImpulse", "mixed", 3 * (kept + (n.readsBodies ? 2 : 0)) * n.bodyPlaces},
           {"bodyError", "mixed", n.hasAccelerations ? n.bodyPlaces : 0},
           {"rowTarget", "mixed", allRows, &T::rowTarget}, // at the reference time
           {"customGlobals", "mixed", n.customGlobals, &T::customGlobals},
           {"cellOffsets", "int4", n.particles},
           // A step begins with reading these: where an array in a pool is would be read before.
           {"smallPlaces", "int4", n.smallShapes, &T::smallPlaces},
           {"smallLanes", "int2", n.smallLanes, &T::smallLanes},
           {"smallLengths", "mixed", n.smallLengths, &T::smallLengths},
           {"subdomainsOfCluster", "int4", n.generalClusters, &T::subdomainsOfCluster},
           {"subdomainTables", "int", n.subdomainTables, &T::subdomainTables}};
    pooled = {
        {"projection", "mixed", n.rows},
        {"workRate", "mixed", 2 * n.moments * n.rows},
        {"spreadWork", "mixed", n.moving}, // of the heat baths of a step
        {"particleEnergy", "mixed", n.hasKineticEnergy ? n.particles : 0},

        {"rowStart", "int", n.generalClusters + 1, &T::rowStart},
        {"particleStart", "int", n.generalClusters + 1, &T::particleStart},
        {"clusterParticle", "int", n.clusterParticles, &T::clusterParticle},
        {"particleSlotStart", "int", n.clusterParticles + 1, &T::particleSlotStart},
        {"particleSlot", "int", n.particleSlots, &T::particleSlot},
        {"clusterBodyStart", "int", n.generalClusters + 1, &T::clusterBodyStart},
        {"clusterBody", "int", n.clusterBodies, &T::clusterBody},
        {"bodyPlace", "int", n.clusterBodies, &T::bodyPlace},
        {"placeBodies", "int", n.clusterParticles, &T::placeBodies},
        {"solvedEnd", "int", n.generalClusters, &T::solvedEnd},
        {"rowOwner", "int", n.rows, &T::rowOwner},
        {"rowWhole", "int", n.rows, &T::rowWhole},
        {"ownsNode", "int", n.clusterParticles, &T::ownsNode},
        {"slotNode", "int", n.slots, &T::slotNode},
        {"slotStart", "int", allRows + 1, &T::slotStart},
        {"slotParticle", "int", n.slots, &T::slotParticle},
        {"slotRow", "int", n.slots, &T::slotRow},
        {"slotWeight", "mixed", n.slots, &T::slotWeight},
        {"slotInverseMass", "mixed", n.slots, &T::slotInverseMass},
        {"rowKind", "int", allRows, &T::rowKind},
        {"rowForm", "int", allRows, &T::rowForm},
        {"rowPeriodic", "int", allRows, &T::rowPeriodic},
        {"rowFirstParameter", "int", allRows, &T::rowFirstParameter},
        {"rowRate", "mixed", allRows, &T::rowRate},
        {"rowInverseScale", "mixed", allRows, &T::rowInverseScale},
        {"rowDirection", "mixed", 3 * allRows, &T::rowDirection},
        {"movingRows", "int", n.moving, &T::movingRows},
        {"rowPoints", "int2", n.rowPoints, &T::rowPoints},
        {"pointNodes", "int4", n.pointNodes, &T::pointNodes},

        {"rowIsLeaf", "int", n.rows, &T::rowIsLeaf},
        {"entryStart", "int", n.generalClusters + 1, &T::entryStart},
        {"couplingStart", "int", n.entries + 1, &T::couplingStart},
        {"couplingSlots", "int2", n.couplings, &T::couplingSlots},
        {"levelStart", "int", n.generalClusters + 1, &T::levelStart},
        {"levelTargetStart", "int", n.levels + 1, &T::levelTargetStart},
        {"levelDiagonalEnd", "int", n.levels, &T::levelDiagonalEnd},
        {"updateTarget", "int", n.targets, &T::updateTarget},
        {"updateStart", "int", n.targets + 1, &T::updateStart},
        {"updateSource", triple, n.updates, &T::updateSource},
        {"levelEntryStart", "int", n.levels + 1, &T::levelEntryStart},
        {"levelEntry", triple, n.entries, &T::levelEntry},
        {"colourStart", "int", n.generalClusters + 1, &T::colourStart},
        {"colourRowStart", "int", n.colours + 1, &T::colourRowStart},
        {"colourRow", "int", n.colourRows, &T::colourRow},

        // temporary arrays of general clusters
        {"displacement", "mixed4", n.particles + 2 * n.joinedBodies + n.places},
        {"impulse", "mixed", 3 * (n.particles + 2 * n.joinedBodies + n.places)},
        {"startBond", "mixed", 3 * n.slots},
        {"startGradient", "mixed", 3 * n.slots},
        {"gradient", "mixed", 3 * n.slots},
        {"rowValue", "mixed", allRows},
        {"rowRateOffset", "mixed", allRows},
        {"rowFolded", "int", allRows},
        {"change", "mixed", n.rows},
        {"offset", "mixed", n.rows},
        {"diagonal", "mixed", n.rows},
        {"originalDiagonal", "mixed", n.rows},
        {"lower", "mixed", n.entries},
        {"upper", "mixed", n.entries},
        // of subdomains
        {"placeVelocity", "mixed4", n.places},
        {"total", "mixed", n.subdomains > 0 ? n.rows : 0},
        {"exchange", "mixed", n.subdomains > 0 ? 2 * n.rows : 0},
        {"subdomainErrors", "mixed4", 3 * subdomainClusters},
        {"subdomainRows", "int4", 3 * subdomainClusters},
        {"subdomainState", "int4", subdomainClusters},
        {"subdomainErrorsBefore", "mixed2", subdomainClusters},
        {"subdomainBarriers", "int", 2 * subdomainClusters},
        {"subdomainStamps", "int", subdomainClusters},
        {"subdomainFound", "int2", 2 * 6 * subdomainClusters}, // words of 64 bits
        {"subdomainChanges", "int2", n.subdomains > 0 ? 2 * n.rows : 0},

        {"bodyStart", "int", n.bodies + 1, &T::bodyStart},
        {"bodyParticle", "int", n.bodyPlaces, &T::bodyParticle},
        {"bodyKinds", "int4", n.bodies, &T::bodyKinds},
        {"bodyNumbers", "mixed", 12 * n.bodies, &T::bodyNumbers},
        {"bodyParts", "int4", n.bodyParts, &T::bodyParts},
        {"bodySums", "mixed", 2 * mostPartNumbers * n.bodyParts},
        {"placeBody", "int", n.joinedPlaces, &T::placeBody},
        {"nextCopy", "int", n.joinedPlaces, &T::nextCopy},
        {"ownedPlaces", "int", n.ownedPlaces, &T::ownedPlaces},
        {"bodyVectors", "mixed", 3 * numBodyVectors * (n.joinedBodies + (n.subdomains > 0 ? n.clusterBodies : 0))},
        {"nodeVelocity", "mixed", 3 * 2 * n.joinedBodies},

        {"borderCounts", "int", n.bordered > 0 ? 7.0 : 0, &T::borderCounts},
        {"borderParticle", "int", n.borderParticles, &T::borderParticle},
        {"borderPlace", "int", n.bordered > 0 ? n.particles + 2 * n.joinedBodies : 0, &T::borderPlace},
        {"fieldRow", "int", n.borderFields * n.borderPlaces, &T::fieldRow},
        {"fieldSlot", "int", n.borderFields * n.borderPlaces, &T::fieldSlot},
        {"fieldOfRow", "int", n.bordered, &T::fieldOfRow},
        {"coupledStart", "int", n.bordered > 0 ? n.bordered + 1 : 0, &T::coupledStart},
        {"coupled", "int2", n.borderCoupled, &T::coupled},
        {"rowsAtBorder", "int2", n.rowsAtBorder, &T::rowsAtBorder},
        {"borderPoints", "int", n.borderPoints, &T::borderPoints},
        {"borderPieces", "int2", n.borderPieces, &T::borderPieces},
        {"borderBodies", "int4", n.borderBodies, &T::borderBodies},
        {"rowPieces", "int4", n.bordered, &T::rowPieces},
        {"pieceSums", "mixed", 3 * 2 * n.borderPieces},
        {"responses", "mixed", 3 * n.borderFields * n.borderPlaces},
        {"rowResponses", "mixed", n.borderFields * n.rows}, // of multipliers
        {"borderField", "mixed", 3 * n.borderParticles},    // where a solve begins
        {"borderChange", "mixed", n.bordered},              // of multipliers in a turn
        {"borderSum", "mixed", n.bordered},
        {"borderErrors", "mixed4", n.bordered},
        {"borderSize", "mixed", n.bordered},
        {"borderState", "int", n.bordered > 0 ? 1.0 : 0},
        {"threadSums", "mixed", 3 * maxBorderBlock * n.bordered},

        {"customParameters", "mixed", n.customParameters, &T::customParameters},
        {"customTables", "mixed", n.customTables, &T::customTables},
    };
}

int widthOf(const std::string& type) {
    return type.back() >= '2' && type.back() <= '4' ? type.back() - '0' : 1;
}

int NumberBytes::of(const std::string& type) const {
    const bool isInt = type.compare(0, 3, "int") == 0;
    return widthOf(type) * (isInt               ? (int) sizeof(int)
                            : type == "mm_long" ? (int) sizeof(long long)
                            : type[0] == 'r'    ? real
                                                : mixed);
}

Pools::Pools(const DeviceArrays& arrays, const NumberBytes& bytes, double largestArray) {
    int current[2] = {0, 1}; // of ints, of `mixed`s
    pools = {{"intPool", "int", alignedInPool((double) arrays.pooled.size())}, {"mixedPool", "mixed"}};
    for (const DeviceArray& array : arrays.pooled) {
        int& pool = current[array.type[0] == 'i' ? 0 : 1];
        const std::string type = pools[pool].type;
        const double size = alignedInPool(array.count * widthOf(array.type));
        if (pools[pool].numbers > 0 && (pools[pool].numbers + size) * bytes.of(type) > largestArray) {
            pool = (int) pools.size();
            pools.push_back({type + "Pool" + std::to_string(pool), type});
        }
        Pool& there = pools[pool];
        const auto numbersOf = [](const DeviceArray& part) { return part.count * widthOf(part.type); };
        if (there.largest < 0 || numbersOf(array) > numbersOf(arrays.pooled[there.largest]))
            there.largest = (int) parts.size();
        parts.push_back({pool, there.numbers});
        there.numbers += size;
    }
}

MemoryNeed::MemoryNeed(const DeviceArrays& arrays, const NumberBytes& bytes, double maxArray) {
    const auto note = [&](double count, const std::string& type, const DeviceArray& named) {
        const double size = std::max(count, 1.0) * bytes.of(type); // there are no empty ones
        total += size;
        if (size <= largestArray)
            return;
        largestArray = size;
        largestName = named.name;
        largestNumbers = named.count * widthOf(named.type);
    };
    for (const DeviceArray& array : arrays.own)
        note(array.count, array.type, array);
    for (const Pools::Pool& pool : Pools(arrays, bytes, maxArray).pools)
        note(pool.numbers, pool.type, arrays.pooled[std::max(pool.largest, 0)]);
}

} // namespace ConstraintPlugin
