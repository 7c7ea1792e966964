// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STRICT_NODE_H_
#define OPENMM_CONSTRAINTS_STRICT_NODE_H_

#include "openmm/OpenMMException.h"
#include "openmm/serialization/SerializationNode.h"
#include <locale>
#include <sstream>
#include <string>

namespace ConstraintPlugin {

/** Read a number, or throw if the text is not a number. SerializationNode's own getters return an undefined value then.
 *
 *  @throws OpenMMException if the property is missing or malformed, naming it */
template <class T>
T readProperty(const OpenMM::SerializationNode& node, const std::string& name) {
    const std::string text = node.getStringProperty(name);
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    T value;
    if (!(stream >> value) || !(stream >> std::ws).eof())
        throw OpenMM::OpenMMException("Malformed XML: property '" + name + "' of node '" + node.getName() + "' is \"" +
                                      text + "\", which is not a valid value");
    return value;
}

/** @return the node's version
 *  @throws OpenMMException unless it is one that this code reads: oldest to newest */
inline int requireVersion(const OpenMM::SerializationNode& node, const std::string& type, int oldest, int newest) {
    const int version = readProperty<int>(node, "version");
    if (version < oldest || version > newest)
        throw OpenMM::OpenMMException(type + ": its XML has version " + std::to_string(version) +
                                      ", but this release of openmm-constraints reads version " +
                                      (oldest < newest ? std::to_string(oldest) + " to " : "") +
                                      std::to_string(newest));
    return version;
}

inline void requireVersion(const OpenMM::SerializationNode& node, const std::string& type, int supported) {
    requireVersion(node, type, supported, supported);
}

} // namespace ConstraintPlugin

#endif
