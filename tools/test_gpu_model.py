# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""tools/gpumodel on small kernels whose results are known; no GPU and no emulator is needed."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from gpumodel import constants, recording, timeline
from gpumodel.cases import copies_of, mixture_of, part_of, share_of
from gpumodel.compiler import Kernel, compile_text, disassemble, read_kernels
from gpumodel.constants import A100, GPUS, H200
from gpumodel.machine import Launch, Machine
from gpumodel.sass import Code, UnknownInstruction, parse_instruction
from gpumodel.timing import Clock, time_launch, without_spins
from gpumodel.trace import Run

BASE = 0x7F0000000000
ARCHITECTURES = ("sm_80", "sm_89", "sm_90")

TEXT = """
extern "C" __global__ void reverse(const double* from, double* to) {
    __shared__ double numbers[96];
    numbers[threadIdx.x] = from[96 * blockIdx.x + threadIdx.x];
    __syncthreads();
    to[96 * blockIdx.x + threadIdx.x] = numbers[95 - threadIdx.x] / (1 + threadIdx.x);
}

// Lanes leave the loop one after the other.
extern "C" __global__ void diverge(const int* turns, float* to, short* small) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < turns[i]; k++)
        sum = k % 3 == 0 ? sum + 0.5f : sum * 1.25f;
    to[i] = sqrtf(sum);
    small[i] = (short) (turns[i] * -3);
}

// So many cases that compilers jump by a table.
extern "C" __global__ void choose(const int* which, float* to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    switch (which[i]) {
        case 0: x = sqrtf(x); break;
        case 1: x = 3 * x; break;
        case 2: for (int k = 0; k < i; k++) x = 0.5f * x + 1; break;
        case 3: x = __int_as_float(__float_as_int(x) ^ 3); break;
        case 4: to[i + 100] = x; break;
        case 5: x = x * x - 2; break;
    }
    to[i] = x;
}

extern "C" __global__ void chase(const int* next, int steps, int* to) {
    int place = 0;
    for (int k = 0; k < steps; k++)
        place = next[place];
    *to = place;
}

// Reads the same again, after a fence or without one.
extern "C" __global__ void again(const int* table, int steps, int fenced, int* to) {
    int sum = 0;
    for (int turn = 0; turn < 2; turn++) {
        int place = sum & 1;
        for (int k = 0; k < steps; k++)
            place = table[place];
        if (fenced)
            __threadfence();
        sum += place;
    }
    *to = sum;
}

// The first block works, then the others: they wait as those of a grid do, with volatile reads.
extern "C" __global__ void relay(const int* next, int steps, int* flag, int* to) {
    __shared__ int place;
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            int p = 0;
            for (int k = 0; k < steps; k++)
                p = next[p];
            to[0] = p;
            __threadfence();
            atomicAdd(flag, 1);
        } else
            while (*(volatile int*) flag == 0)
                ;
        __threadfence();
        int p = ((volatile int*) to)[0];
        if (blockIdx.x > 0)
            for (int k = 0; k < steps; k++)
                p = next[p];
        place = p;
    }
    __syncthreads();
    if (blockIdx.x > 0)
        to[blockIdx.x * blockDim.x + threadIdx.x] = place + threadIdx.x;
}

// Blocks work and wait for each other, twice: the last one to arrive releases all.
extern "C" __global__ void meet(const int* next, const int* steps, int* barrier, int* to) {
    int place = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (int k = 0; k < steps[turn * gridDim.x + blockIdx.x]; k++)
            place = next[place];
        to[turn * gridDim.x + blockIdx.x] = place;
        const int round = ((volatile int*) barrier)[1];
        __threadfence();
        if (atomicAdd(barrier, 1) == gridDim.x - 1) {
            atomicAdd(barrier, -(int) gridDim.x);
            __threadfence();
            atomicAdd(barrier + 1, 1);
        } else
            while (((volatile int*) barrier)[1] == round)
                ;
        __threadfence();
    }
}

// Every lane reads a sector of its own again and again.
extern "C" __global__ void reread(const int* next, int steps, int* to) {
    int place = 8 * threadIdx.x;
    for (int k = 0; k < steps; k++)
        place = next[place];
    to[blockIdx.x * blockDim.x + threadIdx.x] = place;
}

// Blocks work and post a word each, for which a lane of every block waits, and work again.
extern "C" __global__ void gather(const int* next, const int* steps, volatile int* words, int* to) {
    int place = 0;
    if (threadIdx.x == 0) {
        for (int k = 0; k < steps[blockIdx.x]; k++)
            place = next[place];
        words[blockIdx.x] = place + 1;
    }
    if (threadIdx.x < gridDim.x)
        while (words[threadIdx.x] == 0)
            ;
    __syncthreads();
    for (int k = 0; k < steps[gridDim.x + blockIdx.x]; k++)
        place = next[place];
    to[blockIdx.x * blockDim.x + threadIdx.x] = place;
}
"""


