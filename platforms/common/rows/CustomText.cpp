// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CustomText.h"
#include "CentroidCoordinate.h"
#include "CentroidDistance.h"
#include "CoordinationNumber.h"
#include <algorithm>
#include <map>
#include <vector>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** An expression, and where the kernels find what belongs to it. */
struct Form {
    int number;
    string name;  ///< of its functions, which several forms of centroids share
    bool isFirst; ///< of those that share them
    int numParticles, firstGlobal, firstTable, numTables;
    CustomCoordinate* custom;
    const CentroidCoordinate* centroids; ///< or null
    const CoordinationNumber* pairs;     ///< or null

    string numPoints() const {
        return to_string(centroids == nullptr ? numParticles : centroids->numGroups());
    }
    string begin() const {
        return "    case " + to_string(number) + ": {\n        mixed3 x[" + numPoints() + "], y[" + numPoints() +
               "];\n";
    }
    /** A line for each point s. */
    string each(const string& line) const {
        return "        for (int s = 0; s < " + numPoints() + "; s++)\n            " + line + "\n";
    }
    /** What all of its functions take after the points. */
    string common(const string& firstParameter) const {
        return "a->customParameters + " + firstParameter + ", a->customGlobals + " + to_string(firstGlobal) +
               ", a->customTables + " + to_string(firstTable) + ", stepState";
    }
};

vector<Form> formsOf(const ConstraintSet& set) {
    vector<Form> forms;
    int firstGlobal = 0, firstTable = 0;
    vector<int> numParticles(set.custom.size());
    for (const Constraint& c : set.constraints)
        if (c.kind == CoordinateKind::Custom)
            numParticles[c.form] = c.size();
    std::map<const CustomCoordinate*, string> names;
    for (size_t form = 0; form < set.custom.size(); form++) {
        CustomCoordinate& custom = *set.custom[form];
        const auto* centroids = dynamic_cast<const CentroidCoordinate*>(&custom);
        const int numTables = (int) custom.tableData().size();
        const bool isByHand = dynamic_cast<const CentroidDistance*>(&custom) != nullptr;
        if (numParticles[form] > 0 && !isByHand) {
            const CustomCoordinate& ofPoints = centroids == nullptr ? custom : centroids->getOfCentroids();
            const auto [known, isNew] = names.emplace(&ofPoints, "custom" + to_string(form));
            forms.push_back({(int) form, known->second, isNew, numParticles[form], firstGlobal, firstTable, numTables,
                             &custom, centroids, dynamic_cast<const CoordinationNumber*>(&custom)});
        }
        firstGlobal += (int) custom.getGlobals().size();
        firstTable += numTables;
    }
    return forms;
}

/** What functions of pairs.cc take of a row. @param first  slot of its first point */
string pairsText(const string& first, const CoordinationNumber& pairs) {
    const CoordinationNumber::Groups groups = pairs.getGroups();
    return "pairsOfRow(" + first + ", " + to_string(groups.beginSecond) + ", " + to_string(groups.endFirst) + ", " +
           to_string(groups.numParticles) + ", " + (groups.periodic ? "true" : "false") +
           "), pairFunctionOf(a->customParameters + a->rowFirstParameter[row])";
}

string function(const string& name, const string& parameters, const string& form, const string& cases) {
    return "DEVICE mixed " + name + "(const Arguments* a, " + parameters + ") {\n    switch (" + form + ") {\n" +
           cases + "    default:\n        return 0;\n    }\n}\n";
}

} // namespace

