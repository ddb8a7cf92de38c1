# SPDX-License-Identifier: MIT
"""The pipeline: read, protect, write, measure on the written file, attack, certify, publish.

Nothing is published before every claim holds on the written file, every attack has run and no limit of the gate is
exceeded; then everything appears at once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.attack import Attack
from sfumato.attack.attack import AttackResult
from sfumato.data.cells.text_codes import note_texts, remember_texts
from sfumato.data.reading.arrow_memory import return_free_memory
from sfumato.data.roles.role import Role
from sfumato.data.writing.format_limits import refuse_unwritable
from sfumato.engine.engine_names import EngineName
from sfumato.errors import ClaimBroken, PolicyError, name_source, quote_names
from sfumato.key import Key
from sfumato.measure.changes import ColumnDifference, measure_changes, refuse_false_statements
from sfumato.measure.checks import Evidence, measure_claim
from sfumato.protect.anonymity.explain import LevelReasons
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.release import Finding, Release, label_rows
from sfumato.report.run_account import RunAccount
from sfumato.runtime.lazy import find_tagged_class
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences
from sfumato.table import Table
from sfumato.workflow.attack_run import add_plain_linking, run_attacks
from sfumato.workflow.certificate import (
    NAME,
    Certificate,
)
from sfumato.workflow.chain import apply_methods
from sfumato.workflow.decision import decide, publish_decided
from sfumato.workflow.finished_run import Run
from sfumato.workflow.folder import ReservedTarget, StagingFolder, reserve_target
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.folders.private_record import keep_private, keep_secrets
from sfumato.workflow.outgoing import OutgoingCertificate, build_outgoing_certificate
from sfumato.workflow.policy import DEMO, Policy
from sfumato.workflow.policy_parts.policy_columns import refuse_unknown_columns
from sfumato.workflow.published_spelling import list_mixed_columns, spell_release
from sfumato.workflow.run_record import RunFacts, build_record, choose_run_format
from sfumato.workflow.second_process.side_work import SideWork, ask_early, begin_side_work, prepare_side_work
from sfumato.workflow.shapes.file_shapes import find_shape
from sfumato.workflow.shapes.read_back import read_back
from sfumato.workflow.signing.commitment import Commitment, commit_to_data, commit_to_source
from sfumato.workflow.signing.signature import format_public_key, load_signing_key, sign_certificate
from sfumato.workflow.stored.stored_support import choose_run_engine
from sfumato.workflow.summary.advice import advise_on_loss, note_nothing_hidden
from sfumato.workflow.summary.gathered_account import gather_account, gather_outgoing_account
from sfumato.workflow.summary.release_utility import measure_utility
from sfumato.workflow.summary.shown_detail import measure_shown_detail

__all__ = ["Run", "run_policy"]


def run_policy(
    policy: Policy,
    out: str | Path | None = None,
    randomness: Randomness | None = None,
    given_data: Any = None,
    engine: EngineName | None = None,
) -> Run:
    """Run a policy, on its own data or on `given_data`; `ClaimBroken` or `ImpossibleRelease` leave nothing behind.

    `engine` replaces the policy's choice of where rows are counted.
    """
    _refuse_foreign_classes(policy)
    engine_name = engine or policy.data.engine
    if given_data is not None and engine_name in ("duckdb", "spark"):
        raise PolicyError(f"the engine {engine_name} reads files: give the path of one, not data that is in memory")
    choice = None if given_data is not None else choose_run_engine(policy, engine)
    # A memory key may lie in the target: nobody else moves it.
    with reserve_target(Path(out or policy.output.path)) as target, remember_texts():
        if choice is not None and choice.name != "memory":
            from sfumato.workflow.stored.stored_basket_run import run_stored_baskets
            from sfumato.workflow.stored.stored_run import reopen_release, run_stored

            if policy.shape == "baskets":
                return run_stored_baskets(policy, target, randomness, choice)
            return reopen_release(run_stored(policy, target, randomness, choice))
        with prepare_side_work(policy, given_data):
            return _run_in_place(policy, target, randomness, given_data)


def _refuse_foreign_classes(policy: Policy) -> None:
    """Refuse classes of other packages: who reads the certificate finds methods and attacks by their names alone."""
    for kind, descriptions in (("method", policy.protect), ("attack", policy.attack)):
        for description in descriptions:
            tag = getattr(description, kind)
            if find_tagged_class(kind, tag) is not type(description):
                raise PolicyError(
                    f'{type(description).__name__} ({kind} = "{tag}") is not part of this version of sfumato, so that '
                    f"nobody could verify a release that names it; add it as CONTRIBUTING.md says, with {kind}: "
                    f'Literal["{tag}"] = "{tag}" on one line'
                    + ("; or use its protect(data) with sf.check, which sign nothing" if kind == "method" else "")
                )


class _RunInput(NamedTuple):
    """The data of a run, and what proves later that they were its input."""

    original: Any
    commitment: Commitment | None


def _run_in_place(policy: Policy, target: ReservedTarget, randomness: Randomness | None, given_data: Any) -> Run:
    clock = _StepClock()
    key, chance, methods = load_signing_key(), randomness or Randomness.secure(), policy.methods
    is_read = given_data is None
    original, commitment = _read_input(policy, given_data)
    clock.record_step("read")
    with ask_early(methods) as question, name_source(policy.data.path if is_read else ""):
        release, original, keys, mixed_names = _protect(policy, original, chance, is_read=is_read)
    clock.record_step("protect")
    with target.stage_folders() as staging, begin_side_work(methods, original, release, question.reasons) as side:
        published_data = _write_and_read_back(release, policy, staging)
        clock.record_step("write")
        tests = _test_written_file(policy, release, original, published_data, mixed_names)
        clock.record_step("attack")
        facts = RunFacts(
            chance,
            commitment,
            format_public_key(key),
            measure_utility(policy, published_data, original, release, keys),
            original.identifying if isinstance(published_data, Table) else (),
            measure_shown_detail(policy, published_data, original, release),
        )
        record = build_record(policy, release, published_data, tests.findings, tests.attacks, staging, facts)
        decision = decide(policy, record, tests.attacks, published_data, original)
        run_account = gather_account(policy, original, release, published_data, record, clock.seconds)
        loss = facts.utility.get("loss")
        reasons, advice = _collect_side_work(side, methods, release, original, published_data, loss)
        notes = (*note_nothing_hidden(release), *_note_reading(policy, original, given_data))
        record["advice"] = [*advice, *notes]
        run_account = replace(
            run_account,
            differences=tests.differences,
            reasons=tuple(level_reason.describe_reason() for level_reason in reasons.whys),
            lattice=reasons.lattice,
            advice=(*record["advice"], *run_account.advice),
        )
        clock.record_step("compare")
        outgoing_certificate = build_outgoing_certificate(record, published_data)
        certificate = certify(run_account, outgoing_certificate, key, staging, is_refused=bool(decision.refusals))
        keep_private(policy, original, release, record, staging)
        keep_secrets(commitment, keys, staging)
        publication_notes = publish_decided(target, staging, decision)
    if policy.output.order == "as_read":
        label_rows(release, original)
    parts = (certificate, record, tests.findings, tests.attacks, *decision, publication_notes, keys)
    return Run(target.path, release, *parts)


def _read_input(policy: Policy, given_data: Any) -> _RunInput:
    """The data of the policy or those given, refused before any work if the policy does not fit them."""
    report_progress("reading")
    original = policy.read_original() if given_data is None else given_data
    refuse_unknown_columns(policy, original)
    _refuse_format(policy, original)
    commitment = _commit_to_input(policy) if given_data is None else commit_to_data(given_data)
    _remember_columns(original)
    return _RunInput(original, commitment)


class _FileTests(NamedTuple):
    """What was found on the written file."""

    findings: tuple[Finding, ...]
    differences: dict[str, ColumnDifference]
    attacks: tuple[AttackResult, ...]


def _test_written_file(
    policy: Policy, release: Release, original: Any, published_data: Any, mixed_names: Sequence[str]
) -> _FileTests:
    """Measure every claim and change on the file, and attack it; a broken claim stops the release."""
    findings = _measure_written_claims(release, original, published_data, mixed_names)
    differences = _measure_column_changes(release, original, published_data)
    return_free_memory()  # linking needs most of all
    on_file = replace(release, data=published_data)
    return _FileTests(findings, differences, run_attacks(_choose_attacks(policy, on_file), on_file, original))


class _SideFindings(NamedTuple):
    """What the other process was asked."""

    reasons: LevelReasons
    """Why levels are as they are."""
    advice: tuple[str, ...]
    """What would have lost less, and whether that was found in time."""


def _collect_side_work(
    side: SideWork,
    methods: tuple[Method, ...],
    release: Release,
    original: Any,
    published_data: Any,
    loss: float | None,
) -> _SideFindings:
    """Wait for the other process, or find out here what it was not asked."""
    reasons = side.collect_reasons(release, original)
    advice = advise_on_loss(methods, original, published_data, loss, side.collect_alternatives())
    return _SideFindings(reasons, (*advice, *side.list_notes()))


class _ComparableRelease(NamedTuple):
    """The release as it is written, the originals that it is compared with, and the keys that stay."""

    release: Release
    original: Any
    keys: Mapping[str, Key]
    mixed_names: list[str]
    """The columns whose values are distinguished in another way than the methods did it."""


def _protect(policy: Policy, original: Any, chance: Randomness, *, is_read: bool) -> _ComparableRelease:
    """Apply the methods; what is published is spelled by its own cells, and the originals are spelled alike."""
    protected_data = apply_methods(policy, original, chance)
    spelled_release = spell_release(protected_data.release, original, policy, is_read=is_read)
    if spelled_release.original is not original:
        _remember_columns(spelled_release.original)
    return _ComparableRelease(
        _order_rows_by_policy(spelled_release.release, policy, chance),
        spelled_release.original,
        protected_data.keys,
        list_mixed_columns(original, spelled_release.original),
    )


def _refuse_format(policy: Policy, original: Any) -> None:
    """Stop before any work if the format cannot hold the table; methods may still change quasi-identifying cells."""
    if isinstance(original, Table) and policy.gives == "table":
        sure = tuple(name for name, role in original.roles.items() if role in (Role.SENSITIVE, Role.INSENSITIVE))
        refuse_unwritable(original.frame.drop(original.identifying), policy.output.format, sure=sure)


def _order_rows_by_policy(release: Release, policy: Policy, randomness: Randomness) -> Release:
    """Shuffle the rows if the policy says so, and track which row is which."""
    data = release.data
    if policy.output.order == "as_read" or not isinstance(data, Table | Sequences):
        return release
    order = randomness.generator().permutation(len(data))
    shuffled_data = data.replace_frame(data.frame[order]) if isinstance(data, Table) else data.take(order)
    return replace(release, data=shuffled_data, details=release.details.follow(order))


class _StepClock:
    """How long each step took."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def record_step(self, step: str) -> None:
        """End a step; the next one has the memory that it does not need any more."""
        return_free_memory()
        step_end = time.perf_counter()
        self.seconds[step] = step_end - self._last
        self._last = step_end


