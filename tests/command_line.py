# SPDX-License-Identifier: MIT
"""How a command ended that a test typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

CANARY = "ZZSECRETZZ"
"""A cell of the tests' data, which no command may print."""


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def output(self) -> str:
        """Both streams."""
        return self.out + self.err


Invoke = Callable[..., Ran]
