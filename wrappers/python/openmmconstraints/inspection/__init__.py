# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What can be read off a System, an integrator or a platform. Nothing here changes what it reads."""
