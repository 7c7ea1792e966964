# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""SASS as nvdisasm prints it, as instructions with operands."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import partial

RZ = 255  # the register that is zero
URZ = 63
PT = 7  # the predicate that is true
INSTRUCTION_BYTES = 16


class UnknownInstruction(Exception):
    """The model does not know an instruction, or a form of it."""


@dataclass(frozen=True)
class Operand:
    """One operand of an instruction.

    Its kind is "R", "UR", "P", "UP", "B" (with a number), "imm" (an integer), "float", "const" (bank and offset),
    "address", "label" or "name".
    """

    kind: str
    number: int = 0
    value: float = 0.0
    offset: int = 0
    negated: bool = False  # -x, or !P
    absolute: bool = False
    inverted: bool = False  # ~x
    name: str = ""
    scale: int = 1  # of the register of an address
    uniform: int = URZ  # the second register of an address
    is_wide: bool = False  # a register pair


@dataclass
class Instruction:
    """One instruction, with the place of its branch's target."""

    place: int  # in the list of the section's instructions
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Operand | None
    text: str
    target: int = -1
    table: tuple[str, ...] = ()  # labels that a jump by a table may go to

    def has(self, modifier: str) -> bool:
        """Whether the opcode has this modifier."""
        return modifier in self.modifiers


@dataclass
class Code:
    """The instructions of a kernel, with the functions that it calls."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)
    starts: set[int] = field(default_factory=set)  # places where basic blocks start


_LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
_LABEL = re.compile(r"^([.$\w]+):\s*$")
_SECTION = re.compile(r"^\s*\.section\s+\.text\.(\S+?),")
_TABLE = re.compile(r'BRANCH_TARGETS ([^"]*)"')
_ADDRESS_TERM = re.compile(r"(U?R)(\d+|Z)((?:\.\w+)*)")


def _split(text: str) -> list[str]:
    """Operands: commas inside of brackets do not separate them."""
    parts, depth, last = [], 0, ""
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(last.strip())
            last = ""
        else:
            last += character
    return [*parts, last.strip()] if last.strip() else parts


def _address(text: str) -> Operand:
    number, scale, uniform, offset, wide = RZ, 1, URZ, 0, False
    for term in re.findall(r"[+-]?[^+-]+", text):
        plain = term.lstrip("+")
        match = _ADDRESS_TERM.fullmatch(plain)
        if match is None:
            offset += int(plain, 16)
        elif match[1] == "UR":
            uniform = URZ if match[2] == "Z" else int(match[2])
        else:
            number = RZ if match[2] == "Z" else int(match[2])
            wide = ".64" in match[3]
            scaled = re.search(r"\.X(\d+)", match[3])
            scale = int(scaled[1]) if scaled else 1
    return Operand("address", number, offset=offset, scale=scale, uniform=uniform, is_wide=wide)


def parse_operand(text: str, whole: str) -> Operand:
    """Read one operand.

    :raises UnknownInstruction: if it has an unknown form
    """
    negated = inverted = absolute = False
    while text and text[0] in "-!~" and not re.match(r"-(0x|\d|INF|QNAN)", text):
        negated |= text[0] in "-!"
        inverted |= text[0] == "~"
        text = text[1:]
    text = text.removesuffix(".reuse")
    if text.startswith("|"):
        absolute, text = True, text.removeprefix("|").split("|")[0]
    make = partial(Operand, negated=negated, inverted=inverted, absolute=absolute)
    text = re.sub(r"\.reuse$", "", text)
    match = re.fullmatch(r"(U?R|U?P|B)(\d+|Z|T)(\.64)?", text)
    if match:
        special = {"R": RZ, "UR": URZ, "P": PT, "UP": PT}
        number = int(match[2]) if match[2].isdigit() else special[match[1]]
        return make(match[1], number, is_wide=match[3] is not None)
    if re.fullmatch(r"-?0x[0-9a-f]+", text):
        return make("imm", int(text, 16))
    match = re.fullmatch(r"c\[(0x[0-9a-f]+)\]\[(.*)\]", text)
    if match:
        place = _address(match[2])
        return make("const", place.number, place.offset, int(match[1], 16), uniform=place.uniform)
    if text.startswith("["):
        return _address(text[1:-1])
    match = re.fullmatch(r"desc\[UR\d+\]\[(.*)\]", text)
    if match:
        return _address(match[1])
    match = re.fullmatch(r"`\((.*)\)", text)
    if match:
        return Operand("label", name=match[1])
    special_floats = {"+INF": math.inf, "-INF": -math.inf, "+QNAN": math.nan, "-QNAN": math.nan}
    if text in special_floats:
        return make("float", value=special_floats[text])
    try:
        return make("float", value=float(text))
    except ValueError:
        pass
    if re.fullmatch(r"PR|SR\w[\w.]*", text):
        return Operand("name", name=text)
    raise UnknownInstruction(f"unknown operand {text} of {whole}")


def parse_instruction(text: str, place: int) -> Instruction:
    """Read an instruction, as "@!P0 IADD3 R1, R2, -R3, RZ"."""
    rest, guard = re.sub(r"\(\*.*?\*\)", "", text).strip(), None  # without comments, as (*"SpillRefill"*)
    if rest.startswith("@"):
        word, rest = rest.split(None, 1)
        guard = parse_operand(word[1:], text)
    opcode, _, arguments = rest.partition(" ")
    name, *modifiers = opcode.split(".")
    if name == "RET":
        arguments = arguments.split()[0]  # the function, which the register's address is in, follows
    if name == "DEPBAR":
        arguments = ""  # scoreboards, which the model has for each register
    if name == "BRX":
        arguments = arguments.replace(" ", ", ")  # a register and what is added to it
    operands = tuple(parse_operand(part, text) for part in _split(arguments))
    table = _TABLE.search(text)
    labels = tuple(table[1].split(",")) if table else ()
    return Instruction(place, name, tuple(modifiers), operands, guard, text, table=labels)


ENDS_BLOCK = frozenset(
    ["BRA", "BRX", "CALL", "RET", "EXIT", "BSSY", "BSYNC", "BAR", "WARPSYNC", "BREAK", "KILL", "YIELD"]
)


def parse_code(listing: str) -> dict[str, Code]:
    """Read all kernels of a listing, by name."""
    codes: dict[str, Code] = {}
    labels: dict[str, int] = {}
    code: Code | None = None

    def resolve() -> None:
        if code is None:
            return
        for instruction in code.instructions:
            for operand in instruction.operands:
                if operand.kind == "label" and instruction.opcode != "RET":
                    instruction.target = labels[operand.name]
                    code.starts.add(instruction.target)
            code.starts.update(labels[name] for name in instruction.table)
            if instruction.opcode in ENDS_BLOCK:
                code.starts.add(instruction.place + 1)
        code.starts.add(0)

    for line in listing.splitlines():
        section = _SECTION.match(line)
        if section or re.match(r"\s*\.section\s", line):
            resolve()
            code, labels = None, {}
        if section:
            code = codes.setdefault(section[1].strip('"'), Code(section[1].strip('"')))
        if code is None:
            continue
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = len(code.instructions)
        match = _LINE.match(line)
        if match:
            code.instructions.append(parse_instruction(match[2], len(code.instructions)))
    resolve()
    return codes
