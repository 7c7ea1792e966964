# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Compile a kernel text of CUDA as C++, for the emulator: nvrtc.cpp calls this.

    compile.py TEXT FOLDER COMPILER [FLAG...]

The preprocessor runs first, alone: what remains of CUDA's language that C++ has no words for is rewritten. Line numbers
stay those of the text.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

from barriers import noting, without

HERE = Path(__file__).parent
MUTANT = "EMULATOR_WITHOUT"  # the name of a barrier, to leave it out
REACHED = "EMULATOR_REACHED"  # set to anything, to see which barriers threads come to
NOTE = r'-DREACHED(name)={ static const int said = __builtin_printf("barrier " name "\n"); (void) said; }'
SHARED = re.compile(r"\b__shared__\s+([\w ]+?)\s*\b(\w+)((?:\[[^;]*\])?);")
DYNAMIC = re.compile(r"\bextern\s+__shared__\s+([\w ]+?)\s*\b(\w+)\[\];")
ENTRY = re.compile(r"\b__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(\w+)\s*\(")
# What a block does where it waits for a word of another one: subdomainExchange.cc.
WORDS = [
    "-DLET_OTHERS_RUN=emulator->fence();",
    "-DNOTE_WORD_SENT(word)=emulator->noteWordSent((void*) (word));",
    "-DNOTE_WORD_CAME(word)=emulator->noteWordCame((void*) (word));",
]
# Instructions in OpenMM's kernels.
INSTRUCTIONS = {
    r'asm volatile\("mov\.b64 \{ %0, %1 \}, %2;" : "=r"\((\w+)\), "=r"\((\w+)\) : "[dl]"\((\w+)\)\);': (
        r"splitInHalves(\1, \2, \3);"
    ),
}


def translate(text: str) -> str:
    """A preprocessed text of CUDA as C++, with a list of its kernels."""
    text = DYNAMIC.sub(r"\1* const \2 = (\1*) emulator->dynamicMemory();", text)
    numbers = itertools.count()

    def declare(match: re.Match[str]) -> str:
        kind, name, size = match.groups()
        number = next(numbers)
        of = f"shared{number}"
        return f"typedef {kind} {of}{size}; {of}& {name} = *({of}*) emulator->sharedMemory({number}, sizeof({of}));"

    text = SHARED.sub(declare, text)
    for instruction, function in INSTRUCTIONS.items():
        text = re.sub(instruction, function, text)
    entries = ", ".join(f"ENTRY({name})" for name in ENTRY.findall(text))
    return (
        f'#include "device.h"\n{text}\nextern "C" {{ extern const Emulator::Kernel emulatedKernels[]; '
        f"const Emulator::Kernel emulatedKernels[] = {{{entries}, "
        "{nullptr, nullptr, nullptr, 0, nullptr, nullptr}}; }\n"
    )


def key_of(text: str, compiler: str, flags: list[str]) -> str:
    """A hash of all that what is compiled depends on."""
    digest = hashlib.sha256(text.encode())
    for name in ("compile.py", "device.h", "interface.h", "vectors.h"):
        digest.update((HERE / name).read_bytes())
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True).stdout
    digest.update(" ".join([compiler, *flags]).encode() + version)
    return digest.hexdigest()[:20]


def compile_to(output: Path, command: list[str]) -> None:
    """Several processes may make the same file: it appears when it is complete."""
    own = output.with_suffix(f".{os.getpid()}")
    subprocess.run([*command, "-o", str(own)], check=True)
    own.rename(output)


def precompiled(folder: Path, compiler: str, flags: list[str]) -> Path:
    """A folder where the compiler finds device.h read already, which takes longer to read than most texts."""
    place = folder / f"device-{key_of('', compiler, flags)}"
    header = place / "device.h.gch"
    if not header.exists():
        place.mkdir(exist_ok=True)
        compile_to(header, [compiler, *flags, "-fPIC", "-x", "c++-header", str(HERE / "device.h")])
    return place


def main() -> None:
    """Compile the text, unless its library is there; print the path of the library."""
    text, folder, compiler, *flags = sys.argv[1:]
    if MUTANT in os.environ:
        Path(text).write_text(without(Path(text).read_text(), os.environ[MUTANT]))
    if REACHED in os.environ:
        Path(text).write_text(noting(Path(text).read_text()))
    preprocess = [compiler, "-E", *WORDS, NOTE, "-x", "c++", text]
    preprocessed = subprocess.run(preprocess, check=True, capture_output=True, text=True)
    translated = translate(preprocessed.stdout)
    # Texts that differ in unused definitions or comments are one.
    key = key_of(re.sub(r"^# \d+ .*$", "", translated, flags=re.MULTILINE), compiler, flags)
    library = Path(folder) / f"{key}.so"
    if not library.exists():
        source = library.with_suffix(f".{os.getpid()}.cpp")
        source.write_text(translated)
        header = precompiled(Path(folder), compiler, flags)
        compile_to(library, [compiler, f"-I{header}", *flags, "-shared", "-fPIC", str(source)])
        source.unlink()
    print(library)


if __name__ == "__main__":
    main()
