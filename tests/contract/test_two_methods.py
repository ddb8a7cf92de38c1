# SPDX-License-Identifier: MIT
"""Every ordered pair of methods, in one policy: a release whose claims hold, or a refusal before any work starts."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.randomness import Randomness
from sfumato.release import Finding, Release
from sfumato.workflow.chain import ProtectedData, apply_methods
from sfumato.workflow.policy_parts.policy_sections import DataSection
from tests.contract.examples import METHOD_EXAMPLES, Example, market, people, walks
from tests.contract.releases import make_once
from tests.contract.runs import GivenPolicy, policy_of

KNOWN = ("age", "sex")
PRIVATE = (3, 5, 8, 60, 61)


def patients() -> sf.Table:
    """People with a number that no quasi-identifying column tells."""
    table = people(160)
    frame = table.frame.with_columns((pl.col("age") * 3 % 41 + pl.col("zip").cast(pl.Int64) % 7).alias("weight"))
    roles = {n: "insensitive" if r == "quasi_identifying" and n not in KNOWN else r for n, r in table.roles.items()}
    frame = add_named_columns(frame)
    return sf.Table.of(frame, {**dict.fromkeys(frame.columns, "insensitive"), **roles}, dict(table.hierarchies))


def add_named_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with the columns that an example of a method names and that are not there, from the example's data."""
    for example in METHOD_EXAMPLES:
        field_columns = getattr(example.subject, "columns", None)
        missing = (
            [name for name in field_columns if name not in frame.columns] if isinstance(field_columns, tuple) else []
        )
        if missing and example.subject.shape == "table":
            example_frame = example.data().frame
            rows = [row % example_frame.height for row in range(frame.height)]
            frame = frame.with_columns(example_frame[name].gather(rows) for name in missing)
    return frame


TABLE_METHODS: tuple[Any, ...] = (
    sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.1),
    sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.2, metric="height", suppressed_rows="drop"),
    sf.Generalize(models=(sf.LDiversity(l=2, column="disease"),), suppression_limit=0.2),
    sf.Partition(models=(sf.KAnonymity(k=3),)),
    sf.KOptimize(k=3, seconds=0.2),
    sf.Microaggregate(k=4),
    sf.TopCode(columns=("weight",), k=5),
    sf.TopCode(columns=("age",), k=5),
    sf.SuppressEntries(
        private=[(row, "disease") for row in PRIVATE], confidence=0.7, min_support=3, max_length=2, seconds=0.1
    ),
    sf.SwapConfidential(column="disease", share=0.5, search="random"),
    sf.AddNoise(columns="age", ranges={"age": (0, 120)}),
    sf.AddNoise(columns="weight", ranges={"weight": (0, 50)}),
    sf.RandomizeResponse(column="disease", p=0.7, categories="from_data"),
    sf.RandomizeResponse(column="sex", p=0.7, categories="from_data", person=("name",)),
    sf.Synthesize(min_leaf=5),
    sf.Synthesize(kind="partial", columns=("salary_level",), min_leaf=5),
    sf.EncodeForTrees(target="disease"),
)
BASKET_METHODS: tuple[Any, ...] = (
    sf.RandomizeBaskets(keep=0.9, add=0.05, items="from_data"),
    sf.EncodeItems(k=3),
    sf.EncodeBloom(),
    sf.HideItems(items=("nuts",), min_support=0.1, min_confidence=0.6),
    sf.HideItems(items=("bread",), min_support=0.1, min_confidence=0.6),
    sf.HideItems(items=("eggs",), min_support=0.1, min_confidence=0.6, strategy="islf"),
    sf.HideRules(rules=("bread ==> butter", "beer ==> nuts"), min_support=0.1, min_confidence=0.6),
    sf.HideRules(rules=("bread ==> butter",), min_support=0.1, min_confidence=0.6, strategy="block"),
    sf.PublishPatterns(k=3, min_support=24),
)
SEQUENCE_METHODS: tuple[Any, ...] = (
    sf.AnonymizeSequences(k=5),
    sf.HideSequences(patterns=(("home", "clinic"),), threshold=3),
)
_LISTED = {type(method) for method in (*TABLE_METHODS, *BASKET_METHODS, *SEQUENCE_METHODS)}
NEW_METHODS = {type(example.subject): example.subject for example in METHOD_EXAMPLES}
"""The example of every method, of which those join that are not listed."""
TABLE_METHODS += tuple(m for kind, m in NEW_METHODS.items() if kind not in _LISTED and kind.shape == "table")
BASKET_METHODS += tuple(m for kind, m in NEW_METHODS.items() if kind not in _LISTED and kind.shape == "baskets")
SEQUENCE_METHODS += tuple(m for kind, m in NEW_METHODS.items() if kind not in _LISTED and kind.shape == "sequences")
PAIRS = [
    *product(TABLE_METHODS, TABLE_METHODS),
    *product(BASKET_METHODS, BASKET_METHODS),
    *product(SEQUENCE_METHODS, SEQUENCE_METHODS),
]
SAMPLE = random.Random(14).sample(PAIRS, 24)


