# SPDX-License-Identifier: MIT
"""Claims and losses in words: what is a percentage is stated by the check and the table of losses, not by a name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato import losses
from sfumato.measure.checks import CHECKS, Unit
from sfumato.report.words import findings, loss_words

NBSP = "\u00a0"


@pytest.mark.parametrize(("unit", "measured"), [("number", "5"), ("share", f"500{NBSP}%")])
def test_a_claim_is_a_percentage_if_its_check_measures_a_share(
    monkeypatch: pytest.MonkeyPatch, unit: Unit, measured: str
) -> None:
    check = replace(CHECKS["k_anonymity"], unit=unit)
    monkeypatch.setattr(findings, "CHECKS", {"least_share": check})
    claim = {"property": "least_share", "measure": "least_share", "bound": "at_least", "threshold": 5, "meaning": "."}
    (row,) = findings.list_claims({"claims": [claim | {"measured": 5, "holds": True, "needs_original": False}]})
    assert row["measured"] == measured


def test_a_loss_is_a_percentage_if_its_entry_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        "loss_count": losses.LossEntry("Count", "."),
        "part": losses.LossEntry("Part", ".", losses.LOSSES["loss"].rule),
    }
    for module in (losses, loss_words, findings):
        monkeypatch.setattr(module, "LOSSES", entries)
    body = {"losses": {"loss_count": 3, "part": 0.5}, "utility": {}, "methods": []}
    assert [row["value"] for row in findings.list_losses(body)] == ["3", f"50{NBSP}%"]
