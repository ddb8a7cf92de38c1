# SPDX-License-Identifier: MIT
"""Every table and figure of the seeds, ours beside theirs: one module a seed, one page and one CSV a table.

`STUDIES` names all studies; `reproduce` runs some of them and writes what came out. To add a seed, write
`seed_NNN.py` with a tuple `STUDIES`, and add its line to `registry.SEEDS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.lazy import fetching

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sfumato.reproduce.registry import Listed, chosen, listed
    from sfumato.reproduce.run import Summary, reproduce
    from sfumato.reproduce.study import Findings, Grid, Plot, Setting, Statement, Study

    STUDIES: Mapping[str, Study]
    """All studies by name, in the order of the seeds."""

_HOME = {
    "Findings": "study",
    "Grid": "study",
    "Listed": "registry",
    "Plot": "study",
    "STUDIES": "registry",
    "Setting": "study",
    "Statement": "study",
    "Study": "study",
    "Summary": "run",
    "chosen": "registry",
    "listed": "registry",
    "reproduce": "run",
}

__all__ = [
    "STUDIES",
    "Findings",
    "Grid",
    "Listed",
    "Plot",
    "Setting",
    "Statement",
    "Study",
    "Summary",
    "chosen",
    "listed",
    "reproduce",
]

__getattr__ = fetching(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
