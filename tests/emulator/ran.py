# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every kernel of this plugin was run by the emulator: reads what its driver noted in EMULATOR_LOG.

ran.py LOG...
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# Kernels of the texts in platforms/common, some of which the host names by stage and thread group.
KERNELS = Path(__file__).parents[2] / "platforms" / "common"
COMPOSED = re.compile(r"(small|thread|block|subdomain|body|bodyPart)(?:Cluster)?_\w+")
GROUPS = {"small", "thread", "block", "subdomain", "body", "bodyPart"}


def named_kernels() -> set[str]:
    """Those whose names stand in the texts."""
    texts = (path.read_text() for path in KERNELS.glob("*/*.cc"))
    return {name for text in texts for name in re.findall(r"^KERNEL void (\w+)\(", text, re.M)}


def main() -> int:
    """1 if a kernel was not run, or if the logs lack a thread group."""
    logs = sys.argv[1:]
    if absent := [log for log in logs if not Path(log).exists()]:
        raise SystemExit(f"there is no {' nor '.join(absent)}: run `ctest -L quick` before `ctest -L full`")
    lines = {tuple(line.split()) for log in logs for line in Path(log).read_text().splitlines()}
    named = named_kernels()
    composed = {name for what, name in lines if what == "has" and COMPOSED.fullmatch(name)}
    missing = sorted(name for name in named | composed if ("ran", name) not in lines)
    absent = sorted(GROUPS - {match[1] for name in composed if (match := COMPOSED.fullmatch(name))})
    for name in missing:
        print(f"{name} was not run")
    for group in absent:
        print(f"nothing was solved by: {group}")
    print(f"{len(named | composed)} kernels, {len(missing)} not run")
    return 1 if missing or absent else 0


if __name__ == "__main__":
    sys.exit(main())
