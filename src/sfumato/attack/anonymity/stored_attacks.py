# SPDX-License-Identifier: MIT
"""Attack a stored release by its classes: whom an adversary finds among rows that look alike, and what they share.

For releases in which every column is published at one level of its hierarchy, each published cell covers its original,
and suppressed rows hold "*" in every quasi-identifying column: then the rows that fit a person are those of the
person's own class, and the outcome of linking and of homogeneity follows from the sizes of classes and the values in
them. In memory one draw of guesses is counted; here it is the number of right guesses to expect.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from sfumato.attack.anonymity.homogeneity import Homogeneity
from sfumato.attack.anonymity.linking import Linking
from sfumato.attack.attack import Attack, Outcome
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError

_DIGITS = 12


def explain_unsupported(attack: Attack, sensitive: tuple[str, ...], drawn_columns: Collection[str] = ()) -> str | None:
    """Why an attack cannot run by classes alone; None if it can. In `drawn_columns`, cells may be drawn."""
    if isinstance(attack, Linking):
        return "linking with knowledge or external" if attack.knowledge or attack.external else None
    if isinstance(attack, Homogeneity):
        is_single = attack.column is not None or len(sensitive) == 1
        if not is_single:
            return "homogeneity without a column, if several are sensitive"
        return "homogeneity of a randomized column" if (attack.column or sensitive[0]) in drawn_columns else None
    return str(attack.model_dump()["attack"])


def run_stored_attack(attack: Attack, published_table: StoredTable) -> Outcome:
    """Attack a release."""
    if isinstance(attack, Linking):
        return _link(published_table)
    assert isinstance(attack, Homogeneity), "refused before"
    names = published_table.outline.sensitive if attack.column is None else (attack.column,)
    if names[0] not in published_table.rows.schema:
        raise DataError(f'{published_table.source}: there is no column "{names[0]}" in the release to learn')
    return _compare_classes(attack, published_table, names[0])


def _link(table: StoredTable) -> Outcome:
    """Of each class, one person is found on average."""
    names = table.quasi_identifying
    sizes = table.rows.count_sizes(names)
    return Outcome(
        attempts=len(table),
        successes=int(sizes.classes.sum()),
        baseline=min(1, len(table)),
        facts={
            "matched": len(table),
            "unique_matches": sizes.unique,
            "smallest_match": sizes.smallest,
            "highest_risk": 1 / sizes.smallest if sizes.smallest else 0.0,
            "knowledge": list(names),
        },
    )


def _compare_classes(attack: Homogeneity, published_table: StoredTable, column: str) -> Outcome:
    """In each class, whether enough rows have the same value; then those who have it are found out."""
    names = list(published_table.quasi_identifying)
    row_counts = published_table.rows.count_rows([*names, column])
    frame = row_counts.frame.with_columns(pl.Series("\0count", row_counts.counts))
    frame = frame.with_columns(_flag_commonest(frame[column], frame["\0count"]).alias("\0commonest"))
    classes = frame.group_by(names).agg(
        pl.col("\0count").sum().alias("\0size"),
        pl.col("\0count").max().alias("\0most"),
        pl.col("\0count").filter(pl.col(column).is_not_null()).max().fill_null(0).alias("\0known"),
        pl.col("\0count").filter("\0commonest").sum().alias("\0blind"),
    )
    sizes, most, known_counts, blind_counts = (
        classes[name].to_numpy() for name in ("\0size", "\0most", "\0known", "\0blind")
    )
    agree = np.round(most / sizes - attack.share, _DIGITS) >= 0
    says_value = agree & (known_counts == most)  # a missing value is nobody's secret
    return Outcome(
        attempts=len(published_table),
        successes=int(known_counts[says_value].sum()),
        baseline=int(blind_counts[says_value].sum()),
        facts={
            "homogeneous_classes": int(agree.sum()),
            "classes": len(agree),
            "people_in_them": int(sizes[agree].sum()),
            "columns": [column],
        },
    )


def _flag_commonest(cells: pl.Series, counts: pl.Series) -> pl.Series:
    """Which cells have the value that is published most often."""
    texts = spell_cells(cells)
    totals = pl.DataFrame({"value": texts, "n": counts}).drop_nulls().group_by("value").agg(pl.col("n").sum())
    ranked_values = totals.sort(["n", "value"], descending=[True, False])["value"]
    return (texts == ranked_values[0] if len(ranked_values) else texts.is_not_null()).fill_null(value=False)
