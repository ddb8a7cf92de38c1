# SPDX-License-Identifier: MIT
"""What a missing cell means when classes are counted does not blind whoever reads the file."""

from __future__ import annotations

import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.missing_readings import list_readings

KNOWN = {"town": "quasi_identifying", "job": "quasi_identifying"}
ATTACKS = (
    sf.attack.Linking(),
    sf.attack.Homogeneity(),
    sf.attack.BackgroundKnowledge(excluded=0),
    sf.attack.Similarity(column="ill", groups={"lungs": ("x",)}),
    sf.attack.Minimality(column="ill"),
    sf.attack.Inference(column="ill"),
    sf.attack.Linkability(known=(("town", "job"), ("house",))),
    sf.attack.CopiedRecords(columns="ill"),
    sf.attack.SinglingOut(columns_per_guess=4),
    sf.attack.SwapLinkage(column="ill"),
)


def people(missing: str) -> sf.Table:
    """For each of ten jobs somebody in each of three towns, and somebody whose town is missing: all are unique."""
    cells = [(town, f"j{job}") for job in range(10) for town in ("A", "B", "C", None)]
    frame = {
        "town": [town for town, _ in cells],
        "job": [job for _, job in cells],
        "house": [f"h{at}" for at in range(40)],
        "ill": ["xyz"[at * 7 % 3] for at in range(40)],
    }
    return sf.Table.of(frame, KNOWN | {"house": "insensitive", "ill": "sensitive"}, missing=missing)


@pytest.mark.parametrize("is_stated", [False, True], ids=["unstated", "stated"])
@pytest.mark.parametrize("missing", ["matches_any", "never_matches", "drop"])
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: type(attack).__name__)
def test_a_missing_cell_is_read_as_one_whatever_it_means(attack: sf.Attack, missing: str, is_stated: bool) -> None:
    def count(meaning: str) -> float:
        table = people(meaning)
        release = sf.GroupRareValues(columns=("ill",), min_count=2).protect(people("own_value"))
        changes = release.changes if is_stated else ()
        return attack.run(sf.Release(table, None, (), {}, changes=changes), table).successes

    assert count(missing) >= count("own_value") >= 36


def test_the_only_empty_cell_is_found_beside_a_generalized_column() -> None:
    """Of 41 people one has no sex; ages are published as stars."""
    sexes = [None if at == 20 else "fm"[at % 2] for at in range(41)]
    roles = {"age": "quasi_identifying", "sex": "quasi_identifying"}
    table = sf.Table.of({"age": [20 + at for at in range(41)], "sex": sexes}, roles, missing="matches_any")
    release = sf.Generalize(models=(sf.KAnonymity(k=5),)).protect(table)
    assert release.data.frame["age"].unique().to_list() == ["*"]
    outcome = sf.attack.Linking().run(release, table)
    assert (outcome.successes, outcome.facts["unique_matches"], outcome.facts["highest_risk"]) == (3, 1, 1.0)


def test_known_missing_cells_are_looked_for_where_stars_are() -> None:
    """A missing cell is published as a star: under matches_any it could be any row, but only two are starred."""
    roles = {"town": "quasi_identifying", "job": "quasi_identifying"}
    frame = {"town": [None, None, *"AABBCC"], "job": list("abcdefgh")}
    truth = sf.Table.of(frame, roles, missing="matches_any")
    published = {"town": ["*", "*", *"AABBCC"], "job": ["*"] * 8}
    release = sf.Release(sf.Table.of(published, roles, missing="matches_any"), None, (), {})
    links = sf.attack.find_links(release.data, truth, ["town", "job"])
    assert links.counts.tolist()[:2] == [6, 6]
    assert sf.attack.Linking().run(release, truth).successes == 4


def test_people_whom_no_row_fits_as_read_are_found_by_the_meaning() -> None:
    """A blanked cell is no missing one: whoever has a value there is still looked up as before."""
    roles = dict.fromkeys(["town", "job"], "quasi_identifying")
    truth = sf.Table.of({"town": ["A", "A", "B", None], "job": ["x", "y", "x", "y"]}, roles, missing="matches_any")
    blanked = truth.replace_frame(truth.frame.with_columns(pl.Series("town", [None, "A", "B", None])))
    outcome = sf.attack.Linking().run(sf.Release(blanked, None, (), {}), truth)
    assert (outcome.facts["matched"], outcome.successes) == (4, 4)


def test_tables_without_missing_cells_are_read_once() -> None:
    table = sf.Table.of({"q": ["a", "b"]}, {"q": "quasi_identifying"}, missing="never_matches")
    assert len(list_readings(sf.Release(table, None, (), {}), table, ["q"])) == 1
    for missing, readings in (("own_value", 1), ("matches_any", 2), ("never_matches", 2), ("drop", 2)):
        holed = sf.Table.of({"q": ["a", None]}, {"q": "quasi_identifying"}, missing=missing)
        assert len(list_readings(sf.Release(holed, None, (), {}), holed, ["q"])) == readings
