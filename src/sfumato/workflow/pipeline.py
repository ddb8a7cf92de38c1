# SPDX-License-Identifier: MIT
"""The data's way: read, protect, write, measure again on the written file, attack, certify, publish.

It never goes back. Nothing is published before every claim held on the file as written, every attack ran
and the gate let it pass; then everything appears at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.attack import Attack, Linking, Outcome
from sfumato.data.read import input_files
from sfumato.data.write import write_frame
from sfumato.details import SynthesisDetails
from sfumato.errors import ClaimBroken
from sfumato.measure.changes import ColumnDifference, measure_changes, refuse_false_statements
from sfumato.measure.checks import Evidence, measured
from sfumato.progress import tell
from sfumato.protect.method import KeyedMethod
from sfumato.randomness import Randomness
from sfumato.release import Finding, Release
from sfumato.report.account import Account
from sfumato.table import Table
from sfumato.workflow.account import account, outgoing_account, suppression, utility
from sfumato.workflow.attack_run import attacked
from sfumato.workflow.certificate import (
    NAME,
    Certificate,
    finding_json,
    population_of,
    stamp,
    versions,
)
from sfumato.workflow.chain import protect
from sfumato.workflow.commitment import OPENING, Commitment, commit
from sfumato.workflow.file_shapes import shape_of
from sfumato.workflow.folder import Place, Staging, reserved
from sfumato.workflow.gate import Refusal, compare_limits, list_refusals
from sfumato.workflow.manifest import sha256
from sfumato.workflow.outgoing import FORMAT, OutgoingCertificate, outgoing
from sfumato.workflow.policy import DEMO, PATHS, Policy
from sfumato.workflow.signature import public_text, sign_certificate, signing_key


@dataclass(frozen=True)
class Run:
    """What a run did."""

    out: Path
    """The folder that was written."""
    certificate: Certificate
    """What leaves; unsigned, and without files, where the gate refused."""
    record: Mapping[str, Any]
    """Everything that was found, for the custodian alone: counts of attacks, losses, what claims measured."""
    findings: tuple[Finding, ...]
    """Every claim, as measured on the written file."""
    attacks: tuple[tuple[Attack, Outcome], ...]
    """The attacks that ran, with their outcomes."""
    refusals: tuple[Refusal, ...]
    """The limits of the gate that were exceeded."""
    kept: tuple[str, ...] = ()
    """Sentences about files of earlier runs that were kept under another name: keys, and what a user changed."""

    @property
    def published(self) -> bool:
        """Whether there is a release."""
        return not self.refusals

    def as_json(self) -> dict[str, Any]:
        """The run for the custodian's script: it counts the originals, and is not for others."""
        body = self.record
        release = self.out / "release"
        return {
            "audience": "custodian",
            "release_dir": str(release) if self.published else None,
            "private_dir": str(self.out / ("private" if self.published else "refused")),
            "report": str(release / "report.html") if self.published else None,
            "claims": [asdict(finding) for finding in self.findings],
            "losses": dict(body["losses"]),
            "utility": dict(body["utility"]),
            "attacks": list(body["attacks"]),
            "levels": dict(body["levels"]),
            "suppressed_rows": body["suppression"]["rows"],
            "formulas": dict(body["formulas"]),
            "gate": list(body["gate"]),
            "signer": body["signer"],
            "kept": list(self.kept),
        }


def run(policy: Policy, out: str | Path | None = None, randomness: Randomness | None = None) -> Run:
    """Carry out a policy; `ClaimBroken` or `ImpossibleRelease` leave nothing behind."""
    with reserved(Path(out or policy.output.path)) as place:  # a memory key may lie in the target: nobody else moves it
        return _run(policy, place, randomness)


