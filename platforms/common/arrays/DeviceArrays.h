// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_ARRAYS_H_
#define OPENMM_CONSTRAINTS_DEVICE_ARRAYS_H_

#include "ConstraintTables.h"
#include <cmath>
#include <string>
#include <variant>

namespace ConstraintPlugin {

/** Parts of the sum of kinetic energies, a thread each. */
constexpr int numEnergySums = 1024;

/** Sums of kinetic energies for a Nose-Hoover chain. */
constexpr int numBathSums = 2048;

/** Numbers of a part of a body (BODY_PART_NUMBERS in bodySums.cc), at most. */
constexpr int mostPartNumbers = 40;

#include "bodyVectors.cc"

/** Counts that determine the lengths of arrays on a device. They are doubles, because bounds may exceed integers. */
struct ArraySizes {
    double particles = 0;
    double smallClusters = 0, smallShapes = 0, smallLanes = 0, smallLengths = 0;
    double rows = 0; ///< of small and general clusters
    double redundant = 0, moving = 0;
    double subdomains = 0, places = 0; ///< of large clusters; particles of all general ones, if there are subdomains
    double subdomainTables = 0;
    double generalClusters = 0, clusterParticles = 0, particleSlots = 0, slots = 0;
    double entries = 0, couplings = 0, levels = 0, targets = 0, updates = 0;
    double colours = 0, colourRows = 0;
    double customParameters = 0, customGlobals = 0, customTables = 0;
    double bodies = 0, bodyPlaces = 0, bodyParts = 0;
    double joinedBodies = 0, joinedPlaces = 0, ownedPlaces = 0, clusterBodies = 0, rowPoints = 0, pointNodes = 0;
    double bordered = 0, borderPlaces = 0, borderParticles = 0, borderFields = 0,
           borderCoupled = 0;                                                      ///< see BorderTables
    double rowsAtBorder = 0, borderPoints = 0, borderPieces = 0, borderBodies = 0; ///< likewise
    bool readsEnd = false, readsBodies = false;                                    ///< see ConstraintTables
    bool hasShortNumbers = true;                                                   ///< likewise
    double moments = 1;                                                            ///< of a step: StepMoment
    bool notesVelocityChanges = false;                                             ///< in heat baths
    bool hasHeatBath = false, hasSlowForces = false;                               ///< of the integrator's steps
    bool hasThermostat = false;                                                    ///< a Nose-Hoover chain
    bool hasKineticEnergy = false;                                                 ///< of projected velocities
    bool hasCorrections = false;                                                   ///< of positions: in mixed precision
    bool hasAccelerations = false;                                                 ///< an explicit constraint force

    /** Counts of existing tables. */
    explicit ArraySizes(const ConstraintTables& tables);
    /** Upper bounds of the counts, from the graph alone, before tables are made. One exception: beside small clusters
     * the tables order the rows of large ones anew, and those factors can be somewhat larger than the graph's.
     *  @param smallInRegisters, hasSubdomains  as for the tables */
    ArraySizes(const ConstraintSolver& solver, bool smallInRegisters, bool hasSubdomains);

private:
    void takeBorder(const ConstraintSet& set, const ConstraintGraph& graph);
    void takeSubdomains(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster,
                        const ConstraintTables::InSubdomains& inSubdomains);
};

/** An array among the arguments of kernels. */
struct DeviceArray {
    template <class T>
    using Table = std::vector<T> ConstraintTables::*;
    using Values = std::variant<std::monostate, Table<int>, Table<double>, Table<ConstraintTables::Int2>,
                                Table<ConstraintTables::Int3>, Table<ConstraintTables::Int4>>;
    std::string name;
    std::string type;   ///< of an element in kernels: "int", "mixed4"
    double count;       ///< elements
    Values values = {}; ///< initial values; none: zeros
};

/** All arrays of ConstraintProgram, for their allocation and for the estimate of memory. */
struct DeviceArrays {
    explicit DeviceArrays(const ArraySizes& sizes);
    std::vector<DeviceArray> own;    ///< separate arrays, which the host reads or writes again
    std::vector<DeviceArray> pooled; ///< parts of one array of ints and of one of `mixed`s
};

/** Bytes of a Context's numbers. */
struct NumberBytes {
    int real, mixed;
    int of(const std::string& type) const; ///< an element, such as an int2
};

/** Numbers in an element: 4 of "mixed4". */
int widthOf(const std::string& type);

/** Start of the next part of a pool, aligned for vectors of four. */
inline double alignedInPool(double numbers) {
    return 4 * std::floor((numbers + 3) / 4);
}

/** Most bytes of an array: OpenMM computes places in it as a number of bytes in an int. */
constexpr double maxArrayBytes = 2147483647;

/** Where pooled arrays are: one after the other in one array of ints and one of `mixed`s, or in several where one would
 *  be too large. The first array of ints begins with the list of all begins. */
struct Pools {
    struct Pool {
        std::string name, type;
        double numbers = 0;
        int largest = -1; ///< part, an index in DeviceArrays::pooled
    };
    struct Part {
        int pool;
        double begin;
    };
    /** @param largestArray  bytes; an array that needs more has a pool of its own, and does not fit */
    Pools(const DeviceArrays& arrays, const NumberBytes& bytes, double largestArray);
    std::vector<Pool> pools;
    std::vector<Part> parts; ///< as DeviceArrays::pooled
};

/** Bytes of device memory that arrays need. */
struct MemoryNeed {
    MemoryNeed(const DeviceArrays& arrays, const NumberBytes& bytes, double maxArray = maxArrayBytes);
    double total = 0, largestArray = 0;
    std::string largestName;   ///< of the largest array, or the largest part of a pool
    double largestNumbers = 0; ///< in it
};

} // namespace ConstraintPlugin

#endif
