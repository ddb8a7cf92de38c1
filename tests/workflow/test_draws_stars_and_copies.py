# SPDX-License-Identifier: MIT
"""Figures that depended on a draw, gates that passed on a part, rows of stars, copies: each was once wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.synthesis.copied_records import CopiedRecords
from sfumato.details import SynthesisDetails
from sfumato.workflow.attack_run import run_attacks
from tests.workflow.people_and_places import ROLES, make_people


def test_linking_depends_on_no_draw() -> None:
    table = make_people(40)
    released = sf.RoundNumbers(columns=("age",), step=5).protect(table)
    outcomes = {
        sf.attack.Linking().run(released, table, randomness=sf.Randomness.seeded(seed)).successes for seed in range(5)
    }
    assert len(outcomes) == 1
    as_it_is = sf.Release(table, None, (), {})
    classes = table.frame.select("age", "zip").n_unique()
    assert sf.attack.Linking().run(as_it_is, table).successes == classes


@pytest.mark.parametrize("knowledge", [("age",), ("age", "zip", "ill")])
def test_another_linking_does_not_replace_the_plain_one(knowledge: tuple[str, ...]) -> None:
    method = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.2)
    plain = sf.run(make_people(40), method)
    run = sf.run(make_people(40), method, attacks=(sf.attack.Linking(knowledge=knowledge),))
    names = [attack.knowledge for attack, _ in run.attacks if isinstance(attack, sf.attack.Linking)]
    assert names == [None, knowledge]
    assert run.attacks[0].outcome.successes == plain.attacks[0].outcome.successes


def test_the_same_linking_by_name_is_not_run_twice() -> None:
    method = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.2)
    run = sf.run(make_people(40), method, attacks=(sf.attack.Linking(knowledge=("zip", "age")),))
    assert len(run.attacks) == 1


def make_strangers() -> sf.Table:
    """400 people: 360 are alike in tens, and 40 have an age and a place of their own."""
    frame = pl.DataFrame(
        {
            "age": [30 + row // 40 for row in range(360)] + [200 + row for row in range(40)],
            "zip": [f"{row // 40}" for row in range(360)] + [f"x{row}" for row in range(40)],
            "ill": [["flu", "cold", "ache"][row % 3] for row in range(400)],
        }
    )
    stars = {name: [[str(value), "*"] for value in sorted(set(frame[name]))] for name in ("age", "zip")}
    return sf.Table.of(frame, ROLES, stars)


def test_rows_that_were_left_out_count_as_lost() -> None:
    runs = {
        how: sf.run(
            make_strangers(),
            sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.2, suppressed_rows=how),
        )
        for how in ("star", "drop")
    }
    starred, dropped = (runs[how].record["utility"] for how in ("star", "drop"))
    assert [run.record["losses"]["suppressed_rows"] for run in runs.values()] == [40, 40]
    assert dropped["loss"] == starred["loss"] == pytest.approx(0.1)  # 40 of 400 lost everything, others nothing
    assert dropped["published_loss"] == 0 and "published_loss" not in starred
    public = runs["drop"].certificate.body
    assert public["utility"]["loss"] == 0 and "loss" not in public["losses"]  # it would tell how many were left out
    assert public["suppression"]["rows"] is None and "published_loss" not in public["utility"]


def test_a_gate_counts_rows_that_were_left_out() -> None:
    method = sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.2, suppressed_rows="drop")
    run = sf.run(make_strangers(), method, gate={"max_loss": 0.05})
    assert run.verdict.status == "refused" and "max_loss" in str(run.refusals[0])


def test_rows_of_stars_are_not_denied() -> None:
    frame = pl.DataFrame(
        {"a": [*"pppp", *"qqqq", "r", "s", "t"], "b": [*"xxxx", *"yyyy", "u", "v", "w"], "ill": ["i", "j"] * 5 + ["i"]}
    )
    stars = {name: [[value, "*"] for value in sorted(set(frame[name]))] for name in ("a", "b")}
    table = sf.Table.of(frame, {"a": "quasi_identifying", "b": "quasi_identifying", "ill": "sensitive"}, stars)
    method = sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.0, recoding="local")
    release = method.protect(table)
    starred = release.data.frame.filter((pl.col("a") == "*") & (pl.col("b") == "*")).height
    assert starred == 3 == release.losses["starred_rows"]
    assert "suppressed_share" not in {claim.property for claim in release.claims}
    assert all(finding.holds for finding in sf.check(release, table))
    why = sf.run(table, method).record["suppression"]["why"]
    assert why.startswith('3 rows are "*" in every quasi-identifying column')


def test_a_share_of_suppressed_rows_is_counted_whatever_is_stated() -> None:
    table = make_people(40)
    release = sf.Generalize(models=(sf.KAnonymity(k=2),)).protect(table)
    claim = next(claim for claim in release.claims if claim.property == "suppressed_share")
    assert claim.arguments["starred_rows"] == "class"
    frame = release.data.frame.with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("*")).otherwise(pl.col(name).cast(pl.String)).alias(name)
        for name in ("age", "zip")
    )
    forged = sf.Release(release.data.replace_frame(frame), release.method, (claim,), {}, release.details)
    (finding,) = sf.check(forged, table)
    assert finding.measured == pytest.approx(3 / 40) and not finding.holds


def test_copies_of_all_training_people_are_told() -> None:
    table = make_people(60)
    aside = list(range(12))
    copies = sf.measure.compare_with_holdout(table, table, aside)
    assert copies.people == 12
    assert copies.all_training.rows >= 48


def test_an_item_like_a_formula_among_patterns_is_reported(tmp_path: Path) -> None:
    baskets = sf.Baskets.of([["=1", "a", "b"]] * 6 + [["a", "c"]] * 4)
    run = sf.run(baskets, sf.PublishPatterns(min_support=2, k=2), out=tmp_path / "out")
    text = (run.out / "release" / "report.html").read_text(encoding="utf-8")
    assert "like a formula" in text and "open the file as text" in text


def test_attacks_on_codes_leave_other_columns_alone() -> None:
    frame = make_people(40).frame.with_columns(pl.Series("pay", [100 + row * 11 % 70 for row in range(40)]))
    table = sf.Table.of(frame, {**ROLES, "pay": "insensitive"})
    method = sf.EncodeForTrees(target="ill", columns=("pay",))
    release = method.protect(table, method.new_key(table))
    outcome = sf.attack.Sorting().run(release, table)
    assert outcome.facts["column"] == "pay" and set(outcome.facts["columns"]) == {"pay"}


def test_few_sorted_values_are_not_called_safe() -> None:
    values = [0.0, 0.001, 50.0, 50.003, 99.99, 100.0] * 4
    table = sf.Table.of({"x": values, "c": ["a", "b"] * 12})
    (shelter,) = sf.measure.shelter(table, "c", ("x",))
    assert shelter.even_sorting >= 2 / 6 and not shelter.safe
    assert "over 99% of its domain does not occur" in shelter.advice


def test_a_table_of_one_recoded_column_is_run() -> None:
    table = sf.Table.of({"job": ["a"] * 6 + ["b", "c"]}, {"job": "quasi_identifying"})
    run = sf.run(table, sf.GroupRareValues(columns=("job",), min_count=3))
    assert run.verdict.status != "refused"


def test_copies_of_everybody_learnt_from_are_tried() -> None:
    """48 people were learned from and 12 set aside: a sample of 12 would miss most copies."""
    table = make_people(60)
    details = SynthesisDetails(training=np.arange(12, 60), holdout=np.arange(12))
    published = table.replace_frame(table.frame[12:])
    release = sf.Release(published, None, (), {}, details)
    attacks = (CopiedRecords(known=("age", "zip")), sf.attack.Inference(column="ill"))
    copied, inferred = (outcome for _, outcome in run_attacks(attacks, release, table))
    assert copied.attempts == copied.successes == 48
    assert inferred.attempts == 12  # as many as were set aside