@dataclass(frozen=True)
class Attempt:
    """What came of two methods: a release, or the words of a refusal."""

    made: ProtectedData | None
    worked: int
    """How many methods ran."""
    refusal: str = ""


def attempt(order: tuple[Any, ...], data: Any, folder: Path) -> Attempt:
    """Apply methods as a policy does, and count how many of them start."""
    (folder / "input").write_text("x")
    worked = []

    def spy(kind: type) -> Any:
        original = kind.protect  # type: ignore[attr-defined]

        def protect(method: Any, *arguments: Any, **keywords: Any) -> Any:
            worked.append(method)
            return original(method, *arguments, **keywords)

        return mock.patch.object(kind, "protect", protect)

    with spy(type(order[0])):
        try:
            policy = GivenPolicy(data=DataSection(path=str(folder / "input")), protect=order)
            return Attempt(apply_methods(policy, data, Randomness.seeded(3)), len(worked))
        except ValidationError as error:
            return Attempt(None, len(worked), str(error))
        except sf.PolicyError as error:
            return Attempt(None, len(worked), str(error))


def name_pair(order: tuple[Any, ...]) -> str:
    return " then ".join(type(method).__name__ for method in order)


def refuse_broken_claims(order: tuple[Any, ...], findings: Iterable[Finding]) -> None:
    """Fail if a policy of two methods gives a release that breaks a claim of one of them."""
    failures = [finding.title() for finding in findings if not finding.holds]
    assert not failures, (
        f"{name_pair(order)}: the claims {failures} break, though neither footprint says that the methods touch the "
        "same "
        "columns: let `footprint` name every column that a method changes, needs as in the originals, or reads "
        "(protect/footprint.py), so that the policy is refused before any work"
    )


def refuse_or_hold(order: tuple[Any, ...], folder: Path) -> Release | None:
    """A release whose claims hold, or None after a refusal before any method started."""
    data = {"table": patients, "baskets": market, "sequences": walks}[order[0].shape]()
    trial = attempt(order, data, folder)
    if trial.made is None:
        assert trial.worked == 0, (
            f"{name_pair(order)}: refused only after work had started: {trial.refusal}. Let the `footprint` of a "
            "method "
            "say what it changes, needs and reads, so that the policy is refused before; if a column is not there, "
            "name it in the method's field `columns`, and have it in the data of its example"
        )
        assert len(trial.refusal) > 20
        return None
    release = trial.made.release
    refuse_broken_claims(order, sf.check(release, data))
    if isinstance(data, sf.Table):
        look_again(order, data, release)
    return release


def look_again(order: tuple[Any, ...], data: sf.Table, release: Release) -> None:
    """What claims say, by code of this test alone."""
    frame, rows = release.data.frame, release.details["rows"]
    truth = data.frame[rows]
    changed_columns = {change.column for change in release.changes if not change.trivial}
    for name in set(frame.columns) - changed_columns:
        assert frame[name].equals(truth[name]), f"{name_pair(order)} changed {name}, and says nothing of it"
    for method in order:
        if isinstance(method, sf.SuppressEntries):
            number_by_row = {int(row): number for number, row in enumerate(rows)}
            assert all(frame["disease"][number_by_row[row]] is None for row in PRIVATE if row in number_by_row)
    if not frame.select(KNOWN).null_count().sum_horizontal().item():
        k = max((int(c.threshold) for c in release.claims if c.property == "k_anonymity"), default=1)
        visible_rows = frame.filter(pl.any_horizontal(pl.col(name).cast(pl.String) != "*" for name in KNOWN))
        assert min(visible_rows.group_by(KNOWN).len()["len"].to_list()) >= k


def hold_whatever_was_true(order: tuple[Any, ...], release: Release, folder: Path) -> None:
    """ε is promised for a column only if, with other truths in it, everything else would be published all the same."""
    data = patients()
    for method in order:
        if isinstance(method, sf.RandomizeResponse) and method is order[1]:
            column = str(method.column)
            other = data.replace_frame(data.frame.with_columns(data.frame[column].gather([*range(1, len(data)), 0])))
            protected_data = attempt(order, other, folder).made
            assert protected_data is not None
            second_release = protected_data.release
            assert second_release.data.frame.drop(column).equals(release.data.frame.drop(column)), name_pair(order)


