# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The one exception of the command line that is not a fault of the program."""


class UserError(Exception):
    """Something the user gave cannot be used. Shown as one sentence on stderr; the exit status is 2."""
