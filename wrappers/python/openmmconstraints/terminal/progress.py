# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Progress of a long call: a bar in a terminal and in Jupyter, now and then a line in a log file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.display import HTML
    from rich.console import Console

LINES = 10  # of a log file, unless it takes long
SECONDS = 60.0  # between lines, if it does


@contextmanager
def progress_bar(name: str, total: int, show: bool = True) -> Iterator[Callable[[], None]]:
    """Gives the function to call when one of `total` is done. It shows on stderr, or below a notebook's cell."""
    from rich.console import Console  # takes a tenth of a second to import

    console = Console(stderr=True)
    if not show:
        yield lambda: None
    elif console.is_jupyter:
        yield _in_notebook(name, total)
    elif console.is_terminal:
        with _in_terminal(name, total, console) as advance:
            yield advance
    else:
        yield _in_log(name, total)


@contextmanager
def _in_terminal(name: str, total: int, console: Console) -> Iterator[Callable[[], None]]:
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        job = progress.add_task(name, total=total)
        yield lambda: progress.advance(job)


def _in_notebook(name: str, total: int) -> Callable[[], None]:
    """HTML that is updated in its place: rich's bar would need ipywidgets."""
    from IPython.display import HTML, display

    count = _Count(name, total)

    def html() -> HTML:
        return HTML(f'<progress value="{count.done}" max="{total}"></progress> {count}')

    handle = display(html(), display_id=True)

    def advance() -> None:
        count.done += 1
        handle.update(html())

    return advance


def _in_log(name: str, total: int) -> Callable[[], None]:
    """Lines, since a bar cannot be drawn again: some ten, or one a minute."""
    count = _Count(name, total)
    said = count.start

    def advance() -> None:
        nonlocal said
        before = count.done * LINES // total
        count.done += 1
        now = monotonic()
        is_due = now - said > SECONDS or (count.done * LINES // total > before and now - said >= 1)
        if is_due or count.done == total:
            said = now
            print(count, file=sys.stderr, flush=True)

    return advance


class _Count:
    """How many are done, and when the rest will be."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total, self.done = name, total, 0
        self.start = monotonic()

    def __str__(self) -> str:
        text = f"{self.name}: {self.done} of {self.total}"
        if self.done == 0:
            return text
        spent = monotonic() - self.start
        left = spent / self.done * (self.total - self.done)
        text += f", {timedelta(seconds=round(spent))}"
        return f"{text}, {timedelta(seconds=round(left))} left" if self.done < self.total else text
