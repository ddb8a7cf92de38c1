# SPDX-License-Identifier: MIT
"""Whether what was written may be published: decided in one place, for every engine and every kind of data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from sfumato.attack.attack import AttackResult
from sfumato.runtime.progress import report_progress
from sfumato.workflow.folder import ReservedTarget, StagingFolder
from sfumato.workflow.folders.private_record import keep_only_refusal
from sfumato.workflow.folders.replaced_release import describe_replaced
from sfumato.workflow.gate import Refusal, compare_limits, list_refusals
from sfumato.workflow.policy import Policy
from sfumato.workflow.verdict import Objection, Verdict, judge_release


class Decision(NamedTuple):
    """What was judged, and why nothing leaves, if so."""

    verdict: Verdict
    refusals: tuple[Refusal | Objection, ...]


def decide(
    policy: Policy,
    record: dict[str, Any],
    attacks: tuple[AttackResult, ...],
    published_data: Any,
    original: Any,
) -> Decision:
    """Compare a run with its limits and judge the release as a whole; both are noted in the record."""
    record["gate"] = compare_limits(policy, record, attacks)
    shut = list_refusals(record["gate"])
    verdict = judge_release(record, published_data, original, policy.accept, gate_open=not shut)
    caveats = () if policy.data.points is None else policy.data.points.list_caveats()
    verdict = replace(verdict, unchecked=(*verdict.unchecked, *caveats))
    record["verdict"] = verdict.as_json()
    return Decision(verdict, (*shut, *verdict.objections))


def publish_decided(target: ReservedTarget, staging: StagingFolder, decision: Decision) -> tuple[str, ...]:
    """Move the folders to their place, without a release if it was refused; what to say of the folders before."""
    report_progress("publishing")
    if decision.refusals:
        keep_only_refusal(staging)
    replacement_notes = () if decision.refusals else describe_replaced(target.out)
    return (*replacement_notes, *target.publish())
