// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_H_

#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/ConstraintIntegrator.h"
#include "openmmconstraints/ConstraintProblem.h"
#include "openmmconstraints/CustomCentroidConstraintForce.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include "openmmconstraints/Diagnosis.h"
#include "openmmconstraints/Integrators.h"
#include "openmmconstraints/MoveConstraints.h"
#include "openmmconstraints/SolverSummary.h"
#include "openmmconstraints/Warnings.h"

#endif
