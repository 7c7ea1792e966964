// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CHECKPOINT_IO_H_
#define OPENMM_CONSTRAINTS_CHECKPOINT_IO_H_

#include "openmm/OpenMMException.h"
#include <iostream>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** The integrators' part of OpenMM's binary checkpoints: raw values behind a version and the number of constraints. */
constexpr int checkpointVersion = 1;

template <class T>
void writeValue(std::ostream& stream, const T& value) {
    stream.write(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <class T>
void readValue(std::istream& stream, T& value) {
    if (!stream.read(reinterpret_cast<char*>(&value), sizeof(T)))
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint ends before the constraint integrator's data");
}
template <class T>
void writeArray(std::ostream& stream, const std::vector<T>& values) {
    for (const T& v : values)
        writeValue(stream, v);
}
template <class T>
void readArray(std::istream& stream, std::vector<T>& values) {
    for (T& v : values)
        readValue(stream, v);
}
inline void writeHeader(std::ostream& stream, int numConstraints) {
    writeValue(stream, checkpointVersion);
    writeValue(stream, numConstraints);
}
inline void readHeader(std::istream& stream, int numConstraints) {
    int version, count;
    readValue(stream, version);
    readValue(stream, count);
    if (version != checkpointVersion || count != numConstraints)
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint was made by another integrator, version or "
                                      "System: it has " +
                                      std::to_string(count) + " constraints (format " + std::to_string(version) +
                                      "), this Context has " + std::to_string(numConstraints) + " (format " +
                                      std::to_string(checkpointVersion) + ")");
}

} // namespace ConstraintPlugin

#endif
