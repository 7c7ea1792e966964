# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The command `openmm-constraints`: its options, and the commands that are one file each."""
