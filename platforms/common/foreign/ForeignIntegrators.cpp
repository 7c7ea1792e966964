// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ForeignIntegrators.h"
#include "ProblemReport.h"
#include "SystemChecks.h"
#include "Warn.h"
#include "openmm/BrownianIntegrator.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/CustomIntegrator.h"
#include "openmm/LangevinIntegrator.h"
#include "openmm/LangevinMiddleIntegrator.h"
#include "openmm/VariableLangevinIntegrator.h"
#include "openmm/VariableVerletIntegrator.h"
#include "openmm/VerletIntegrator.h"
#include <typeinfo>

using namespace OpenMM;

namespace ConstraintPlugin {

bool movesUnheard(Integrator& integrator) {
    const std::type_info& type = typeid(currentIntegrator(integrator));
    for (const std::type_info* known :
         {&typeid(VerletIntegrator), &typeid(LangevinIntegrator), &typeid(LangevinMiddleIntegrator),
          &typeid(BrownianIntegrator), &typeid(VariableVerletIntegrator), &typeid(VariableLangevinIntegrator)})
        if (type == *known)
            return false;
    return true;
}

void checkForeign(const System& system, const Integrator& integrator) {
    if (const auto* compound = dynamic_cast<const CompoundIntegrator*>(&integrator)) {
        for (int i = 0; i < compound->getNumIntegrators(); i++)
            checkForeign(system, compound->getIntegrator(i));
        return;
    }
    const auto* custom = dynamic_cast<const CustomIntegrator*>(&integrator);
    if (custom == nullptr)
        return;
    if (system.getNumConstraints() == 0) {
        ConstraintProblem problem;
        problem.kind = "combination";
        problem.message =
            "On this platform a CustomIntegrator does not ask for constraints if the System itself has none.";
        problem.remedy = "Call openmmconstraints.replaceSolver(system), which declares a distance in the System where "
                         "it can, or use the Reference or CPU platform, or another integrator.";
        throwProblem(problem);
    }
    bool updates = false;
    for (int n = 0; n < custom->getNumComputations(); n++) {
        CustomIntegrator::ComputationType type;
        std::string variable, expression;
        custom->getComputationStep(n, type, variable, expression);
        updates = updates || type == CustomIntegrator::UpdateContextState;
    }
    if (!updates)
        warnOf("This CustomIntegrator has no addUpdateContextState(): its constraints are solved on the host, which is "
               "slow, and positions that anybody else moves are brought onto the constraints only while it solves. "
               "Begin its steps with addUpdateContextState().");
}

} // namespace ConstraintPlugin
