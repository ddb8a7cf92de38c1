# SPDX-License-Identifier: MIT
"""Every table and figure of the seeds, ours beside theirs: one module a seed, one page and one CSV a table.

`STUDIES` names all studies; `reproduce` runs some of them and writes what came out. To add a seed, write
`seed_NNN.py` with a tuple `STUDIES`, and add its line to `registry.SEEDS`.
"""

from __future__ import annotations

from sfumato.lazy import open_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sfumato.reproduce.registry import STUDIES as STUDIES
    from sfumato.reproduce.registry import Listed as Listed
    from sfumato.reproduce.registry import chosen as chosen
    from sfumato.reproduce.registry import listed as listed
    from sfumato.reproduce.run import Summary as Summary
    from sfumato.reproduce.run import reproduce as reproduce
    from sfumato.reproduce.study import Findings as Findings
    from sfumato.reproduce.study import Grid as Grid
    from sfumato.reproduce.study import Plot as Plot
    from sfumato.reproduce.study import Setting as Setting
    from sfumato.reproduce.study import Statement as Statement
    from sfumato.reproduce.study import Study as Study

open_room(__name__)
