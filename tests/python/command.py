# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How the tests of the command line run it: in a process of its own, as a user does.

The process is forked from one that has imported already what commands need, which takes most of the time of a new
interpreter. fresh_command() starts that, for what depends on how an interpreter starts or ends. On devices all do: the
drivers of some do not work in a process that was forked after they were loaded.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import platforms

SECONDS = 300
# Not matplotlib, which only some commands load.
_COMMANDS = ("commands.cli", "commands.info", "commands.check", "run.command", "benchmark.command", "demo.command")
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["openmm.app", *(f"openmmconstraints.{name}" for name in _COMMANDS)])


def command(*arguments: object, cwd: Path | None = None, output: str = "") -> subprocess.CompletedProcess[str]:
    """Run `openmm-constraints arguments` and return its exit status and output.

    :param output: where its stdout goes instead: to a "full" disk, to a pipe that is "unread", or nowhere ("closed")
    """
    if not platforms.IS_REFERENCE and not output:
        return fresh_command(*arguments, cwd=cwd)
    return forked(_run_command, [*map(str, arguments)], cwd=cwd, output=output)


def python(code: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run code as `python -c` does, with modules of OpenMM and of this package imported before."""
    return forked(_run_code, code, cwd=cwd)


def forked(function, *arguments, cwd: Path | None = None, output: str = "") -> subprocess.CompletedProcess[str]:
    """Call a function of a module in such a process; it ends as by sys.exit() with what is returned."""
    with TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("stdout", "stderr")]
        for stream in streams:
            stream.touch()
        settings = str(cwd or Path.cwd()), dict(os.environ), [output or str(streams[0]), str(streams[1])]
        process = FORKS.Process(target=_call, args=(*settings, function, arguments))
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(str(arguments), SECONDS)
        said = [stream.read_text(encoding="utf-8") for stream in streams]
        return subprocess.CompletedProcess(arguments, process.exitcode, *said)


def _call(cwd: str, environment: dict[str, str], streams: list[str], function, arguments) -> None:
    """What the forked process does: the caller's folder, environment and streams, then the function."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams, start=1):
        _redirect(number, stream)
    sys.exit(function(*arguments))


def _redirect(number: int, stream: str) -> None:
    name = ("stdin", "stdout", "stderr")[number]
    if stream == "closed":
        os.close(number)
        setattr(sys, name, None)  # as in an interpreter that starts so
        return
    if stream == "unread":
        read, write = os.pipe()
        os.close(read)
    else:
        write = os.open("/dev/full" if stream == "full" else stream, os.O_WRONLY)
    os.dup2(write, number)
    os.close(write)
    before = getattr(sys, name)
    setattr(sys, name, open(number, "w", encoding="utf-8", errors=before.errors, closefd=False))  # noqa: SIM115


def _run_command(arguments: list[str]) -> int:
    from openmmconstraints.commands.cli import main

    sys.argv = ["openmm-constraints", *arguments]
    return main()


def _run_code(code: str) -> None:
    sys.argv = ["-c"]
    sys.path.insert(0, "")
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def fresh_command(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same as command(), in a new interpreter."""
    words = [sys.executable, "-m", "openmmconstraints", *map(str, arguments)]
    return subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, timeout=SECONDS
    )


def assert_one_sentence(result: subprocess.CompletedProcess[str], *words: str) -> None:
    """The command refused a user's mistake: exit status 2, one line on stderr with these words, and no traceback."""
    assert result.returncode == 2, result
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    for word in words:
        assert word in result.stderr
