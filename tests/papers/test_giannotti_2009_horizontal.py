# SPDX-License-Identifier: MIT
"""The study of mining together: every step as it is told there, but for the ring sum's promise."""

from __future__ import annotations

from papers.giannotti_2009 import STUDIES
from papers.study import Setting


def test_the_steps_are_reproduced_and_the_leak_is_found() -> None:
    study = next(study for study in STUDIES if study.name == "horizontal")
    findings = study.work(Setting(quick=True))
    verdicts = [statement.verdict for statement in findings.statements]
    assert verdicts == ["reproduced", "reproduced", "differs", "reproduced"]
    assert "is -1, the second site's term" in findings.statements[2].own_result
    rows = findings.grids[0].frame.rows_by_key("protocol", named=True, unique=True)
    assert [rows[name]["names_can_be_read"] for name in ("counts", "textbook", "shamir")] == [True, False, False]
    assert rows["counts"]["rules"] == rows["shamir"]["rules"] > 0