def _write_and_read_back(release: Release, policy: Policy, staging: StagingFolder) -> Any:
    """Write the data and read it back: from here on only the file counts."""
    report_progress("writing")
    shape, form = find_shape(release.data), choose_run_format(policy, release)
    path = staging.release / shape.name_file(form)
    shape.write(release.data, path, form, escape=policy.output.escape_formulas)
    description = shape.describe_file(release.data, form, escape=policy.output.escape_formulas)
    published_data = read_back(
        shape, release.data, path, {**description, "data": {**description["data"], "format": form}}
    )
    _remember_columns(published_data)
    return published_data


def _remember_columns(data: Any) -> None:
    """Number the texts of a table once for all that is done with it."""
    if isinstance(data, Table):
        note_texts(data.frame)


def _measure_written_claims(
    release: Release, original: Any, published_data: Any, mixed_names: Sequence[str]
) -> tuple[Finding, ...]:
    report_progress("measuring claims on the written file")
    evidence = Evidence(
        published_data, original, release.details.rows, release.details.get("population"), release.details
    )
    findings = tuple(measure_claim(claim, evidence) for claim in release.claims)
    refuse_broken(findings, mixed_names)
    return findings


def refuse_broken(findings: tuple[Finding, ...], mixed_names: Sequence[str] = ()) -> None:
    """Stop a release if a claim does not hold on the written file; `mixed_names` may be why."""
    broken_findings = [finding for finding in findings if not finding.holds]
    if broken_findings:
        broken_text = "; ".join(f"{f.title()}: promised {f.threshold}, measured {f.measured}" for f in broken_findings)
        raise ClaimBroken(
            f"nothing was released, because claims did not hold on the written file: {broken_text}"
            + (f"; {_suggest_one_spelling(mixed_names)}" if mixed_names else "")
        )


