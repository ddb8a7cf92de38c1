# SPDX-License-Identifier: MIT
"""What every command does with a terminal: print JSON for a script, or a progress bar for a person."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any

from sfumato.interrupts import hold_signals, settle_answer


def print_json(content: Any) -> None:
    """Print something for a script."""
    text = json.dumps(_finite(content), indent=1, ensure_ascii=False, default=str, allow_nan=False)
    with hold_signals():  # a script gets one JSON text: this one, or the one that tells of the signal
        print(text, flush=True)
        settle_answer()


def _finite(content: Any) -> Any:
    """JSON knows no infinity: null stands for it."""
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """A progress bar on the terminal; nothing in a script or a pipe."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from sfumato.progress import listening

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        tell: Callable[[str, int, int | None], None] = lambda step, done, total: bar.update(  # noqa: E731
            task, description=step, completed=done, total=total
        )
        with listening(tell):
            yield
