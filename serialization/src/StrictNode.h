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

/** Read a number and refuse what is not one. SerializationNode's own getters return whatever a failed conversion
 *  left behind.
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

/** @throws OpenMMException unless the node was written in the one version that this code reads */
inline void requireVersion(const OpenMM::SerializationNode& node, const std::string& type, int supported) {
    const int version = readProperty<int>(node, "version");
    if (version != supported)
        throw OpenMM::OpenMMException(type + ": its XML has version " + std::to_string(version) +
                                      ", but this release of openmm-constraints reads version " +
                                      std::to_string(supported));
}

} // namespace ConstraintPlugin

#endif
