# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Statistical tests: constrained dynamics samples the ensembles that it claims to sample.

One module per experiment, each with a `run(size, output)` that returns its checks and saves its plot;
`bash scripts/validate.sh` runs them all. tests/python/test_validation.py runs the same functions with few samples.
"""
