# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints benchmark`: OpenMM's constraint algorithms against this plugin's, in one process."""
