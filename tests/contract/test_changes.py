# SPDX-License-Identifier: MIT
"""Every statement about every column of every method's report is compared with a plain diff of the two frames."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import Change, ChangeKind
from sfumato.errors import ClaimBroken
from sfumato.measure.changes import measure_changes, refuse_false_statements
from tests.contract.column_pairs import covers, list_texts
from tests.contract.examples import METHOD_EXAMPLES, Example, people
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.releases import make_once
from tests.contract.runs import run_example

TABLES = tuple(
    e for e in (*METHOD_EXAMPLES, *MODE_EXAMPLES) if e.subject.gives == "table" and e.subject.shape == "table"
)
CURE = (
    "in the `state_changes` of its release, give each column that it changes the ChangeKind whose words (in "
    "change_kinds.py) are true of every cell, else ChangeKind.OTHER"
)


def explain_broken(example: Example, error: ClaimBroken) -> str:
    """Why nothing was released, with the cure: a claim that breaks before any file is written, or by writing it, or a
    false statement."""
    made = make_once(example)
    broken = [finding.property for finding in sf.check(made.release, made.data) if not finding.holds]
    if broken:
        return (
            f"{error}: in memory, {', '.join(broken)} does not hold either, so that neither the file nor a statement "
            "is the cause: repair `protect`, the claim or its check, and let details.rows name the original of each row"
        )
    if "claims did not hold" in str(error):
        return (
            f"{error}: in memory it holds, and of the written file, which is read as text, it does not: compare cells "
            "as text (`spell_cells`), and numbers with a tolerance in proportion to their size"
        )
    return f"{error}: {CURE}"


def columns_of(page: Path) -> dict[str, list[str]]:
    """The rows of the table of columns: column name → the texts of its cells."""
    text = page.read_text(encoding="utf-8")
    part = text[text.index('<section id="columns">') :]
    part = part[: part.index("</section>")]
    cells_by_name = {}
    for row in re.findall(r"<tr>(.*?)</tr>", part, re.DOTALL):
        if name := re.search(r'<span class="name">(.*?)</span>', row, re.DOTALL):
            cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
            cells_by_name[name[1]] = [" ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split()) for cell in cells]
    return cells_by_name


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_what_a_report_says_of_a_column_is_what_a_diff_shows(example: Example, tmp_path: Path) -> None:
    try:
        result = run_example(example, tmp_path)
    except ClaimBroken as error:
        pytest.fail(explain_broken(example, error))
    original, published = example.data(), sf.read_release(result.out).data.frame
    if isinstance(example.subject, sf.EncodeForTrees):
        return  # test_reports_of_codes.py compares it: there is no table of columns
    private_columns = columns_of(result.out / "private" / "report.html")
    public_columns = columns_of(result.out / "release" / "report.html")
    stated_columns = {change["column"] for change in result.certificate.body["changes"]}
    assert stated_columns >= set(published.columns), "every published column has a statement"
    assert set(private_columns) == set(public_columns) == set(published.columns)
    rows = pl.read_parquet(result.out / "private" / "rows.parquet")["original_row"].to_list()
    is_synthetic = example.subject.method == "synthesize" and example.subject.kind == "full"
    for name in published.columns:
        leaves, stays = public_columns[name][1], private_columns[name][1]
        assert "of cells changed" not in leaves, "how many cells differ is not told to others"
        assert "as it is" not in leaves + stays
        assert stays.startswith(leaves)
        if is_synthetic:
            assert leaves == "drawn from a model"
            continue
        before, after = list_texts(original.frame[name][rows]), list_texts(published[name])
        differ = [(was, new_cell) for was, new_cell in zip(before, after, strict=True) if was != new_cell]
        if leaves.startswith("unchanged"):
            assert all(new_cell == "*" for _, new_cell in differ)
            assert bool(differ) == ("starred" in leaves)
        assert ("of cells changed" in stays) == bool(differ)
        if match := re.search(r"\((over|under)?\s*([\d.]+)\s*% of cells changed\)", stays):
            assert abs(float(match[2]) / 100 - len(differ) / len(rows)) < 0.006
        hierarchy = original.hierarchies.get(name)
        tree = () if hierarchy is None else hierarchy.rows
        if level := re.match(r"level (\d+) of (\d+)", leaves):
            labels = {row[0]: row[int(level[1])] for row in tree} if tree else {}
            known_pairs = [(was, new_cell) for was, new_cell in zip(before, after, strict=True) if was is not None]
            assert all(new_cell in (labels.get(str(was)), "*") for was, new_cell in known_pairs)
        if leaves.startswith(("level", "ranges", "generalized")):
            assert all(new_cell is not None and covers(new_cell, was, tree) for was, new_cell in differ)
        if leaves.startswith("some cells may be blanked"):
            assert all(new_cell is None for _, new_cell in differ)


def test_a_broken_claim_is_told_from_a_false_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    example = next(one for one in TABLES if one.name == "round numbers")
    made, claims = make_once(example), ClaimBroken("claims did not hold on the written file")
    assert "in memory it holds" in explain_broken(example, claims)
    assert "ChangeKind" in explain_broken(example, ClaimBroken("what is stated is not what happened"))
    originals = made.release.data.replace_frame(made.data.frame.drop("name"))
    forged = made._replace(release=replace(made.release, data=originals))
    monkeypatch.setattr("tests.contract.test_changes.make_once", lambda _: forged)
    assert "in memory, numbers_between_steps does not hold either" in explain_broken(example, claims)


def test_a_false_statement_stops_a_release() -> None:
    original = people()
    release = sf.Partition(models=(sf.KAnonymity(k=3),)).protect(original)
    assert isinstance(release.data, sf.Table)
    differences = measure_changes(original, release.data, release.details.rows)
    refuse_false_statements(release.changes, differences)
    for kind in (ChangeKind.KEPT, ChangeKind.BLANKED, ChangeKind.DROPPED):
        false = tuple(replace(change, kind=kind) for change in release.changes)
        with pytest.raises(ClaimBroken, match="is not what happened"):
            refuse_false_statements(false, differences)


CHANGED = ["a", "b", "c", "c", "d"]


@pytest.mark.parametrize(
    ("kind", "true", "false"),
    [
        (ChangeKind.SWAPPED, ["b", "a", "c", "c", "d"], ["b", "a", "c", "other", "d"]),
        (ChangeKind.GROUPED, ["other", "other", "c", "c", "other"], ["other", "rest", "c", "c", "other"]),
        (ChangeKind.CAPPED, ["low", "b", "c", "c", "high"], ["low", "middle", "c", "c", "high"]),
    ],
)
def test_other_values_must_be_such_as_the_statement_says(kind: ChangeKind, true: list[str], false: list[str]) -> None:
    original = sf.Table.of({"a": CHANGED}, {"a": "sensitive"})
    for cells, holds in ((true, True), (false, False)):
        differences = measure_changes(original, sf.Table.of({"a": cells}, {"a": "sensitive"}))
        try:
            refuse_false_statements((Change("a", kind, "some"),), differences)
            assert holds
        except ClaimBroken:
            assert not holds


def test_a_method_that_states_nothing_reads_as_an_unknown_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = next(candidate for candidate in TABLES if candidate.name == "partition")
    original_protect = sf.Partition.protect
    monkeypatch.setattr(
        sf.Partition,
        "protect",
        lambda self, data, randomness=None: replace(original_protect(self, data, randomness), changes=()),
    )
    result = run_example(example, tmp_path)
    page = (result.out / "release" / "report.html").read_text(encoding="utf-8")
    assert "changed by partition" in page


def test_cells_are_counted_by_how_they_differ() -> None:
    tree = sf.Hierarchy.of([["1", "1-2", "*"], ["2", "1-2", "*"], ["3", "3-4", "*"], ["4", "3-4", "*"]])
    roles = {"a": "quasi_identifying"}
    original = sf.Table.of({"a": ["1", "2", "3", "4", None]}, roles, hierarchies={"a": tree})
    published = sf.Table.of({"a": ["1", "1-2", "1-2", None, "*"]}, roles)
    difference = measure_changes(original, published)["a"]
    assert (difference.blanked, difference.coarser, difference.suppressed, difference.other, difference.cells) == (
        1,
        1,
        1,
        1,
        5,
    )
    assert difference.loss is None
    starred_difference = measure_changes(original, sf.Table.of({"a": ["1", "1-2", "3-4", "4", "*"]}, roles))["a"]
    assert (
        starred_difference.coarser,
        starred_difference.suppressed,
        starred_difference.other,
        starred_difference.changed_count,
    ) == (2, 1, 0, 3)
    assert starred_difference.loss == pytest.approx((1 / 3 + 1 / 3 + 1) / 5)
    filled = measure_changes(original, sf.Table.of({"a": ["1", "2", "3", "4", "1-2"]}, roles))["a"]
    assert (filled.filled, filled.other, filled.changed_count) == (1, 0, 1) and filled.loss is None


@pytest.mark.parametrize(
    ("kind", "cells", "message"),
    [
        (ChangeKind.KEPT, ["a", "b", None, "c", None], '"unchanged", and 1 of 5 cells are empty and were not'),
        (ChangeKind.BLANKED, ["a", "b", "*", "c", None], '1 of 5 cells are "*" and were not'),
        (ChangeKind.KEPT, ["a", "b", "{a, c}", "c", None], "1 of 5 cells have a label of their original"),
        (ChangeKind.ROUNDED, ["a", "*", "c", "c", None], '1 of 5 cells are "*" and were not'),
        (ChangeKind.GENERALIZED, ["a", "b", "d", "c", None], "1 of 5 cells have another value"),
        (ChangeKind.ROUNDED, ["a", "b", "c", "c", "a"], "1 of 5 cells were empty and have a value"),
        (ChangeKind.GROUPED, ["rest", "other", "c", "c", None], "cells have 2 new values, where it allows 1"),
        (ChangeKind.SWAPPED, ["b", "a", "c", "z", None], "1 of 5 cells have a value that no original has"),
        (ChangeKind.DROPPED, ["a", "b", "c", "c", None], '"removed", and it is published'),
        (None, ["a", "b", "c", "c", None], "nothing, and it is published"),
    ],
)
def test_a_refusal_says_which_cells_the_statement_does_not_allow(
    kind: ChangeKind | None, cells: list[str | None], message: str
) -> None:
    original = sf.Table.of({"a": ["a", "b", "c", "c", None]}, {"a": "sensitive"})
    differences = measure_changes(original, sf.Table.of({"a": cells}, {"a": "sensitive"}))
    with pytest.raises(ClaimBroken) as refusal:
        refuse_false_statements([Change("a", kind, "some")] if kind else [], differences)
    assert str(refusal.value).endswith(message)


def test_labels_that_are_values_of_the_originals_are_noticed() -> None:
    """Where cells are stated to be labels, a value that somebody had is none, in whatever row."""
    tree = [["Rome", "Italy"], ["Milan", "Italy"], ["Monaco", "Monaco"]]
    original = sf.Table.of({"a": ["Rome", "Milan", "Monaco"]}, {"a": "quasi_identifying"}, {"a": tree})
    for cells, shown in ((["Italy", "Italy", "*"], 0), (["Italy", "Italy", "Monaco"], 1), (["Rome", "Italy", "*"], 1)):
        differences = measure_changes(original, original.replace_frame(pl.DataFrame({"a": cells})))
        assert differences["a"].published_originals == shown
        refuse_false_statements([Change("a", ChangeKind.PARTLY_GENERALIZED, "some")], differences)
        if shown:
            with pytest.raises(ClaimBroken, match="1 of 3 cells have a value of the originals"):
                refuse_false_statements([Change("a", ChangeKind.GENERALIZED, "some")], differences)
        else:
            refuse_false_statements([Change("a", ChangeKind.GENERALIZED, "some")], differences)
