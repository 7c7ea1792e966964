// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ProgramText.h"
#include "ConstraintKernelSources.h"
#include "TextMarkers.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <set>
#include <sstream>

using OpenMM::OpenMMException;
using std::string;
using std::vector;

namespace ConstraintPlugin {

struct ProgramText::Composition {
    string text;
    std::set<string> taken;
    vector<string> open; ///< texts whose needs are being taken, each needed by the one before
};

namespace {

/** "a.cc, b.cc" */
vector<string> namesIn(const string& list) {
    vector<string> names;
    std::istringstream stream(list);
    for (string name; std::getline(stream >> std::ws, name, ',');)
        names.push_back(name);
    return names;
}

const string& fileOf(const string& name, const string& neededBy) {
    const std::map<string, string>& files = ConstraintKernelSources::files();
    const auto found = files.find(name);
    if (found == files.end())
        throw OpenMMException("The kernel text " + name + " is not there, which " + neededBy + " needs");
    return found->second;
}

} // namespace

string filledText(const string& file, const std::map<string, string>& markers) {
    return fillMarkers(file, fileOf(file, "a program"), markers);
}

ProgramText& ProgramText::define(const string& name, const string& value) {
    for (const auto& [known, before] : definitions)
        if (known == name) {
            if (before != value)
                throw OpenMMException("A program defines " + name + " as " + before + " and as " + value);
            return *this;
        }
    definitions.emplace_back(name, value);
    return *this;
}

ProgramText& ProgramText::define(const vector<std::pair<string, string>>& several) {
    for (const auto& [name, value] : several)
        define(name, value);
    return *this;
}

ProgramText& ProgramText::provide(const string& name, const string& text) {
    provided[name] = text;
    return *this;
}

ProgramText& ProgramText::need(const string& name) {
    wanted.push_back({name, true});
    return *this;
}

ProgramText& ProgramText::add(const string& text) {
    added += text;
    return *this;
}

ProgramText& ProgramText::add(const string& name, const std::map<string, string>& markers) {
    wanted.push_back({name, false});
    return add(fillMarkers(name, find(name, "a program"), markers));
}

const string& ProgramText::find(const string& name, const string& neededBy) const {
    if (const auto found = provided.find(name); found != provided.end())
        return found->second;
    return fileOf(name, neededBy);
}

/** What a text says that it needs, as far as its conditions hold. */
vector<string> ProgramText::needsOf(const string& name, const string& text) const {
    vector<string> result;
    std::istringstream lines(text);
    for (string line; std::getline(lines, line) && line.compare(0, 2, "//") == 0;) {
        const string always = "// needs: ", sometimes = "// needs if ";
        if (line.compare(0, sometimes.size(), sometimes) == 0) {
            const std::size_t colon = line.find(": ");
            const string condition = line.substr(sometimes.size(), colon - sometimes.size());
            const auto found = std::find_if(definitions.begin(), definitions.end(),
                                            [&](const auto& each) { return each.first == condition; });
            if (colon == string::npos || found == definitions.end())
                throw OpenMMException("The kernel text " + name + " needs something if " + condition +
                                      ", which the program does not define");
            if (found->second == "0")
                continue;
            line = always + line.substr(colon + 2);
        }
        if (line.compare(0, always.size(), always) == 0)
            for (const string& other : namesIn(line.substr(always.size())))
                result.push_back(other);
    }
    return result;
}

void ProgramText::take(const string& name, const string& neededBy, Composition& composition) const {
    if (composition.taken.count(name) > 0)
        return;
    vector<string>& open = composition.open;
    if (std::find(open.begin(), open.end(), name) != open.end()) {
        string circle;
        for (auto each = std::find(open.begin(), open.end(), name); each != open.end(); ++each)
            circle += *each + " needs ";
        throw OpenMMException("Kernel texts need each other: " + circle + name);
    }
    const string& text = find(name, neededBy);
    if (text.find('$') != string::npos)
        throw OpenMMException("The kernel text " + name + ", which " + neededBy +
                              " needs, has markers: it can only be added, or provided with their values");
    open.push_back(name);
    for (const string& other : needsOf(name, text))
        take(other, name, composition);
    open.pop_back();
    composition.taken.insert(name);
    composition.text += text;
}

string ProgramText::str() const {
    Composition composition;
    for (const auto& [name, itself] : wanted)
        if (itself)
            take(name, "a program", composition);
        else
            for (const string& other : needsOf(name, find(name, "a program")))
                take(other, name, composition);
    string text = head;
    for (const auto& [name, value] : definitions)
        text += "#define " + name + " " + value + "\n";
    return text + composition.text + added;
}

} // namespace ConstraintPlugin