@cache
def kernels(architecture: str) -> dict[str, Kernel]:
    """TEXT by NVRTC."""
    cubin = compile_text(TEXT, [f"--gpu-architecture={architecture}", "--use_fast_math"])
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return read_kernels(cubin, disassemble(Path(file.name)), architecture)


class Memory:
    """Arrays side by side, as parts of one memory."""

    def __init__(self, *arrays: np.ndarray) -> None:
        self.places: list[int] = []
        content = b""
        for array in arrays:
            self.places.append(len(content))
            content += array.tobytes() + bytes(-array.nbytes % 256)
        self.bytes = np.frombuffer(content, np.uint8).copy()

    def pointers(self, *numbers: int) -> bytes:
        """Addresses of these arrays, as arguments."""
        return np.array([BASE + self.places[n] for n in numbers], np.uint64).tobytes()

    def read(self, number: int, kind: type, length: int) -> np.ndarray:
        """What an array holds."""
        return self.bytes[self.places[number] :].view(np.uint8)[: length * np.dtype(kind).itemsize].view(kind)


def launch(kernel: Kernel, memory: Memory, blocks: int, threads: int, parameters: bytes, **more: bool) -> Launch:
    """Without dynamic shared memory."""
    return Launch(kernel, blocks, threads, 0, parameters, memory.bytes, BASE, **more)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_shared_memory_and_barriers(architecture: str) -> None:
    numbers = np.arange(480) ** 1.5
    memory = Memory(numbers, np.zeros(480))
    trace = Machine(launch(kernels(architecture)["reverse"], memory, 5, 96, memory.pointers(0, 1))).run()
    expected = numbers.reshape(5, 96)[:, ::-1] / (1 + np.arange(96))
    np.testing.assert_allclose(memory.read(1, np.float64, 480).reshape(5, 96), expected, rtol=1e-15)
    assert all(sum(run.is_barrier for run in runs) == 1 for runs in trace.runs.values())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lanes_that_diverge_join_again(architecture: str) -> None:
    turns = np.random.default_rng(1).integers(0, 30, 100).astype(np.int32)
    memory = Memory(turns, np.zeros(100, np.float32), np.zeros(100, np.int16))
    kernel = kernels(architecture)["diverge"]
    machine = Machine(launch(kernel, memory, 2, 50, memory.pointers(0, 1, 2)))
    trace = machine.run()
    expected = []
    for number in turns:
        total = np.float32(0)
        for k in range(number):
            total = total + np.float32(0.5) if k % 3 == 0 else total * np.float32(1.25)
        expected.append(np.sqrt(total))
    np.testing.assert_allclose(memory.read(1, np.float32, 100), expected, rtol=1e-6)
    np.testing.assert_array_equal(memory.read(2, np.int16, 100), -3 * turns)
    stores = [o.instruction.place for o in machine.operations if o.instruction.opcode == "STG"]
    times = {place: sum(place in run.accesses for run in trace.runs[0]) for place in stores}
    assert times == dict.fromkeys(stores, 1)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lanes_jump_by_a_table(architecture: str) -> None:
    which = np.random.default_rng(2).integers(0, 7, 100).astype(np.int32)
    memory = Memory(which, np.zeros(200, np.float32))
    machine = Machine(launch(kernels(architecture)["choose"], memory, 2, 50, memory.pointers(0, 1)))
    assert any(o.instruction.opcode == "BRX" for o in machine.operations)
    machine.run()

    def halved(x: float) -> float:
        return 2 + (x - 2) / 2**x

    cases = (
        np.sqrt,
        lambda x: 3 * x,
        halved,
        lambda x: (np.array([x], np.float32).view(np.int32) ^ 3).view(np.float32)[0],
        lambda x: x,
        lambda x: x * x - 2,
        lambda x: x,
    )
    expected = [cases[case](float(i)) for i, case in enumerate(which)]
    np.testing.assert_allclose(memory.read(1, np.float32, 200)[:100], expected, rtol=1e-6)
    np.testing.assert_array_equal(memory.read(1, np.float32, 200)[100:] != 0, (which == 4) & (np.arange(100) > 0))


