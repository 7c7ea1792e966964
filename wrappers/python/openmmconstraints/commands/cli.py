# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The command line of `openmm-constraints`: it reads the arguments, calls a command and returns its exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.versions import plugin_version
from openmmconstraints.run.words import SOLVER_ONLY, Words, split_words

PROGRAM = "openmm-constraints"
SOLVERS = ("Automatic", "Iterative", "MatrixInversion")
RUN_OPTIONS = ("--integrator", "--solver", "--tolerance", "--report")
MAX_STEPS = 2**31 - 1  # of an integrator's step(n)
MAX_THREADS = 4096  # beyond, the system may refuse to make them
MAX_ROUNDS = 10**6
MAX_SECONDS = 10**6
_Settings = TypeVar("_Settings")
BENCHMARK_SETS = ("HBonds", "AllBonds", "HAngles", "AllAngles", "Rigid")


class _Parser(argparse.ArgumentParser):
    """Prints an error as one sentence, without the whole usage."""

    hint = ""  # what to type, instead of where to read
    has_two_files = False  # the second may follow an option, which argparse before Python 3.13 takes in two passes only

    def parse_known_args(self, args=None, namespace=None):
        if not self.has_two_files:
            return super().parse_known_args(args, namespace)
        self.has_two_files = False  # both passes call this again
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.has_two_files = True

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}{self.hint or f' (see {self.prog} --help)'}\n")

    def _print_message(self, message, file=None) -> None:
        """argparse's own ignores that a file is full."""
        if message:
            print(message, end="", file=file or sys.stderr, flush=True)


def _positive(kind: type[int] | type[float], most: float = float("inf")) -> Callable[[str], float]:
    """A converter to a number above 0 and not above `most`."""

    def convert(text: str) -> float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
        if value > most:
            raise argparse.ArgumentTypeError(f"'{text}' is more than {most:,}")
        return value

    convert.__name__ = "whole number" if kind is int else "number"  # argparse: invalid number value: 'x'
    return convert


def _in_any_case(names: Sequence[str]) -> Callable[[str], str]:
    """A converter to one of these names; others are left to argparse, which lists the choices."""
    by_lower = {name.lower(): name for name in names}
    return lambda text: by_lower.get(text.lower(), text)


def _add_parser(commands, name: str, summary: str, example: str, usage: str | None = None) -> _Parser:
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example:\n  {example}",
        usage=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_solver(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--solver",
        choices=SOLVERS,
        type=_in_any_case(SOLVERS),
        default="Automatic",
        help="constraint solver, in any case (default: Automatic)",
    )


