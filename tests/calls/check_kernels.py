# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every kernel that our texts name was compiled by NVRTC: is in the PTX that TestCalls kept.

check_kernels.py FOLDER...
"""

from __future__ import annotations

import sys
from pathlib import Path

from check_ptx import entries

sys.path.append(str(Path(__file__).parents[1] / "emulator"))

from ran import named_kernels


def main() -> int:
    """1 if a kernel was not compiled."""
    folders = sys.argv[1:]
    if absent := [folder for folder in folders if not any(Path(folder).glob("*/plugin"))]:
        raise SystemExit(f"no kernels in {' nor '.join(absent)}: run `ctest -L quick` before `ctest -L full`")
    compiled = {name for folder in folders for path in Path(folder).rglob("*.ptx") for name in entries(path)}
    missing = sorted(named_kernels() - compiled)
    for name in missing:
        print(f"{name} was not compiled")
    print(f"{len(compiled)} kernels, {len(missing)} missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