def _run(policy: Policy, place: Place, randomness: Randomness | None) -> Run:
    clock = _Clock()
    key = signing_key()
    tell("reading")
    original = policy.original()
    sealed = _commit_to_input(policy)
    clock.lap("read")
    chance = randomness or Randomness.secure()
    protected = protect(policy, original, chance)
    release = _ordered(protected.release, policy, chance)
    clock.lap("protect")
    with place.staged() as staging:
        published = _write(release, policy, staging)
        clock.lap("write")
        findings = _measured_again(release, original, published)
        differences = _measure_changes(release, original, published)
        on_file = replace(release, data=published)
        attacks = attacked(_attacks(policy, on_file), on_file, original)
        clock.lap("attack")
        record = _record(policy, release, published, findings, attacks, staging, chance)
        record["input_commitment"] = None if sealed is None else sealed.value
        record["utility"] = utility(policy, published, original, release)
        record["removed_columns"] = list(original.identifying) if isinstance(original, Table) else []
        record["gate"] = compare_limits(policy, record, attacks)
        record["signer"] = public_text(key)
        refusals = list_refusals(record["gate"])
        told = replace(account(policy, original, release, published, record, clock.seconds), differences=differences)
        clock.lap("compare")
        certificate = _certify(told, outgoing(record, published), key, staging, refused=bool(refusals))
        _keep_private(policy, original, release, record, staging)
        if sealed is not None:
            sealed.save(staging.private / OPENING)
        for name, secret in protected.keys.items():
            secret.save(staging.private / f"{name}.key.json")
        tell("publishing")
        if refusals:
            _only_the_refusal(staging)
        kept = place.publish()
    return Run(place.named, certificate, record, findings, attacks, refusals, kept)


def _ordered(release: Release, policy: Policy, randomness: Randomness) -> Release:
    """Shuffle the rows if the policy says so, and remember which is which."""
    if policy.output.order == "as_read" or not isinstance(release.data, Table):
        return release
    order = randomness.generator().permutation(len(release.data))
    data = release.data.with_frame(release.data.frame[order])
    return replace(release, data=data, details=release.details.follow(order))


class _Clock:
    """How long each step took."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.seconds[step] = now - self._last
        self._last = now


def _format(policy: Policy, release: Release) -> str:
    return policy.output.format or shape_of(release.data).usual_format(release.data)


def _write(release: Release, policy: Policy, staging: Staging) -> Any:
    """Write the data and read it back: from here on only the file counts."""
    tell("writing")
    shape, form = shape_of(release.data), _format(policy, release)
    path = staging.release / shape.file(form)
    shape.write(release.data, path, form, escape=policy.output.escape_formulas)
    told = shape.described(release.data, form, escape=policy.output.escape_formulas)
    read = shape.read(path, {**told, "data": {**told["data"], "format": form}})
    shape.refuse_changed(release.data, read)
    return release.data.with_frame(read.frame) if isinstance(read, Table) else read


def _measured_again(release: Release, original: Any, published: Any) -> tuple[Finding, ...]:
    tell("measuring claims on the written file")
    evidence = Evidence(
        published, original, release.details.get("rows"), population_of(release.method), release.details
    )
    findings = tuple(measured(claim, evidence) for claim in release.claims)
    broken = [found for found in findings if not found.holds]
    if broken:
        said = "; ".join(f"{f.property}: promised {f.threshold}, measured {f.measured}" for f in broken)
        raise ClaimBroken(f"nothing was released, because claims did not hold on the written file: {said}")
    return findings


def _measure_changes(release: Release, original: Any, published: Any) -> dict[str, ColumnDifference]:
    """How each column of the written file differs from the originals; what methods state of it must be true."""
    synthesis = release.details.part(SynthesisDetails)
    if not isinstance(published, Table) or (synthesis is not None and synthesis.training is not None):
        return {}  # drawn rows are nobody's: there is no original beside them
    differences = measure_changes(original, published, release.details.rows)
    refuse_false_statements(release.changes, differences)
    return differences


def _attacks(policy: Policy, release: Release) -> tuple[Attack, ...]:
    """The attacks of the policy; the gate needs linking even if the policy forgot it."""
    named, published = policy.attacks(), release.data
    coded = any(isinstance(method, KeyedMethod) for method in policy.methods())
    drawn = release.details.part(SynthesisDetails)
    nobodys = drawn is not None and drawn.training is not None and policy.gate.max_linking_risk is None
    linkable = isinstance(published, Table) and bool(published.quasi_identifying) and not coded and not nobodys
    forgotten = linkable and not any(isinstance(attack, Linking) for attack in named)
    return (Linking(), *named) if forgotten else named


def _commit_to_input(policy: Policy) -> Commitment | None:
    """A commitment to the files that the data came from; None for the built-in population."""
    return None if policy.data.path == DEMO else commit(input_files(policy.data.path))


def _record(
    policy: Policy,
    release: Release,
    published: Any,
    findings: tuple[Finding, ...],
    attacks: tuple[tuple[Attack, Outcome], ...],
    staging: Staging,
    randomness: Randomness,
) -> dict[str, Any]:
    form, shape = _format(policy, release), shape_of(release.data)
    told = shape.described(release.data, form, escape=policy.output.escape_formulas)
    return {
        **told,
        "format": FORMAT,
        "title": policy.title,
        "created": stamp(),
        "versions": versions(),
        "maturity": release.method.maturity,
        "for_publication": randomness.for_publication,
        "data": {
            "file": shape.file(form),
            "shape": shape.name,
            "format": form,
            **told["data"],
            "sha256": sha256(staging.release / shape.file(form)),
        },
        "methods": [_described(method) for method in policy.methods()],
        "claims": [finding_json(c, f) for c, f in zip(release.claims, findings, strict=True)],
        "losses": dict(release.losses),
        "public": dict(release.public),
        "formulas": shape.count_formulas(published),
        "changes": [asdict(change) for change in release.changes],
        "levels": dict(release.details.get("levels", {})),
        "heights": dict(release.details.get("heights", {})),
        "suppression": suppression(policy, release),
        "attacks": [
            {**_described(attack), **outcome.as_json(), "parameters": _described(attack)} for attack, outcome in attacks
        ],
    }


def _described(description: Any) -> dict[str, Any]:
    """A method or attack with its parameters; of a file only the name, since folders are the custodian's."""
    said: dict[str, Any] = description.described()
    for one in (said, *said.get("models", ())):
        one |= {name: Path(one[name]).name for name in PATHS if isinstance(one.get(name), str)}
    if hasattr(description, "iso_20889"):
        said["iso_20889"] = description.iso_20889
    return said


