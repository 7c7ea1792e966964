# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints demo`: OpenMM's integrator against SHAKE and RATTLE on a protein in water."""
