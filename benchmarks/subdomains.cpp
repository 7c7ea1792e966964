// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// How fast Newton's method converges where a cluster is solved in overlapping subdomains (core/graph/Subdomain.h):
// corrections to 1e-5, 1e-8 and 1e-12, by the number of hops of a halo, and the exact Newton method. Nothing is timed.
//
//   openmm-constraints benchmark --systems dhfr-protein --constraints AllBonds HAngles --write-input inputs
//   subdomains inputs [OWN_ROWS...]        rows that a subdomain owns; default: what SubdomainLimits has
//
// thermal: displacements of 2 fs with velocities at 300 K that are not on the constraints. tangent: the same after a
// velocity stage, as in RATTLE. velocity: that stage.

#include "BenchmarkInput.h"
#include "CollectConstraints.h"
#include "support/LargeSystems.h"
#include "support/SubdomainNewton.h"
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

constexpr int mostCorrections = 30;
constexpr double tolerances[] = {1e-5, 1e-8, 1e-12};

struct Start {
    std::vector<Real3> positions, velocities;
};

struct Case {
    std::string name;
    ConstraintSet set;
    Box box;
    std::vector<Start> starts;
};

/** The most corrections of all starts, to each tolerance. */
struct Counts {
    int most[3] = {0, 0, 0};
    void note(const std::vector<double>& errors) {
        for (int t = 0; t < 3; t++) {
            const int n = correctionsTo(tolerances[t], errors);
            most[t] = n < 0 || most[t] < 0 ? -1 : std::max(most[t], n);
        }
    }
    std::string text() const {
        std::string result;
        for (int n : most)
            result += (result.empty() ? "" : "/") + (n < 0 ? std::string("-") : std::to_string(n));
        return result;
    }
};

void printRow(const Case& input, const SubdomainLimits& limits, SubdomainNewton& exact, const std::string& label) {
    try {
        SubdomainNewton subdomains(input.set, limits);
        Counts thermal, tangent, velocity;
        for (const Start& start : input.starts) {
            exact.setStart(start.positions, input.box);
            subdomains.setStart(start.positions, input.box);
            std::vector<Real3> v = start.velocities, onTangent = start.velocities, delta;
            velocity.note(subdomains.solveVelocities(v, stepSize, mostCorrections));
            exact.solveVelocities(onTangent, stepSize, 2);
            for (const auto& [velocities, counts] : {std::pair(&start.velocities, &thermal), {&onTangent, &tangent}}) {
                delta.clear();
                for (const Real3& each : *velocities)
                    delta.push_back(stepSize * each);
                counts->note(subdomains.solvePositions(delta, mostCorrections));
            }
        }
        printf("| %s | %d | %s | %d | %d | %.2f | %d | %d | %s | %s | %s |\n", input.name.c_str(), subdomains.numRows(),
               label.c_str(), subdomains.numSubdomains(), subdomains.mostOwn(), subdomains.padding(),
               subdomains.mostSolved(), subdomains.mostLevels(), thermal.text().c_str(), tangent.text().c_str(),
               velocity.text().c_str());
    } catch (const std::runtime_error& error) {
        printf("| %s | %zu | %s | %s |\n", input.name.c_str(), input.set.constraints.size(), label.c_str(),
               error.what());
    }
    fflush(stdout);
}

Case toCase(const std::string& name, const TestSystem& system) {
    Case made{name, toConstraintSet(system), system.box, {}};
    for (unsigned seed : {1, 2, 3})
        made.starts.push_back({system.positions, thermalVelocities(system, seed)});
    return made;
}

std::vector<Case> makeCases(const std::string& folder) {
    std::vector<Case> cases;
    if (!folder.empty())
        for (const BenchmarkInput& input : readInputs(folder)) {
            Case made{input.name, collectConstraints(*input.system, 1e-5), input.box(), {}};
            for (const Frame& frame : input.frames)
                made.starts.push_back({frame.start, frame.velocity});
            cases.push_back(std::move(made));
        }
    cases.push_back(toCase("protein of the tests", protein(300)));
    for (int degrees : {111, 140, 160, 170, 176})
        cases.push_back(toCase("chain at " + std::to_string(degrees), bentChain(1000, degrees)));
    cases.push_back(toCase("chain at 111, 1-3 held", bentChain(1000, 111, true)));
    cases.push_back(toCase("mesh", mesh(24)));
    return cases;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<Case> cases = makeCases(argc > 1 ? argv[1] : "");
        std::vector<int> sizes;
        for (int i = 2; i < argc; i++)
            sizes.push_back(std::stoi(argv[i]));
        if (sizes.empty())
            sizes.push_back(SubdomainLimits().ownRows);
        puts("| system | rows | hops | subdomains | most own | solved/own | most solved | levels | thermal | tangent | "
             "velocity |\n|---|---|---|---|---|---|---|---|---|---|---|");
        for (const Case& input : cases) {
            SubdomainLimits limits;
            limits.whole = 1 << 30;
            limits.mostRows = 1 << 30;
            SubdomainNewton exact(input.set, limits);
            printRow(input, limits, exact, "exact");
            for (int ownRows : sizes)
                for (int hops : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
                    limits = {};
                    limits.ownRows = ownRows;
                    limits.hops = hops;
                    limits.mostRows = 1 << 30;
                    printRow(input, limits, exact, std::to_string(hops));
                }
        }
    } catch (const std::exception& failure) {
        std::cerr << argv[0] << ": " << failure.what() << '\n';
        return 2;
    }
}
