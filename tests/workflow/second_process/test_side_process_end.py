# SPDX-License-Identifier: MIT
"""Ending the other process while it reads nothing, as on the first run of all, when it still compiles kernels."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import signal, time
from sfumato.workflow.second_process import side_process

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the command line does, for `| head`
side_process._START = "import time; time.sleep(60)"
process = side_process.SideProcess()
answer = process.submit(len, bytes(1_000_000))  # more than a pipe holds
time.sleep(0.3)
process.stop()
print(type(answer.exception()).__name__)
"""


def test_a_question_that_nobody_reads_does_not_end_the_program() -> None:
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "BrokenPipeError\n"), result.stderr
