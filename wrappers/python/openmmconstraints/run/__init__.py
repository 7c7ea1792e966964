# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints run`: a user's script, unchanged, with an integrator or the solver of this package."""
