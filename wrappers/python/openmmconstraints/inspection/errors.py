# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Mistakes of the user, as opposed to faults of the program."""


class UserError(Exception):
    """Something that the user gave cannot be used. Commands print it as one sentence and exit with status 2."""
