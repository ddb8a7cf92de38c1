# SPDX-License-Identifier: MIT
"""The whole command `sfumato run` on sequences, beside a program that reads the file and only protects it.

Both are processes of their own, as someone starts them: with loading Python, the package and its compiled kernels. The
same is measured once more inside one process that has done it before, where nothing is loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import sfumato as sf
from bench.sequences import multiply
from bench.timing import shared_data, show
from sfumato.workflow.policy import Policy

_TIMES = 5
_LONE_RUN = """
import sys
from sfumato.workflow.policy import Policy
policy = Policy.read(sys.argv[1])
policy.methods[0].protect(policy.read_original())
"""


class _RunCost(NamedTuple):
    """The least of some runs, each by itself."""

    seconds: float
    """By the clock."""
    busy: float
    """Of the processor."""


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("sequence_runs: no real data (set SFUMATO_DATA), nothing is measured")
        return
    with tempfile.TemporaryDirectory() as name:
        os.environ["SFUMATO_HOME"] = f"{name}/home"
        policies = _write_policies(folder / "sequences", Path(name))
        processes = [(label, *_format_pair(*_compare_processes(policy))) for label, policy in policies.items()]
        show("Processes", ("data", "sfumato run", "method alone", "by the clock", "processor"), processes)
        table_rows = [(label, *_format_pair(*_compare_calls(policy))) for label, policy in policies.items()]
        show("Inside one process, warm", ("data", "sf.run", "protect()", "by the clock", "processor"), table_rows)


def _write_policies(folder: Path, out: Path) -> dict[str, Path]:
    """Four files anonymized and attacked, and ten patterns hidden in a fifth."""
    tenfold = out / "tenfold.txt"
    multiply(sf.Sequences.read(folder / "MSNBC.txt"), 10).write(tenfold)
    files = {name: folder / f"{name}.txt" for name in ("SIGN", "LEVIATHAN", "MSNBC")} | {"MSNBC ten times": tenfold}
    anonymize = 'method = "anonymize_sequences"\nk = 10\n\n[[attack]]\nattack = "sequence_linking"'
    steps = {label: (path, anonymize) for label, path in files.items()}
    clicks = folder / "bms-webview-1.seq.txt"
    hide = f'method = "hide_sequences"\npatterns = {_choose_secrets(clicks)}\nthreshold = 50\n\n[[attack]]\nattack = '
    steps["BMS-WebView-1, ten patterns hidden"] = (clicks, f'{hide}"sequence_remining"')
    policies = {}
    for number, (label, (path, step)) in enumerate(steps.items()):
        policies[label] = out / f"policy{number}.toml"
        text = f'[data]\npath = "{path.resolve()}"\n\n[[protect]]\n{step}\n\n[output]\npath = "out{number}"\n'
        policies[label].write_text(text, encoding="utf-8")
    return policies


def _choose_secrets(path: Path) -> list[list[str]]:
    """The ten most frequent patterns of two or three items."""
    subsequences = sf.mine.frequent_subsequences(sf.Sequences.read(path), 300, max_length=3)
    patterns = subsequences.sort("support", descending=True)["pattern"].to_list()
    return [[str(item) for item in pattern] for pattern in patterns if len(pattern) > 1][:10]


def _compare_processes(policy: Path) -> tuple[_RunCost, _RunCost]:
    command = [sys.executable, "-m", "sfumato", "run", str(policy)]
    protect_command = [sys.executable, "-c", _LONE_RUN, str(policy)]
    return _take_least(lambda: _time_process(command)), _take_least(lambda: _time_process(protect_command))


def _compare_calls(policy: Path) -> tuple[_RunCost, _RunCost]:
    read = Policy.read(policy)
    data, method = read.read_original(), read.methods[0]
    return _take_least(lambda: _time_call(lambda: sf.run(read))), _take_least(
        lambda: _time_call(lambda: method.protect(data))
    )


def _take_least(measure: Callable[[], _RunCost]) -> _RunCost:
    """After a warm-up; for the machine does other things, too."""
    measure()
    runs = [measure() for _ in range(_TIMES)]
    return _RunCost(min(run.seconds for run in runs), min(run.busy for run in runs))


def _time_process(words: list[str]) -> _RunCost:
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{words[-1]}: it failed")
    return _RunCost(time.perf_counter() - begin, usage.ru_utime + usage.ru_stime)


def _time_call(work: Callable[[], object]) -> _RunCost:
    begin, busy = time.perf_counter(), time.process_time()
    work()
    return _RunCost(time.perf_counter() - begin, time.process_time() - busy)


def _format_pair(whole: _RunCost, part: _RunCost) -> tuple[str, str, str, str]:
    texts = [f"{cost.seconds:.2f} s ({cost.busy:.2f})" for cost in (whole, part)]
    return texts[0], texts[1], f"{whole.seconds / part.seconds:.2f}×", f"{whole.busy / part.busy:.2f}×"


if __name__ == "__main__":
    main()