def test_dependent_reads_take_the_latency_of_l2() -> None:
    cells = 4096
    following = ((np.arange(cells) + 32) % cells).astype(np.int32)  # another sector each
    found = {}
    for steps in (32, 96):
        memory = Memory(following, np.zeros(1, np.int32))
        parameters = memory.pointers(0) + np.array([steps, 0], np.int32).tobytes() + memory.pointers(1)
        found[steps] = time_launch(launch(kernels("sm_90")["chase"], memory, 1, 1, parameters), H200)
        assert memory.read(1, np.int32, 1)[0] == 32 * steps % cells
        assert found[steps].chain == steps
    cycles = 1000 * H200.clock * (found[96].microseconds - found[32].microseconds) / 64
    assert H200.l2 < cycles < 1.2 * H200.l2


def test_a_fence_empties_the_first_cache() -> None:
    following = ((np.arange(4096) + 32) % 4096).astype(np.int32)
    times = []
    for fenced in (0, 1):
        memory = Memory(following, np.zeros(1, np.int32))
        parameters = memory.pointers(0) + np.array([50, fenced], np.int32).tobytes() + memory.pointers(1)
        times.append(time_launch(launch(kernels("sm_90")["again"], memory, 1, 1, parameters), H200).microseconds)
    slower = H200.microseconds(50 * (H200.l2 - H200.l1))
    assert times[1] - times[0] == pytest.approx(slower, rel=0.2)


