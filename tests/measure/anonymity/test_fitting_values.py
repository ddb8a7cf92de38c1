# SPDX-License-Identifier: MIT
"""Models under empty cells that match anything hold among the people whom each row could be about, too."""

from __future__ import annotations

from collections import Counter
from math import exp, log
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.claims import claim_with_originals, guard_blanks

ROLES = {"age": "quasi_identifying", "town": "quasi_identifying", "ill": "sensitive"}
TREE = sf.Hierarchy.of([[str(age), f"{age // 10}x", "*"] for age in range(20, 50)])
MODELS: dict[str, PrivacyModel] = {
    "distinct": sf.LDiversity(l=2, column="ill"),
    "entropy": sf.LDiversity(l=1.5, column="ill", kind="entropy"),
    "recursive": sf.LDiversity(l=2, column="ill", kind="recursive", c=3.0),
    "alpha": sf.AlphaKAnonymity(k=2, alpha=0.7, column="ill"),
    "close": sf.TCloseness(t=0.5, column="ill"),
    "ordered": sf.TCloseness(t=0.4, column="ill", distance="ordered"),
    "beta": sf.BetaLikeness(beta=2.0, column="ill"),
    "delta": sf.DeltaDisclosure(delta=1.5, column="ill"),
}


def draw_people(seed: int, rows: int = 40) -> sf.Table:
    chance = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": [str(age) for age in chance.integers(20, 50, rows)],
            "town": chance.choice(["Ulm", "Bonn"], rows),
            "ill": chance.choice(["cold", "flu", "gout"], rows, p=[0.5, 0.3, 0.2]),
        }
    )
    holes = [pl.when(pl.Series(chance.random(rows) < 0.8)).then(pl.col(name)).alias(name) for name in ("age", "town")]
    return sf.Table.of(frame.with_columns(holes), ROLES, {"age": TREE}, missing="matches_any")


def covers(cell: str | None, value: str | None) -> bool:
    if cell is None or cell == "*":
        return True
    return value is not None and (cell == value or (cell.endswith("x") and cell[0] == value[0]))


def list_fitting(release: sf.Release, people: sf.Table) -> list[Counter[str]]:
    """For each published row that is not starred all over, the illnesses of the people whom it fits."""
    counters = []
    for row in release.data.frame.to_dicts():
        if row["age"] == "*" == row["town"]:
            continue
        fit = [
            person["ill"]
            for person in people.frame.to_dicts()
            if all(covers(row[name], person[name]) for name in ("age", "town"))
        ]
        counters.append(Counter(fit))
    return counters


def measure_plainly(kind: str, counts: Counter[str], whole: Counter[str]) -> float:
    """How far a set of people is from the model, as its definition says."""
    size, total = counts.total(), whole.total()
    shares = {ill: counts[ill] / size for ill in whole}
    first, *rest = sorted(counts.values(), reverse=True)
    running = np.cumsum([shares[ill] - whole[ill] / total for ill in sorted(whole)])
    return {
        "distinct": float(len(counts)),
        "entropy": exp(-sum(share * log(share) for share in shares.values() if share)),
        "recursive": first / sum(rest) if rest else float("inf"),
        "alpha": max(shares.values()),
        "close": sum(abs(shares[ill] - whole[ill] / total) for ill in whole) / 2,
        "ordered": float(np.abs(running).sum()) / (len(whole) - 1),
        "beta": max(shares[ill] * total / whole[ill] - 1 for ill in whole),
        "delta": max(abs(log(shares[ill] * total / whole[ill])) if shares[ill] else float("inf") for ill in whole),
    }[kind]


@pytest.mark.parametrize("kind", sf.protect.MODELS, ids=lambda kind: kind.__name__)
def test_every_model_about_a_column_is_measured_among_the_people_a_row_fits(kind: Any) -> None:
    """A model is found by its tag, so that no list of models can lack it."""
    models = [model for model in MODELS.values() if type(model) is kind]
    assert models or "column" not in kind.column_fields, f"add {kind.__name__} to MODELS and to `measure_plainly`"
    people = draw_people(0)
    for model in models:
        claims = guard_blanks(model.state_claims({}), blank_some(people, 2))
        assert [claim.arguments["of"] for claim in claims if claim.property == "fitting_values"], (
            f"{kind.__name__}: its claim about a column has the argument `column`, and a property in `claim_properties`"
        )
        measures = {claim.measure for claim in model.state_claims({})} - {"k_anonymity"}
        assert measures <= sf.measure.anonymity(people).models.keys(), (
            f"{kind.__name__}: show what it claims among the models of measure/anonymity/anonymity_table.py"
        )


