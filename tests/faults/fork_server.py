# SPDX-License-Identifier: MIT
"""Start the command line in fresh processes, quickly: everything is imported once, then each job is a fork.

Nothing of polars, numba or the pictures has run before the fork, so a job is as good as a process of its own; it
can be killed, limited and interrupted like one. Jobs come as JSON lines on stdin, answers go out on stdout.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any


def _work(job: dict[str, Any]) -> None:
    os.chdir(job["cwd"])
    os.environ.update(job["env"])
    if limit := job.get("file_size"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["sfumato", *job["argv"]]

    def react_to_step(step: str, done_count: int, total: int | None) -> None:
        if step == job.get("kill_at"):
            os.kill(os.getpid(), signal.SIGKILL)
        if step == job.get("interrupt_at"):
            os.kill(os.getpid(), job.get("signal", signal.SIGINT))
        if step == job.get("wait_at"):
            time.sleep(30)

    from sfumato.cli.entry import main
    from sfumato.runtime.progress import listen_to_progress
    from sfumato.workflow import folder
    from sfumato.workflow.folders import leftovers, manifest, publication

    if job.get("kill_at_line"):
        files = {str(module.__file__) for module in (folder, leftovers, manifest, publication)}
        _die_while_publishing(job["kill_at_line"], files, job.get("signal", signal.SIGKILL))
    if job.get("plain_report"):
        import sfumato.report.page

        sfumato.report.page.render_page = lambda account: "<!doctype html>"
    with listen_to_progress(react_to_step):
        main()


def _die_while_publishing(remaining_lines: int, files: set[str], number: int) -> None:
    """Get a signal before a certain line of publishing and of clearing up after it is carried out."""

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal remaining_lines
        if event == "line":
            remaining_lines -= 1
            if not remaining_lines:
                os.kill(os.getpid(), number)
        return count

    def begin(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        caller: FrameType | None = frame
        while caller and caller.f_code.co_name not in ("publish", "close"):
            caller = caller.f_back
        return count if caller else None

    sys.settrace(begin)


def _child(job: dict[str, Any]) -> None:
    code = 99
    try:
        _work(job)
    except SystemExit as exit_error:
        code = exit_error.code if isinstance(exit_error.code, int) else 0 if exit_error.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _Reader(threading.Thread):
    """Takes in what a job says; a pipe has no limit of size, as a file would have under RLIMIT_FSIZE."""

    def __init__(self, read: int, write: int) -> None:
        super().__init__()
        os.close(write)
        self._read, self._content = read, b""
        self.start()

    def run(self) -> None:
        with os.fdopen(self._read, "rb") as file:
            self._content = file.read()

    def text(self) -> str:
        self.join()
        return self._content.decode(errors="replace")


def _serve() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # until the entry point listens: what happens before is not the product's
    import sfumato.cli.commands
    import sfumato.report.page
    import sfumato.workflow.pipeline  # noqa: F401  imported once for every fork; nothing of it has started a thread

    for line in sys.stdin:
        job = json.loads(line)
        pipes = [os.pipe(), os.pipe()]
        process = os.fork()
        if process == 0:
            for stream, (_, write) in enumerate(pipes, 1):
                os.dup2(write, stream)
            sys.stdout, sys.stderr = (os.fdopen(stream, "w", encoding="utf-8") for stream in (1, 2))
            _child(job)
        readers = [_Reader(read, write) for read, write in pipes]
        if (delay := job.get("kill_after_seconds")) is not None:
            time.sleep(delay)
            os.kill(process, job.get("signal", signal.SIGKILL))
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        out, err = (reader.text() for reader in readers)
        print(json.dumps({"status": status, "out": out, "err": err}), flush=True)


if __name__ == "__main__":
    _serve()