def test_warps_of_small_blocks_use_all_schedulers() -> None:
    times = []
    for threads in (64, 128):
        size = 256 * H200.multiprocessors
        memory = Memory(np.full(size, 50, np.int32), np.zeros(size, np.float32), np.zeros(size, np.int16))
        many = launch(kernels("sm_90")["diverge"], memory, size // threads, threads, memory.pointers(0, 1, 2))
        times.append(time_launch(many, H200).microseconds)
    assert times[0] == pytest.approx(times[1], rel=0.02)


def test_blocks_fit_by_the_registers_of_a_scheduler() -> None:
    memory = Memory(np.ones(64, np.int32), np.zeros(64, np.float32), np.zeros(64, np.int16))
    small = launch(kernels("sm_90")["diverge"], memory, 1, 64, memory.pointers(0, 1, 2))
    at_once = []
    for registers in (128, 168, 192, 255):
        machine = Machine(replace(small, kernel=replace(small.kernel, registers=registers)))
        at_once.append(Clock(machine, machine.run(), H200).resident())
    assert at_once == [8, 6, 4, 4]


@pytest.mark.long
def test_reads_from_the_first_cache_take_nothing_of_l2() -> None:
    cells, blocks, threads = 512, 8 * H200.multiprocessors, 64
    memory = Memory(np.arange(cells, dtype=np.int32), np.zeros(blocks * threads, np.int32))
    parameters = memory.pointers(0) + np.array([100, 0], np.int32).tobytes() + memory.pointers(1)
    timing = time_launch(launch(kernels("sm_90")["reread"], memory, blocks, threads, parameters), H200)
    sectors_of_one = timing.sectors / H200.multiprocessors
    assert timing.microseconds < H200.microseconds(sectors_of_one * 32 / constants.L2_BYTES)


def test_a_sample_of_blocks_takes_the_time_of_all() -> None:
    blocks, threads = 700, 64
    size = blocks * threads
    turns = np.random.default_rng(1).integers(0, 20, size).astype(np.int32)
    memories = [Memory(turns, np.zeros(size, np.float32), np.zeros(size, np.int16)) for _ in range(2)]
    timings = [
        time_launch(launch(kernels("sm_90")["diverge"], m, blocks, threads, m.pointers(0, 1, 2)), H200, samples)
        for m, samples in zip(memories, (False, True), strict=True)
    ]
    assert timings[1].microseconds == pytest.approx(timings[0].microseconds, rel=0.05)
    assert timings[1].instructions == pytest.approx(timings[0].instructions, rel=0.05)
    assert timings[1].sectors == pytest.approx(timings[0].sectors, rel=0.05)
    done = memories[1].read(2, np.int16, size).reshape(blocks, threads)
    np.testing.assert_array_equal(
        done[:: H200.multiprocessors], -3 * turns.reshape(blocks, threads)[:: H200.multiprocessors]
    )
    assert not done[1 : H200.multiprocessors].any()


def test_copies_have_their_share_of_a_device() -> None:
    assert copies_of("dhfr") == ("dhfr", 1)
    assert copies_of("dhfr x 45") == ("dhfr", 45)
    assert share_of(H200, 4) == (4, 132)
    assert share_of(H200, 45) == (7, 21)
    part = part_of(H200, 33)
    assert (part.multiprocessors, 4 * part.l2_read, 4 * part.l2_write) == (33, H200.l2_read, H200.l2_write)


def test_mixtures_may_have_a_part_of_a_device() -> None:
    assert mixture_of("dhfr x 45") == ([("dhfr", 45)], 1)
    assert mixture_of("villin / 4") == ([("villin", 1)], 4)
    assert mixture_of("villin + polyethylene:44 x 75 / 4") == ([("villin", 1), ("polyethylene:44", 75)], 4)


@pytest.mark.parametrize("gpu", list(GPUS.values()), ids=list(GPUS))
def test_blocks_wait_for_another(gpu: constants.Gpu) -> None:
    cells, blocks, threads = 8192, 4, 64
    following = ((np.arange(cells) + 32) % cells).astype(np.int32)
    times = {}
    for steps in (10, 90):
        memory = Memory(following, np.zeros(1, np.int32), np.zeros(blocks * threads, np.int32))
        parameters = memory.pointers(0) + np.array([steps, 0], np.int32).tobytes() + memory.pointers(1, 2)
        kernel = kernels(gpu.architecture)["relay"]
        times[steps] = time_launch(launch(kernel, memory, blocks, threads, parameters, cooperative=True), gpu)
        written = memory.read(2, np.int32, blocks * threads).reshape(blocks, threads)
        np.testing.assert_array_equal(written[1:], np.tile(64 * steps + np.arange(threads), (blocks - 1, 1)))
    # First one's reads, then the others', not the turns that these wait: how many there are is chance.
    difference = gpu.microseconds(2 * 80 * gpu.l2)
    assert times[90].microseconds - times[10].microseconds == pytest.approx(difference, rel=0.1)
    flag = times[10].microseconds - constants.KERNEL_START - gpu.microseconds(2 * 10 * gpu.l2)
    assert gpu.microseconds(2 * gpu.l2) < flag < gpu.microseconds(10 * gpu.l2)
    assert times[90].chain > 180  # that of one depends on that of the other


def test_all_wait_for_the_slowest_block() -> None:
    cells, blocks = 8192, 6
    following = ((np.arange(cells) + 32) % cells).astype(np.int32)

    def time_of(*slow: int) -> float:
        steps = np.full((2, blocks), 10, np.int32)
        for turn, block in enumerate(slow):
            steps[turn, block] = 90
        memory = Memory(following, steps, np.zeros(2, np.int32), np.zeros(2 * blocks, np.int32))
        meet = launch(kernels("sm_90")["meet"], memory, blocks, 1, memory.pointers(0, 1, 2, 3), cooperative=True)
        return time_launch(meet, H200).microseconds

    chases = H200.microseconds(160 * H200.l2)
    for slow in ((0, 0), (blocks - 1, blocks - 1), (0, blocks - 1), (blocks - 1, 2)):
        assert time_of(*slow) - time_of() == pytest.approx(chases, rel=0.05)


def test_each_lane_waits_for_its_word() -> None:
    cells, blocks = 8192, 6
    following = ((np.arange(cells) + 32) % cells).astype(np.int32)

    def time_of(first: int | None = None, then: int | None = None) -> float:
        steps = np.full((2, blocks), 10, np.int32)
        for turn, slow in enumerate((first, then)):
            if slow is not None:
                steps[turn, slow] = 90
        memory = Memory(following, steps, np.zeros(32, np.int32), np.zeros(32 * blocks, np.int32))
        one = launch(kernels("sm_90")["gather"], memory, blocks, 32, memory.pointers(0, 1, 2, 3), cooperative=True)
        return time_launch(one, H200).microseconds

    chases = H200.microseconds(160 * H200.l2)
    for first in range(blocks):
        assert time_of(first, (first + 1) % blocks) - time_of() == pytest.approx(chases, rel=0.1)


def test_turns_that_read_a_flag_in_vain_are_left_out() -> None:
    def reads(version: int) -> Run:
        return Run(5, 8, waits={6: {3: [(77, version)]}})

    back, work = Run(8, 10), Run(10, 20)
    kept = without_spins([work, reads(0), back, reads(0), back, reads(1), work], 3)
    assert [(run.start, run.waits) for run in kept] == [(10, {}), (5, {6: {3: [(77, 1)]}}), (10, {})]
    written = Run(8, 10, posts={9: {3: [(78, 1)]}})  # what it writes between two reads counts
    assert len(without_spins([reads(0), written, reads(1)], 3)) == 3


def test_slow_units_take_longer() -> None:
    memory = Memory(np.ones(96), np.zeros(96))
    one = launch(kernels("sm_80")["reverse"], memory, 1, 96, memory.pointers(0, 1))
    fast, slow = (time_launch(one, gpu).microseconds for gpu in (A100, replace(A100, fp64=2, fp64_latency=48)))
    assert slow > fast + A100.microseconds(100)


def test_waits_for_scoreboards_have_no_operands() -> None:
    assert parse_instruction("DEPBAR.LE SB0, 0x0, {3,1}", 0).operands == ()


@pytest.mark.parametrize(
    "text", ["IDP.4A.S8.S8 R0, R1, R2, R3", "FMUL.D2 R0, R1, R2", "BMOV.32 B0, R1", "JMX R2, 0x10"]
)
def test_unknown_instructions_raise(text: str) -> None:
    code = Code("kernel", [parse_instruction(text, 0), parse_instruction("EXIT", 1)], {0, 1, 2})
    kernel = Kernel("kernel", "sm_80", code, parameters_at=0x160, registers=8, static_shared=0, stack=0)
    machine = Machine(Launch(kernel, 1, 32, 0, b"", np.zeros(4, np.uint8), BASE))
    with pytest.raises(UnknownInstruction, match=re.escape(text)):
        machine.run()


def test_accesses_outside_of_the_memory_raise() -> None:
    memory = Memory(np.ones(96), np.zeros(95))
    with pytest.raises(MemoryError, match="global memory"):
        Machine(launch(kernels("sm_90")["reverse"], memory, 2, 96, memory.pointers(0, 1))).run()


def test_recordings_are_read_in_their_order(tmp_path: Path) -> None:
    start = {"call": "memory", "base": BASE}
    common = {"call": "launch", "kernel": "k", "library": "/a/b.so", "blocks": 1, "threads": 32, "shared": 0}
    common |= {"cooperative": False, "parameters": "0a0b", "used": 2 * recording.PAGE}
    lines = [start, common | {"before": 1, "after": 1}, {"call": "wait x"}, common | {"before": 0, "after": 1}]
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    pages = [(1, 7), (0, 8), (1, 9)]
    content = b"".join(np.uint64(p).tobytes() + bytes([value]) * recording.PAGE for p, value in pages)
    (tmp_path / "pages.bin").write_bytes(content)
    seen = []
    for call in recording.read(tmp_path):
        if isinstance(call, str):
            seen.append(call)
        else:
            seen += [(int(m[0]), int(m[-1])) for m in (call.before, call.after())]
            assert (call.source, call.parameters) == (Path("/a/b.cu"), b"\x0a\x0b")
    assert seen == [(0, 7), (8, 7), "wait x", (8, 7), (8, 9)]


def test_waits_of_the_host_cost_more_than_launches() -> None:
    kernel, wait = timeline.Event("launch", 3.0), timeline.Event("wait")
    assert timeline.total([kernel] * 4) == pytest.approx(4 * (3.0 + constants.BETWEEN_LAUNCHES))
    round_trip = constants.TO_HOST + constants.HOST_LAUNCH + constants.TO_DEVICE
    waits = timeline.total([kernel, wait, kernel]) - timeline.total([kernel, kernel])
    assert waits == pytest.approx(round_trip - constants.BETWEEN_LAUNCHES)
    # What was launched after the event goes on while the host waits.
    hidden = timeline.total([kernel, timeline.Event("record"), kernel, kernel, wait, kernel])
    assert hidden < timeline.total([kernel, kernel, kernel, wait, kernel])
