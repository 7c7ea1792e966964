// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CHECKPOINT_IO_H_
#define OPENMM_CONSTRAINTS_CHECKPOINT_IO_H_

#include "openmm/OpenMMException.h"
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

namespace ConstraintPlugin {

/** The integrators' part of OpenMM's binary checkpoints: raw values behind a version number, a hash and their number of
 *  bytes. In the second version data of one integrator follow those that all integrators have; in the third, which is
 *  for Systems with rigid bodies in closed form, there may be such data, and there are those of bodies; in the fourth,
 * of steps with stages at several positions, there may be all of these; in the fifth, where constraints did work, too,
 * and there is that of each. */
constexpr int checkpointVersion = 0x434f4e04, checkpointVersionWithOwn = 0x434f4e05,
              checkpointVersionWithBodies = 0x434f4e06, checkpointVersionWithMoments = 0x434f4e07,
              checkpointVersionWithWorks = 0x434f4e08;

constexpr std::uint64_t emptyHash = 14695981039346656037u;
/** FNV-1a hash of bytes, continued from the hash of the bytes before them. */
inline std::uint64_t hashOf(const void* data, std::size_t bytes, std::uint64_t hash = emptyHash) {
    for (std::size_t i = 0; i < bytes; i++)
        hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
    return hash;
}

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
inline void writeText(std::ostream& stream, const std::string& text) {
    write(stream, (std::uint64_t) text.size());
    stream.write(text.data(), (std::streamsize) text.size());
}
inline std::string readText(std::istream& stream) {
    constexpr std::uint64_t portion = 1 << 20; // so that a damaged size does not allocate as much memory
    std::uint64_t left;
    read(stream, left);
    std::string text;
    while (left > 0) {
        const std::size_t start = text.size(), next = std::min(left, portion);
        text.resize(start + next);
        if (!stream.read(&text[start], (std::streamsize) next))
            throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint ends before the constraint integrator's "
                                          "data");
        left -= next;
    }
    return text;
}

inline const char* const checkpointRemedy =
    ", not by this one. A checkpoint can only be loaded by the same integrator; a State (saveState) by any.";

/** The hash of the second version includes the version number, so that damage cannot exchange the versions. */
inline std::uint64_t sealOf(int version, const std::string& bytes) {
    return hashOf(bytes.data(), bytes.size(), version == checkpointVersion ? emptyHash : hashOf(&version, sizeof(int)));
}
inline void writeSealed(std::ostream& stream, int version, const std::string& bytes) {
    write(stream, version);
    write(stream, sealOf(version, bytes));
    writeText(stream, bytes);
}
/** @param[out] version  as written
 *  @throws OpenMMException if the format is unknown or the data are damaged */
inline std::string readSealed(std::istream& stream, int& version) {
    if (!stream.read(reinterpret_cast<char*>(&version), sizeof(int)) || version < checkpointVersion ||
        version > checkpointVersionWithWorks)
        throw OpenMM::OpenMMException(
            std::string("loadCheckpoint: the checkpoint was written by another integrator or version") +
            checkpointRemedy);
    std::uint64_t hash;
    read(stream, hash);
    std::string bytes = readText(stream);
    if (sealOf(version, bytes) != hash)
        throw OpenMM::OpenMMException("loadCheckpoint: the checkpoint is damaged");
    return bytes;
}

} // namespace ConstraintPlugin

#endif
