# SPDX-License-Identifier: MIT
"""The record of a run: what was promised, measured and attacked, for the custodian; `outgoing` selects what leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from sfumato.attack.attack import AttackResult
from sfumato.engine.choice import EngineChoice
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.release import Finding, Release
from sfumato.report.words.attack_gains import compare_with_strangers, describe_attack
from sfumato.workflow.certificate import describe_finding, format_timestamp, list_versions
from sfumato.workflow.folder import StagingFolder
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.outgoing import FORMAT
from sfumato.workflow.policy import Policy
from sfumato.workflow.shapes.file_shapes import find_shape
from sfumato.workflow.signing.commitment import Commitment
from sfumato.workflow.step_description import describe_step
from sfumato.workflow.summary.suppression_summary import summarize_suppression


class RunFacts(NamedTuple):
    """What a record holds besides the release, its findings and its attacks."""

    randomness: Randomness
    commitment: Commitment | None
    """What the input was; None for the built-in population."""
    signer: str
    utility: Mapping[str, Any]
    removed_columns: Sequence[str] = ()
    shown_detail: Mapping[str, float] | None = None
    """The detail of published rows; None where it is not measured."""
    engine: EngineChoice | None = None
    """The engine that counts rows in their files; None in memory."""

    def as_record(self) -> dict[str, Any]:
        """The entries of the record."""
        return {
            **({} if self.engine is None else {"engine": self.engine._asdict()}),
            "input_commitment": None if self.commitment is None else self.commitment.value,
            "utility": self.utility,
            **({} if self.shown_detail is None else {"shown_detail": self.shown_detail}),
            "removed_columns": list(self.removed_columns),
            "signer": self.signer,
        }


def choose_run_format(policy: Policy, release: Release) -> str:
    """The format of the policy, or the one that fits the data."""
    return policy.output.format or find_shape(release.data).choose_format(release.data)


def build_record(
    policy: Policy,
    release: Release,
    published_data: Any,
    findings: tuple[Finding, ...],
    attacks: tuple[AttackResult, ...],
    staging: StagingFolder,
    facts: RunFacts,
) -> dict[str, Any]:
    """What the custodian knows about a run before it is judged, of which a certificate tells a part."""
    form, shape = choose_run_format(policy, release), find_shape(release.data)
    description = shape.describe_file(release.data, form, escape=policy.output.escape_formulas)
    return {
        **description,
        "format": FORMAT,
        "title": policy.title,
        **policy.about.model_dump(),
        "created": format_timestamp(),
        "versions": list_versions(),
        "maturity": _find_least_maturity(policy.methods),
        "for_publication": facts.randomness.for_publication,
        "data": {
            "file": shape.name_file(form),
            "shape": shape.name,
            "format": form,
            **description["data"],
            "sha256": hash_file(staging.release / shape.name_file(form)),
        },
        "methods": [describe_step(method) for method in policy.methods],
        "claims": [describe_finding(c, f) for c, f in zip(release.claims, findings, strict=True)],
        "losses": dict(release.losses),
        "public": {column: law.describe() for column, law in release.public.items()},
        "formulas": shape.count_formulas(published_data),
        "changes": [asdict(change) for change in release.changes],
        "levels": _merge_columns(release, "levels"),
        "heights": _merge_columns(release, "heights"),
        "suppression": summarize_suppression(policy, release),
        "attacks": [_describe_result(result) for result in attacks],
        **facts.as_record(),
    }


def _describe_result(result: AttackResult) -> dict[str, Any]:
    """An attack with all its parameters, its counts, and what reports say about it."""
    attack, outcome = result
    counts = {**describe_step(attack), **outcome.as_json()}
    return {
        **counts,
        "parameters": describe_step(attack),
        "words": describe_attack(counts).words,
        "against_strangers": compare_with_strangers(outcome.as_json()),
    }


def _find_least_maturity(methods: Sequence[Method]) -> str:
    """A release is no more mature than the least mature of its methods."""
    return next((method.maturity for method in methods if method.maturity != "stable"), "stable")


def _merge_columns(release: Release, name: str) -> dict[str, int]:
    """What methods state by column; of two methods that state something about one column, the last."""
    parts = [step.get(name) or {} for step in release.details.list_steps()]
    return {column: number for part in parts for column, number in part.items()}
