// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What takes longest to read of what tests include. It is compiled once; each file still includes what it uses.
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Statistics.h"
#include "support/Templates.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>
