# SPDX-License-Identifier: MIT
"""The pipeline for baskets that stay in their file: code, hide, write some at a time, read back, measure, judge.

The same steps as `pipeline`, in the same order and with the same refusals. The report is the public page. Rules
and itemsets that were lost or appeared are not counted: that takes all of them, before and after.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sfumato.attack.attack import AttackResult
from sfumato.attack.stored_attack import run_stored_attack
from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.engine.choice import EngineChoice
from sfumato.engine.engine_names import ChosenEngine
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.errors import name_source
from sfumato.measure.baskets.stored_hiding import (
    BasketEvidence,
    measure_basket_changes,
    measure_stored_basket_claim,
)
from sfumato.protect.baskets.stored_hiding import StoredHidingPlan
from sfumato.protect.stored_method import plan_stored
from sfumato.randomness import Randomness
from sfumato.release import Finding, Release
from sfumato.runtime.progress import report_progress
from sfumato.workflow.decision import decide, publish_decided
from sfumato.workflow.finished_run import Run
from sfumato.workflow.folder import ReservedTarget, StagingFolder
from sfumato.workflow.folders.private_record import keep_private, keep_secrets
from sfumato.workflow.outgoing import build_outgoing_certificate
from sfumato.workflow.policy import Policy
from sfumato.workflow.run_record import RunFacts, build_record
from sfumato.workflow.shapes.file_shapes import find_shape
from sfumato.workflow.signing.commitment import commit_to_source
from sfumato.workflow.signing.signature import format_public_key, load_signing_key
from sfumato.workflow.stored.stored_basket_files import (
    open_published_baskets,
    refuse_changed_baskets,
    write_published_baskets,
)
from sfumato.workflow.summary.advice import note_nothing_hidden
from sfumato.workflow.summary.gathered_account import gather_outgoing_account
from sfumato.workflow.summary.next_steps import list_advice


def run_stored_baskets(
    policy: Policy, target: ReservedTarget, randomness: Randomness | None, choice: EngineChoice
) -> Run:
    """Run a policy on baskets that stay in their file."""
    with open_scratch_folder() as scratch:
        return _run_in_scratch(policy, target, randomness or Randomness.secure(), choice, scratch)


def _run_in_scratch(
    policy: Policy, target: ReservedTarget, chance: Randomness, choice: EngineChoice, scratch: Path
) -> Run:
    from sfumato.workflow.pipeline import certify, refuse_broken

    key = load_signing_key()
    from sfumato.workflow.drafts.event_columns import note_ignored_time

    report_progress("reading")
    original = open_stored_baskets(describe_basket_source(policy), scratch, engine=choice.name)
    commitment = commit_to_source(policy.data.path)
    with name_source(policy.data.path):
        plan = plan_stored(policy.methods[0], original, chance)
    with target.stage_folders() as staging:
        published_baskets = _write_and_read_back(policy, plan, staging, scratch, choice.name)
        findings = _measure_claims(plan, published_baskets)
        refuse_broken(findings)
        release = replace(plan.release, data=published_baskets)
        attacks = _run_attacks(policy, release, original)
        utility = measure_basket_changes(original, published_baskets)
        facts = RunFacts(chance, commitment, format_public_key(key), utility, engine=choice)
        record = build_record(policy, release, published_baskets, findings, attacks, staging, facts)
        decision = decide(policy, record, attacks, published_baskets, original)
        record["advice"] = [
            *note_nothing_hidden(release),
            *note_ignored_time(policy),
            *list_advice(record, release),
        ]
        outgoing_certificate = build_outgoing_certificate(record, published_baskets)
        account = gather_outgoing_account(outgoing_certificate.model_dump(mode="json"), published_baskets)
        certificate = certify(account, outgoing_certificate, key, staging, is_refused=bool(decision.refusals))
        keep_private(policy, original, release, record, staging)
        keep_secrets(commitment, {}, staging)
        publication_notes = publish_decided(target, staging, decision)
    return Run(target.path, release, certificate, record, findings, attacks, *decision, publication_notes, {})


def _run_attacks(policy: Policy, release: Release, original: StoredBaskets) -> tuple[AttackResult, ...]:
    """The attacks of the policy, which was refused if one of them cannot run."""
    return tuple(AttackResult(attack, run_stored_attack(attack, release, original)) for attack in policy.attacks)


def describe_basket_source(policy: Policy) -> BasketSource:
    """The file of a policy's baskets."""
    data = policy.data
    return BasketSource(data.path, data.format, data.id, data.item, data.separator)


def _write_and_read_back(
    policy: Policy, plan: StoredHidingPlan, staging: StagingFolder, scratch: Path, engine: ChosenEngine
) -> StoredBaskets:
    """Write the baskets and read them again: from here on only the file counts."""
    escape = policy.output.escape_formulas
    form = write_published_baskets(plan, staging.release, policy.output.format, escape=escape)
    path = staging.release / find_shape(plan.original).name_file(form)
    published_baskets = open_published_baskets(path, form, scratch, engine, is_escaped=escape and form == "long")
    refuse_changed_baskets(plan, published_baskets)
    return published_baskets


def _measure_claims(plan: StoredHidingPlan, published_baskets: StoredBaskets) -> tuple[Finding, ...]:
    report_progress("measuring claims on the written file")
    evidence = BasketEvidence(published_baskets, plan.original, plan.release.details["sensitive"])
    return tuple(measure_stored_basket_claim(claim, evidence) for claim in plan.release.claims)
