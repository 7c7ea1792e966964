# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How commands talk to the user: tables on the terminal, and options that an integrator has to accept."""
