# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every number of the model that describes a device, with its source.

Sources:

[guide]   NVIDIA, CUDA C++ Programming Guide, tables "Throughput of Native Arithmetic Instructions" and "Technical
          Specifications per Compute Capability"
[data]    NVIDIA's white papers and data sheets of the A100, the RTX 4090 and the H100 and H200: multiprocessors, clock
[codes]   control codes of our own compiled kernels: how many cycles the compiler waits before a result is used
[jia]     Jia et al. 2018, arXiv 1804.06826 (V100), and 2019, arXiv 1903.07486 (T4)
[ampere]  Abdelkhalik et al. 2022, arXiv 2208.11174 (A100)
[hopper]  Luo et al. 2024, arXiv 2402.13499 (A100, RTX 4090, H100): latencies of memory
[sync]    Zhang et al. 2020, arXiv 2004.05371 (V100, P100): launches and barriers
[graphs]  Gray 2019, NVIDIA Technical Blog, "Getting Started with CUDA Graphs" (V100): a kernel of 2.9 µs takes 3.8 µs
          in a full queue, 9.6 µs if the host waits for each
[h100]    copies, benchmarks/results/2026-11-27-h100-small-clusters.txt: "F load kick drift store" (88 bytes read and 64
          written an atom, 1,529 to 1,870 cycles) and "F load kick store" (56 and 32, 1,014 cycles)
[h200]    measured kernels, benchmarks/results/2026-11-27-h200-kernels.csv: SETTLE's 4.6 µs
[assumed] no source: an order of magnitude

Numbers of [guide], [data], [jia], [ampere], [hopper], [sync] and [graphs] were written from memory, without the texts
at hand: read them again before a number is trusted. A constant changes only with a source or a measurement, in a commit
of its own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """A device. Latencies and intervals are in cycles, throughputs in results per cycle and multiprocessor."""

    name: str
    architecture: str
    multiprocessors: int  # [data]
    clock: float  # GHz, boost [data]
    fp32: int  # [guide]
    fp64: int  # [guide]
    integer: int  # [guide]
    conversion64: int  # of types of 64 bits [guide]
    fp64_latency: int
    l1: int  # [hopper]
    shared: int  # [hopper]
    l2: int  # [hopper]
    threads: int  # resident on a multiprocessor [guide]
    blocks: int  # resident [guide]
    shared_kb: int  # of a multiprocessor [guide]
    cache_kb: int  # L1 and shared memory of a multiprocessor together [guide]
    l2_read: int  # bytes that all multiprocessors together get from L2 in a cycle [h100]; of others in proportion
    l2_write: int  # and write to it [h100]; likewise

    def microseconds(self, cycles: float) -> float:
        """A number of cycles as time."""
        return cycles / (1000 * self.clock)


# fp64_latency: [codes] 8 for sm_90, 6 to 10 for sm_80; on GeForce the compiler does not know it: 48 [jia], T4.
A100 = Gpu("A100", "sm_80", 108, 1.41, 64, 32, 64, 16, 8, 38, 29, 262, 2048, 32, 164, 192, 2300, 1150)
RTX4090 = Gpu("RTX4090", "sm_89", 128, 2.52, 128, 2, 64, 2, 48, 43, 30, 273, 1536, 24, 100, 128, 2700, 1350)
H200 = Gpu("H200", "sm_90", 132, 1.98, 128, 64, 64, 16, 8, 41, 29, 263, 2048, 32, 228, 256, 2800, 1400)
GPUS = {gpu.name: gpu for gpu in (H200, RTX4090, A100)}

REGISTERS = 65536  # of a multiprocessor [guide]
SCHEDULERS = 4  # of a multiprocessor, an instruction a cycle each [data]
SPECIAL = 16  # special functions, conversions: results per cycle [guide]
L2_BYTES = 64  # that a multiprocessor gets from L2 in a cycle [data]: A100, 5,120 bytes a cycle for all

ALU_LATENCY = 5  # [codes]: 4 or 5
PREDICATE_LATENCY = 13  # a comparison, before a branch or a guard [codes]
SPECIAL_LATENCY = 23  # [jia]
UNIFORM_LATENCY = 12  # uniform data path [codes]: 6 to 13
TO_UNIFORM_LATENCY = 25  # S2R, R2UR, votes, reductions of a warp [assumed]
CONSTANT_LATENCY = 30  # LDC: a hit in the constant cache [jia]
SHUFFLE_LATENCY = 23  # [jia]
BRANCH_LATENCY = 10  # until the first instruction after a jump [assumed]
INSTRUCTIONS_OF_LINE = 8  # of 128 bytes
FETCH = 20  # from one line of code to the next that is executed for the first time [h200]
BARRIER_LATENCY = 22  # of a block [sync]
SHARED_ATOMIC = 2  # times the latency of shared memory [assumed]
ATOMIC_LATENCY = 1.2  # times that of L2 [assumed]
FENCE_LATENCY = 1.5  # times that of L2: until earlier writes are visible [assumed]

# ---- the host; µs ----------------------------------------------------------------------------------------------------

BETWEEN_LAUNCHES = 0.9  # from a kernel's end to the next one's begin, where the queue is full [graphs]: 3.8 - 2.9
KERNEL_START = 1.0  # until the first instructions and arguments are there, and until all has been written [assumed]
HOST_LAUNCH = 2.5  # that the host takes for a launch [assumed]; at most 3.8 [graphs]
TO_DEVICE = 2.1  # from the end of that to the kernel's begin, where the device waits for it; see TO_HOST
TO_HOST = 2.1  # from a kernel's end until the host goes on; with the two above 6.7 [graphs]: 9.6 - 2.9
