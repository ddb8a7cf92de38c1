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
import time
from typing import Any


def _work(job: dict[str, Any]) -> None:
    os.chdir(job["cwd"])
    os.environ.update(job["env"])
    for stream, name in ((1, "out"), (2, "err")):
        handle = os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, stream)
    if limit := job.get("file_size"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["sfumato", *job["argv"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def at(step: str, done: int, total: int | None) -> None:
        if step == job.get("kill_at"):
            os.kill(os.getpid(), signal.SIGKILL)
        if step == job.get("interrupt_at"):
            os.kill(os.getpid(), signal.SIGINT)
        if step == job.get("wait_at"):
            time.sleep(30)

    from sfumato import folder
    from sfumato.cli import main
    from sfumato.progress import listening

    if call := job.get("kill_after"):  # such a function of folder.py: die right after it was called so many times
        name, left = call
        plain = getattr(folder, name)

        def then_die(*arguments: Any) -> Any:
            nonlocal left
            given = plain(*arguments)
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return given

        setattr(folder, name, then_die)
    if job.get("plain_report"):
        import sfumato.report.page

        sfumato.report.page.page = lambda account, *, internal: "<!doctype html>"
    with listening(at):
        main()


def _child(job: dict[str, Any]) -> None:
    code = 99
    try:
        _work(job)
    except SystemExit as gone:
        code = gone.code if isinstance(gone.code, int) else 0 if gone.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _serve() -> None:
    import sfumato.cli
    import sfumato.kernels.counting
    import sfumato.kernels.lattice
    import sfumato.pipeline
    import sfumato.report.page  # noqa: F401

    for line in sys.stdin:
        job = json.loads(line)
        process = os.fork()
        if process == 0:
            _child(job)
        if (after := job.get("kill_after_seconds")) is not None:
            time.sleep(after)
            os.kill(process, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(json.dumps({"status": status, "process": process}), flush=True)


if __name__ == "__main__":
    _serve()
