// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_XML_H_
#define CONSTRAINTS_TESTS_XML_H_

#include "openmm/serialization/XmlSerializer.h"
#include <memory>
#include <sstream>
#include <string>

namespace ConstraintTests {

template <class T>
std::string toXml(const T& object, const std::string& root) {
    std::stringstream stream;
    OpenMM::XmlSerializer::serialize(&object, root, stream);
    return stream.str();
}

template <class T>
std::unique_ptr<T> fromXml(const std::string& xml) {
    std::stringstream stream(xml);
    return std::unique_ptr<T>(OpenMM::XmlSerializer::deserialize<T>(stream));
}

} // namespace ConstraintTests

#endif
