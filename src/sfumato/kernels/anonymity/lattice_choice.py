# SPDX-License-Identifier: MIT
"""Which loops the lattice search runs: compiled ones, or numpy's while loading a compiler would take longer.

Loading compiled kernels takes a process half a second or more, once; the search over a table of some ten thousand
rows takes numpy a tenth of that. So a process begins in numpy and changes over when it has done as much work there
as loading would have cost: it never takes twice as long as the better choice would have. Both give the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

_WORTH = 6_000_000  # rows and nodes that numpy visits in about the time that loading takes
_COMPILED_MODULE = "sfumato.kernels.anonymity.lattice"
_work_total = 0


class LatticeLoops(NamedTuple):
    """The loops of the lattice search; arguments and results are described where they are written."""

    add_to_keys: Callable[..., None]
    group_keys: Callable[..., int]
    add_suppression_costs: Callable[..., None]
    count_class_values: Callable[..., int]
    choose_informative_node: Callable[..., int]


def choose_lattice_loops(work: int) -> LatticeLoops:
    """The loops for this amount of further work, in rows times nodes."""
    global _work_total  # noqa: PLW0603  (how much a process has done is a fact about the process)
    _work_total += work
    if _work_total > _WORTH or _COMPILED_MODULE in sys.modules:
        from sfumato.kernels.anonymity import lattice

        return lattice.LOOPS
    from sfumato.kernels.anonymity import lattice_plain

    return lattice_plain.LOOPS
