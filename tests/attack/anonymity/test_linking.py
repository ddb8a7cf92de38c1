# SPDX-License-Identifier: MIT
from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity.covering import find_covering_rows
from sfumato.attack.anonymity.linking import link_originals
from sfumato.attack.attack import compute_wilson_interval
from tests.tables import Small, figure_2, small_tables, voters


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(small=small_tables(with_missing=True), k=st.integers(1, 3))
def test_every_published_person_is_among_the_rows_found(small: Small, k: int) -> None:
    """The right row fits, and as many rows fit as the class has: by going through all pairs."""
    table = small.table()
    try:
        release = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=0.5).protect(table)
    except sf.ImpossibleRelease:
        return
    names = table.quasi_identifying
    published = release.data.frame.select(names).rows()
    starred = [i for i, row in enumerate(published) if all(cell == "*" for cell in row)]
    links = sf.attack.find_links(release.data, table, names)
    suppressed = set(release.details["suppressed"].tolist())
    for person in range(len(table)):
        matches = links.get_rows(person).tolist()
        if person in suppressed:
            continue
        if published[person] != ("*",) * len(names):
            assert matches == [i for i, row in enumerate(published) if row == published[person]]
        else:
            assert person in matches
        assert len(matches) == links.counts[person] >= k
    if suppressed and not set(starred) - suppressed:
        for person in suppressed:
            assert links.get_rows(person).tolist() == starred


def test_the_suppressed_few_are_found_out() -> None:
    """One starred row hides nobody: whoever fits no class must be it."""
    table = sf.Table.of(
        {"age": ["1", "1", "2", "2", "3"], "s": list("abcde")},
        {"age": "quasi_identifying", "s": "sensitive"},
        {"age": [["1", "*"], ["2", "*"], ["3", "*"]]},
    )
    release = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.2).protect(table)
    assert release.data.frame["age"].to_list() == ["1", "1", "2", "2", "*"]
    assert sf.attack.find_links(release.data, table, ["age"]).get_rows(4).tolist() == [4]
    outcome = sf.attack.Linking().run(release, table)
    assert outcome.facts["unique_matches"] == 1
    assert outcome.facts["highest_risk"] == 1.0


def test_one_person_a_class_is_found_whatever_is_drawn() -> None:
    """200 people in 20 classes of 10: a guess is right once in ten; so it is over many draws of the guesses."""
    table = sf.Table.of(
        {"q": [f"v{i % 20}" for i in range(200)], "s": ["x"] * 200}, {"q": "quasi_identifying", "s": "sensitive"}
    )
    release = sf.Release(table, None, (), {})
    outcomes = [sf.attack.Linking().run(release, table, randomness=sf.Randomness.seeded(seed)) for seed in range(3)]
    assert [outcome.successes for outcome in outcomes] == [20] * 3
    links = sf.attack.find_links(release.data, table, ["q"])
    draws = [int((links.guess(np.random.default_rng(seed)) == np.arange(200)).sum()) for seed in range(200)]
    assert abs(sum(draws) - 200 * 20) < 6 * np.sqrt(200 * 200 * 0.1 * 0.9)


def test_rows_left_out_are_not_found() -> None:
    table = sf.Table.of({"q": ["a", "a", "b"]}, {"q": "quasi_identifying"}, {"q": [["a", "*"], ["b", "*"]]})
    release = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.4, suppressed_rows="drop").protect(table)
    links = sf.attack.find_links(release.data, table, ["q"])
    assert links.counts.tolist() == [2, 2, 0]
    assert links.guess(np.random.default_rng(0))[2] == -1


@pytest.mark.parametrize(
    ("missing", "counts"), [("own_value", [1, 1, 2]), ("matches_any", [3, 3, 4]), ("never_matches", [1, 1, 0])]
)
def test_missing_cells_by_their_meaning(missing: str, counts: list[int]) -> None:
    """Two people known, and one of whom nothing is known, looked up in a table with two unknown cells."""
    published = sf.Table.of({"q": ["a", "b", None, None]}, {"q": "quasi_identifying"}, missing=missing)
    people = sf.Table.of({"q": ["a", "b", None]}, {"q": "quasi_identifying"}, missing=missing)
    assert sf.attack.find_links(published, people, ["q"]).counts.tolist() == counts


def test_an_external_table_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "voters.csv"
    voters().frame.write_csv(path)
    outcome = sf.attack.Linking(external=str(path)).run(sf.Release(figure_2(), None, (), {}), figure_2())
    assert outcome.attempts == 5
    assert outcome.facts["matched"] == 1
    assert outcome.facts["smallest_match"] == 3


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(sf.DataError, match='"shoe"'):
        sf.attack.Linking(knowledge=("shoe",)).run(sf.Release(figure_2(), None, (), {}), figure_2())


def test_people_who_are_not_there_are_rarely_claimed() -> None:
    from tests.contract.examples import people

    table = people(2000)
    release = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.05).protect(table)
    outcome = sf.attack.Linking().run(release, table, control=people(2000, seed=8))
    assert outcome.control == 0


@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    # Agresti and Coull (1998) and hand computation with z = 1.95996
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 100, 0.0018, 0.0545)],
)
def test_wilson(successes: int, attempts: int, low: float, high: float) -> None:
    assert compute_wilson_interval(successes, attempts) == pytest.approx((low, high), abs=5e-5)
    assert compute_wilson_interval(0, 0) == (0.0, 1.0)


