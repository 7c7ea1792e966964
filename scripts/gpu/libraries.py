# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Print the folders of this machine's NVRTC and cuFFT, joined by colons, those of Python packages first; any Python."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

PATTERNS = ("libnvrtc.so*", "libcufft.so*")
TOOLKITS = ("/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/opt/cuda*/lib64")


def folders() -> Iterator[Path]:
    """Where they may be, without what the loader searches anyway."""
    spec = importlib.util.find_spec("nvidia")
    for root in [] if spec is None else spec.submodule_search_locations or []:
        yield from sorted(Path(root).glob("**/lib"), reverse=True)  # the newest series first
    for pattern in TOOLKITS:
        yield from sorted(Path("/").glob(pattern[1:]), reverse=True)


def main() -> None:
    """A series of CUDA has its own file names: a folder more does no harm."""
    found = [folder for folder in folders() if any(any(folder.glob(pattern)) for pattern in PATTERNS)]
    print(":".join(dict.fromkeys(map(str, found))))


if __name__ == "__main__":
    main()
