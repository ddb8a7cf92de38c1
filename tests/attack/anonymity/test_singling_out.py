# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity import singling_out
from sfumato.attack.anonymity.singling_out import SinglingOut
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise
from tests.tables import Small, small_tables


def table(**columns: object) -> sf.Table:
    return sf.Table.of(columns, dict.fromkeys(columns, "quasi_identifying"))


def test_the_original_is_singled_out_and_noise_is_not() -> None:
    data, strangers = people(), people(seed=8)
    attack = SinglingOut(columns_per_guess=7)
    outcome = attack.run(as_is(data), data, strangers)
    assert outcome.attempts == outcome.successes == outcome.facts["isolating_in_release"] == 400
    assert outcome.baseline < 20
    assert outcome.facts["risk_over_control"] > 0.9
    assert attack.run(noise(data), data).risk < 0.02


def test_few_columns_isolate_by_chance_too() -> None:
    """Three columns of noise single people out as often as among strangers: the control tells."""
    data = people()
    outcome = SinglingOut().run(noise(data), data, people(seed=8))
    assert outcome.risk > 0.05
    assert outcome.facts["risk_over_control_interval"][0] == 0


def test_rare_values_and_extremes() -> None:
    """By hand: 7 stands once, 1 is the smallest and stands once, 9 is the largest and stands twice; z stands once."""
    data = table(n=[1, 3, 3, 7, 9, 9], w=["x", "x", "x", "x", "x", "z"])
    outcome = SinglingOut(mode="univariate").run(as_is(data), data)
    # "is 1", "at most 1", "is 7", "is z": "at least 9" fits two rows and is not guessed.
    assert (outcome.attempts, outcome.successes) == (4, 4)
    other = table(n=[0, 1, 3, 3, 7, 7], w=["z", "z", "x", "x", "x", "x"])
    # Of the same four only "is 1" fits exactly one of these: "at most 1" fits two, "is 7" two, "is z" two.
    assert SinglingOut(mode="univariate").run(as_is(data), data, other).control == 1


def test_where_nothing_isolates_any_predicate_is_tried() -> None:
    data = table(w=["x"] * 5 + ["y"] * 5)
    outcome = SinglingOut(mode="univariate", attempts=8).run(as_is(data), data)
    assert (outcome.attempts, outcome.successes, outcome.facts["isolating_in_release"]) == (8, 0, 0)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("mode", ["univariate", "multivariate"])
def test_a_hidden_cell_does_not_move_what_is_guessed_blindly(mode: str, unique: bool) -> None:
    """Blind predicates asked for empty cells that nobody published, and for a rare label as often as for any."""
    ill = ["flu"] * 110 + ["cold"] * 109 + (["gout"] if unique else ["cold"])
    shown: dict[str, list[Any]] = {
        "sex": ["m", "f"] * 110,
        "ill": ill,
        **({"visit": list(range(220))} if unique else {}),
    }
    release = as_is(table(**shown))
    shares = []
    for secret in ("flu", "gout", "other", None):
        hidden = {"sex": "m", "ill": secret, "visit": None}
        truth = table(**{name: [*cells, hidden[name]] for name, cells in shown.items()})
        outcome = SinglingOut.model_validate({"mode": mode}).run(release, truth)
        assert outcome.attempts >= 200
        shares.append(outcome.baseline / outcome.attempts)
    assert max(shares) - min(shares) < 0.025


def test_a_hidden_word_among_numbers_changes_nothing() -> None:
    """Beside a word, a column of numbers was read as text, and nobody asked for "at most" and "at least"."""
    shown = [str(number * 7 % 230) for number in range(220)]
    release = as_is(table(pay=shown, sex=["m", "f"] * 110))
    outcomes = [
        SinglingOut().run(
            release, table(pay=pl.Series([*shown, secret]).cast(kind, strict=True), sex=["m", "f"] * 110 + ["m"])
        )
        for secret, kind in (("500", pl.Int64), ("500", pl.String), ("secret", pl.String))
    ]
    assert outcomes[0].attempts == outcomes[1].attempts == outcomes[2].attempts
    assert outcomes[0] == outcomes[1]
    assert abs(outcomes[0].successes - outcomes[2].successes) < 5