def build_parser(run_hint: str = "") -> argparse.ArgumentParser:
    """The whole command line. `run` gets its own options only: run/words.py takes the script's away.

    :param run_hint: what an error of `run` says at its end
    """
    parser = _Parser(
        prog=PROGRAM,
        description="Holonomic constraints for OpenMM: what is installed, a check of your system, your script with "
        "them, a demonstration, a benchmark.",
        epilog=f"examples:\n  {PROGRAM} info system.xml\n  {PROGRAM} check system.xml state.xml\n"
        f"  {PROGRAM} run simulate.py\n"
        f"  {PROGRAM} demo --output demo-output\n  {PROGRAM} benchmark --list",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {plugin_version()}")
    commands = parser.add_subparsers(dest="command", metavar="{info,check,run,demo,benchmark}", required=True)

    info = _add_parser(
        commands,
        "info",
        "show versions, platforms and, for a System, its clusters of constraints",
        f"{PROGRAM} info system.xml --solver MatrixInversion",
    )
    info.add_argument(
        "system", nargs="?", type=Path, metavar="SYSTEM.xml", help="a System written by openmm.XmlSerializer"
    )
    _add_solver(info)
    _add_check(commands)

    _add_run(commands).hint = run_hint

    demo = _add_parser(
        commands,
        "demo",
        "compare this package with OpenMM's own algorithms: energy, error, cost, set-up, rigid molecules, mean force",
        f"{PROGRAM} demo --constraints AllBonds --time-budget 60",
    )
    demo.add_argument("--output", type=Path, default=Path("demo-output"), metavar="DIR", help="default: demo-output")
    demo.add_argument("--platform", metavar="NAME", help="OpenMM platform (default: the fastest that works)")
    demo.add_argument(
        "--threads", type=_positive(int, MAX_THREADS), metavar="N", help="threads of the CPU platform (default: 2)"
    )
    sets = ("HBonds", "AllBonds", "both")
    demo.add_argument(
        "--constraints", choices=sets, type=_in_any_case(sets), default="both", help="in any case (default: both)"
    )
    demo.add_argument("--tolerance", type=_positive(float), default=1e-5, metavar="X", help="default: 1e-5")
    length = demo.add_mutually_exclusive_group()
    length.add_argument("--steps", type=_positive(int, MAX_STEPS), metavar="N", help="steps of each run")
    length.add_argument(
        "--time-budget",
        type=_positive(float, MAX_SECONDS),
        default=130.0,
        metavar="SECONDS",
        help="whole command (default: 130); shortens the runs of the protein, not the other parts, of about 20 s",
    )
    _add_benchmark(commands)
    return parser


def _add_run(commands) -> _Parser:
    parser = _add_parser(
        commands,
        "run",
        "run an OpenMM script unchanged, its integrator or only its solver replaced by one of this plugin's",
        f"{PROGRAM} run simulate.py input.pdb --tolerance 1e-8\n"
        "  (options of the script that have the same name as one of these go after '--')",
        usage=f"{PROGRAM} run [options] SCRIPT.py [script arguments ...]",
    )
    parser.add_argument(
        "--integrator",
        default="auto",
        metavar="NAME",
        help="auto (default): the one that does what the script's does; or Rattle, Shake, RattleLangevin, "
        "RattleNoseHoover, RattleMTS, RattleMTSLangevin, in any case",
    )
    parser.add_argument(
        SOLVER_ONLY,
        action="store_true",
        help="keep the script's integrator, whichever it is, and replace its constraint solver",
    )
    _add_solver(parser)
    parser.add_argument(
        "--tolerance", type=_positive(float), metavar="X", help="constraint tolerance, whatever the script sets"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the table at the end there (default: stderr)"
    )
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only, no table")
    return parser


def _add_check(commands) -> None:
    parser = _add_parser(
        commands,
        "check",
        "check the constraints of a System before a run, and recommend a step size and a tolerance",
        f"{PROGRAM} check system.xml state.xml --step-size 2 --tolerance 1e-8\n"
        "all files may be packed by gzip (system.xml.gz, start.pdb.gz)\n"
        "exit status: 0 no errors, 1 errors (with --strict: or warnings), 2 the check could not be made",
    )
    parser.has_two_files = True
    parser.add_argument("system", type=Path, metavar="SYSTEM.xml", help="a System written by openmm.XmlSerializer")
    parser.add_argument(
        "state",
        nargs="?",
        type=Path,
        metavar="STATE.xml",
        help="where it starts: a State written by openmm.XmlSerializer, a .pdb, .cif or .gro file, which names "
        "atoms too, or an .rst7 or .inpcrd file",
    )
    parser.add_argument("--topology", type=Path, metavar="FILE.pdb", help="a .pdb, .cif or .gro file, to name atoms")
    _add_solver(parser)
    parser.add_argument("--tolerance", type=_positive(float), metavar="X", help="tolerance to check (default: 1e-5)")
    parser.add_argument("--step-size", type=_positive(float), metavar="FS", help="time step to check, in fs")
    parser.add_argument("--precision", choices=("single", "mixed", "double"), default="mixed", help="default: mixed")
    parser.add_argument("--strict", action="store_true", help="let warnings fail the check too")
    parser.add_argument("--json", action="store_true", help="write JSON instead of tables")


def _add_benchmark(commands) -> None:
    parser = _add_parser(
        commands,
        "benchmark",
        "compare the speed and errors of OpenMM's constraint algorithms with this plugin's on named systems",
        f"{PROGRAM} benchmark --systems villin chain:5000 --tolerances 1e-5 1e-12\n"
        f"  {PROGRAM} benchmark --system system.xml --state state.xml",
    )
    parser.add_argument("--list", action="store_true", help="list the systems and stop")
    parser.add_argument("--systems", nargs="+", metavar="NAME", help="name or name:size (default: some of --list)")
    parser.add_argument(
        "--system", type=Path, metavar="FILE.xml", help="your own System instead, written by openmm.XmlSerializer"
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="FILE",
        help="where your System starts: a State, or a .pdb, .cif, .gro, .rst7 or .inpcrd file; all also as .gz",
    )
    parser.add_argument(
        "--constraints",
        nargs="+",
        choices=BENCHMARK_SETS,
        type=_in_any_case(BENCHMARK_SETS),
        help="sets of constraints, in any case (default: all that a system has)",
    )
    parser.add_argument("--tolerances", nargs="+", type=_positive(float), metavar="X", help="default: 1e-5 1e-8 1e-12")
    parser.add_argument(
        "--solvers",
        nargs="+",
        choices=SOLVERS,
        type=_in_any_case(SOLVERS),
        default=["Iterative", "MatrixInversion"],
        help="default: Iterative MatrixInversion",
    )
    integrators = ("Shake", "Rattle", "RattleLangevin")
    parser.add_argument(
        "--integrator", choices=integrators, type=_in_any_case(integrators), default="Shake", help="default: Shake"
    )
    parser.add_argument("--platform", default="CPU", metavar="NAME", help="OpenMM platform (default: CPU)")
    parser.add_argument(
        "--threads", type=_positive(int, MAX_THREADS), metavar="N", help="threads of the CPU platform (default: 1)"
    )
    parser.add_argument("--precision", choices=("single", "mixed", "double"), help="of devices (default: mixed)")
    parser.add_argument(
        "--rounds", type=_positive(int, MAX_ROUNDS), metavar="N", help="rounds of measurements (default: 7)"
    )
    parser.add_argument(
        "--seconds", type=_positive(float, MAX_SECONDS), metavar="S", help="of each measurement (default: 0.1)"
    )
    parser.add_argument(
        "--setup-limit",
        type=_positive(float),
        metavar="S",
        help="leave OpenMM's own algorithm out where its set-up takes longer (default: 30)",
    )
    parser.add_argument("--quick", action="store_true", help="small systems, one tolerance: to see what it does")
    parser.add_argument(
        "--output", type=Path, default=Path("benchmark-output"), metavar="DIR", help="default: benchmark-output"
    )
    parser.add_argument(
        "--write-input", type=Path, metavar="DIR", help="write inputs for benchmarks/applications.cpp there, and stop"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_closed_streams()
    try:
        status = _run(words)
        sys.stdout.flush()
        return status
    except UserError as error:
        return _report(words, str(error), 2)
    except KeyboardInterrupt:
        return _report(words, "interrupted", 130)
    except BrokenPipeError:  # the reader has closed the pipe (`| head`)
        _discard_output()
        return 1
    except MemoryError:
        return _report(words, "out of memory: choose a smaller system or fewer threads.", 1)
    except OSError as error:  # a full disk
        _discard_output()
        what = f"'{error.filename}'" if error.filename else "cannot write the output"
        return _report(words, f"{what}: {error.strerror}.", 1)


def _report(words: Sequence[str], message: str, status: int) -> int:
    """Print in one line what ended the command; returns its exit status."""
    print(f"{' '.join([PROGRAM, *words[:1]])}: {message}", file=sys.stderr)
    return status


def _open_closed_streams() -> None:
    """Replace streams that were closed (`>&-`; None in Python): a file opened later would take their place."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _discard_output() -> None:
    """Otherwise Python would try to write the rest of the output at its end, and print an error of its own."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _run(words: list[str]) -> int:
    script = split_words(words[1:], RUN_OPTIONS) if words[:1] == ["run"] else None
    known = words if script is None else ["run", *script.own]
    options, unknown = build_parser("" if script is None else script.hint()).parse_known_args(known)
    if unknown:
        hint = "." if script is None else script.hint_unknown(unknown)
        listed = " ".join(unknown)
        raise UserError(f"unrecognized arguments: {listed} (see {PROGRAM} {options.command} --help){hint}")
    return _dispatch(options, script)


def _settings(kind: type[_Settings], options: argparse.Namespace) -> _Settings:
    """The settings of a command whose fields have the names of its options."""
    return kind(**{name: getattr(options, name) for name in kind.__annotations__})


def _dispatch(options: argparse.Namespace, script: Words | None = None) -> int:
    if options.command == "info":
        from openmmconstraints.commands.info import info

        return info(options.system, options.solver)
    if options.command == "check":
        from openmmconstraints.commands import check

        return check.check(_settings(check.Settings, options))
    if script is not None:
        from openmmconstraints.run.command import run

        return run(script, options.integrator, options.solver, options.tolerance, options.report, options.quiet)
    if options.command == "benchmark":
        from openmmconstraints.benchmark import command

        return command.benchmark(_settings(command.Settings, options))
    from openmmconstraints.demo.command import Settings, demo

    return demo(
        Settings(
            output=options.output,
            platform=options.platform,
            threads=options.threads,
            constraints=("HBonds", "AllBonds") if options.constraints == "both" else (options.constraints,),
            tolerance=options.tolerance,
            steps=options.steps,
            time_budget=options.time_budget,
        )
    )
