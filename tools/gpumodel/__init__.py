# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A cost model of CUDA kernels: recorded launches, compiled for real GPUs, executed and timed. See gpu_model.py."""
