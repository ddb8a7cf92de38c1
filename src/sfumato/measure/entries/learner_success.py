# SPDX-License-Identifier: MIT
"""How many private entries learners predict from a published table, trained anew for the check.

Against an adversary who trains a model on what is visible. What is measured holds for these learners
(`mine.entries.learner`); another one may do better. Needs the true values of the private entries, so only the custodian
can check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from sfumato.measure.checks import Evidence, checks_claim
from sfumato.measure.entries.leftover_rules import require_hidden_entries
from sfumato.mine.entries.learner import LEARNERS, predict_hidden
from sfumato.randomness import Randomness
from sfumato.release import Number
from sfumato.table import Table


def learner_success(published_table: Table, private_entries: pl.DataFrame) -> float:
    """The share of private entries (`row`, `column`, `value` as text) that the best learner of each column predicts."""
    secrets = private_entries.drop_nulls("value")
    if not secrets.height:
        return 0.0
    # Training is random, so the check repeats with a fixed seed of its own.
    guesses = predict_hidden(published_table.frame, secrets, LEARNERS, Randomness.seeded(0).generator())
    right = 0
    for column in guesses:
        true = column.classes.number(secrets.filter(pl.col("column") == column.column)["value"])
        right += int(((column.guess == true) & (true >= 0)).sum())
    return round(right / secrets.height, 12)


@checks_claim("learner_success", "at_most", private="hidden")
def _check_learner_success(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    return learner_success(evidence.published_data, require_hidden_entries(evidence.details))
