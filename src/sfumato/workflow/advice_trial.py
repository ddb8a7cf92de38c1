# SPDX-License-Identifier: MIT
"""Try the alternatives of an advice in another process, while the run goes on: they need compiled kernels.

Loading those takes a second or two, more than all the rest of a run on a small table does with its own data. A process
that has loaded them already tries the alternatives itself, and so does one that cannot start another.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import sfumato
from sfumato.progress import report_progress
from sfumato.protect.method import Method
from sfumato.release import Release
from sfumato.table import Table
from sfumato.workflow.advice import TriedAlternative, is_advice_due, take_sample, try_alternatives

_KERNELS = "sfumato.kernels.anonymity.partition"
_START = "import sys; sys.path.insert(0, sys.argv[1]); from sfumato.workflow.advice_trial import answer; answer()"
_STEP = 0.2


class Trial:
    """Alternatives that another process tries."""

    def __init__(self, method: Method, table: Table) -> None:
        """Start the process and send it the method and the sample."""
        command = [sys.executable, "-P", "-c", _START, str(Path(sfumato.__file__).parents[1])]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._output = b""
        # In a thread: the process reads its input only when it has started.
        self._exchange = Thread(target=self._communicate, args=(pickle.dumps((method, table)),), daemon=True)
        self._exchange.start()

    def _communicate(self, content: bytes) -> None:
        self._output = self._process.communicate(content)[0]

    def collect(self) -> tuple[TriedAlternative, ...] | None:
        """Wait for the answer; None if the process failed."""
        while self._exchange.is_alive():  # in steps, so that waiting can be interrupted
            report_progress("trying what would lose less")
            self._exchange.join(timeout=_STEP)
        if self._process.returncode:
            return None
        return tuple(TriedAlternative(words, loss) for words, loss in json.loads(self._output))

    def stop(self) -> None:
        """End the process if it is still at work."""
        self._process.kill()
        self._exchange.join()


def begin_trial(methods: tuple[Method, ...], original: Any, release: Release) -> AbstractContextManager[Trial | None]:
    """Try alternatives elsewhere inside the block if advice will be due; None if it is not, or better given here."""
    stated = release.losses.get("loss")
    due = is_advice_due(methods, original, release.data, None if stated is None else float(stated))
    return _hold(_start_trial(methods[0], take_sample(original)) if due and _KERNELS not in sys.modules else None)


@contextmanager
def _hold(trial: Trial | None) -> Iterator[Trial | None]:
    try:
        yield trial
    finally:
        if trial is not None:
            trial.stop()


def _start_trial(method: Method, table: Table) -> Trial | None:
    try:
        return Trial(method, table) if sys.executable else None
    except OSError:  # no process, no memory
        return None


def answer() -> None:
    """In the other process: try the alternatives, and write their words and losses."""
    method, table = pickle.load(sys.stdin.buffer)
    json.dump([tuple(tried) for tried in try_alternatives(method, table)], sys.stdout)
