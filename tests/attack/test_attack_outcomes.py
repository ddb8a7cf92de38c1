# SPDX-License-Identifier: MIT
"""Outcomes of attacks, and the sentences about them, that were once wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.row_distance import compare_with_control
from sfumato.report.words import attack_gains, findings, wording
from sfumato.report.words.attack_stories import tell_attack
from tests.contract.naive_attackers import try_inference


def describe(outcome: sf.attack.Outcome, attack: str = "linking") -> attack_gains.AttackInWords:
    return attack_gains.describe_attack({"attack": attack, **outcome.as_json()})


@pytest.mark.parametrize(
    ("attempts", "successes", "baseline"), [(100, 21, 1), (60, 18, 6), (400, 172, 92), (50, 11, 1), (5000, 1001, 1)]
)
def test_a_gain_of_exactly_twenty_points_is_alarming(attempts: int, successes: int, baseline: int) -> None:
    words = describe(sf.attack.Outcome(attempts, successes, baseline))
    assert words.is_alarming
    assert words.words == "alarming: 20 percentage points above guessing"


@pytest.mark.parametrize(
    ("attempts", "gained", "points"), [(200, 39, "19.5"), (10_000, 1_999, "19.99"), (100, 19, "19"), (1_000, 194, "19")]
)
def test_points_are_not_rounded_across_the_border(attempts: int, gained: int, points: str) -> None:
    words = describe(sf.attack.Outcome(attempts, gained, 0))
    assert not words.is_alarming
    assert words.words == f"{points} percentage points above guessing"


def count_strangers(successes: int, baseline: int, control: int, strangers: int = 100) -> sf.attack.Outcome:
    """An attack on 100 people that counts right guesses about strangers, too."""
    facts = compare_with_control(successes, 100, control, strangers)
    return sf.attack.Outcome(100, successes, baseline, control, facts)


def test_strangers_who_are_guessed_as_well_silence_no_alarm() -> None:
    words = describe(count_strangers(87, 48, 80), "inference")
    assert words.is_alarming
    assert words.words == "alarming: 39 percentage points above guessing"
    assert words.blind_share == 0.48
    assert words.strangers == "80 % of people not in the data"
    assert attack_gains.compare_with_strangers(count_strangers(87, 48, 80).as_json()) == (
        "not clearly above the 80 % of people not in the data guessed right"
    )
    assert attack_gains.compare_with_guessing(words).endswith(
        "guessing is right for 48 %; the same guesses are right for 80 % of people not in the data."
    )


def test_the_attack_that_gains_most_does_so_over_blind_guessing() -> None:
    attacks = [
        {"attack": "singling_out", **count_strangers(18, 0, 0).as_json()},
        {"attack": "inference", **count_strangers(87, 48, 80).as_json()},
    ]
    strongest = attack_gains.find_strongest_attack(attacks)
    assert strongest is not None and strongest.attack == "inference"


def test_learners_are_not_compared_with_strangers_whom_they_never_saw() -> None:
    outcome = count_strangers(60, 30, 40)
    record = {"attack": "learned_inference", **outcome.as_json(), "control_group": "visible entries held out"}
    assert attack_gains.describe_attack(record).strangers == "40 % of visible entries held out"


def test_reports_compare_repeated_people_with_blind_guessing(tmp_path: Path) -> None:
    """Everybody is in the data eight times: those who were set aside have twins among those learnt from."""
    letters = [(number, sex, f"illness {number}") for number in range(12) for sex in "fm"] * 8
    pl.DataFrame(letters, schema=["zip", "sex", "disease"], orient="row").write_csv(tmp_path / "people.csv")
    policy = tmp_path / "policy.toml"
    policy.write_text(REPEATED, encoding="utf-8")
    run = sf.run(policy, tmp_path / "out", randomness=sf.Randomness.seeded(1))
    inference = next(attack for attack in run.record["attacks"] if attack["attack"] == "inference")
    assert inference["control"] == inference["control_attempts"] == inference["successes"]
    assert inference["words"].startswith("alarming: 9")
    assert inference["against_strangers"] == "not clearly above the 100 % of people not in the data guessed right"
    assert any("inference is right for 100 %" in alarm for alarm in run.verdict.alarms)
    page = (tmp_path / "out" / "private" / "report.html").read_text(encoding="utf-8")
    assert "not clearly above the 100 % of people not in the data guessed right" in page


REPEATED = """
[data]
path = "people.csv"
[roles]
quasi_identifying = ["zip", "sex"]
sensitive = ["disease"]
[[protect]]
method = "synthesize"
copies = "allow"
min_leaf = 1
[[attack]]
attack = "inference"
column = "disease"
"""


def test_strangers_are_counted_as_they_are() -> None:
    """Of 40 people learnt from and 8 set aside, two rows of those set aside are published by chance."""
    table = sf.Table.of(
        pl.DataFrame({"age": list(range(48)), "town": ["A", "B"] * 24, "ill": [f"i{row}" for row in range(48)]}),
        {"age": "quasi_identifying", "town": "quasi_identifying", "ill": "sensitive"},
    )
    members, aside = table.replace_frame(table.frame[:40]), table.replace_frame(table.frame[40:])
    release = sf.Release(table.replace_frame(table.frame[:42]), None, (), {})
    outcome = sf.attack.CopiedRecords().run(release, members, aside)
    assert (outcome.control, outcome.facts["control_attempts"], outcome.facts["control_believed"]) == (2, 8, 2)
    assert "control 2 of 8" in repr(outcome)
    facts = dict(
        findings._list_attack_counts(
            {"attack": "copied_records", "words": "", **outcome.as_json()}, {"data": {"shape": "table"}}
        )
    )
    assert facts["Same guesses about people not in the data (control)"] == f"2 of 8 (25{wording.NBSP}%)"


@pytest.mark.parametrize(
    "attack",
    [
        sf.attack.Linking(),
        sf.attack.Homogeneity(),
        sf.attack.BackgroundKnowledge(),
        sf.attack.Similarity(column="ill", groups={"all": ("flu", "cold")}),
        sf.attack.Minimality(),
    ],
    ids=lambda attack: attack.attack,
)
def test_every_attack_on_tables_says_how_many_strangers_it_tried(attack: sf.attack.Attack) -> None:
    table = sf.Table.of(
        pl.DataFrame({"age": [1, 1, 2, 2, 3, 3], "ill": ["flu", "cold"] * 3}),
        {"age": "quasi_identifying", "ill": "sensitive"},
    )
    aside = table.replace_frame(table.frame[:2])
    assert attack.run(sf.Release(table, None, (), {}), table, aside).facts["control_attempts"] == 2
    assert "control_attempts" not in attack.run(sf.Release(table, None, (), {}), table).facts


def test_inference_asks_all_rows_that_cover_a_person_as_well() -> None:
    """On these tables, the most common secret of all of them is right more often than that of the nearest."""
    for seed in (7, 8, 9, 10, 11, 12):
        trial = try_inference(np.random.default_rng(seed))
        assert trial.attack.run(trial.release, trial.truth).successes >= trial.naive


def test_equally_near_rules_are_named_on_average() -> None:
    """One of {a, b} and {c, d} was hidden, and both lack one basket: nobody can tell which it was. Whoever draws one
    of the two is right as often, however the items are called."""
    for hidden_pair in ("ab", "cd"):
        truth = [["a", "b"]] * 5 + [["c", "d"]] * 5 + [["x"]] * 10
        truth[5 if hidden_pair == "ab" else 0] = ["x"]
        published = [list(basket) for basket in truth]
        published[0 if hidden_pair == "ab" else 5] = ["x"]
        attack = sf.attack.Remining(itemsets=(tuple(hidden_pair),), min_support=5)
        outcome = attack.run(sf.Release(sf.Baskets.of(published), None, (), {}), sf.Baskets.of(truth))
        assert (outcome.attempts, outcome.facts["one_basket_short"]) == (1, 6)
        assert outcome.successes == outcome.facts["guessed"] == pytest.approx(1 / 2)


def test_blind_guessing_is_not_rounded_to_whole_people() -> None:
    walks = sf.Sequences.of([["a", "b", "c", f"p{row}"] for row in range(40)])
    outcome = sf.attack.SequenceLinking(attempts=5).run(sf.Release(walks, None, (), {}), walks)
    assert (outcome.attempts, outcome.baseline) == (5, 0.125)
    assert describe(outcome).blind_share == 0.025
    assert "blind guessing 0.125" in repr(outcome)


BODY: dict[str, Any] = {
    "roles": {"age": "quasi_identifying", "disease": "sensitive"},
    "public": {},
    "claims": [],
    "data": {"shape": "table"},
}


def list_shown(attack: sf.attack.Attack, **outcome: Any) -> dict[str, Any]:
    """An attack as a private report shows it."""
    counts = sf.attack.Outcome(100, 22, 10, targets=("disease",), known_columns=(("age",),)).as_json()
    record = {**attack.describe(), **counts, **outcome, "parameters": attack.describe(), "words": ""}
    (attack_view,) = findings.list_attacks({**BODY, "attacks": [record]}, is_internal=True)
    return {**attack_view, "facts": dict(attack_view["facts"])}


def test_homogeneity_of_a_share_does_not_say_all() -> None:
    half, all_of_them = (list_shown(sf.attack.Homogeneity(share=share)) for share in (0.5, 1.0))
    assert 'whether at least 50 % of them have the same "disease"' in half["story"] and " all " not in half["story"]
    assert half["title"] == 'Homogeneity: "disease" (share: 0.5)'
    assert half["facts"]["Rows that must agree"] == f"50{wording.NBSP}%"
    assert 'whether they all have the same "disease"' in all_of_them["story"]
    assert all_of_them["title"] == 'Homogeneity: "disease"'
    assert all_of_them["facts"]["Rows that must agree"] == f"100{wording.NBSP}%"


@pytest.mark.parametrize(
    ("attack", "label", "value"),
    [
        (sf.attack.BackgroundKnowledge(), "Wrong values ruled out", "1"),
        (sf.attack.Inference(column="disease", neighbours=3), "Nearest rows asked", "3"),
        (sf.attack.Inference(column="disease"), "Numbers right within this share", f"5{wording.NBSP}%"),
        (
            sf.attack.Similarity(column="disease", width=0.125),
            "Ranges at most this share of the published range",
            f"12.5{wording.NBSP}%",
        ),
        (
            sf.attack.QuantileMatching(share=0.3),
            "Size of the rival's sample, as a share of the people",
            f"30{wording.NBSP}%",
        ),
        (sf.attack.Minimality(share=0.5), "Largest share of one value in a class", f"50{wording.NBSP}%"),
    ],
)
def test_what_makes_the_number_is_always_shown(attack: sf.attack.Attack, label: str, value: str) -> None:
    assert list_shown(attack)["facts"][label] == value


def test_linking_of_a_list_says_so(tmp_path: Path) -> None:
    pl.DataFrame({"age": [31, 32, 33, 34], "disease": ["flu", "cold"] * 2}).write_csv(tmp_path / "people.csv")
    pl.DataFrame({"age": [31, 32, 77, 78]}).write_csv(tmp_path / "list.csv")
    policy = tmp_path / "policy.toml"
    policy.write_text(LISTED, encoding="utf-8")
    run = sf.run(policy, tmp_path / "out", randomness=sf.Randomness.seeded(1))
    plain, listed = run.record["attacks"]
    assert "people" not in plain["parameters"] and listed["parameters"]["people"] == "of a list"
    for folder in ("private", "release"):
        page = (tmp_path / "out" / folder / "report.html").read_text(encoding="utf-8")
        assert "Linking (people: of a list)" in page and "2 of 2" not in page
        assert "Everybody on the list who fits is assumed to be in the data: the risk is an upper bound." in page
        assert "A neighbour knows that a person is in the table" in page
        assert "list.csv" not in page or folder == "private"


LISTED = """
[data]
path = "people.csv"
[roles]
quasi_identifying = ["age"]
sensitive = ["disease"]
[[protect]]
method = "round_numbers"
columns = ["age"]
step = 10
[[attack]]
attack = "linking"
external = "list.csv"
"""


@pytest.mark.parametrize("tag", ["rule_inference", "learned_inference"])
def test_entries_that_are_published_are_read_and_not_inferred(tag: str) -> None:
    def tell(visible: int, cells: int) -> str:
        facts = {"disease": {"cells": cells, "visible": visible}}
        return tell_attack({"attack": tag, "targets": ["disease"], "columns": facts}, BODY).story

    assert tell(60, 60) == (
        'No entry of "disease" that is looked for is blank: a stranger reads them off the table, and infers nothing.'
    )
    assert 'blank entries of "disease"' in tell(0, 60) and "read, not" not in tell(0, 60)
    assert tell(40, 60).endswith("Of the 60 entries, 40 are not blank: these are read, not inferred.")
    public = tell_attack({"attack": tag}, BODY).story  # the columns do not leave
    assert public.endswith("Entries that are not blank are read, not inferred.")


def test_a_release_that_blanks_nothing_states_what_is_visible() -> None:
    table = sf.Table.of(
        pl.DataFrame({"age": [1, 2, 3] * 8, "disease": ["flu", "cold"] * 12}),
        {"age": "quasi_identifying", "disease": "sensitive"},
    )
    for attack in (
        sf.attack.RuleInference(columns=("disease",)),
        sf.attack.LearnedInference(columns=("disease",), learners=("bayes",)),
    ):
        facts = attack.run(sf.Release(table, None, (), {}), table).as_json()
        assert "infers nothing" in tell_attack({"attack": attack.attack, **facts}, BODY).story


def test_stories_say_nothing_that_a_release_need_not_have() -> None:
    copied = tell_attack({"attack": "copied_records", "targets": ["disease"], "known_columns": [["age"]]}, BODY).story
    assert copied.startswith('Someone finds a published row with a neighbour\'s "age"')
    reason = tell_attack({"attack": "minimality", "targets": ["disease"], "known_columns": [["age"]]}, BODY).story
    assert reason.startswith('An insider knows everybody\'s "age", asks why no more detail is published')
