# SPDX-License-Identifier: MIT
"""Advice after a run that lost much: measured on the data, for the custodian only."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfumato import measure
from sfumato.protect.anonymity.explain import (
    explain_distinct_rows,
    explain_levels,
    explain_release,
    group_explained_rows,
)
from sfumato.protect.anonymity.generalize import Generalize
from sfumato.protect.anonymity.k_optimize import KOptimize
from sfumato.protect.anonymity.models.class_models import KAnonymity, LDiversity
from sfumato.protect.anonymity.partition import Partition
from sfumato.protect.anonymity.search.distinct_tuples import DistinctTuples
from sfumato.protect.method import Method
from sfumato.table import Table
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.second_process import early_start, side_process
from sfumato.workflow.second_process.side_process import find_prepared, prepare_process
from sfumato.workflow.second_process.side_work import SideWork, ask_early, begin_side_work
from sfumato.workflow.summary import advice
from sfumato.workflow.summary.advice import advise_on_loss

ROLES = {"age": "quasi_identifying", "born": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
FIVE = (KAnonymity(k=5),)


@pytest.fixture
def people() -> Table:
    chance = np.random.default_rng(5)
    days = pl.Series(chance.integers(0, 9000, 400)).cast(pl.Int32).cast(pl.Date).cast(pl.String)
    frame = pl.DataFrame(
        {"age": chance.integers(18, 90, 400), "born": days, "sex": list("mf") * 200, "ill": list("abcd") * 100}
    )
    return Table.of(frame, ROLES)


def advise(method: Method, table: Table) -> tuple[str, ...]:
    published = method.protect(table).data
    return advise_on_loss((method,), table, published, measure.loss(published, table))


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%Y/%m/%d %H:%M"])
def test_dates_that_are_not_in_iso_form_do_not_stop_the_run(people: Table, form: str) -> None:
    """The release is safe and written already: only the advice cannot read them."""
    spelled = pl.Series("born", [f"{day:{form}}" for day in people.frame["born"].str.to_date()])
    table = Table.of(people.frame.with_columns(spelled), ROLES)
    (sentence,) = advise(Generalize(models=FIVE), table)
    assert "use partition (loss " in sentence and 'give "age", "born" a hierarchy (loss ' in sentence


def test_columns_without_a_hierarchy_get_measured_alternatives(people: Table) -> None:
    (sentence,) = advise(Generalize(models=FIVE), people)
    assert sentence.startswith('"age", "born" have no hierarchy and are suppressed in every row. The loss is ')
    assert 'give "age", "born" a hierarchy (loss ' in sentence
    stated_loss = float(re.findall(r"use partition \(loss ([0-9.]+)\)", sentence)[0])
    parts = Partition(models=FIVE).protect(people).data
    assert stated_loss == pytest.approx(measure.loss(parts, people), rel=0.06), "the loss that partition really has"


def test_a_release_that_lost_little_is_left_alone(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    published = Partition(models=FIVE).protect(people).data
    monkeypatch.setattr(advice, "try_alternatives", lambda *_: pytest.fail("nothing is tried after a good run"))
    assert advise_on_loss((Generalize(models=FIVE),), people, published, 0.1) == ()


def test_nothing_is_said_that_is_not_better(people: Table) -> None:
    published = Generalize(models=FIVE).protect(people).data
    assert advise_on_loss((Generalize(models=FIVE),), people, published, 0.01) == ()
    assert advise_on_loss((Partition(models=FIVE),), people, published, 0.9) == ()


def test_labels_of_a_hierarchy_are_compared_with_ranges(people: Table) -> None:
    tall = Table.of(
        people.frame,
        ROLES,
        {"age": {"kind": "intervals", "widths": [80]}, "born": {"kind": "date", "units": ["decade"]}},
    )
    (sentence,) = advise(Partition(models=FIVE, publish="hierarchy"), tall)
    assert 'set publish = "ranges" (loss ' in sentence


def test_other_methods_get_advice_too(people: Table) -> None:
    published = Generalize(models=FIVE).protect(people).data
    (sentence,) = advise_on_loss((KOptimize(k=5),), people, published, 0.6)
    assert "use partition (loss" in sentence
    assert "The loss is 0.6." in sentence


def test_large_tables_are_sampled(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "_MOST_ROWS", 200)
    (sentence,) = advise(Generalize(models=FIVE), people)
    assert ", measured on 200 of the rows." in sentence


def test_no_time_no_further_trial(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "_SECONDS", -1.0)
    assert advise(Generalize(models=FIVE), people) == ()


def test_another_process_tries_the_same(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    method = Generalize(models=FIVE)
    release = method.protect(people)
    monkeypatch.setattr(side_process, "KERNELS", "not loaded")
    monkeypatch.setattr(side_process, "PATIENCE", 120.0)
    with prepare_process(is_worthwhile=True), begin_side_work((method,), people, release) as side:
        assert side.reasons is not None and side.alternatives is not None
        alternatives, reasons = side.collect_alternatives(), side.collect_reasons(release, people)
    local_alternatives = tuple(advice.try_alternatives(method, people))
    assert alternatives is not None and [alternative.words for alternative in alternatives] == [
        alternative.words for alternative in local_alternatives
    ]
    assert [alternative.loss for alternative in alternatives] == pytest.approx(
        [alternative.loss for alternative in local_alternatives]
    )  # sums in another order
    assert reasons == explain_release(release, people) and reasons.whys
    parts = Partition(models=FIVE).protect(people)
    with begin_side_work((method,), people, parts) as side:
        assert side == SideWork(), "little was lost"


def test_reasons_are_asked_for_while_the_release_is_made(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    method = Generalize(models=(*FIVE, LDiversity(column="ill", l=2)), suppression_limit=0.1)
    monkeypatch.setattr(side_process, "KERNELS", "not loaded")
    monkeypatch.setattr(side_process, "PATIENCE", 120.0)
    with prepare_process(is_worthwhile=True), ask_early((method,)) as question:
        release = method.protect(people)
        assert question.reasons is not None
        with begin_side_work((method,), people, release, question.reasons) as side:
            assert side.reasons is question.reasons, "they are not asked for twice"
            assert side.collect_reasons(release, people) == explain_release(release, people)
    with ask_early((method, method)) as question:
        method.protect(people)
    assert question.reasons is None, "levels of one of several methods are not those of the release"


def test_distinct_rows_give_the_reasons_of_the_table(people: Table) -> None:
    for missing in ("own_value", "matches_any"):
        holed = people.frame.with_columns(pl.when(pl.col("age") > 85).then(None).otherwise(pl.col("age")).alias("age"))
        table = Table.of(holed, ROLES, {"age": {"kind": "intervals", "widths": [20]}}, missing=missing)
        method = Generalize(models=(*FIVE, LDiversity(column="ill", l=2)), suppression_limit=0.2)
        levels = tuple(method.protect(table).details["levels"].values())
        grouping = group_explained_rows(method, table)
        assert grouping is not None and grouping.distinct_rows
        assert explain_distinct_rows(method, levels, DistinctTuples.of(grouping)) == explain_levels(
            method, levels, table
        )


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        (["demo"], True),
        (["demo", "--help"], False),
        (["run", "large.toml", "--out", "here"], True),
        (["run", "small.toml"], False),
        (["run", "other.toml"], False),
        (["run", "broken.toml"], False),
        (["run", "none.toml"], False),
        (["audit", "large.toml"], False),
        ([], False),
    ],
)
def test_the_process_starts_before_anything_is_loaded(
    words: list[str], starts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(side_process, "KERNELS", "not loaded")
    for name, size in (("large", early_start.LARGE_FILE), ("small", 10)):
        Path(f"{name}.csv").write_bytes(b"0" * size)
        Path(f"{name}.toml").write_text(f'data.path = "{name}.csv"\n[[protect]]\nmethod = "generalize"\n')
    Path("other.toml").write_text('data.path = "large.csv"\n[[protect]]\nmethod = "partition"\n')
    Path("broken.toml").write_text("data = [")
    with early_start.start_early(words):
        assert (find_prepared() is not None) == starts
    assert find_prepared() is None


def test_it_is_found_out_here_if_no_other_process_can(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    method = Generalize(models=FIVE)
    release = method.protect(people)
    monkeypatch.setattr(side_process, "KERNELS", "not loaded")
    monkeypatch.setattr(side_process, "_START", "raise SystemExit(1)")
    with prepare_process(is_worthwhile=True), begin_side_work((method,), people, release) as side:
        assert side.alternatives is not None
        assert side.collect_alternatives() is None
        assert side.collect_reasons(release, people) == explain_release(release, people)
    assert "use partition" in advise_on_loss((method,), people, release.data, 0.9, None)[0]
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with prepare_process(is_worthwhile=True), begin_side_work((method,), people, release) as side:
        assert side == SideWork()


def test_a_process_that_takes_too_long_is_not_waited_for(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    method = Generalize(models=FIVE)
    release = method.protect(people)
    monkeypatch.setattr(side_process, "KERNELS", "not loaded")
    monkeypatch.setattr(side_process, "_START", "import time; time.sleep(60)")
    monkeypatch.setattr(side_process, "PATIENCE", 0.1)
    with begin_side_work((method,), people, release) as side:
        assert side.collect_alternatives() == ()
        assert side.collect_reasons(release, people) == explain_release(release, people)
        assert "Run it again" in side.list_notes()[0]


def test_a_process_nobody_asked_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_process, "KERNELS", "not loaded")
    with prepare_process(is_worthwhile=True):
        process = find_prepared()
        assert process is not None
        with prepare_process(is_worthwhile=True):
            assert find_prepared() is process, "one is enough"
        with prepare_process(is_worthwhile=False):
            assert find_prepared() is process
    assert find_prepared() is None
    assert process._process.returncode is not None


def test_advice_stays_with_the_custodian(people: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    people.frame.write_csv(tmp_path / "people.csv")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[data]\npath = "people.csv"\n[roles]\nquasi_identifying = ["age", "born", "sex"]\nsensitive = ["ill"]\n'
        '[[protect]]\nmethod = "generalize"\nmodels = [{ model = "k_anonymity", k = 5 }]\n'
    )
    result = run_policy(Policy.read(policy), tmp_path / "out")
    assert result.published
    (sentence,) = result.as_json()["advice"]
    assert "use partition (loss" in sentence
    assert json.loads((tmp_path / "out" / "private" / "record.json").read_text())["found"]["advice"] == [sentence]
    assert "use partition (loss" in (tmp_path / "out" / "private" / "report.html").read_text()
    for file in (tmp_path / "out" / "release").iterdir():
        assert b"use partition" not in file.read_bytes(), file.name