@pytest.mark.parametrize("order", SAMPLE, ids=name_pair)
def test_two_methods_give_a_true_release_or_are_refused_at_once(order: tuple[Any, ...], tmp_path: Path) -> None:
    release = refuse_or_hold(order, tmp_path)
    if release is not None and isinstance(release.data, sf.Table):
        hold_whatever_was_true(order, release, tmp_path)


@pytest.mark.slow
def test_every_ordered_pair_gives_a_true_release_or_is_refused_at_once(tmp_path: Path) -> None:
    release_count = 0
    for order in PAIRS:
        release = refuse_or_hold(order, tmp_path)
        if release is not None and isinstance(release.data, sf.Table):
            hold_whatever_was_true(order, release, tmp_path)
        release_count += release is not None
    assert {type(method) for pair in PAIRS for method in pair} == set(METHODS), "list it, or give it an example"
    assert release_count > 40


SURVIVORS = [
    example
    for example in METHOD_EXAMPLES
    if example.subject.shape == "table"
    and (footprint := example.subject.footprint(example.data())).survives_blanks
    and footprint.stars is None
]


def blank_in_each_column(release: Release) -> sf.SuppressEntries:
    """A method that blanks the first, a middle and the last cell of each published column, and little else."""
    rows = (0, len(release.data) // 2, len(release.data) - 1)
    private = [(row, name) for name in release.data.frame.columns for row in rows]
    return sf.SuppressEntries(private=private, confidence=1.0, min_support=len(release.data), max_length=1)


def find_broken_by_blanks(example: Example, folder: Path) -> list[str]:
    """The claims that break if a later method blanks cells."""
    data = example.data()
    order = (example.subject, blank_in_each_column(make_once(example).release))
    policy = policy_of(example, data, folder).model_copy(update={"protect": order})
    release = apply_methods(policy, data, Randomness.seeded(1)).release
    return [finding.title() for finding in sf.check(release, data) if finding.holds is False]


@pytest.mark.parametrize("example", SURVIVORS, ids=lambda example: example.name)
def test_claims_that_survive_blanks_do(example: Example, tmp_path: Path) -> None:
    broken_claims = find_broken_by_blanks(example, tmp_path)
    assert not broken_claims, (
        f"{type(example.subject).__name__}: its footprint says survives_blanks, and {broken_claims} breaks if a "
        "later method "
        "blanks cells: leave survives_blanks out of its `footprint`, or let the check count empty cells as harmless"
    )


def test_survival_that_is_said_falsely_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    example = next(example for example in METHOD_EXAMPLES if example.name == "group rare values")
    true = sf.GroupRareValues.footprint
    monkeypatch.setattr(
        sf.GroupRareValues, "footprint", lambda self, data: replace(true(self, data), survives_blanks=True)
    )
    assert find_broken_by_blanks(example, tmp_path)


PARTNERS: dict[str, tuple[Any, ...]] = {
    "table": (sf.RandomizeResponse(column="salary_level", p=0.9, categories="from_data"),),
    "baskets": (sf.HideItems(items=("eggs",), min_support=0.1, min_confidence=0.6),),
    "sequences": (sf.AnonymizeSequences(k=4),),
}
BESIDE = [(example, partner) for example in METHOD_EXAMPLES for partner in PARTNERS[example.subject.shape]]


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(
    ("example", "partner"), BESIDE, ids=lambda parameter: getattr(parameter, "name", type(parameter).__name__)
)
def test_a_method_beside_another_gives_a_release_or_a_reason(
    example: Example, partner: Any, first: bool, tmp_path: Path
) -> None:
    data = example.data()
    order = (example.subject, partner) if first else (partner, example.subject)
    policy = policy_of(example, data, tmp_path).model_copy(update={"protect": order})
    try:
        release = apply_methods(policy, data, Randomness.seeded(1)).release
    except sf.SfumatoError:
        return
    except Exception as crash:
        pytest.fail(
            f"{name_pair(order)} crashes ({crash!r}): take columns as another method leaves them, name `rows` in the "
            "details, and refuse the rest with a PolicyError or DataError"
        )
    findings = sf.check(release, data)  # a check that cannot read what another method left must not pass
    assert all(finding.holds is not None for finding in findings), "with the originals at hand every claim is measured"
    refuse_broken_claims(order, findings)
