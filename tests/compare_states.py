# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Shows whether a change of the sources changed results: records some steps of many Systems, and compares two records.

    python tests/compare_states.py record --output before.npz    # OpenCL in mixed precision, on PoCL in minutes
    python tests/compare_states.py record --output after.npz     # with the changed package
    python tests/compare_states.py compare before.npz after.npz
    python tests/compare_states.py record --output cuda.npz --emulator build --systems small border

Systems and what runs of each take are in tests/states/held.py, what is kept of a run in tests/states/recording.py; of a
run that raises an exception, the text is kept, too. A record tells which libraries it is of: a copy of a virtual
environment loads libraries of the original, unless LD_LIBRARY_PATH has the folder OpenMM.libs/lib of the copy. On the
emulator (tests/emulator), CUDA's kernels run without a GPU: --emulator names the folder where the targets fakecuda and
emulatednvrtc are built.

compare exits with 1 if texts differ, a case is missing, or numbers are not equal bit for bit; with --allow-numbers only
texts and missing cases count. Differences of multipliers, forces, virial and energies are relative to the largest one,
those of positions in nm, of velocities in nm/ps, of work and heat in kJ/mol; "texts" are cases whose texts differ.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.append(str(ROOT / "benchmarks"))

from emulator import start_on_emulator  # noqa: E402
from states.comparison import COLUMNS, Row, compare  # noqa: E402
from states.held import HELD, SCHEMES, SOLVERS, usual  # noqa: E402
from states.recording import DEVICES, PRECISIONS, Case, Recorded, all_cases, libraries, load, run, save  # noqa: E402

from openmmconstraints.terminal.progress import progress_bar  # noqa: E402
from openmmconstraints.terminal.table import scientific  # noqa: E402

PLATFORMS = (*DEVICES, "Reference", "CPU")
LONGEST = 300  # characters of a text that is shown


def record(options: argparse.Namespace) -> int:
    if options.emulator is not None:
        status = start_on_emulator(options.emulator, "states", FAKECUDA_MULTIPROCESSORS="3")
        if status is not None:
            return status
        options.platform = "CUDA"
    names = options.systems or usual(options.platform, options.emulator is not None)
    precisions = options.precisions if options.platform in DEVICES else ["double"]
    cases = all_cases(names, options.integrators, options.methods, precisions)
    print("\n".join(f"{path} {digest}" for path, digest in libraries().items()), file=sys.stderr)
    runs: dict[Case, Recorded] = {}
    try:
        with progress_bar("recorded", len(cases)) as advance:
            for name in names:
                built, start = HELD[name].build(), monotonic()
                for case in [case for case in cases if case.system == name]:
                    runs[case] = run(case, HELD[name], built, options.platform)
                    advance()
                print(f"{name}: {monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    finally:  # Ctrl-C ends it, and keeps what is there
        if runs:
            save(options.output, options.platform, runs)
    return 0


def compare_files(options: argparse.Namespace) -> int:
    (about_before, before), (about_after, after) = load(options.before), load(options.after)
    rows = compare(before, after, options.systems)
    if not rows:
        print("There is nothing to compare.", file=sys.stderr)
        return 2
    show(rows, options.markdown)
    for row in rows:
        show_texts(row)
        for case in row.missing:
            print(f"\n{'/'.join(case)} is only in {options.before if case in before else options.after}.")
    for key in ("platform", "environment"):
        if about_before[key] != about_after[key]:
            print(f"\nThe {key} differs: {about_before[key]}, {about_after[key]}.")
    hashes = [sorted(about["libraries"].values()) for about in (about_before, about_after)]
    if hashes[0] == hashes[1]:
        print("\nBoth are of the same libraries.")
    return int(any(row.fails or (row.equal < row.cases and not options.allow_numbers) for row in rows))


def show(rows: list[Row], markdown: bool) -> None:
    head = ["system", "cases", "equal", *COLUMNS, "texts", "missing"]
    cells = [
        [
            *(row.system, str(row.cases), str(row.equal)),
            *(scientific(value) if value else "0" for value in row.worst.values()),
            *(str(len(row.texts)), str(len(row.missing))),
        ]
        for row in rows
    ]
    if markdown:
        print(f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}", sep="\n")
        print("\n".join(f"| {' | '.join(row)} |" for row in cells))
        return
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for row in [head, *cells]:  # wider than rich's tables are without a terminal
        print(row[0].ljust(widths[0]), *(word.rjust(width) for word, width in zip(row[1:], widths[1:], strict=True)))


def show_texts(row: Row) -> None:
    """Each difference once, with the first case that has it."""
    found: dict[tuple[str, str, str], list[Case]] = {}
    for case, texts in row.texts.items():
        for name, pair in texts.items():
            found.setdefault((name, *pair), []).append(case)
    for (name, before, after), cases in found.items():
        more = f" (and {len(cases) - 1} more)" if cases[1:] else ""
        print(f"\n{'/'.join(cases[0])}, {name}{more}:", f"  {shortened(before)}", f"  {shortened(after)}", sep="\n")


def shortened(text: str) -> str:
    return (text if len(text) <= LONGEST else text[:LONGEST] + " ...") or "no exception"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record", help="run all cases and keep what they computed")
    recording.add_argument("--output", type=Path, required=True, metavar="FILE.npz")
    recording.add_argument("--platform", choices=PLATFORMS, default="OpenCL")
    recording.add_argument("--emulator", type=Path, metavar="BUILD", help="run CUDA's kernels on the emulator")
    recording.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=["mixed"], help="of devices")
    recording.add_argument("--systems", nargs="+", choices=HELD, metavar="NAME", help=", ".join(HELD))
    recording.add_argument(
        "--integrators",
        nargs="+",
        choices=SCHEMES,
        metavar="NAME",
        help=f"instead of each system's: {', '.join(SCHEMES)}",
    )
    recording.add_argument("--methods", nargs="+", choices=SOLVERS, default=[*SOLVERS])
    recording.set_defaults(call=record)
    comparing = commands.add_parser("compare", help="compare two records")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--systems", nargs="+", default=[], metavar="NAME", help="only these")
    comparing.add_argument("--markdown", action="store_true")
    comparing.add_argument("--allow-numbers", action="store_true", help="numbers may differ")
    comparing.set_defaults(call=compare_files)
    options = parser.parse_args(arguments)
    return options.call(options)


if __name__ == "__main__":
    sys.exit(main())
