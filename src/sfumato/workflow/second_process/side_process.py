# SPDX-License-Identifier: MIT
"""Another process that works alongside a run: it has compiled kernels, which take two seconds to load.

It is started before it is needed, and a large input is read and protected meanwhile. For a small one it starts only
when there is something for it to do, which is seldom. This module imports nothing large, so that the process can start
first of all.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any

import sfumato
from sfumato.kernels.compiler_start import claim_process
from sfumato.runtime.progress import report_progress

KERNELS = "sfumato.kernels.anonymity.partition"
"""A process that has loaded these already does the work itself."""
_LOADED_FIRST = (
    "sfumato.protect.anonymity.search.distinct_tuples",
    "sfumato.protect.anonymity.generalize",
    "sfumato.workflow.summary.advice",
    "sfumato.kernels.anonymity.lattice",
    "sfumato.kernels.anonymity.partition",
    "sfumato.kernels.anonymity.k_member",
)
"""What questions need: it is loaded before the first one comes."""
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from sfumato.workflow.second_process.side_process import serve; serve()"
)
PATIENCE = 10.0
"""Seconds that someone waits for an answer. On the first run of all, kernels are compiled, which takes longer."""
_STEP = 0.2


class SideProcess:
    """A process of this program that does one thing after another; it ends when this one does."""

    def __init__(self) -> None:
        """Start it."""
        command = [sys.executable, "-P", "-c", _START, str(Path(sfumato.__file__).parents[1])]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._exchange = ThreadPoolExecutor(1, initializer=_ignore_closed_pipes)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called there; what it returns comes back by `wait_for`."""
        return self._exchange.submit(self._call, pickle.dumps((function, arguments)))

    def _call(self, question: bytes) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(question)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def stop(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._exchange.submit(self._close)
        self._exchange.shutdown()

    def _close(self) -> None:
        """Close the pipes; in the thread that may write to a process that is gone."""
        with suppress(OSError):
            self._process.communicate()


def _ignore_closed_pipes() -> None:
    """In this thread, a pipe without a reader is an error: by default, as `| head` needs it, it ends the program.

    A process that still compiles kernels reads nothing, and is ended with a question half written.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})


def wait_for(answer: Future[Any], step: str) -> Any:
    """What the function returned; None if the process failed, or is not done in time: see `answer.done()`."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        report_progress(step)
        try:
            return answer.result(timeout=_STEP)  # in steps, so that waiting can be interrupted
        except NotYet:
            continue
        except (OSError, EOFError, pickle.UnpicklingError):
            break
    return None


def serve() -> None:
    """In the other process: call what is asked for until nobody asks any more."""
    answers = sys.stdout.buffer
    claim_process()
    with redirect_stdout(sys.stderr):
        for module in _LOADED_FIRST:
            import_module(module)
        while True:
            try:
                function, arguments = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(function(*arguments), answers)
            answers.flush()


_prepared_process: ContextVar[SideProcess | None] = ContextVar("_prepared_process", default=None)


@contextmanager
def prepare_process(is_worthwhile: bool) -> Iterator[None]:
    """Inside the block the process is started already, if that is worthwhile and a core is free for it."""
    process = start_process() if is_worthwhile and _prepared_process.get() is None and _has_free_core() else None
    token = _prepared_process.set(process or _prepared_process.get())
    try:
        yield
    finally:
        _prepared_process.reset(token)
        if process is not None:
            process.stop()


def _has_free_core() -> bool:
    return (os.cpu_count() or 1) > 1


def find_prepared() -> SideProcess | None:
    """The process that was started before, if any."""
    return _prepared_process.get()


@contextmanager
def hold_process(is_needed: bool) -> Iterator[SideProcess | None]:
    """The process that was prepared, or a new one for the block; None if none is needed or none can be had."""
    process = _prepared_process.get()
    if process is not None or not is_needed:
        yield process
        return
    process = start_process()
    try:
        yield process
    finally:
        if process is not None:
            process.stop()


def start_process() -> SideProcess | None:
    """Start one; None if this process has loaded the kernels itself, or cannot start another."""
    if KERNELS in sys.modules or not sys.executable:
        return None
    try:
        return SideProcess()
    except OSError:  # no process, no memory
        return None