@pytest.mark.parametrize("kind", MODELS)
def test_every_row_satisfies_the_model_among_the_people_it_fits(kind: str) -> None:
    released = 0
    for seed in range(6):
        people = draw_people(seed)
        try:
            release = sf.Generalize(models=(MODELS[kind],), suppression_limit=0.3).protect(people)
        except sf.ImpossibleRelease:
            continue
        findings = {finding.property: finding for finding in sf.check(release, people)}
        assert all(finding.holds for finding in findings.values()), (seed, findings)
        if "fitting_values" not in findings:
            continue
        released += 1
        whole = Counter(people.frame["ill"].to_list())
        row_measures = [measure_plainly(kind, counts, whole) for counts in list_fitting(release, people)]
        plain = min(row_measures) if kind in ("distinct", "entropy") else max(row_measures)
        assert findings["fitting_values"].measured == pytest.approx(max(plain, 0.0), abs=1e-9)
    assert released >= 2


def blank_some(people: sf.Table, rows: int) -> sf.Table:
    """Blank whole rows, which then agree with everybody."""
    keep = pl.int_range(pl.len()) >= rows
    return people.replace_frame(
        people.frame.with_columns(pl.when(keep).then(pl.col(name)).alias(name) for name in ("age", "town"))
    )


def test_empty_rows_make_no_class_diverse() -> None:
    """Two empty rows of different illnesses: every class has two illnesses, and every row is still alone."""
    ages = [str(age) for age in range(20, 40)]
    people = sf.Table.of(
        {"age": ages, "town": ["Ulm"] * 20, "ill": ["flu", "cold"] + ["gout"] * 18}, ROLES, missing="matches_any"
    )
    published = blank_some(people, 2)
    model = MODELS["distinct"].claim({})
    claims = guard_blanks((model,), published, 1)
    assert [claim.property for claim in claims] == ["distinct_l_diversity", "fitting_values"]
    crowd, fitting = sf.check(sf.Release(published, None, claims, {}), people)
    assert crowd.holds and crowd.measured == 3
    assert fitting.holds is False and fitting.measured == 1
    assert "hides nobody" in claims[0].meaning and claims[1].needs_original


def test_a_recoded_sensitive_column_is_only_worded() -> None:
    people = draw_people(1)
    claims = guard_blanks((MODELS["close"].claim({}),), people, 1, recoded_columns=("ill",))
    assert [claim.property for claim in claims] == ["t_closeness"]
    assert "hides nobody" in claims[0].meaning


def test_nothing_is_added_where_no_cell_is_empty() -> None:
    people = draw_people(2)
    whole: Any = people.replace_frame(people.frame.drop_nulls())
    claim = MODELS["alpha"].claim({})
    assert guard_blanks((claim,), whole, 2) == (claim,)


def test_the_model_is_measured_by_its_own_check() -> None:
    """Where every row shows all it has, the people whom it fits are its class; a hierarchy may be that of the table."""
    kinds = sf.Hierarchy.of([["cold", "lungs", "*"], ["flu", "lungs", "*"], ["gout", "joints", "*"]])
    people = sf.Table.of(draw_people(3).frame.drop_nulls(), ROLES, {"ill": kinds})
    claim = (
        MODELS["close"]
        .claim({})
        .model_copy(
            update={
                "property": "fitting_values",
                "measure": "fitting_values",
                "needs_original": True,
                "arguments": {"column": "ill", "of": "t_hierarchical"},
            }
        )
    )
    (finding,) = sf.check(sf.Release(people, None, (claim,), {}), people)
    assert finding.measured == sf.measure.t_hierarchical(people, "ill") != sf.measure.t_ordered(people, "ill")


@pytest.mark.parametrize("model", ["fitting_values", "k_anonymity", "t_equal_with_originals", "nothing"])
def test_only_measures_of_values_in_classes_judge_the_people_whom_a_row_fits(model: str) -> None:
    """Naming itself, the measure called itself for ever; others measured the originals, which nobody had asked for."""
    people = draw_people(3)
    claim = claim_with_originals("fitting_values", 1, "at_least", {"column": "ill", "of": model}, "Nobody is alone.")
    with pytest.raises(sf.PolicyError, match=f'names "{model}", which measures no values in classes'):
        sf.check(sf.Release(people, None, (claim,), {}), people)
