// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ThermostatDegrees.h"
#include "ProblemReport.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/NoseHooverIntegrator.h"
#include <algorithm>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

/** Which particles a chain has. */
static vector<char> particlesOf(const NoseHooverChain& chain, const System& system) {
    vector<char> isIn(system.getNumParticles(), false);
    for (int p : chain.getThermostatedAtoms())
        isIn[p] = true;
    for (const auto& [p, q] : chain.getThermostatedPairs())
        isIn[p] = isIn[q] = true;
    return isIn;
}

/** How many of the System's constraints OpenMM has subtracted from a chain. */
static int countDeclared(const vector<char>& isIn, const System& system) {
    int count = 0;
    for (int i = 0; i < system.getNumConstraints(); i++) {
        int p, q;
        double distance;
        system.getConstraintParameters(i, p, q, distance);
        count += isIn[p] && isIn[q] && system.getParticleMass(p) > 0 && system.getParticleMass(q) > 0;
    }
    return count;
}

static int countRank(const vector<char>& isIn, const vector<RankOfGroup>& ranks) {
    int rank = 0;
    for (const RankOfGroup& group : ranks) {
        const auto isOutside = [&](int p) { return !isIn[p]; };
        const auto outside = find_if(group.particles.begin(), group.particles.end(), isOutside);
        const auto inside = find_if_not(group.particles.begin(), group.particles.end(), isOutside);
        if (inside == group.particles.end())
            continue;
        if (outside != group.particles.end())
            throwProblem({"combination",
                          {},
                          {*inside, *outside},
                          ConstraintProblem::none,
                          ConstraintProblem::none,
                          "A Nose-Hoover thermostat has particle " + to_string(*inside) + ", but not particle " +
                              to_string(*outside) + ", to which constraints join it.",
                          "Give all coupled particles to one thermostat, or none of them (addSubsystemThermostat)."});
        rank += group.rank;
    }
    return rank;
}

static void countChains(const System& system, NoseHooverIntegrator& integrator, const vector<RankOfGroup>& ranks) {
    for (int i = 0; i < integrator.getNumThermostats(); i++) {
        // The integrator has no other access to the number that its kernel reads.
        auto& chain = const_cast<NoseHooverChain&>(integrator.getThermostat(i));
        const vector<char> isIn = particlesOf(chain, system);
        chain.setNumDegreesOfFreedom(chain.getNumDegreesOfFreedom() + countDeclared(isIn, system) -
                                     countRank(isIn, ranks));
    }
}

void countDegreesOfFreedom(const System& system, Integrator& integrator, const vector<RankOfGroup>& ranks) {
    if (auto* compound = dynamic_cast<CompoundIntegrator*>(&integrator))
        for (int i = 0; i < compound->getNumIntegrators(); i++)
            countDegreesOfFreedom(system, compound->getIntegrator(i), ranks);
    else if (auto* chains = dynamic_cast<NoseHooverIntegrator*>(&integrator))
        countChains(system, *chains, ranks);
}

} // namespace ConstraintPlugin
