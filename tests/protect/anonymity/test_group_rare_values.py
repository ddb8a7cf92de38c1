# SPDX-License-Identifier: MIT
"""Rare values under one label: groups worked out by hand, and brute force on small tables."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.anonymity.value_counts import count_rows_of_rarest_value, count_wrongly_grouped_cells
from sfumato.measure.change_losses import measure_change_loss


def table_of(values: list[Any], dtype: Any = None) -> sf.Table:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype), "other": list(range(len(values)))}, strict=False)
    return sf.Table.of(frame, {"x": "sensitive", "other": "insensitive"})


def grouped(values: Any, dtype: Any = None, **fields: Any) -> list[Any]:
    method = sf.GroupRareValues(columns="x", **fields)
    return list(method.protect(table_of(list(values), dtype)).data.frame["x"])


def test_groups_by_hand() -> None:
    """Of 3 a, 2 b, 1 c and 1 d: c and d are two rows, enough for 2; three need b as well, and four everything."""
    assert grouped("aaabbcd", min_count=2) == [*"aaabb", "other", "other"]
    assert grouped("aaabbcd", min_count=3) == [*"aaa", *["other"] * 4]
    assert grouped("aaabbcd", min_count=4) == ["other"] * 7
    assert grouped("aaabb", min_count=2) == [*"aaabb"]


def test_a_group_that_is_too_small_takes_the_next_rarest() -> None:
    """One c alone would be as easily found under the label; b is rarer than a. Of equal ones, the first is taken."""
    assert grouped("aaabbc", min_count=2) == [*"aaa", *["other"] * 3]
    assert grouped("aabbc", min_count=2) == ["other", "other", "b", "b", "other"]


def test_a_label_that_is_a_value_counts() -> None:
    assert grouped("aaazzc", min_count=2, label="z") == [*"aaazzz"]
    assert grouped("aaabbz", min_count=2, label="z") == [*"aaazzz"]
    assert grouped("aaazz", min_count=2, label="z") == [*"aaazz"]


def test_an_empty_cell_is_a_value() -> None:
    assert grouped(["a", "a", None, "b"], min_count=2) == ["a", "a", "other", "other"]
    assert grouped(["a", "a", None, None], min_count=2) == ["a", "a", None, None]
    assert grouped([1, 1, 1, 2, 3], min_count=2) == ["1", "1", "1", "other", "other"]
    assert grouped([1, 1, 2, 2], min_count=2) == [1, 1, 2, 2]


def test_what_cannot_be_grouped_is_refused() -> None:
    with pytest.raises(sf.ImpossibleRelease, match="lower min_count"):
        grouped("aaa", min_count=4)
    with pytest.raises(sf.DataError, match="no categories"):
        grouped([1.5, 1.5], min_count=2)
    with pytest.raises(sf.PolicyError, match="nowhere"):
        sf.GroupRareValues(columns="nowhere", min_count=2).protect(table_of([*"aab"]))
    for label in ("", "*", " other", "a\nb"):
        with pytest.raises(ValueError, match="label"):
            sf.GroupRareValues(columns="x", label=label)


Cells = st.lists(st.sampled_from([None, "a", "b", "c", "d", "other"]), min_size=2, max_size=16)


@settings(max_examples=150, deadline=None)
@given(Cells, st.integers(2, 5))
def test_against_brute_force(values: list[str | None], least: int) -> None:
    """No other choice of values to group leaves everybody in company and changes fewer values, or as many with fewer
    rows; and every value that is too rare is grouped.
    """
    if len(values) < least:
        return
    table = table_of(values, pl.String)
    release = sf.GroupRareValues(columns="x", min_count=least).protect(table)
    published = release.data.frame["x"].to_list()
    counts = Counter(values)
    names = [value for value in counts if value != "other"]
    fits = []
    for size in range(len(names) + 1):
        for group in combinations(names, size):
            grouped_values = ["other" if value in group else value for value in values]
            if min(Counter(grouped_values).values()) >= least:
                fits.append((size, sum(counts[value] for value in group)))
    changed = {before for before, after in zip(values, published, strict=True) if before != after}
    assert min(Counter(published).values()) >= least
    assert (len(changed), sum(counts[value] for value in changed)) == min(fits)
    assert all(finding.holds for finding in sf.check(release, table))


def test_claims_hold_when_it_was_written(tmp_path: Path) -> None:
    table = table_of([*"aaaabbbccd", None])
    release = sf.GroupRareValues(columns="x", min_count=3).protect(table)
    release.data.frame.write_csv(tmp_path / "x.csv")
    written_table = release.data.replace_frame(pl.read_csv(tmp_path / "x.csv"))
    assert all(finding.holds for finding in sf.check(sf.Release(written_table, None, release.claims, {}), table))


def test_other_code_measures_the_same_loss() -> None:
    table = table_of([*"aaaabbbccd", None])
    release = sf.GroupRareValues(columns="x", min_count=3).protect(table)
    assert release.losses["loss"] == measure_change_loss(table, release.data, release.changes, {}) == 4 / 11


def test_a_gate_on_the_loss_and_the_columns_of_a_report(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [*"aaaabbbccd"] * 2, "y": ["a", "b"] * 10})
    roles = {"x": "quasi_identifying", "y": "sensitive"}
    method = sf.GroupRareValues(columns="x", min_count=6)
    result = sf.run(frame, method, roles=roles, gate={"max_loss": 0.3}, out=tmp_path / "out")
    assert sf.read_release(result.out).data.frame["x"].to_list() == [*"aaaabbb", *["other"] * 3] * 2
    assert "rare values under one label" in (result.out / "release" / "report.html").read_text(encoding="utf-8")


def test_a_label_that_looks_like_a_number_may_be_all_that_is_left(tmp_path: Path) -> None:
    """The utility was measured as if the texts had been numbers, which stopped the release."""
    (tmp_path / "x.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in zip("abcdef", "abaaab", strict=True)))
    method = sf.GroupRareValues(columns="x", min_count=6, label="0")
    roles = {"x": "quasi_identifying", "y": "sensitive"}
    result = sf.run(tmp_path / "x.csv", method, roles=roles, out=tmp_path / "out")
    assert sf.read_release(result.out).data.frame["x"].cast(pl.String).to_list() == ["0"] * 6


def test_the_measures_count_what_breaks_a_promise() -> None:
    before, after = table_of([*"aabbcd", None]), table_of([*"aab", "z", "z", "e", None])
    assert count_rows_of_rarest_value(before, ("x",)) == 1
    assert count_rows_of_rarest_value(table_of([*"aab*b"]), ("x",)) == 2
    assert count_rows_of_rarest_value(table_of(["a", "a", None]), ("x",)) == 1
    assert count_rows_of_rarest_value(before.replace_frame(before.frame.clear()), ("x",)) == 0
    assert count_wrongly_grouped_cells(before, after, ("x",), "z") == 2  # one b is still published, and d became e
    assert count_wrongly_grouped_cells(before, before, ("x",), "z") == 0


def test_a_column_may_be_called_as_polars_calls_its_counts() -> None:
    table = sf.Table.of(
        {"count": ["a", "a", "b", "c"], "len": ["x", "x", "y", "z"]},
        dict.fromkeys(("count", "len"), "quasi_identifying"),
    )
    release = sf.GroupRareValues(columns=("count", "len"), min_count=2).protect(table)
    assert all(finding.holds for finding in sf.check(release, table))
    means = sf.Microaggregate(k=2).protect(table)
    assert all(finding.holds for finding in sf.check(means, table))
    assert measure_change_loss(table, means.data, means.changes, {}, None)
