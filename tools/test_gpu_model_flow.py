# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Control flow of tools/gpumodel on a few machine instructions: calls, returns and waits of large kernels."""

from __future__ import annotations

import numpy as np
import pytest
from gpumodel.compiler import Kernel
from gpumodel.constants import H200
from gpumodel.machine import Launch, Machine
from gpumodel.sass import INSTRUCTION_BYTES, parse_code
from gpumodel.timing import time_launch
from gpumodel.trace import Trace

BASE = 0x7F0000000000
MOST_RUNS = 200  # far more than any test here needs

# Lanes take the address from c[0x0][0x210]: R2 and R3 point to their words in it.
OWN_WORD = """
    S2R R0, SR_TID.X
    IMAD.MOV.U32 R2, RZ, RZ, c[0x0][0x210]
    IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x214]
    IMAD.WIDE.U32 R2, R0, 0x4, R2
"""


class Short(Trace):
    """Of a kernel that comes to its end soon."""

    def begin(self, start: int, warps: np.ndarray) -> None:
        """Fail where a loop goes on and on."""
        assert len(self.all) < MOST_RUNS
        super().begin(start, warps)


def assemble(text: str) -> Kernel:
    """A kernel, in whose text a line is an instruction or a label; {label} is the address of one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    addresses: dict[str, str] = {}
    for line in lines:
        if line.endswith(":"):
            place = sum(not before.endswith(":") for before in lines[: lines.index(line)])
            addresses[line[1:-1]] = hex(INSTRUCTION_BYTES * place)
    listing = [".section .text.kernel,"]
    for line in lines:
        listing.append(line if line.endswith(":") else f"/*0000*/ {line.format(**addresses)} ;")
    code = parse_code("\n".join(listing))["kernel"]
    return Kernel("kernel", "sm_90", code, parameters_at=0x210, registers=16, static_shared=0, stack=0)


def launch(text: str, words: np.ndarray, blocks: int, threads: int, *, cooperative: bool = False) -> Launch:
    """Of these instructions; their argument is the address of the words."""
    address = np.uint64(BASE).tobytes()
    return Launch(assemble(text), blocks, threads, 0, address, words.view(np.uint8), BASE, cooperative)


@pytest.mark.parametrize(
    ("threads", "bound"), [(32, 0), (32, 32), (32, 7), (128, 70)], ids=["none", "all", "some", "some of the warps"]
)
def test_lanes_return_by_a_guard(threads: int, bound: int) -> None:
    """A function adds 1, and 2 more unless it returns before."""
    text = f"""{OWN_WORD}
        ISETP.LT.U32.AND P0, PT, R0, {bound:#x}, PT
        MOV R4, {{back}}
        IMAD.MOV.U32 R6, RZ, RZ, RZ
        BSSY B0, `(.joined)
        CALL.REL.NOINC `(.function)
    .back:
        BSYNC B0
    .joined:
        STG.E [R2.64], R6
        EXIT
    .function:
        VIADD R6, R6, 0x1
        @P0 RET.REL.NODEC R4 `(kernel)
        VIADD R6, R6, 0x2
        RET.REL.NODEC R4 `(kernel)
    """
    words = np.zeros(threads, np.uint32)
    one = launch(text, words, 1, threads)
    trace = Machine(one, Short()).run()
    np.testing.assert_array_equal(words, np.where(np.arange(threads) < bound, 1, 3))
    store = next(i.place for i in one.kernel.code.instructions if i.opcode == "STG")
    assert all(sum(store in run.accesses for run in runs) == 1 for runs in trace.runs.values())


@pytest.mark.parametrize("bound", [0, 32, 7], ids=["none", "all", "some"])
def test_lanes_return_to_where_they_came_from(bound: int) -> None:
    """Lanes below the bound call a function from one place, others from another; odd ones return early."""
    text = f"""{OWN_WORD}
        ISETP.LT.U32.AND P0, PT, R0, {bound:#x}, PT
        LOP3.LUT R5, R0, 0x1, RZ, 0xc0, !PT
        ISETP.NE.U32.AND P1, PT, R5, RZ, PT
        MOV R4, {{second}}
        IMAD.MOV.U32 R6, RZ, RZ, RZ
        @P0 MOV R4, {{first}}
        CALL.REL.NOINC `(.function)
    .first:
        VIADD R6, R6, 0x10
    .second:
        VIADD R6, R6, 0x100
        STG.E [R2.64], R6
        EXIT
    .function:
        VIADD R6, R6, 0x1
        @P1 RET.REL.NODEC R4 `(kernel)
        VIADD R6, R6, 0x2
        RET.REL.NODEC R4 `(kernel)
    """
    words = np.zeros(32, np.uint32)
    Machine(launch(text, words, 1, 32), Short()).run()
    lane = np.arange(32)
    np.testing.assert_array_equal(words, 0x100 + np.where(lane < bound, 0x10, 0) + np.where(lane % 2, 1, 3))


@pytest.mark.parametrize("read", ["LDG.E.STRONG.SYS", "LD.E.STRONG.SYS"])
def test_blocks_wait_whatever_the_kind_of_their_address(read: str) -> None:
    """The first block waits for a word of the second one, whose instructions come later in the text."""
    text = f"""
        S2R R0, SR_CTAID.X
        IMAD.MOV.U32 R2, RZ, RZ, c[0x0][0x210]
        IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x214]
        ISETP.NE.U32.AND P0, PT, R0, RZ, PT
        @P0 BRA `(.write)
    .wait:
        {read} R4, [R2.64]
        ISETP.NE.U32.AND P0, PT, R4, RZ, PT
        @!P0 BRA `(.wait)
        STG.E [R2.64+0x4], R4
        EXIT
    .write:
        MOV R4, 0x7
        ST.E.STRONG.SYS [R2.64], R4
        EXIT
    """
    words = np.zeros(2, np.uint32)
    Machine(launch(text, words, 2, 32, cooperative=True), Short(cooperative=True)).run()
    np.testing.assert_array_equal(words, [7, 7])
    words[:] = 0
    timing = time_launch(launch(text, words, 2, 32, cooperative=True), H200)
    assert timing.chain == 1
