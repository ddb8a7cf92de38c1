# SPDX-License-Identifier: MIT
"""The verdict on a whole release: what claims do not cover is refused or told, the same in every place."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.measure.anonymity.unique_rows import find_unique_rows
from sfumato.measure.checks import CHECKS
from sfumato.report.words import attack_gains
from sfumato.workflow import verdict
from sfumato.workflow.pipeline import Run
from sfumato.workflow.policy import Policy
from tests.cli.test_cli_mining import ran
from tests.faults.test_tampering import resign

PEOPLE = 300
ROLES = {"quasi_identifying": ["age"], "sensitive": ["ill"]}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def make_iban(number: int) -> str:
    """A valid account number: two check digits make the whole number 1 modulo 97."""
    account = f"{number:018d}"
    check = 98 - int(f"{account}131400") % 97  # D and E are 13 and 14
    return f"DE{check:02d}{account}"


def policy(folder: Path, insensitive: dict[str, list[Any]], **more: Any) -> Policy:
    frame = pl.DataFrame(
        {"age": [20 + n % 4 for n in range(PEOPLE)], "ill": [("flu", "gout")[n % 2] for n in range(PEOPLE)]}
        | insensitive
    )
    frame.write_csv(folder / "people.csv")
    fields = {
        "data": {"path": str(folder / "people.csv")},
        "roles": ROLES | {"insensitive": list(insensitive)},
        "protect": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 5}]}],
        "measure": {"queries": 0},
    }
    return Policy.model_validate(fields | more)


def release(folder: Path, insensitive: dict[str, list[Any]], **more: Any) -> Run:
    return sf.run(policy(folder, insensitive, **more), folder / "out")


IBANS = {"konto": [make_iban(n) for n in range(PEOPLE)]}
PAIR = {"balance": [n % 20 for n in range(PEOPLE)], "duration": [n // 20 for n in range(PEOPLE)]}


def test_account_numbers_under_a_harmless_name_are_refused(tmp_path: Path) -> None:
    result = release(tmp_path, IBANS)
    assert not result.published and not (tmp_path / "out" / "release").exists()
    assert result.verdict.status == "refused"
    (refusal,) = result.refusals
    assert "konto" in str(refusal) and "IBAN" in str(refusal) and "[accept]" in str(refusal)
    assert not any(number in str(refusal) for number in IBANS["konto"])


NAMES = tuple(
    f"{first}{last}" for first in "ABCDEFGHIJ" for last in ("miller", "smith", "weber", "brown", "lang", "roth")
)


@pytest.mark.parametrize(
    "method",
    [
        sf.Microaggregate(k=3),
        sf.Microaggregate(k=3, centre="median"),
        sf.Partition(models=[sf.KAnonymity(k=3)]),
        sf.TopCode(columns="ssn", k=3),
        sf.RoundNumbers(columns="ssn", step=10),
        sf.RandomizeResponse(column="name", categories=NAMES, p=0.9),
        sf.AddNoise(columns="ssn", privacy=1e-9, ranges="from_data"),
    ],
    ids=lambda method: method.method,
)
def test_names_that_are_still_there_after_a_change_are_refused(method: sf.Method) -> None:
    """A group's most common name, the ends of a range and a true answer are still someone's."""
    numbers = [100_000_000 + 7_919_777 * index for index in range(len(NAMES))]
    roles = dict.fromkeys(("name", "ssn"), "quasi_identifying")
    result = sf.run(sf.Table.of({"name": NAMES, "ssn": numbers}, roles), method)
    assert not result.published
    refused_columns = {
        column for refusal in result.refusals if isinstance(refusal, verdict.Objection) for column in refusal.columns
    }
    assert refused_columns == {"name", "ssn"}


MAILS = {n: f"{name}@mail.com" for n, name in enumerate(NAMES[:10])}


@pytest.mark.parametrize(("recoding", "starred"), [("global", 0), ("local", 0), ("local", 40)])
def test_addresses_that_stay_among_labels_are_refused(recoding: Literal["global", "local"], starred: int) -> None:
    """Three people for each address, so that nothing must be generalized; others have one that nobody shares."""
    mails = [MAILS[n // 3] for n in range(30)] + [f"{name}@mail.com" for name in NAMES[10 : 10 + starred]]
    frame = {"contact": mails, "age": [n // 3 for n in range(30)] + [99] * starred, "ill": ["x"] * len(mails)}
    roles = {"contact": "quasi_identifying", "age": "quasi_identifying", "ill": "sensitive"}
    method = sf.Generalize(models=[sf.KAnonymity(k=3)], recoding=recoding, suppression_limit=0.6)
    done = sf.run(sf.Table.of(frame, roles), method)
    shown = set(done.release.data.frame["contact"]) & set(mails)
    assert shown == set(MAILS.values())
    assert [refusal.columns for refusal in done.refusals if isinstance(refusal, verdict.Objection)] == [("contact",)]


def test_two_exact_columns_by_which_people_are_unique_are_refused(tmp_path: Path) -> None:
    result = release(tmp_path, PAIR)
    (refusal,) = result.refusals
    assert isinstance(refusal, verdict.Objection)
    assert set(refusal.columns) == {"balance", "duration"}
    assert "100 % of the rows" in str(refusal)


def test_what_the_policy_accepts_is_printed_everywhere(tmp_path: Path) -> None:
    why = "the numbers are drawn anew every year"
    result = release(tmp_path, PAIR, accept={"balance": why, "duration": why})
    assert result.published and result.verdict.status == "passed with warnings"
    body = json.loads((tmp_path / "out/release/certificate.json").read_text())
    assert body["verdict"]["status"] == "passed with warnings"
    assert body["verdict"]["accepted"] == {"balance": why, "duration": why}
    for page in ("release", "private"):
        text = (tmp_path / "out" / page / "report.html").read_text()
        assert why in text and "Passed with warnings." in text
    assert sf.verify(tmp_path / "out").holds


def test_a_column_that_is_removed_or_noisy_needs_no_acceptance(tmp_path: Path) -> None:
    noise = {"method": "add_noise", "columns": ["balance"], "privacy": 0.5, "ranges": {"balance": [0, 300]}}
    result = release(tmp_path, {"balance": list(range(PEOPLE))}, protect=[noise])
    assert result.published
    assert result.verdict.not_counted == ("balance",)


def test_an_acceptance_of_no_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r'"balanse", which .* does not have'):
        release(tmp_path, PAIR, accept={"balanse": "a slip"})


def test_a_harmless_release_passes_and_says_what_nobody_checked(tmp_path: Path) -> None:
    result = release(tmp_path, {"visit": [n % 3 for n in range(PEOPLE)]})
    assert result.verdict.status == "passed" and not result.verdict.warnings
    assert any("ill" in sentence for sentence in result.verdict.unchecked)
    inferring = {"attack": [{"attack": "homogeneity", "column": "ill"}]}
    inferring_result = release(tmp_path, {"visit": [n % 3 for n in range(PEOPLE)]}, **inferring)
    assert not any("ill" in sentence for sentence in inferring_result.verdict.unchecked)


@pytest.mark.parametrize(
    ("attack", "aimed"),
    [
        ({"attack": "range_reveal"}, {"pay"}),
        ({"attack": "bayes_estimate", "columns": ["pay"]}, {"pay"}),
        ({"attack": "homogeneity"}, {"ill", "pay"}),
        ({"attack": "copied_records", "known": ["age", "ill"]}, {"pay"}),
    ],
)
def test_a_sensitive_column_counts_as_targeted_only_if_the_attack_guesses_it(
    tmp_path: Path, attack: dict[str, Any], aimed: set[str]
) -> None:
    noise = {"method": "add_noise", "columns": ["pay"], "kind": "uniform", "privacy": 0.5, "ranges": {"pay": [0, 300]}}
    roles = ROLES | {"sensitive": ["ill", "pay"]}
    pay = {"pay": list(range(PEOPLE))}
    run_result = release(tmp_path, pay, roles=roles, protect=[noise], attack=[attack])
    unaimed = "".join(sentence for sentence in run_result.verdict.unchecked if sentence.startswith("No attack"))
    assert {name for name in ("ill", "pay") if f'"{name}"' not in unaimed} == aimed
    assert not sf.verify(tmp_path / "out").problems


def test_attacks_on_codes_target_columns_of_numbers_alone(tmp_path: Path) -> None:
    """The class of a tree is coded too, and nobody tries to crack it: the certificate says so."""
    encode = {"method": "encode_for_trees", "target": "ill"}
    run_result = release(
        tmp_path,
        {"pay": list(range(PEOPLE))},
        roles=ROLES | {"sensitive": ["ill", "pay"]},
        protect=[encode],
        attack=[{"attack": "sorting"}],
    )
    (attack,) = json.loads((tmp_path / "out/release/certificate.json").read_text())["attacks"]
    assert attack["targets"] == ["age", "pay"]
    assert 'No attack targeted the sensitive column "ill".' in run_result.verdict.unchecked
    assert "Sorting: &#34;age&#34; and &#34;pay&#34;" in (tmp_path / "out/release/report.html").read_text()
    assert not sf.verify(tmp_path / "out").problems


def test_a_linkage_of_nothing_swapped_targets_what_it_tried(tmp_path: Path) -> None:
    run_result = release(tmp_path, {"visit": [n % 3 for n in range(PEOPLE)]}, attack=[{"attack": "swap_linkage"}])
    assert not any("ill" in sentence for sentence in run_result.verdict.unchecked)


def test_attacks_on_private_entries_cover_no_sensitive_column(tmp_path: Path) -> None:
    """Which columns they tried must not be published; that no other attack tried a column must."""
    attack = {"attack": "rule_inference", "columns": ["visit"]}
    run_result = release(tmp_path, {"visit": [n % 3 for n in range(PEOPLE)]}, attack=[attack])
    sentence = 'Apart from attacks on private entries, no attack targeted the sensitive column "ill".'
    assert sentence in run_result.verdict.unchecked
    certificate = json.loads((tmp_path / "out/release/certificate.json").read_text())
    assert all(entry["targets"] == [] for entry in certificate["attacks"])
    assert not sf.verify(tmp_path / "out").problems


def test_a_claim_of_another_property_that_covers_people_by_their_items_is_no_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    baskets = sf.Baskets.of([["bread", "milk"]] * 4)
    claim = {"property": "item_crowds", "measure": "item_crowds", "needs_original": False}
    record = {"attacks": [], "claims": [claim]}
    gap = "No claim covers finding people by items that others know, and it was not tested."
    check = CHECKS["sequence_anonymity"]
    monkeypatch.setattr(verdict, "CHECKS", {"item_crowds": replace(check, properties=frozenset({"item_crowds"}))})
    assert gap not in verdict.list_unchecked(record, baskets)
    monkeypatch.setattr(verdict, "CHECKS", {"item_crowds": replace(check, covers="")})
    assert gap in verdict.list_unchecked(record, baskets)


def test_rows_unique_by_sensitive_columns_are_warned_of(tmp_path: Path) -> None:
    roles = ROLES | {"sensitive": ["ill", "balance", "duration"]}
    result = release(tmp_path, PAIR, roles=roles)
    assert result.published and result.verdict.status == "passed with warnings"
    assert "100 % of the published rows are unique" in result.verdict.warnings[0]


def test_the_terminal_the_json_and_the_certificate_agree(tmp_path: Path) -> None:
    policy(tmp_path, {"visit": [1] * PEOPLE})
    (tmp_path / "policy.toml").write_text(
        '[data]\npath = "people.csv"\n'
        '[roles]\nquasi_identifying = ["age"]\nsensitive = ["ill"]\ninsensitive = ["visit"]\n'
        '[[protect]]\nmethod = "generalize"\nmodels = [{ model = "k_anonymity", k = 5 }]\n'
    )
    terminal_result = ran(tmp_path, "run", "policy.toml")
    report = json.loads(ran(tmp_path, "run", "policy.toml", "--json").stdout)
    body = json.loads((tmp_path / "out/release/certificate.json").read_text())
    assert report["verdict"]["status"] == body["verdict"]["status"] == "passed"
    assert "Verdict: Passed." in terminal_result.stdout


def test_the_headline_blames_no_column_by_which_no_more_rows_are_unique() -> None:
    """Everybody is unique by the visit alone, and the age is published as stars."""
    people = {"age": list(range(20, 40)), "note": ["same"] * 20, "visit": [f"v{n}" for n in range(20)]}
    roles = {"age": "quasi_identifying", "note": "insensitive", "visit": "sensitive"}
    run = sf.run(people, sf.Generalize(models=[sf.KAnonymity(k=20)]), roles=roles, accept={"visit": "invented"})
    sentence = '100 % of the published rows are unique by "visit"'
    assert f'{sentence} (100 % of the original rows by "age").' in run.verdict.headline
    assert f"{sentence}." in html.unescape(run.report.outgoing or "").replace("\u00a0", " ")
    assert [rows.columns for rows in run.verdict.unique_rows][1:] == [("age", "visit"), ("age", "note", "visit")]


def test_a_certificate_with_other_unique_rows_is_not_as_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(tmp_path, {"visit": [n % 3 for n in range(PEOPLE)]})
    monkeypatch.setattr(
        "sfumato.workflow.certificate_problems.find_unique",
        lambda table, columns: find_unique_rows(table.frame.head(10), columns),
    )
    assert any("unique rows" in problem for problem in sf.verify(tmp_path / "out").problems)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * 4), min_size=1, max_size=12), st.integers(1, 4))
def test_unique_rows_are_those_of_the_worst_combination(rows: list[tuple[Any, ...]], most: int) -> None:
    frame = pl.DataFrame(rows, schema=dict.fromkeys("wxyz", pl.String), orient="row")
    for size, combination in enumerate(find_unique_rows(frame, most=most), 1):
        shares = {}
        for indices in combinations(range(4), size):
            cells = [tuple(row[n] for n in indices) for row in rows]
            shares["".join("wxyz"[n] for n in indices)] = sum(cells.count(cell) == 1 for cell in cells) / len(rows)
        assert combination.share == max(shares.values()) == shares["".join(combination.columns)]


def test_very_many_columns_take_no_long_search() -> None:
    frame = pl.DataFrame({f"c{n}": [n % 2, 1, n % 3] for n in range(300)})
    assert [rows.share for rows in find_unique_rows(frame)] == [1.0, 1.0, 1.0]


def test_what_nobody_checked_does_not_name_private_columns(tmp_path: Path) -> None:
    unchecked_sets = set()
    for column in ("ill", "sect"):
        folder = tmp_path / column
        folder.mkdir()
        result = release(
            folder,
            {"sect": ["a", "b", "c"] * (PEOPLE // 3)},
            roles={"quasi_identifying": ["age"], "sensitive": ["ill", "sect"]},
            protect=[
                {
                    "method": "suppress_entries",
                    "private": [[0, column], [1, column]],
                    "confidence": 0.9,
                    "min_support": 3,
                    "search": "grades",
                }
            ],
            attack=[{"attack": "rule_inference"}],
        )
        unchecked_sets.add(result.verdict.unchecked)
    assert len(unchecked_sets) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["verdict"].update(status="passed", warnings=[]),
        lambda body: body.update(changes=[]),
        lambda body: body["verdict"]["accepted"].update(nobody="here"),
        lambda body: (
            body["verdict"].update(unique_rows=[], not_counted=["age", "ill", "balance", "duration"]),
            [change.update(kind="noise") for change in body["changes"]],
        ),
    ],
)
def test_a_false_verdict_is_not_as_certified(tmp_path: Path, change: Any) -> None:
    release(tmp_path, PAIR, accept=dict.fromkeys(PAIR, "invented"))
    assert sf.verify(tmp_path / "out").holds
    resign(tmp_path / "out", change)
    assert not sf.verify(tmp_path / "out").holds


def test_a_false_verdict_on_baskets_is_not_as_certified(tmp_path: Path) -> None:
    rows = "".join(f"{n},{item}\n" for n in range(30) for item in ("ab" if n % 3 else "abc"))
    (tmp_path / "bought.csv").write_text(f"id,item\n{rows}")
    method = {"method": "hide_items", "items": ["c"], "min_support": 0.1, "min_confidence": 0.2}
    sf.run(
        Policy.model_validate({"data": {"path": str(tmp_path / "bought.csv")}, "protect": [method]}), tmp_path / "out"
    )
    assert sf.verify(tmp_path / "out").holds
    resign(tmp_path / "out", lambda body: body["verdict"].update(status="passed with warnings", warnings=["\x1b[2J"]))
    assert not sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize("count", [0, 1, 2, 3, None])
def test_rules_one_basket_short_are_counted_again(tmp_path: Path, count: int | None) -> None:
    rows = "".join(f"{n},{item}\n" for n in range(30) for item in ("ab" if n % 3 else "abc"))
    (tmp_path / "bought.csv").write_text(f"id,item\n{rows}")
    method = {"method": "hide_items", "items": ["c"], "min_support": 0.1, "min_confidence": 0.2}
    policy = {"data": {"path": str(tmp_path / "bought.csv")}, "protect": [method], "attack": [{"attack": "remining"}]}
    sf.run(Policy.model_validate(policy), tmp_path / "out")
    true = sf.Certificate.read(tmp_path / "out" / "release").body["attacks"][0]["one_basket_short"]
    resign(tmp_path / "out", lambda body: body["attacks"][0].update(one_basket_short=count))
    assert sf.verify(tmp_path / "out").holds == (count == true)


@pytest.mark.parametrize("figure", [{"guessing": 1e308}, {"guessing": -1.0}, {"one_basket_short": 10**39}])
def test_figures_that_no_run_gives_are_refused(tmp_path: Path, figure: dict[str, Any]) -> None:
    release(tmp_path, {"visit": [n % 3 for n in range(PEOPLE)]})
    resign(tmp_path / "out", lambda body: body["attacks"][0].update(figure))
    assert not sf.verify(tmp_path / "out").holds


def test_with_many_combinations_the_telling_ones_are_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(find_unique_rows.__globals__, "MOST_CELLS", 0)
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 1, 1, 1]})
    assert [rows.share for rows in find_unique_rows(frame)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("successes", "baseline", "words", "alarming"),
    [
        (97, 97, "no better than guessing", False),
        (30, 18, "12 percentage points above guessing", False),
        (90, 10, "alarming: 80 percentage points above guessing", True),
        (0, 0, "no better than guessing", False),
        (11, 10, "not clearly better than guessing", False),
    ],
)
def test_attacks_are_told_in_words(successes: int, baseline: int, words: str, alarming: bool) -> None:
    outcome = sf.attack.Outcome(100, successes, baseline)
    description = attack_gains.describe_attack({"attack": "linking", **outcome.as_json()})
    assert (description.words, description.is_alarming) == (words, alarming)


def test_an_attack_on_nobody_is_not_called_right() -> None:
    empty_attack = {"attack": "item_breach", **sf.attack.Outcome(0, 0, 0).as_json()}
    linking_attack = {"attack": "linking", **sf.attack.Outcome(100, 10, 20).as_json()}
    strongest = attack_gains.find_strongest_attack([empty_attack, linking_attack])
    assert strongest is not None and strongest.attack == "linking"
    only_attack = attack_gains.find_strongest_attack([empty_attack])
    assert only_attack is not None
    headline = verdict._write_headline(verdict.Verdict(verdict.VerdictStatus.PASSED, "", strongest_attack=only_attack))
    assert headline == "Passed. The attack item breach had no target."


@pytest.mark.parametrize(
    ("attempts", "successes", "baseline", "words", "sentence"),
    [
        (0, 0, 0, "had no target", "The attack linking had no target."),
        (100, 97, 97, "no better than guessing", "97 % of those it tried, which is no better than guessing (97 %)."),
        (
            3,
            2,
            1,
            "not clearly better than guessing",
            "33 %. These are too few attempts to tell from chance.",
        ),
        (
            100_000,
            300,
            0,
            "less than 1 percentage point above guessing",
            "0.30 % of those it tried; guessing is right for 0 %.",
        ),
        (100_000, 1_000, 0, "1 percentage point above guessing", "1 % of those it tried; guessing is right for 0 %."),
        (100, 100, 0, "alarming: 100 percentage points above guessing", "tried; guessing is right for 0 %."),
    ],
)
def test_the_strongest_attack_is_one_plain_sentence(
    attempts: int, successes: int, baseline: int, words: str, sentence: str
) -> None:
    outcome = sf.attack.Outcome(attempts, successes, baseline)
    description = attack_gains.describe_attack({"attack": "linking", **outcome.as_json()})
    assert description.words == words
    assert attack_gains.compare_with_guessing(description).endswith(sentence)


@pytest.mark.parametrize(
    ("alarms", "status"),
    [
        ((), "Passed."),
        (("The attack linking is right for 90 %.",), "Passed, but one attack is alarming."),
        (("one", "two"), "Passed, but 2 attacks are alarming."),
    ],
)
def test_the_headline_tells_the_custodian_of_alarms(alarms: tuple[str, ...], status: str) -> None:
    assert verdict._write_headline(verdict.Verdict(verdict.VerdictStatus.PASSED, "", alarms=alarms)) == status
