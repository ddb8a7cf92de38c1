# SPDX-License-Identifier: MIT
"""The pipeline for a table that stays in its files: count, search, write some rows at a time, measure, judge.

The same steps as `pipeline`, in the same order and with the same refusals. Claims, changes and attacks are measured on
the written file, counted where it is. The report holds what follows from counts: it is the public page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import polars as pl

from sfumato.attack.attack import AttackResult
from sfumato.attack.stored_attack import run_stored_attack
from sfumato.change_kinds import CellDifference
from sfumato.data.reading.arrow_memory import return_free_memory
from sfumato.data.reading.table_reader import TextFormat
from sfumato.engine.aligned_batches import ROW
from sfumato.engine.choice import EngineChoice
from sfumato.engine.engine_names import ChosenEngine
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.read_ahead import read_ahead
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.staging import DateReading, open_stored_rows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import name_source
from sfumato.measure.anonymity.stored_classes import count_stored_sizes
from sfumato.measure.changes import refuse_false_statements
from sfumato.measure.stored_changes import StoredComparison, compare_stored
from sfumato.measure.stored_claims import StoredEvidence, measure_stored_claim
from sfumato.protect.stored_method import plan_stored
from sfumato.protect.stored_plan import StoredPlan
from sfumato.published_law import read_laws
from sfumato.randomness import Randomness
from sfumato.release import Finding, Release
from sfumato.report.run_account import RunAccount
from sfumato.report.sections.chosen_sections import build_outgoing_sections
from sfumato.runtime.progress import report_progress
from sfumato.workflow.attack_run import add_plain_linking
from sfumato.workflow.certificate import NAME, Certificate
from sfumato.workflow.decision import decide, publish_decided
from sfumato.workflow.finished_run import Run
from sfumato.workflow.folder import ReservedTarget, StagingFolder
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.folders.private_record import keep_private, keep_secrets
from sfumato.workflow.outgoing import build_outgoing_certificate, count_labels
from sfumato.workflow.policy import Policy
from sfumato.workflow.policy_parts.policy_columns import refuse_unknown_columns
from sfumato.workflow.run_record import RunFacts, build_record
from sfumato.workflow.signing.commitment import commit_to_stored_source
from sfumato.workflow.signing.signature import format_public_key, load_signing_key, sign_certificate
from sfumato.workflow.stored.stored_shape import has_few_values
from sfumato.workflow.stored.stored_shown_detail import measure_stored_shown_detail
from sfumato.workflow.stored.stored_spelling import decide_stored_spelling
from sfumato.workflow.stored.stored_utility import measure_stored_utility, refuse_unmeasured_losses
from sfumato.workflow.summary.gathered_account import hides_in_crowds
from sfumato.workflow.summary.next_steps import list_advice

DATA = "data.parquet"


def run_stored(policy: Policy, target: ReservedTarget, randomness: Randomness | None, choice: EngineChoice) -> Run:
    """Run a policy on data that stays in its files."""
    with open_scratch_folder() as scratch:
        return _run_in_scratch(policy, target, randomness or Randomness.secure(), choice, scratch)


def _run_in_scratch(
    policy: Policy, target: ReservedTarget, chance: Randomness, choice: EngineChoice, scratch: Path
) -> Run:
    from sfumato.workflow.pipeline import refuse_broken

    key = load_signing_key()
    report_progress("reading")
    original = open_original(policy, scratch, choice.name)
    with target.stage_folders() as staging:
        original.rows.refuse_unseen(staging.private)
    commitment = commit_to_stored_source(policy.data.path, scratch)
    method = policy.methods[0]
    method.refuse_undeclared(original.outline)
    with name_source(policy.data.path):
        plan = plan_stored(method, original, chance)
    refuse_unmeasured_losses(plan.changes)
    with target.stage_folders() as staging:
        comparison = _write_and_compare(policy, plan, staging, scratch)
        published_table = comparison.published_table
        evidence = StoredEvidence(published_table, comparison, plan.details.get("population"), scratch, plan.details)
        findings = _measure_claims(plan, evidence)
        refuse_broken(findings, _list_retyped_columns(plan, published_table))
        refuse_false_statements(plan.changes, comparison.differences)
        release = Release(
            data=published_table,
            method=method,
            claims=plan.claims,
            losses=plan.losses,
            details=plan.details,
            changes=plan.changes,
            suppression=plan.suppression,
        )
        attacks = _run_attacks(policy, release, comparison)
        facts = RunFacts(
            chance,
            commitment,
            format_public_key(key),
            measure_stored_utility(release, evidence, original),
            original.outline.identifying,
            measure_stored_shown_detail(method, comparison),
            engine=choice,
        )
        record = build_record(policy, release, published_table, findings, attacks, staging, facts)
        decision = decide(policy, record, attacks, published_table, original)
        record["advice"] = list(list_advice(record, release, in_order=False))  # nothing else is offered
        certificate = _certify(record, evidence, key, staging, is_refused=bool(decision.refusals))
        keep_private(policy, original, release, record, staging)
        keep_secrets(commitment, {}, staging)
        publication_notes = publish_decided(target, staging, decision)
    return Run(target.path, release, certificate, record, findings, attacks, *decision, publication_notes, {})


def _list_retyped_columns(plan: StoredPlan, published_table: StoredTable) -> list[str]:
    """The columns of text that are published as numbers, so that 1.0 and 1 are no longer distinguished."""
    published_schema = published_table.outline.frame.schema
    return [
        name
        for name, kind in plan.outline.frame.schema.items()
        if kind == pl.String and published_schema[name].is_numeric()
    ]


def open_original(policy: Policy, scratch: Path, engine: ChosenEngine = "duckdb") -> StoredTable:
    """The originals of a policy, with their roles and hierarchies; refuses columns that they do not have."""
    data = policy.data
    text = TextFormat(
        data.separator,
        data.missing_marks,
        data.header,
        data.columns,
        data.encoding,
        comment=data.comment,
        trim=data.trim,
        decimal=data.decimal,
    )
    dates = DateReading(data.dates, tuple(policy.hierarchies))
    rows = open_stored_rows(data.path, text, scratch, engine, dates)
    original = StoredTable.of(rows, policy.roles.group_by_column(), policy.hierarchies, data.missing)
    refuse_unknown_columns(policy, original.outline)
    return original


def _write_and_compare(policy: Policy, plan: StoredPlan, staging: StagingFolder, scratch: Path) -> StoredComparison:
    """Write the data, open the file, and compare it with the originals: from here on only the file counts."""
    path, numbers = staging.release / DATA, staging.private / "rows.parquet"
    spelling = decide_stored_spelling(policy, plan, _publish(plan))
    total = plan.table.rows.height
    write_batches(read_ahead(spelling.apply(batch) for batch in _publish(plan)), path, total)
    taken_rows = None
    if plan.leaves_rows_out:
        write_batches(_number_rows(plan), numbers, total, "noting which rows were published")
        taken_rows = plan.table.rows.open_files([numbers], scratch, numbers.name)
    outline = plan.outline
    written_rows = plan.table.rows.open_files([path], scratch, DATA)
    published_table = StoredTable(written_rows, outline.roles, outline.hierarchies, outline.missing)
    random_columns = {
        change.column for change in plan.changes if CellDifference.OTHER in change.kind.meaning.differences
    }
    return compare_stored(plan.table, published_table, taken_rows, random_columns)


def _publish(plan: StoredPlan) -> Iterator[pl.DataFrame]:
    yield plan.outline.frame  # a file of no rows has columns, too
    kept_columns = [name for name in plan.table.rows.schema if name not in plan.table.outline.identifying]
    yield from plan.table.rows.map_batches(plan.publish_coded, kept_columns)


def _number_rows(plan: StoredPlan) -> Iterator[pl.DataFrame]:
    def number_batch(batch: pl.DataFrame, first: int) -> pl.DataFrame:
        return (plan.publish_numbered(batch, first).row_numbers + first).cast(pl.Int64).alias(ROW).to_frame()

    yield from plan.table.rows.map_batches(number_batch)


def _measure_claims(plan: StoredPlan, evidence: StoredEvidence) -> tuple[Finding, ...]:
    findings = []
    for number, claim in enumerate(plan.claims):
        report_progress("measuring claims on the written file", number, len(plan.claims))
        findings.append(measure_stored_claim(claim, evidence))
    evidence.forget_values()
    return_free_memory()  # attacks count once more
    return tuple(findings)


def _run_attacks(policy: Policy, release: Release, comparison: StoredComparison) -> tuple[AttackResult, ...]:
    """The attacks of the policy, and linking, which the gate needs if people can be looked up."""
    known_columns = comparison.published_table.quasi_identifying
    attacks = add_plain_linking(policy.attacks, known_columns) if known_columns else policy.attacks
    outcomes = []
    for number, attack in enumerate(attacks):
        report_progress("attacking", number, len(attacks))
        outcome = run_stored_attack(attack, release, comparison.original, comparison.taken_rows)
        outcomes.append(AttackResult(attack, outcome))
    return tuple(outcomes)


def _certify(
    record: Mapping[str, Any], evidence: StoredEvidence, key: Any, staging: StagingFolder, *, is_refused: bool
) -> Certificate:
    """Write the report, then the certificate that covers every file of the release."""
    from sfumato.report import render_report

    report_progress("drawing the report")
    body = build_outgoing_certificate(record, evidence.published_table).model_dump(mode="json")
    page = render_report(_gather_account(body, evidence))
    (staging.private / "report.html").write_text(page, encoding="utf-8")
    if is_refused:
        return Certificate({**body, "files": {}, "signer": format_public_key(key), "signature": None})
    (staging.release / "report.html").write_text(page, encoding="utf-8")
    files = {path.name: hash_file(path) for path in sorted(staging.release.iterdir())}
    signed_certificate = Certificate.of(sign_certificate({**body, "files": files}, key))
    (staging.release / NAME).write_bytes(signed_certificate.raw)
    return signed_certificate


def _gather_account(body: Mapping[str, Any], evidence: StoredEvidence) -> RunAccount:
    """The content of the report, from the certificate and from counts of the released file alone."""
    published_table = evidence.published_table
    listed_columns = [name for name in published_table.rows.schema if has_few_values(published_table, name)]
    values = {name: published_table.count_values(name) for name in listed_columns}
    stars = "suppressed" if body["suppression"]["rows"] else "class"
    crowds = bool(published_table.quasi_identifying) and hides_in_crowds(method["method"] for method in body["methods"])
    sizes = pl.DataFrame(
        {"size": count_stored_sizes(evidence, {"starred_rows": stars}) if crowds else np.zeros(0, dtype=np.int64)}
    )
    return RunAccount(
        title=body["title"],
        certificate=body,
        published_data=published_table,
        sizes_after=sizes.group_by("size")
        .agg(pl.len().cast(pl.Int64).alias("classes"), pl.col("size").sum().alias("rows"))
        .sort("size"),
        distributions={
            name: count_labels(value_counts.frame[name], value_counts.counts) for name, value_counts in values.items()
        },
        sections=build_outgoing_sections(read_laws(body["public"]), published_table),
    )


def reopen_release(run: Run) -> Run:
    """The run with its data where it was published."""
    path = run.out / "release" / DATA
    if not path.exists():
        return run
    data = run.release.data
    rows = data.rows.open_files([path], Path(gettempdir()), str(path))
    table = StoredTable(rows, data.roles, data.hierarchies, data.missing)
    return replace(run, release=replace(run.release, data=table))
