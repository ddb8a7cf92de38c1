# SPDX-License-Identifier: MIT
"""Sentences that were once false or unclear, each with what showed it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.messages import print_run
from sfumato.data.hierarchies.hierarchy_builders import parse_builder
from sfumato.engine.stored_rows import MemoryRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import join_names
from sfumato.protect.anonymity.explain import Why
from sfumato.protect.claims import spell_few
from sfumato.protect.sequences.sequence_claims import claim_no_ghosts
from sfumato.public.noise_law import read_numbers
from sfumato.randomness import Randomness
from sfumato.report.content import list_parameters
from sfumato.report.pictures.number_bins import choose_bins
from sfumato.report.sections.hidden_names import describe_secrets, join_items
from sfumato.report.words import wording
from sfumato.report.words.attack_names import name_attacks
from sfumato.report.words.attack_stories import tell_attack
from sfumato.report.words.findings import list_losses
from sfumato.workflow.verdict import Objection

AGES = [20 + row * 7 % 60 for row in range(120)]
ROLES = {"age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}


def make_people(**columns: Any) -> sf.Table:
    """120 people of different ages."""
    frame = {"age": AGES, "sex": ["f", "m"] * 60, "ill": [["flu", "cold", "none"][row % 3] for row in range(120)]}
    return sf.Table.of(pl.DataFrame({**frame, **columns}), {**dict.fromkeys(columns, "insensitive"), **ROLES})


def read_page(run: sf.Run, folder: str = "release") -> str:
    return " ".join((run.out / folder / "report.html").read_text(encoding="utf-8").split())


def list_titles(page: str) -> list[str]:
    return re.findall(r'<article class="attack"> <h3>([^<]*)</h3>', page)


def test_ranges_are_named_with_the_digits_of_their_ends() -> None:
    """Ranges 2.5 wide were "-15 to -12" and "-12 to -10"."""
    bins = choose_bins(np.linspace(-14.9, 9.9, 40), 10)
    assert bins is not None
    assert bins.labels[:2] == ("-15 to under -12.5", "-12.5 to under -10")
    for label, edge in zip(bins.labels, bins.edges, strict=False):
        assert float(label.split(" to ")[0]) == edge
    thousandths = choose_bins(np.linspace(0.001, 0.0099, 40), 4)
    assert thousandths is not None and thousandths.labels[0] == "0 to under 0.0025"


def test_the_class_of_iso_20889_is_that_of_the_chosen_option() -> None:
    noise = sf.AddNoise(columns="age", ranges={"age": (0, 120)})
    assert noise.iso_20889 == "randomization (noise addition)"
    assert noise.model_copy(update={"kind": "discretize"}).iso_20889 == "generalization (intervals)"
    assert "keyed hashing" in sf.EncodeBloom().iso_20889
    assert "without a key" in sf.EncodeBloom(keyed=False).iso_20889
    assert "permutation" not in sf.SwapConfidential(column="ill", share=0.5, search="proportional").iso_20889


def test_a_missing_answer_is_not_called_none(tmp_path: Path) -> None:
    """A real answer may be "none"."""
    gaps = make_people(ill=[["flu", "none", None][row % 3] for row in range(120)])
    method = sf.RandomizeResponse(column="ill", p=0.8, categories=("flu", "none"), missing="answer")
    run = sf.run(gaps, method, out=tmp_path / "out", accept={"ill": "answers"})
    for folder in ("release", "private"):
        page = read_page(run, folder)
        assert '<th scope="row">(missing)</th>' in page and '<th scope="row">None</th>' not in page
    match = re.search(r'<th scope="row">\(missing\)</th> ?<td class="num">(\d+)', read_page(run, "private"))
    assert match and int(match[1]) > 0


def test_what_an_attack_tried_is_named_and_attacks_are_told_apart(tmp_path: Path) -> None:
    attacks = (
        sf.attack.SinglingOut(),
        sf.attack.SinglingOut(mode="univariate"),
        sf.attack.LearnedInference(columns=("ill",)),
    )
    run = sf.run(make_people(), sf.RoundNumbers(columns="age", step=5), out=tmp_path / "out", attacks=attacks)
    for folder in ("release", "private"):
        titles = list_titles(read_page(run, folder))
        assert "Singling out (mode: multivariate)" in titles and "Singling out (mode: univariate)" in titles
    page = read_page(run, "private")
    assert page.count("<dt>Descriptions tried</dt>") == 2 and page.count("<dt>Entries tried</dt>") == 1


def test_attacks_that_differ_in_private_are_numbered() -> None:
    attacks = [("remining", {"parameters": {"reach": reach}}) for reach in (0.5, 0.5, 0.8)]
    assert name_attacks([*attacks, ("linking", {"parameters": {"reach": 1}})]) == [
        "remining (reach: 0.5), 1 of 2",
        "remining (reach: 0.5), 2 of 2",
        "remining (reach: 0.8)",
        "linking",
    ]


def test_a_story_of_other_data_is_an_example() -> None:
    body: dict[str, Any] = {"roles": ROLES, "public": {}, "claims": []}
    assert tell_attack({"attack": "rule_inference"}, body)[1].startswith("For example, a stranger downloads")
    assert "mean the same" not in tell_attack({"attack": "similarity", "column": "age", "width": 5}, body)[1]


def test_nothing_unknown_is_tried_on_nobody() -> None:
    baskets = sf.Baskets.of([["a", "b"], ["a"], ["b"], ["c"]])
    method = sf.HideRules(rules=["a ==> b"], min_support=3, min_confidence=0.9, strategy="block")
    outcome = sf.attack.FillUnknowns().run(method.protect(baskets), baskets)
    assert (outcome.attempts, outcome.successes) == (0, 0)


def test_a_rule_that_never_showed_was_not_hidden() -> None:
    before, after = sf.Baskets.of([["a", "b"]] * 4), sf.Baskets.of([["a", "b"]] * 3 + [["a"]])
    rules = [(("a",), ("b",))]
    assert describe_secrets(rules, before, before, 5, 0.5)[0].startswith("Did not show before, and was left as it is: ")
    assert describe_secrets(rules, before, after, 4, 0.5)[0].startswith("Hidden: ")
    assert describe_secrets(rules, before, after, 5, 0.5)[0].startswith("Hidden: ")


def test_a_refused_run_names_no_release_and_its_advice_is_toml(tmp_path: Path) -> None:
    named_people = make_people(**{"full name": [f"Ann Smith {row}" for row in range(120)]})
    run = sf.run(named_people, sf.RoundNumbers(columns="age", step=5), out=tmp_path / "out")
    assert run.verdict.status == "refused" and any(
        '[accept] "full name" = ...' in str(refusal) for refusal in run.refusals
    )
    page = read_page(run, "refused")
    assert "<code>release/</code>" not in page and "<code>refused/</code>" in page
    assert str(Objection(("pay",), "Why.")).endswith("[accept] pay = ...")


def test_names_with_commas_are_quoted_in_lists() -> None:
    assert join_names(["flu", "a, b"]) == 'flu, "a, b"'
    assert join_items(["tea, green", "milk"]) == 'milk, "tea, green"'
    method = {"method": "randomize_response", "categories": ["flu", "a, b"], "person": None}
    rows = {name: value for name, value, _ in list_parameters({"methods": [method]})[0]["rows"]}
    assert rows == {"categories": 'flu, "a, b"', "person": "not given"}


def test_numbers_that_are_almost_nothing_have_no_exponent() -> None:
    assert wording.format_count(3.7e-08) == "under 0.0001"
    assert wording.format_count(-3.7e-08) == "about 0"
    assert wording.format_count(10**20) == "100,000,000,000,000,000,000"


def test_one_is_singular() -> None:
    assert spell_few(2) == "1 person" and spell_few(4) == "1 to 3 people"
    reason = Why("age", 1, 1, 0, 0, None, None, None)
    assert "one level finer, 1 row would be in classes" in reason.describe_reason()


def test_t_closeness_names_its_distance() -> None:
    for distance, words in (("equal", "equally far apart"), ("ordered", "order"), ("hierarchical", "hierarchy")):
        meaning = sf.TCloseness(t=0.4, column="pay", distance=distance).claim({}).meaning
        assert "up to 0.4, by the earth mover's distance" in meaning and words in meaning


def test_numbers_kept_as_text_are_called_so(tmp_path: Path) -> None:
    """The column had 18 digits in each cell, and was said to have no numbers."""
    digits = sf.Table.of({"d": ["2.84601937411106132", "1.27534512869710848"]}, {"d": "insensitive"})
    words = sf.Table.of({"d": ["2.84601937411106132", "much"]}, {"d": "insensitive"})
    for method in (sf.RoundNumbers(columns="d", step=0.5), sf.TopCode(columns="d", k=2)):
        with pytest.raises(sf.DataError, match=r"more than 15 digits.*write its numbers with at most 15 digits"):
            method.protect(digits)
        with pytest.raises(
            sf.DataError, match=r'"d" is text, since 1 of its 2 cells is not a number.*correct or remove'
        ):
            method.protect(words)


def test_words_among_numbers_are_counted() -> None:
    """A column of three numbers and two words was said to have no numbers, or to hold text."""
    cells = ["1", "2", None, "3", "much", "more"]
    table = sf.Table.of({"d": cells, "t": list("aabbaa")}, {"d": "quasi_identifying", "t": "insensitive"})
    methods = (
        sf.RoundNumbers(columns="d", step=5),
        sf.TopCode(columns="d", k=2),
        sf.AddNoise(columns="d", ranges={"d": (0, 9)}),
    )
    for method in methods:
        with pytest.raises(sf.SfumatoError, match=r'"d" .*2 of its 5 cells are not numbers'):
            method.protect(table)
    trees = sf.EncodeForTrees(target="t", columns=("d",))
    with pytest.raises(sf.PolicyError, match='"d" is text, since 2 of its 5 cells are not numbers'):
        trees.protect(table, trees.new_key(table, Randomness.seeded(1)))
    for builder in ({"kind": "intervals", "widths": [5]}, {"kind": "quantiles", "counts": [2]}):
        with pytest.raises(sf.DataError, match=r'"d" holds text \(2 of its 5 different values are not numbers\)'):
            parse_builder(builder).build(table.frame["d"])
        with pytest.raises(sf.DataError, match=r'^table: .*"d" holds text \(2 of its 5 different values'):
            sf.Table.of(table.frame, hierarchies={"d": builder})
    entries = sf.SuppressEntries(private=[(0, "t")], confidence=0.5, min_support=1, discretize={"d": 2})
    with pytest.raises(sf.DataError, match=r'^table: .*"d" is String, and 2 of its 5 cells are not numbers; correct'):
        entries.protect(table)
    classifier = sf.PublishClassifier(target="t", k=2, cuts={"d": (1,)})
    with pytest.raises(sf.PolicyError, match=r'^table: "d" holds no numbers \("d": 2 of its 5 cells are not numbers\)'):
        classifier.protect(table)


def test_texts_without_any_number_are_counted_too() -> None:
    """The message said "holds text", and neither in how many cells nor where."""
    table = sf.Table.of({"d": ["a", None, "b", "c"]}, {"d": "quasi_identifying"})
    with pytest.raises(sf.PolicyError, match=r'^table: "d" holds text \(of its 3 cells, none is a number\)'):
        sf.AddNoise(columns="d", ranges={"d": (0, 9)}).protect(table)
    codes = sf.Table.of({"d": ["12", "34"]}, {"d": "quasi_identifying"})
    with pytest.raises(sf.PolicyError, match=r"of its 2 cells, all look like numbers, and are kept as text"):
        sf.AddNoise(columns="d", ranges={"d": (0, 99)}).protect(codes)
    with pytest.raises(sf.DataError, match=r'"d" holds text in 3 cells; noise is only in .* name another column'):
        read_numbers(table.frame["d"])


@pytest.mark.parametrize(("name", "words"), [("d", "holds text"), ("f", "is not a column of the table")])
def test_hierarchies_of_stored_tables_name_the_file(name: str, words: str) -> None:
    rows = MemoryRows(pl.DataFrame({"d": ["a", "b"], "e": [1, 2]}), "people.csv")
    roles, hierarchy = {"d": "quasi_identifying", "e": "insensitive"}, {"kind": "intervals", "widths": [5]}
    with pytest.raises(sf.DataError, match=rf'^people\.csv: .*"{name}".* {words}'):
        StoredTable.of(rows, roles, {name: hierarchy})


def test_the_terminal_prints_bounds_as_the_page_and_shares_as_percentages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method = sf.SuppressEntries(private=[(row, "ill") for row in range(9)], confidence=1.0, min_support=60)
    run = sf.run(make_people(), method, out=tmp_path / "out", accept={"age": "known", "sex": "known"})
    record = {**run.record, "losses": {"changes": 2}, "utility": {"answered_entries": 0.6, "right_answers": 1 / 3}}
    finding = replace(run.findings[0], bound="at_least", threshold=0.1234567, measured=0.23456789)
    print_run(replace(run, record=record, findings=(finding,)))
    output = capsys.readouterr().out
    assert "Answered entries 60.0%, right answers 33.3%, changes 2." in output
    assert "≥ 0.123456 " in output and "0.234567 " in output


def test_claims_and_cures_quote_names_with_commas() -> None:
    people = make_people(**{"pay, net": [1000 + row for row in range(120)], "tax": AGES})
    claim = sf.RoundNumbers(columns=("tax", "pay, net"), step=10).protect(people).claims[0]
    assert 'Every published number of "tax", "pay, net" is' in claim.meaning
    with pytest.raises(sf.PolicyError, match=r'ranges = \{ "pay, net" = \[0, 120\] \}'):
        sf.AddNoise(columns="pay, net").refuse_undeclared(people)


@pytest.mark.parametrize("name", ["classification", "exposed_rules", "grouped_cells", "rounded_cells"])
def test_a_loss_is_explained(name: str) -> None:
    body = {"losses": {name: 3}, "utility": {}, "methods": [], "changes": []}
    assert list_losses(body)[0]["meaning"].endswith(".")


def test_a_ghost_pattern_is_explained_plainly() -> None:
    assert (
        claim_no_ghosts(3).meaning == "Every pattern in 3 or more published sequences is in 3 or more originals, too."
    )
