# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints run`: a user's script, unchanged, with an integrator or the solver of this package."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import openmmconstraints as mc
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.run.choice import find_integrator
from openmmconstraints.run.hooks import substituted
from openmmconstraints.run.report import print_report
from openmmconstraints.run.session import Session
from openmmconstraints.run.words import Words
from openmmconstraints.terminal.options import check_tolerance
from openmmconstraints.terminal.table import make_console


def run(
    words: Words, integrator: str, solver: str, tolerance: float | None, report: Path | None, is_quiet: bool
) -> int:
    """Run the script and print what was seen; returns its exit status. Nothing is added to what it prints on stdout.

    :param report: the file for the table; None: stderr
    :param is_quiet: print no table there, and no sentence that is not a warning
    :raises UserError: if there is no such script, or if an option or an integrator of it cannot be used
    """
    if words.script is None:
        raise UserError("no script was given. Give the path of a Python script.")
    script = Path(words.script)
    if not script.is_file():
        raise UserError(f"there is no file '{script}'.")
    words.check_clash()
    words.check_solver_only()
    chosen = find_integrator(integrator)
    if tolerance is not None:
        check_tolerance(mc.RattleIntegrator, tolerance)
    session = Session(chosen, getattr(mc.ConstraintIntegrator, solver), tolerance, words.script)
    session.is_solver_only, session.is_quiet = words.is_solver_only, is_quiet
    status = 1  # unless the script comes to its end
    with _place_of(report, is_quiet) as place, substituted(session):
        try:
            status = _run_script(script, words.arguments)
        finally:
            sys.stdout.flush()
            session.finish()
            if place is not None:
                print_report(make_console(place), session, has_failed=status != 0)
    return status


@contextmanager
def _place_of(report: Path | None, is_quiet: bool) -> Iterator[TextIO | None]:
    """Where the table goes; None: nowhere. A file is opened before the script runs, which may change the folder.

    :raises UserError: if the file cannot be written
    """
    if report is None:
        yield None if is_quiet else sys.stderr
        return
    try:
        file = open(report, "w", encoding="utf-8")  # noqa: SIM115 closed below; not for errors of the script
    except OSError as error:
        raise UserError(f"--report: cannot write to '{report}': {error.strerror}.") from error
    with file:
        yield file


def _run_script(script: Path, arguments: list[str]) -> int:
    """Run it as `python script arguments` would; returns the exit status that this would have."""
    saved = sys.argv, sys.path[:]
    sys.argv = [str(script), *arguments]
    sys.path[:0] = [os.path.dirname(os.path.abspath(script))]
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as request:
        return _exit_status(request.code)
    except UserError:
        raise
    except Exception as error:
        traceback.print_exception(error.with_traceback(_own_frames(error, script)))
        return 1
    finally:
        sys.argv, sys.path[:] = saved
    return 0


def _exit_status(code: object) -> int:
    if code is None or isinstance(code, int):
        return int(code or 0)
    print(code, file=sys.stderr)
    return 1


def _own_frames(error: BaseException, script: Path):
    """The traceback from the script's first frame on, as Python itself would show it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != str(script):
        frame = frame.tb_next
    return frame