def _certify(
    account: Account, certificate: OutgoingCertificate, key: Any, staging: Staging, *, refused: bool
) -> Certificate:
    """Write both reports, then the certificate that covers every file of the release."""
    from sfumato.report import render

    tell("drawing the report")
    (staging.private / "report.html").write_text(render(account), encoding="utf-8")
    body = certificate.model_dump(mode="json")
    if refused:
        return Certificate({**body, "files": {}, "signer": public_text(key), "signature": None})
    leaving = outgoing_account(body, account.published)
    (staging.release / "report.html").write_text(render(leaving), encoding="utf-8")
    files = {path.name: sha256(path) for path in sorted(staging.release.iterdir())}
    signed = Certificate.of(sign_certificate({**body, "files": files}, key))
    (staging.release / NAME).write_bytes(signed.raw)
    return signed


def _keep_private(policy: Policy, original: Any, release: Release, found: Mapping[str, Any], staging: Staging) -> None:
    """The custodian's record: what must not leave, and what it takes to check every claim later."""
    details = release.details
    if "rows" in details:
        write_frame(pl.DataFrame({"original_row": details["rows"]}), staging.private / "rows.parquet", "parquet")
    for name, told in details.items():
        if isinstance(told, pl.DataFrame):
            write_frame(told, staging.private / f"{name}.parquet", "parquet")
    table = isinstance(original, Table)
    record = {
        "found": dict(found),
        "source": original.source if table else policy.data.path,
        "rows": len(original),
        "columns": original.frame.columns if table else None,
        "roles": {name: role.value for name, role in original.roles.items()} if table else None,
        "policy": policy.model_dump(mode="json"),
        **{name: [int(row) for row in details.get(name, ())] for name in ("holdout", "training")},
        "suppressed_rows": [int(row) for row in details.get("suppressed", ())],
        **{name: details.get(name) for name in ("nodes", "checked", "derived", "private", "changes", "sensitive")},
    }
    path = staging.private / "record.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False, default=str), encoding="utf-8")
    for file in staging.private.iterdir():
        file.chmod(0o600)


def _only_the_refusal(staging: Staging) -> None:
    """The gate stayed shut: keep the report for the custodian, and nothing that could leave."""
    for file in staging.release.iterdir():
        file.unlink()
    staging.release.rmdir()
    staging.private.rename(staging.root / "refused")
