// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Templates.h"

#define DEFINE(...) template class __VA_ARGS__;
COMMON_TEMPLATES(DEFINE)
