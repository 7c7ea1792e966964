# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Reporters for an openmm.app.Simulation, and the files and averages that they keep."""
