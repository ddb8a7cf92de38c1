# SPDX-License-Identifier: MIT
"""Run any method of the examples through the whole pipeline, on data in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest
from pydantic import Field

import sfumato as sf
from sfumato.randomness import Randomness
from sfumato.workflow import pipeline, run_record
from sfumato.workflow.chain import ProtectedData, apply_methods
from sfumato.workflow.pipeline import Run
from sfumato.workflow.policy import Policy
from sfumato.workflow.policy_parts.policy_sections import DataSection, MeasureSection, OutputSection, RolesSection
from tests.contract.examples import Example


class GivenPolicy(Policy):
    """A policy whose data is given, not read."""

    given: Any = Field(default=None, exclude=True)

    def read_original(self) -> Any:
        """The data that was given."""
        return self.given


def accept_insensitive(data: Any) -> dict[str, str]:
    """Let insensitive columns leave, by which invented people may be unique."""
    loose = [name for name, role in data.roles.items() if role == "insensitive"] if isinstance(data, sf.Table) else []
    return dict.fromkeys(loose, "invented people")


def policy_of(example: Example, data: Any, folder: Path, attacks: tuple[Any, ...] = (), form: str | None = None) -> Any:
    """A policy with one method."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "input.csv"
    if not source.exists():
        rows = data.frame.to_dicts() if isinstance(data, sf.Table) else data.to_lists()
        source.write_text(repr(rows), encoding="utf-8")
    return GivenPolicy.model_construct(
        title="Release",
        data=DataSection(path=str(source)),
        roles=RolesSection(),
        hierarchies={},
        protect=(example.subject,),
        attack=attacks,
        gate=Policy.model_fields["gate"].default,
        measure=MeasureSection(queries=20),
        accept=accept_insensitive(data),
        output=OutputSection(format=form),
        given=data,
    )


def attacks_on(example: Example) -> tuple[Any, ...]:
    """Attacks that fit what the method gives."""
    subject = example.subject
    if subject.gives == "table" and example.data is not None and "disease" in example.data().frame.columns:
        if isinstance(subject, sf.EncodeForTrees):
            return (sf.attack.Sorting(), sf.attack.CurveFitting(trials=2))
        return (sf.attack.Homogeneity(column="disease"), sf.attack.Inference(column="disease", attempts=60))
    if subject.shape == subject.gives == subject.utility == "baskets":
        mined = sf.attack.Remining(items=("nuts",), min_support=0.1, min_confidence=0.6)
        return (sf.attack.ItemBreach(prior=0.5, posterior=0.8),) if subject.by_chance else (mined,)
    if isinstance(subject, sf.HideSequences):
        return (sf.attack.SequenceRemining(), sf.attack.MarkGuessing())
    if subject.gives == "sequences":
        return (sf.attack.SequenceLinking(points=(1, 2), attempts=50),)
    return (sf.attack.SupportInference(k=3, min_support=8),) if subject.gives == "patterns" else ()


def run_example(example: Example, folder: Path, attacks: tuple[Any, ...] = (), form: str | None = None) -> Run:
    """Carry out one method on its example's data."""
    return _run_truthful(example, policy_of(example, example.data(), folder, attacks, form), folder / "out")


def _run_truthful(example: Example, policy: Any, out: Path) -> Run:
    """Run a policy; if what the method says of itself does not fit its release, say what to say instead."""
    name = type(example.subject).__name__
    try:
        return pipeline.run_policy(policy, out)
    except sf.DataError as error:
        unlike_labels = "generalized tables only" in str(error) or "published labels are neither" in str(error)
        if unlike_labels and example.subject.truthful:
            pytest.fail(
                f"{name} says truthful, and its cells are no labels ({error}): say truthful: ClassVar[bool] = False"
            )
        raise
    except sf.PolicyError as error:
        if "cannot be measured" in str(error):
            pytest.fail(explain_failed_check(name, error))
        raise
    except KeyError as error:
        pytest.fail(
            f"{name}: the report looks for {error} in the details of the release, and it is not there: if `section` is "
            f'"{example.subject.section}", give the details of that family (details.py) or leave `section` out; a law '
            'in `details.public` is column → {"kind": …, "scale": …}, of chance alone'
        )


def explain_failed_check(name: str, error: sf.PolicyError) -> str:
    """Why a check of a method failed, which users are not told, and what to do."""
    return (
        f"{name}: {error}. It failed with {error.__context__!r}: let the check take whatever the method publishes. If "
        "rows or baskets were left out, the originals of the others are those of `evidence.find_original_rows()`"
    )


class World:
    """One release, certified again and again against different originals: what would differ if the truth did."""

    def __init__(self, example: Example, folder: Path) -> None:
        """Make the release from the true originals."""
        self.example, self.folder, self.data = example, folder, example.data()
        policy = policy_of(example, self.data, folder)
        self.made: ProtectedData = apply_methods(policy, self.data, Randomness.secure())
        self.attacks, self.number = attacks_on(example), 0
        self.findings = sf.check(self.made.release, self.data)

    def certified(self, originals: Any) -> Run:
        """The same release, as if it had been made from other originals."""
        self.number += 1
        policy = policy_of(self.example, originals, self.folder / "given", self.attacks)
        with (
            mock.patch.object(pipeline, "apply_methods", lambda *_: self.made),
            mock.patch.object(pipeline, "_measure_written_claims", lambda *_: self.findings),
            mock.patch.object(pipeline, "_measure_column_changes", lambda *_: {}),
            mock.patch.object(run_record, "format_timestamp", lambda: "2026-01-01T00:00:00+00:00"),
            mock.patch.object(pipeline, "_commit_to_input", lambda _: None),
        ):
            return _run_truthful(self.example, policy, self.folder / f"out{self.number}")


def other_truths(data: Any, rows: int = 20) -> Any:
    """The same data with the cells of some rows handed round, or with other items in some baskets."""
    if isinstance(data, sf.Baskets):
        lists = data.to_lists()
        return sf.Baskets.of([*([list(data.items)[:3]] * rows), *lists[rows:]])
    if isinstance(data, sf.Sequences):
        return sf.Sequences.of([*([list(data.items)[:3]] * rows), *data.to_lists()[rows:]])
    frame = data.frame
    head = pl.DataFrame(
        [
            column.head(rows).gather([*range(shift % rows, rows), *range(shift % rows)])
            for shift, column in enumerate(frame, 1)
        ]
    )
    return data.replace_frame(pl.concat([head, frame.tail(-rows)]))