def test_k_anonymity_does_not_stop_it() -> None:
    """Two people share everything but the disease: each is singled out by it, through the published label."""
    tree = {"age": [["31", "30s", "*"], ["32", "30s", "*"], ["45", "40s", "*"], ["46", "40s", "*"]]}
    roles = {"age": "quasi_identifying", "disease": "sensitive"}
    data = sf.Table.of({"age": ["31", "32", "45", "46"], "disease": ["flu", "cold", "flu", "cold"]}, roles, tree)
    release = sf.Generalize(models=(sf.KAnonymity(k=2),)).protect(data)
    assert release.data.frame["age"].to_list() == ["30s", "30s", "40s", "40s"]
    outcome = SinglingOut(columns_per_guess=2).run(release, data)
    assert (outcome.attempts, outcome.successes) == (4, 4)


def test_names_and_stars_are_not_used() -> None:
    roles = {"name": "identifying", "q": "quasi_identifying"}
    data = sf.Table.of({"name": list("abcd"), "q": ["*", "x", "x", "x"]}, roles)
    outcome = SinglingOut(mode="univariate").run(as_is(data), data)
    assert (outcome.successes, outcome.facts["isolating_in_release"]) == (0, 0)
    name_table = sf.Table.of({"name": ["a"]}, {"name": "identifying"})
    with pytest.raises(sf.DataError, match="every column is identifying"):
        SinglingOut().run(as_is(name_table), name_table)


@pytest.mark.parametrize("missing", ["own_value", "matches_any", "never_matches"])
def test_a_missing_cell_is_a_description_whatever_it_means(missing: str) -> None:
    data = sf.Table.of({"q": [None, "x", "x"]}, {"q": "quasi_identifying"}, missing=missing)
    outcome = SinglingOut(mode="univariate").run(as_is(data), data)
    assert (outcome.successes, outcome.facts["isolating_in_release"]) == (1, 1)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(small=small_tables(with_missing=True), width=st.integers(1, 3), seed=st.integers(0, 99))
def test_counts_by_going_through_everybody(small: Small, width: int, seed: int) -> None:
    """Predicates of a starred and generalized release, tested on every original in plain Python."""
    data = small.table()
    chance = np.random.default_rng(seed)
    names = list(data.quasi_identifying)
    cells = {}
    for column_index, (name, tree) in enumerate(zip(names, small.hierarchies, strict=True)):
        ancestors: dict[str | None, list[str | None]] = {leaf[0]: [*leaf, "*"] for leaf in tree}
        labels = [
            chance.choice(np.array(ancestors.get(row[column_index], [None, "*"]), dtype=object)) for row in small.rows
        ]
        cells[name] = pl.Series(name, labels, dtype=pl.String)
    published = data.replace_frame(pl.DataFrame(cells))
    view = singling_out._PublishedView.of(published, names)
    predicates = list(singling_out._list_row_predicates(view, min(width, len(names)), chance, 20))

    def fits(row: tuple[str | None, ...], predicate: singling_out.Predicate) -> bool:
        for test in predicate:
            label, value = view.columns[test.column].texts[test.label], row[test.column]
            tree = small.hierarchies[test.column]
            leaf_path = next((leaf for leaf in tree if leaf[0] == value), [value])
            covers_all = any({leaf[level] for leaf in tree} == {label} for level in range(1, len(tree[0])))
            if label not in leaf_path and not (value is None and covers_all):
                return False
        return True

    expected = sum(sum(fits(row, predicate) for row in small.rows) == 1 for predicate in predicates)
    assert singling_out._count_singled_out(view, predicates, data) == expected
    isolating_predicates = singling_out._select_isolating_predicates(view, iter(predicates), 100)
    rows = published.frame.rows()
    for predicate in isolating_predicates:
        conditions = [(test.column, view.columns[test.column].texts[test.label]) for test in predicate]
        assert sum(all(row[column_index] == label for column_index, label in conditions) for row in rows) == 1


def test_no_predicate_is_guessed_twice() -> None:
    data = table(w=list("abc"))
    assert SinglingOut(attempts=100).run(as_is(data), data).attempts == 3


def test_outcomes_repeat() -> None:
    data = people()
    assert SinglingOut().run(as_is(data), data) == SinglingOut().run(as_is(data), data)


def test_an_empty_release_singles_nobody_out() -> None:
    data = people(30)
    for mode in ("univariate", "multivariate"):
        outcome = SinglingOut.model_validate({"mode": mode}).run(
            as_is(data.replace_frame(data.frame.clear())), data, data
        )
        assert (outcome.attempts, outcome.successes, outcome.baseline, outcome.control) == (0, 0, 0, 0)


def test_an_absent_column_is_named() -> None:
    data = people(30)
    with pytest.raises(sf.DataError, match='"age"'):
        SinglingOut().run(as_is(data), data.replace_frame(data.frame.drop("age")))
