// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CHECKPOINT_IO_H_
#define OPENMM_CONSTRAINTS_CHECKPOINT_IO_H_

#include "openmm/OpenMMException.h"
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

namespace ConstraintPlugin {

/** The integrators' part of OpenMM's binary checkpoints: raw values behind a version, the
 *  kernel's name and the number of constraints. */
constexpr int checkpointVersion = 0x434f4e03;

template <class T>
void write(std::ostream& stream, const T& value) {
    static_assert(std::is_trivially_copyable<T>::value, "written as raw bytes");
    stream.write(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <class T>
void read(std::istream& stream, T& value) {
    static_assert(std::is_trivially_copyable<T>::value, "read as raw bytes");
    if (!stream.read(reinterpret_cast<char*>(&value), sizeof(T)))
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint ends before the constraint integrator's data");
}
template <class T>
void write(std::ostream& stream, const std::vector<T>& values) {
    for (const T& v : values)
        write(stream, v);
}
template <class T>
void read(std::istream& stream, std::vector<T>& values) {
    for (T& v : values)
        read(stream, v);
}
inline void writeHeader(std::ostream& stream, const std::string& kernel, int numConstraints) {
    write(stream, checkpointVersion);
    write(stream, (int) kernel.size());
    stream.write(kernel.data(), kernel.size());
    write(stream, numConstraints);
}
/** What is known of a record before it is read. */
struct CheckpointHeader {
    std::string kernel;
    int numConstraints;
};
inline const char* const checkpointRemedy =
    ", not by this one. Checkpoints go with their integrator; a State can be taken to another.";
/** @throws OpenMMException if it was written in another format */
inline CheckpointHeader readHeader(std::istream& stream) {
    constexpr int longestName = 100;
    int version = 0, length = 0;
    if (!stream.read(reinterpret_cast<char*>(&version), sizeof(int)) || version != checkpointVersion)
        throw OpenMM::OpenMMException(
            std::string("loadCheckpoint: the checkpoint was written by another integrator or version") +
            checkpointRemedy);
    read(stream, length);
    CheckpointHeader header{std::string(length > 0 && length <= longestName ? length : 0, ' '), 0};
    if (!stream.read(&header.kernel[0], header.kernel.size()))
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint is damaged");
    read(stream, header.numConstraints);
    if (header.numConstraints < 0)
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint is damaged");
    return header;
}

} // namespace ConstraintPlugin

#endif
