// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PROGRAM_TEXT_H_
#define OPENMM_CONSTRAINTS_PROGRAM_TEXT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ConstraintPlugin {

/** The text of a program, put together from kernel texts. Each of these says in its first comment what has to come
 * before it:
 *
 *      // needs: state.cc, rowThreads.cc
 *      // needs if HAS_JOINTS: points.cc
 *
 *  The second line counts if the program defines HAS_JOINTS as anything but 0. Definitions come first, then every text
 *  that is needed, once, after all that it needs itself, then what is added, in the order of the calls. */
class ProgramText {
public:
    /** @param head  comes before everything */
    explicit ProgramText(std::string head = "") : head(std::move(head)) {
    }
    /** #define NAME VALUE
     *  @throws OpenMMException if the name has another value already */
    ProgramText& define(const std::string& name, const std::string& value);
    ProgramText& define(const std::string& name, long long value) {
        return define(name, std::to_string(value));
    }
    ProgramText& define(const std::vector<std::pair<std::string, std::string>>& several);
    /** Give a text that is written or filled for this program, by its name in lists of what is needed. */
    ProgramText& provide(const std::string& name, const std::string& text);
    /** Have a text, by the name of its file ("rows.cc") or as it was provided. */
    ProgramText& need(const std::string& name);
    ProgramText& add(const std::string& text);
    /** Add a kernel text with values for its markers ($NAME$: fillMarkers()); what it needs comes before all that is
     * added. */
    ProgramText& add(const std::string& name, const std::map<std::string, std::string>& markers);
    /** @throws OpenMMException if a text that is needed is not there, texts need each other, or a condition is not
     * defined */
    std::string str() const;

private:
    struct Composition; // the texts that are in the result so far
    const std::string& find(const std::string& name, const std::string& neededBy) const;
    void take(const std::string& name, const std::string& neededBy, Composition& composition) const;
    std::vector<std::string> needsOf(const std::string& name, const std::string& text) const;
    std::string head, added;
    std::vector<std::pair<std::string, std::string>> definitions;
    std::map<std::string, std::string> provided;
    struct Wanted {
        std::string name;
        bool itself; ///< or only what it needs
    };
    std::vector<Wanted> wanted;
};

/** The text of a file with values for its markers. @throws OpenMMException  as fillMarkers(), or if it is not there */
std::string filledText(const std::string& file, const std::map<std::string, std::string>& markers);

} // namespace ConstraintPlugin

#endif
