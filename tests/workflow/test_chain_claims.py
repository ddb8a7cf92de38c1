# SPDX-License-Identifier: MIT
"""Methods in a row: each claim is checked with its own secrets, about the right rows, or the policy is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.workflow.chain import apply_methods
from sfumato.workflow.policy_parts.policy_sections import DataSection
from tests.contract.runs import GivenPolicy


def chain(data: Any, *methods: Any) -> Release:
    policy = GivenPolicy(data=DataSection(path="unread"), protect=methods)
    return apply_methods(policy, data, Randomness.seeded(2)).release


def patients() -> sf.Table:
    """Row 0 is unlike all others, so it is the one that is suppressed."""
    count = 24
    frame = pl.DataFrame(
        {
            "age": [93, *(20 + number % 4 for number in range(1, count))],
            "town": ["Aton" if number % 2 else "Belham" for number in range(count)],
            "ill": [("flu", "hiv", "cold")[number % 3] for number in range(count)],
            "pay": [1000 + 10 * number for number in range(count)],
        }
    )
    roles = {"age": "quasi_identifying", "town": "quasi_identifying", "ill": "sensitive", "pay": "insensitive"}
    return sf.Table.of(frame, roles)


def draw_sales() -> sf.Baskets:
    """Bread brings milk, and tea brings ham."""
    chance = np.random.default_rng(3)
    bread, tea, beer, milk, ham = (chance.random(200) < share for share in (0.3, 0.4, 0.5, 0.2, 0.2))
    milk |= bread & (chance.random(200) < 0.8)
    ham |= tea & (chance.random(200) < 0.7)
    names = ("bread", "tea", "beer", "milk", "ham")
    held = np.array([bread, tea, beer, milk, ham]).T
    return sf.Baskets.of([[name for name, is_held in zip(names, row, strict=True) if is_held] for row in held])


HIDE_RULES = sf.HideRules(rules=["bread ==> milk"], min_support=10, min_confidence=0.5)
HIDE_ITEMS = sf.HideItems(items=["ham"], min_support=20, min_confidence=0.4)


def test_changes_of_baskets_are_those_of_all_methods() -> None:
    data = draw_sales()
    release = chain(data, HIDE_RULES, HIDE_ITEMS)
    baskets = list(zip(map(set, data.to_lists()), map(set, release.data.to_lists()), strict=True))
    changed = sum(before != after for before, after in baskets)
    removed = sum(len(before - after) for before, after in baskets)
    first = HIDE_RULES.protect(data)
    assert 0 < first.losses["changes"] < removed
    assert release.losses["changed_baskets"] == changed
    assert release.losses["changes"] == release.losses["removed"] == len(release.details["changes"]) == removed
    assert release.losses["loss"] == round(removed / data.codes.size, 12)
    assert release.losses["dissimilarity"] == pytest.approx(removed / data.codes.size)


def test_side_effects_of_two_methods_are_counted_at_the_thresholds_of_each(tmp_path: Path) -> None:
    """Rules that show only at the thresholds of the first method are its secrets all the same."""
    data = draw_sales()
    strict = HIDE_ITEMS.model_copy(update={"min_support": 150, "min_confidence": 0.9})
    alone, both = (
        sf.run(data, methods, Randomness.seeded(1), attacks=[{"attack": "remining"}])
        for methods in ([HIDE_RULES], [HIDE_RULES, strict])
    )
    assert alone.record["utility"]["sensitive"] == both.record["utility"]["sensitive"] == 1
    assert both.record["utility"]["exposed"] == 0
    for figure in ("lost_rules", "ghost_rules", "lost_itemsets", "changed_baskets"):
        assert both.record["utility"][figure] == alone.record["utility"][figure], figure
    counts = [done.certificate.body["attacks"][0]["one_basket_short"] for done in (alone, both)]
    assert counts[0] == counts[1] > 0
    both.save(tmp_path / "out")
    assert sf.verify(tmp_path / "out").holds
    loose = HIDE_ITEMS.model_copy(update={"min_support": 2, "min_confidence": 0.3})
    figures = sf.run(data, [HIDE_RULES, loose], Randomness.seeded(1)).record["utility"]
    assert figures["exposed"] == 0  # bread ==> milk shows at the second method's thresholds, which are not its own
    assert figures["sensitive"] > 1


DROP = sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.2, metric="height", suppressed_rows="drop")
ANSWERS = sf.RandomizeResponse(column="ill", epsilon=1.0, categories=("flu", "hiv", "cold"))


def hide_entries(private: Any) -> sf.SuppressEntries:
    return sf.SuppressEntries(private=private, confidence=0.9, min_support=20)


@pytest.mark.parametrize(
    ("private", "row"),
    [([(7, "ill")], 7), ({"columns": ["ill"], "where": {"age": 22, "pay": 1100}}, 10)],
    ids=["row number", "condition on a generalized column"],
)
def test_private_entries_are_those_of_the_originals(private: Any, row: int) -> None:
    """Once row 0 was dropped, number 7 was the neighbour: the private value was published, under a claim that held."""
    data = patients()
    release = chain(data, DROP, hide_entries(private))
    rows = list(release.details["rows"])
    assert 0 not in rows
    assert release.data.frame["ill"][rows.index(row)] is None
    assert release.data.frame["ill"].null_count() == 1
    assert all(finding.holds for finding in sf.check(release, data))


def test_a_condition_that_nobody_fits_is_refused_before_rows_are_dropped() -> None:
    with pytest.raises(sf.PolicyError, match="nothing would be private"):
        chain(patients(), DROP, hide_entries({"columns": ["ill"], "where": {"age": "[20, 23]"}}))


def test_each_hiding_method_is_checked_with_its_own_secrets() -> None:
    """The second list of secrets used to stand for both: rules of the first one were certified hidden unseen."""
    rows = [["tea", "milk"], ["tea", "milk"], ["tea", "milk"], ["rum", "ice"], ["rum"], ["rum"], ["ice"], ["milk"]]
    data = sf.Baskets.of(rows)
    rules = sf.HideRules(rules=("tea ==> milk",), min_support=2, min_confidence=0.6)
    items = sf.HideItems(items=("ice",), min_support=2, min_confidence=0.6)
    release = chain(data, rules, items)
    assert all(finding.holds for finding in sf.check(release, data))
    assert release.details["sensitive"] == ((("tea",), ("milk",)), "ice")
    rule_findings = [
        finding for finding in sf.check(replace(release, data=data), data) if finding.property == "hidden_rules"
    ]
    assert [finding.measured for finding in rule_findings] == [1, 0]


def test_what_another_method_hid_is_no_change_of_an_unnamed_item() -> None:
    rows = [["tea", "milk"], ["tea", "milk"], ["tea", "milk"], ["rum", "ice"], ["rum"], ["rum"], ["ice"], ["milk"]]
    data = sf.Baskets.of(rows)
    rules = sf.HideRules(rules=("tea ==> milk",), min_support=2, min_confidence=0.6)
    release = chain(data, rules, sf.HideItems(items=("rum",), min_support=1, min_confidence=0.4))
    hidden_milk = sum("milk" in row for row in rows) - sum("milk" in row for row in release.data.to_lists())
    assert hidden_milk and "rum" not in release.data.to_lists()[3]

    def count_unnamed(lists: list[list[str]]) -> Any:
        forged = replace(release, data=sf.Baskets.of(lists))
        (finding,) = [finding for finding in sf.check(forged, data) if finding.property == "unnamed_changes"]
        return finding.measured

    lists = release.data.to_lists()
    assert count_unnamed(lists) == 0
    assert count_unnamed([*lists[:7], []]) == 1
    assert count_unnamed([*lists[:6], ["ice", "tea"], *lists[7:]]) == 1


@pytest.mark.parametrize(
    "first",
    [
        sf.Generalize(models=(sf.LDiversity(l=2, column="ill"),), suppression_limit=0.2),
        sf.Synthesize(kind="partial", columns=("pay",), min_leaf=5),
        sf.SwapConfidential(column="pay", share=0.5, pattern=("ill",), search="random"),
    ],
    ids=lambda method: type(method).__name__,
)
def test_an_epsilon_is_not_promised_for_a_truth_that_chose_what_is_published(first: Any) -> None:
    with pytest.raises(sf.PolicyError, match=r'randomize_response cannot follow .*"ill"'):
        chain(patients(), first, ANSWERS)


@pytest.mark.parametrize(
    "first", [DROP, sf.AddNoise(columns="pay", ranges={"pay": (0, 2000)})], ids=["classes", "noise"]
)
def test_an_epsilon_is_promised_beside_methods_that_do_not_look_at_the_truth(first: Any) -> None:
    release = chain(patients(), first, ANSWERS)
    assert "epsilon" in {claim.property for claim in release.claims}
    assert all(finding.holds for finding in sf.check(release, patients()))


def test_what_is_randomized_first_may_be_looked_at_later() -> None:
    release = chain(patients(), ANSWERS, sf.Synthesize(kind="partial", columns=("pay",), min_leaf=5))
    assert "epsilon" in {claim.property for claim in release.claims}


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ((hide_entries([(7, "ill")]), ANSWERS), "would change .*about which suppress_entries promises"),
        ((hide_entries([(7, "ill")]), DROP), "may drop rows that claims of"),
        ((ANSWERS, hide_entries([(7, "ill")])), "would change .*about which randomize_response promises"),
        ((DROP, sf.AddNoise(columns="age", ranges={"age": (0, 120)})), 'would change "age"'),
        ((sf.EncodeForTrees(target="ill"), ANSWERS), "encode_for_trees must be the only method"),
        ((sf.TopCode(columns=("pay",), k=3), sf.SwapConfidential(column="ill", share=0.5, pattern=("pay",))), "needs"),
    ],
    ids=str,
)
def test_methods_that_do_not_fit_are_refused(methods: tuple[Any, ...], words: str) -> None:
    with pytest.raises(sf.PolicyError, match=words):
        chain(patients(), *methods)


@pytest.mark.parametrize(
    ("items", "order", "words"),
    [(("ice",), -1, "hide rules first"), (("tea",), 1, "1 item that it removes is on the left")],
)
def test_hiding_that_could_bring_rules_back_is_refused(items: tuple[str, ...], order: int, words: str) -> None:
    data = sf.Baskets.of([["tea", "milk", "ice"], ["tea", "milk"], ["tea", "milk"], ["ice"]])
    methods = (
        sf.HideRules(rules=("tea ==> milk",), min_support=2, min_confidence=0.6),
        sf.HideItems(items=items, min_support=2, min_confidence=0.6),
    )
    with pytest.raises(sf.PolicyError, match=words):
        chain(data, *methods[::order])


def test_two_populations_given_as_tables_are_not_one() -> None:
    data = patients()
    double_table = sf.Table.of(pl.concat([data.frame, data.frame]), data.roles)
    models = (sf.KMap(k=3, population=data), sf.DeltaPresence(high=0.9, population=double_table))
    with pytest.raises(sf.PolicyError, match="must name the same one"):
        sf.Generalize(models=models, suppression_limit=0.2).protect(data)


def test_a_population_is_still_known_after_a_second_method() -> None:
    data = patients()
    people = sf.Table.of(pl.concat([data.frame, data.frame]), data.roles)
    models = (sf.KMap(k=4, population=people), sf.KMap(k=3, population=sf.Table.of(people.frame, data.roles)))
    noise = sf.AddNoise(columns="pay", ranges={"pay": (0, 2000)})
    release = chain(data, sf.Generalize(models=models, suppression_limit=0.2), noise)
    findings = {finding.property: finding for finding in sf.check(release, data)}
    assert findings["k_map"].holds


def test_a_whole_run_of_two_hiding_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report and the record know the secrets of both."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    (tmp_path / "bought.dat").write_text("tea milk\n" * 6 + "rum ice\n" * 4 + "rum\n" * 2)
    (tmp_path / "policy.toml").write_text(
        '[data]\npath = "bought.dat"\n'
        '[[protect]]\nmethod = "hide_rules"\nrules = ["tea ==> milk"]\nmin_support = 2\nmin_confidence = 0.6\n'
        '[[protect]]\nmethod = "hide_items"\nitems = ["ice"]\nmin_support = 2\nmin_confidence = 0.6\n'
    )
    run = sf.run(sf.Policy.read(tmp_path / "policy.toml"), tmp_path / "out")
    assert [finding.holds for finding in run.findings if finding.property == "hidden_rules"] == [True, True]
    assert run.record["utility"]["sensitive"] > 1
    assert run.record["utility"]["exposed"] == 0


PRIVATE = sf.SuppressEntries(private=[(row, "ill") for row in (1, 4, 8, 12, 13)], confidence=0.8, min_support=2)


@pytest.mark.parametrize(
    "first",
    [
        sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.3),
        sf.Generalize(models=(sf.KAnonymity(k=2),), recoding="local"),
        sf.KOptimize(k=2, seconds=5.0),
    ],
    ids=["suppressing", "local", "cuts"],
)
def test_nobody_empties_cells_of_rows_that_are_stated_to_look_alike(first: Any) -> None:
    """Of 14 rows "that look alike", 11 held stars and 3 were empty, and the share of suppressed rows was wrong."""
    with pytest.raises(sf.PolicyError, match="star no row"):
        chain(patients(), first, PRIVATE)


def test_a_cell_that_a_later_method_empties_has_lost_all_detail() -> None:
    """It counted as one that had lost none: emptying cells lowered the loss, and a limit on it passed."""
    first = sf.Generalize(models=(sf.KAnonymity(k=2),))
    private = sf.SuppressEntries(private=[(row, "town") for row in range(12)], confidence=1.0, min_support=24)
    losses = [
        sf.run(patients(), methods, Randomness.seeded(1)).record["utility"]["loss"]
        for methods in ([first], [first, private])
    ]
    assert losses == [0.5, 0.75]  # every age is "*"; then half of the towns are empty as well


def test_of_two_methods_that_state_a_loss_the_larger_counts() -> None:
    """The last method's figure replaced the first's: a "largest loss" of 4.5 % stood beside a loss of 17 %."""
    wide = sf.AddNoise(columns="pay", ranges={"pay": (0, 2000)}, privacy=1.0)
    narrow = sf.AddNoise(columns="age", ranges={"age": (0, 120)}, privacy=0.01)
    alone = [chain(patients(), method).losses["largest_loss"] for method in (wide, narrow)]
    assert alone[0] > 0.8 and alone[1] < 0.2
    assert chain(patients(), wide, narrow).losses["largest_loss"] > 0.8
    assert chain(patients(), narrow, wide).losses["largest_loss"] > 0.8


def test_columns_that_other_methods_changed_are_named_once_in_one_sentence(tmp_path: Path) -> None:
    methods = (
        sf.Partition(models=[sf.KAnonymity(k=2)]),
        sf.RoundNumbers(columns="pay", step=50),
        sf.GroupRareValues(columns="ill", min_count=9),
    )
    release = chain(patients(), *methods)
    sentences = [claim.meaning for claim in release.claims if "except_columns" in claim.arguments]
    assert len(sentences) == 3
    for sentence in sentences:
        assert sentence.count("Another method") == 1
        names = re.findall(r'"(\w+)"', sentence.partition("Another method")[2])
        assert len(names) == len(set(names)) > 1
    accepted = {"pay": "invented people"}
    run = sf.run(patients(), list(methods), out=tmp_path / "out", accept=accepted)
    assert run.published
    assert sf.verify(tmp_path / "out").holds
