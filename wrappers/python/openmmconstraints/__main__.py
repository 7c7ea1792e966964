# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`python -m openmmconstraints` is the command `openmm-constraints`."""

import sys

from openmmconstraints.commands.cli import main

sys.exit(main())
