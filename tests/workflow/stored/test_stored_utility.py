# SPDX-License-Identifier: MIT
"""What a stored release loses is measured or refused, never taken for nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import sfumato as sf
from sfumato.change import Change, ChangeKind
from sfumato.change_kinds import LossMeasure
from sfumato.measure.changes import ColumnDifference
from sfumato.protect.stored_method import explain_unstored_method
from sfumato.workflow.stored import stored_utility
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import make_once

STORED_TABLE: Any = None
"""The figures here do not look at it."""
STORED = [example for example in METHOD_EXAMPLES if explain_unstored_method(example.subject) is None]


def make_case(kind: ChangeKind, utility: str) -> Any:
    """A release that states one kind of change about a column in which 2 of 4 cells differ, and its evidence."""
    method = SimpleNamespace(utility=utility, truthful=False)
    release = SimpleNamespace(method=method, changes=(Change("age", kind, "m"),), public={}, claims=())
    difference = ColumnDifference("age", 4, 0, 0, 2, None)
    return release, SimpleNamespace(comparison=SimpleNamespace(differences={"age": difference}))


def test_a_share_of_changed_cells_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """It read 0, "100 % kept", and `max_loss` opened."""
    monkeypatch.setattr(stored_utility, "_measure_sizes", lambda *_: {})
    release, evidence = make_case(ChangeKind.GROUPED, "classes")
    assert stored_utility.measure_stored_utility(release, evidence, STORED_TABLE) == {"loss": 0.5}


@pytest.mark.parametrize("kind", [ChangeKind.MEANS, ChangeKind.CODED])
def test_a_loss_that_is_not_measured_is_refused(monkeypatch: pytest.MonkeyPatch, kind: ChangeKind) -> None:
    monkeypatch.setattr(stored_utility, "_measure_sizes", lambda *_: {})
    release, evidence = make_case(kind, "classes")
    with pytest.raises(sf.PolicyError, match=str(kind.meaning.loss)):
        stored_utility.measure_stored_utility(release, evidence, STORED_TABLE)


def test_drawn_columns_have_no_loss_rather_than_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It divided by the number of measured columns, 0."""
    monkeypatch.setattr(stored_utility, "measure_stored_moments", lambda _: {})
    release, evidence = make_case(ChangeKind.DRAWN, "chance")
    assert stored_utility.measure_stored_utility(release, evidence, STORED_TABLE) == {}


@pytest.mark.parametrize("example", STORED, ids=lambda example: example.name)
def test_what_stored_methods_lose_is_measured(example: Example) -> None:
    """A method with a module stored_NAME.py states kinds of change whose loss is measured in files."""
    stored_utility.refuse_unmeasured_losses(make_once(example).release.changes)


def test_some_measures_are_for_memory_only() -> None:
    assert set(LossMeasure) - set(stored_utility._LOSSES) == {LossMeasure.WITHIN_GROUPS, LossMeasure.AMBIGUOUS_CODES}