string customText(const ConstraintSet& set, bool hasJoints) {
    const string first = hasJoints ? "a->rowPoints[row].x" : "a->slotStart[row]"; // slot
    string functions, evaluate, rate, curvature;
    bool hasCentroids = false, hasPairs = false;
    for (const Form& form : formsOf(set)) {
        if (form.isFirst)
            functions += form.custom->kernelText(form.name) + form.custom->curvatureKernelText(form.name);
        if (form.pairs != nullptr) {
            hasPairs = true;
            const string begin = "    case " + to_string(form.number) + ":\n        return ";
            const string pairs = "(a, " + pairsText(first, *form.pairs);
            evaluate += begin + "evaluatePairs" + pairs + ", isDisplaced, stepState, gradients);\n";
            curvature += begin + "curvatureOfPairs" + pairs + ", scale, stepState);\n";
            continue;
        }
        const string common = form.common("a->rowFirstParameter[row]"), &name = form.name;
        string place = form.each("x[s] = unwrappedPosition(a, " + first + " + s, stepState);");
        string displaced = place + "        if (isDisplaced)\n    " +
                           form.each("    x[s] = x[s] + displacementOf(a, " + first + " + s);");
        string store = form.each("store3(gradients, " + first + " + s, y[s]);");
        string velocity = form.each("y[s] = scale * velocityOf(a, " + first + " + s);");
        if (form.centroids != nullptr) {
            hasCentroids = true;
            const int firstWeight = form.firstTable + form.numTables - (int) form.centroids->getWeights().size();
            const string range = first + ", " + to_string(form.numParticles) + ", " + form.numPoints() +
                                 ", a->customTables + " + to_string(firstWeight);
            place = "        findCentroids(a, " + range + ", false, stepState, x);\n";
            displaced = "        findCentroids(a, " + range + ", isDisplaced, stepState, x);\n";
            store = "        storeCentroidGradients(gradients, " + range + ", y);\n";
            velocity = "        findCentroidVelocities(a, " + range + ", scale, y);\n";
        }
        evaluate += form.begin() + displaced + "        const mixed sigma = " + name + "(x, " + common + ", y);\n" +
                    store + "        return sigma;\n    }\n";
        rate += form.begin() + place + "        return " + name + "Rate(x, " + common + ");\n    }\n";
        curvature +=
            form.begin() + place + velocity + "        return " + name + "Curvature(x, y, " + common + ");\n    }\n";
    }
    const auto ofRow = [](const string& name, const string& parameters, const string& cases) {
        return function(name, "int row, " + parameters, "a->rowForm[row]", cases);
    };
    return string("// needs: state.cc, coordinates.cc, functions.cc, rowThreads.cc") +
           (hasCentroids ? ", centroids.cc" : "") + (hasPairs ? ", pairs.cc" : "") + "\n" + functions +
           ofRow("evaluateCustom", "bool isDisplaced, StepState stepState, GLOBAL mixed* gradients", evaluate) +
           ofRow("customRate", "StepState stepState", rate) +
           ofRow("customCurvature", "mixed scale, StepState stepState", curvature);
}

string localCustomText(const ConstraintSet& set) {
    string start, evaluate;
    for (const Form& form : formsOf(set)) {
        if (form.centroids != nullptr || form.pairs != nullptr)
            continue;
        const string common = form.common("e.firstParameter"), &name = form.name;
        start += form.begin() + form.each("x[s] = pointOf(sub, e, s);") + "        " + name + "(x, " + common +
                 ", y);\n" + form.each("*squares += startElement(sub, e.firstElement + s, y[s]);") + "        return " +
                 name + "Rate(x, " + common + ");\n    }\n";
        evaluate += form.begin() + form.each("x[s] = displacedPoint(sub, e, s);") +
                    "        const mixed sigma = " + name + "(x, " + common + ", y);\n" +
                    form.each("sub.g[AT_GRADIENT + e.firstElement + s] = sizedVector(y[s], 0);") +
                    "        return sigma;\n    }\n";
    }
    const string parameters = "LocalSubdomain sub, ExpressionLocal e, StepState stepState";
    return "/** Set the gradient at the start, and add the square of its length. @return d sigma/dt at fixed positions "
           "*/\n" +
           function("startCustomLocal", parameters + ", float* squares", "e.form", start) +
           "/** sigma with the corrections of all subdomains. Its gradient is set. */\n" +
           function("evaluateCustomLocal", parameters, "e.form", evaluate);
}

} // namespace ConstraintPlugin