def _suggest_one_spelling(names: Sequence[str]) -> str:
    return (
        f"in {quote_names(names)}, the same number or date is written in several ways, as 1 and 1.0, and some cells "
        "are hidden: write each in one way, state the form of dates under [data], or keep words as text in Parquet"
    )


def _measure_column_changes(release: Release, original: Any, published_data: Any) -> dict[str, ColumnDifference]:
    """How each column of the written file differs from the originals; refuses false statements of methods."""
    if not isinstance(published_data, Table) or release.are_rows_drawn:
        return {}  # synthetic rows have no original
    differences = measure_changes(original, published_data, release.details.rows)
    refuse_false_statements(release.changes, differences)
    return differences


def _choose_attacks(policy: Policy, release: Release) -> tuple[Attack, ...]:
    """The attacks of the policy, and linking, which the gate needs."""
    attacks, known_columns = policy.attacks, release.list_readable_columns()
    nobodys = release.are_rows_drawn and policy.gate.max_linking_risk is None
    if nobodys or not known_columns:
        return attacks
    return add_plain_linking(attacks, known_columns, has_codes=known_columns != release.data.quasi_identifying)


def _note_reading(policy: Policy, original: Any, given_data: Any) -> tuple[str, ...]:
    """What of the file was not read, for the custodian."""
    if isinstance(original, Sequences) and original.points is not None and original.points.left_out:
        return (f"{original.points.describe()} If they matter, choose regions that hold them.",)
    if given_data is not None or policy.shape != "baskets":
        return ()
    from sfumato.workflow.drafts.event_columns import note_ignored_time

    return tuple(note_ignored_time(policy))


def _commit_to_input(policy: Policy) -> Commitment | None:
    """A commitment to the files that the data came from; None for the built-in population."""
    return None if policy.data.path == DEMO else commit_to_source(policy.data.path)


def certify(
    account: RunAccount, certificate: OutgoingCertificate, key: Any, staging: StagingFolder, *, is_refused: bool
) -> Certificate:
    """Write both reports, then the certificate that covers every file of the release."""
    from sfumato.report import render_report

    report_progress("drawing the report")
    (staging.private / "report.html").write_text(render_report(account), encoding="utf-8")
    body = certificate.model_dump(mode="json")
    if is_refused:
        return Certificate({**body, "files": {}, "signer": format_public_key(key), "signature": None})
    outgoing_account = gather_outgoing_account(body, account.published_data)
    (staging.release / "report.html").write_text(render_report(outgoing_account), encoding="utf-8")
    files = {path.name: hash_file(path) for path in sorted(staging.release.iterdir())}
    signed_certificate = Certificate.of(sign_certificate({**body, "files": files}, key))
    (staging.release / NAME).write_bytes(signed_certificate.raw)
    return signed_certificate
