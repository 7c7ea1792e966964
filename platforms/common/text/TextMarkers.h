// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_TEXT_MARKERS_H_
#define OPENMM_CONSTRAINTS_TEXT_MARKERS_H_

#include <map>
#include <string>

namespace ConstraintPlugin {

/** Replace every $NAME$ of a text. No identifier contains a dollar sign, so none can be mistaken for a marker.
 *  @param name    of the text, for error messages
 *  @param values  by NAME
 *  @throws OpenMMException if the text has a marker that has no value, or a value has no marker */
std::string fillMarkers(const std::string& name, const std::string& text,
                        const std::map<std::string, std::string>& values);

} // namespace ConstraintPlugin

#endif
