# SPDX-License-Identifier: MIT
"""Start the process that works alongside a run first of all, if the words of a command say that it will be needed.

It needs as long to load its own modules as the command line does, so it must not wait for that. A wrong
guess costs time and nothing else: the run starts the process itself if it is missing, and ends it if nobody asked it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

METHODS = ("generalize", "k_optimize")
"""Those that have alternatives, and do not load their kernels anyway; a test compares them with all methods."""
LARGE_FILE = 500_000
"""Bytes of an input that takes as long to read and protect as the other process takes to start."""
_STORED_FILE = 1 << 30
"""Bytes of an input that an engine may count where it is; then nobody asks."""


def start_early(words: Sequence[str]) -> AbstractContextManager[None]:
    """Inside the block the process is started, if the words of the command line ask for a run that needs it."""
    if not _expects_side_work(words):
        return nullcontext()
    from sfumato.workflow.second_process.side_process import prepare_process

    return prepare_process(is_worthwhile=True)


def _expects_side_work(words: Sequence[str]) -> bool:
    if "--help" in words:
        return False
    policies = [word for word in words[1:] if word.endswith(".toml")]
    return words[:1] == ["demo"] or (words[:1] == ["run"] and len(policies) == 1 and _needs_long(Path(policies[0])))


def _needs_long(policy: Path) -> bool:
    """Whether a policy has one such method, and a large file; False for whatever cannot be read yet."""
    import tomllib  # other commands do not need it

    try:
        content = tomllib.loads(policy.read_text(encoding="utf-8-sig"))
        (step,), path = content["protect"], content["data"]["path"]
        size = LARGE_FILE if path == "demo" else (policy.parent / Path(path).expanduser()).stat().st_size
        return step["method"] in METHODS and LARGE_FILE <= size < _STORED_FILE
    except (OSError, ValueError, KeyError, TypeError, RecursionError, RuntimeError):  # reading it will say
        return False
