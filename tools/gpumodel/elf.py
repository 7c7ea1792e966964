# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The sections of a cubin, which is an ELF file, and the attributes that NVIDIA's compilers keep there."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

NO_BITS = 8
# Attributes of .nv.info: their numbers (of 13.0), found by comparing with `cuobjdump -elf`.
FRAME_SIZE, REGISTERS, PARAMETER_BANK, MIN_STACK = 0x11, 0x2F, 0x0A, 0x12
WITH_SIZE = 4  # format of an attribute: a size and so many bytes; others have two bytes


@dataclass
class Attributes:
    """What the model needs of them."""

    parameters_at: int = 0
    registers: int = 0
    stack: int = 0


@dataclass
class Section:
    """A section, and the names of symbols if it is the table of them."""

    content: bytes
    size: int
    symbols: list[str] = field(default_factory=list)

    def index_of(self, name: str) -> int:
        """The number of a symbol."""
        return self.symbols.index(name)

    def _each(self) -> Iterator[tuple[int, bytes]]:
        place = 0
        while place + 4 <= len(self.content):
            kind, attribute, size = struct.unpack_from("<BBH", self.content, place)
            place += 4
            payload = self.content[place : place + size] if kind == WITH_SIZE else b""
            place += len(payload)
            yield attribute, payload

    def attributes(self) -> Attributes:
        """Those of a kernel's own section."""
        result = Attributes()
        for attribute, payload in self._each():
            if attribute == PARAMETER_BANK:
                result.parameters_at = struct.unpack_from("<IHH", payload)[1]
        return result

    def attributes_of(self, symbol: int) -> Attributes:
        """Those of a kernel in the common section."""
        result = Attributes()
        for attribute, payload in self._each():
            if attribute not in (FRAME_SIZE, MIN_STACK, REGISTERS):
                continue
            which, value = struct.unpack("<II", payload)
            if which == symbol and attribute == REGISTERS:
                result.registers = value
            elif which == symbol:
                result.stack = max(result.stack, value)
        return result


def _name(strings: bytes, place: int) -> str:
    return strings[place : strings.index(b"\0", place)].decode()


def read_sections(file: bytes) -> dict[str, Section]:
    """All sections by name."""
    (table,) = struct.unpack_from("<Q", file, 0x28)
    entry, number, names = struct.unpack_from("<HHH", file, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", file, table + i * entry) for i in range(number)]
    strings = file[headers[names][4] :]
    sections = {}
    for header in headers:
        content = b"" if header[1] == NO_BITS else file[header[4] : header[4] + header[5]]
        sections[_name(strings, header[0])] = Section(content, header[5])
    if ".symtab" in sections:
        symbols, texts = sections[".symtab"], sections[".strtab"].content
        places = range(0, len(symbols.content), 24)
        symbols.symbols = [_name(texts, struct.unpack_from("<I", symbols.content, place)[0]) for place in places]
    return sections