def test_frames_with_numbers_link_too() -> None:
    table = sf.Table.of({"age": [31, 32, 45], "s": [1, 2, 3]}, {"age": "quasi_identifying", "s": "sensitive"})
    assert sf.attack.find_links(table, table, ["age"]).counts.tolist() == [1, 1, 1]
    floats = sf.Table.of(pl.DataFrame({"age": [31.0, 32.0]}), {"age": "quasi_identifying"})
    assert sf.attack.find_links(table, floats, ["age"]).counts.tolist() == [1, 1]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    small=small_tables(with_missing=True), k=st.integers(1, 3), missing=st.sampled_from(["own_value", "matches_any"])
)
def test_bitmaps_find_the_same_rows_as_levels(small: Small, k: int, missing: str) -> None:
    """Two ways of looking people up, which share nothing."""
    table = small.table(missing)
    try:
        release = sf.Generalize(models=(sf.KAnonymity(k=k),)).protect(table)
    except sf.ImpossibleRelease:
        return
    names = table.quasi_identifying
    cells = release.data.frame.select(names)
    starred = cells.select(pl.all_horizontal(pl.all() == "*").fill_null(False)).to_series()
    plain = np.flatnonzero(~starred.to_numpy())
    if not len(plain):
        return
    order, start, count = find_covering_rows(cells, plain, table, names, release.data)
    links = sf.attack.find_links(release.data, table, names)
    for person in range(len(table)):
        matches = sorted(order[start[person] : start[person] + count[person]].tolist())
        if matches:
            assert matches == links.get_rows(person).tolist()


def test_ranges_and_sets_cover_their_values() -> None:
    published = sf.Table.of(
        {"age": ["[20, 29]", "[20, 29]", "35", "*"], "job": ["{baker, cook}", "{baker, cook}", "smith", "*"]},
        {"age": "quasi_identifying", "job": "quasi_identifying"},
    )
    people = sf.Table.of(
        {"age": [20, 29, 30, 35, 99], "job": ["cook", "baker", "cook", "smith", "clerk"]},
        {"age": "quasi_identifying", "job": "quasi_identifying"},
    )
    links = sf.attack.find_links(published, people, ("age", "job"))
    assert [links.get_rows(i).tolist() for i in range(5)] == [[0, 1], [0, 1], [3], [2], [3]]


def test_local_recoding_hides_everybody_among_k() -> None:
    from tests.contract.examples import people

    table = people(2000)
    release = sf.Generalize(models=(sf.KAnonymity(k=5),), recoding="local").protect(table)
    assert release.losses["suppressed_rows"] == 0
    outcome = sf.attack.Linking().run(release, table)
    assert outcome.facts["smallest_match"] >= 5
    assert outcome.facts["matched"] == len(table)
    assert all(verdict.holds for verdict in sf.check(release, table))
    assert sf.measure.loss(release.data) == pytest.approx(release.losses["loss"])
    assert sf.measure.discernibility(release.data) == release.losses["discernibility"]


def test_means_are_linked_to_the_nearest() -> None:
    """Micro-aggregated numbers equal nobody's: the adversary takes the nearest group."""
    published = sf.Table.of({"age": [20.5, 20.5, 60.5, 60.5]}, {"age": "quasi_identifying"})
    people = sf.Table.of({"age": [20, 21, 60, 61]}, {"age": "quasi_identifying"})
    links = sf.attack.find_links(published, people, ["age"])
    assert [links.get_rows(i).tolist() for i in range(4)] == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_the_originals_are_linked_as_the_attack_would() -> None:
    """The short way for the originals gives the average of the attack on them, whatever missing cells mean."""
    generator = np.random.default_rng(5)
    for missing in ("own_value", "matches_any", "never_matches"):
        for holes in (False, True):
            cells = [None if holes and chance < 0.2 else "abc"[int(chance * 3)] for chance in generator.random(60)]
            frame = pl.DataFrame({"a": cells, "b": generator.integers(0, 9, 60)})
            table = sf.Table.of(frame, dict.fromkeys("ab", "quasi_identifying"), missing=missing)
            short, attack = link_originals(table), sf.attack.Linking().run(sf.Release(table, None, (), {}), table)
            assert (short.attempts, short.facts) == (attack.attempts, attack.facts)
            assert abs(short.successes - attack.successes) <= 15


def test_numbers_that_nobody_has_beside_published_ranges() -> None:
    """A run with noise was aborted, since a noisy number is no value of its hierarchy."""
    table = sf.Table.of(
        {"band": ["[20, 30]", "[30, 40]"] * 4, "pay": list(range(10, 90, 10))},
        {"band": "quasi_identifying", "pay": "quasi_identifying"},
        {"pay": sf.Hierarchy.of([[str(pay), f"{pay // 20 * 20}+", "*"] for pay in range(10, 90, 10)])},
    )
    noisy_frame = table.frame.with_columns(pl.Series("pay", [11.25, 19.5, 33.0, 41.0, 52.5, 58.0, 71.0, 80.0]))
    release = sf.Release(table.replace_frame(noisy_frame), None, (), {})
    outcome = sf.attack.Linking().run(release, table)
    assert outcome.successes >= 1  # the last one is published as it is
