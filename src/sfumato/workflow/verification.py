# SPDX-License-Identifier: MIT
"""Check a release folder from its files alone, as someone who trusts neither them nor their sender.

`verify` needs only the folder, and says which claims it cannot check without the originals. Whatever the files hold, it
neither crashes nor hangs: they are read under limits, and measuring all claims has a limit of time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sfumato.baskets import Baskets
from sfumato.data.reading.binary import check_binary
from sfumato.data.writing.table_writer import MARKS
from sfumato.details import Details
from sfumato.engine.choice import EngineChoice
from sfumato.engine.engine_names import ChosenEngine, EngineName
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.staging import open_parquet
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import CertificateRefused, SfumatoError, quote_names
from sfumato.lazy import find_tagged_class
from sfumato.measure.anonymity.unique_rows import UniqueRows
from sfumato.measure.baskets.stored_hiding import BasketEvidence, measure_stored_basket_claim
from sfumato.measure.checks import Evidence, has_known_form, measure_claim
from sfumato.measure.stored_claims import StoredEvidence, measure_stored_claim
from sfumato.protect.method import KeyedMethod
from sfumato.release import Claim, Finding, Number, Release
from sfumato.table import Table
from sfumato.workflow.certificate import NAME, Certificate, find_release_folder, refuse_hostile
from sfumato.workflow.folders.leftovers import is_unfinished
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.outgoing import CertifiedAttack
from sfumato.workflow.published_columns import AnyTable, get_outline, split_columns
from sfumato.workflow.shapes.file_shapes import find_shape
from sfumato.workflow.shapes.verified_data import choose_verifying_engine, open_verified_baskets, refuse_packed
from sfumato.workflow.signing.commitment import does_source_match
from sfumato.workflow.signing.signature import check_signature
from sfumato.workflow.verdict import (
    find_unique,
    list_objections,
    list_warnings,
)

MOST_PROBLEMS = 20
"""How many problems are listed; the rest are counted."""
SECONDS = 600.0
"""How long measuring the claims of an untrusted certificate may take."""
VerificationOutcome = Literal["as certified", "not as certified", "not verified in time"]
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HOLES = 1000
"""A file this many times longer than its space on disk is sparse, and reading it would take forever."""


def read_release(folder: str | Path) -> Release:
    """A release as its recipient has it: the data, its claims, what was done to each column, and the laws of chance.

    The method stays with the custodian, so `method` is None. A folder that was changed after it was signed is refused;
    `verify` measures the claims.
    """
    root = find_release_folder(Path(folder))
    certificate = read_unchanged_certificate(root)
    details = Details(public=certificate.body.get("public", {}))
    losses = certificate.body.get("losses", {})
    data = _read_published(root, certificate)
    return Release(data, None, certificate.claims(), losses, details, certificate.changes())


def read_unchanged_certificate(root: Path) -> Certificate:
    """The certificate of a release folder, refused if anything in the folder was changed after it was signed."""
    certificate = Certificate.read(root)
    if problems := _list_signature_problems(certificate, None) + _list_file_problems(root, certificate):
        raise CertificateRefused(f"{root}: {problems[0]}; it cannot be trusted")
    return certificate


@dataclass(frozen=True)
class Verification:
    """An auditor's re-check of a release folder."""

    problems: tuple[str, ...]
    """What contradicts the certificate or could not be checked, one sentence each."""
    findings: tuple[Finding, ...]
    """The claims, measured where the files allow it."""
    signer: str | None
    """The public key that signed, if the signature is valid."""
    signer_known: bool
    """Whether the auditor gave the signer; otherwise anyone could have signed."""
    for_publication: bool | None = None
    """False if the certificate says "not for publication"; None without a certificate."""
    input_shown: bool | None = None
    """Whether an opening proved that the release was made from a given input; None if none was given."""
    engine: ChosenEngine = "memory"
    """Where the rows of the release were counted."""
    unmeasured_claims: int = 0
    """Claims that were not measured in time, if nothing contradicts the certificate."""

    @property
    def holds(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    @property
    def outcome(self) -> VerificationOutcome:
        """Whether the release is as certified; claims that were not measured in time are no contradiction."""
        if self.holds:
            return "as certified"
        return "not verified in time" if self.unmeasured_claims else "not as certified"

    def as_json(self) -> dict[str, Any]:
        """The verification as JSON."""
        return {
            "holds": self.holds,
            "outcome": self.outcome,
            "for_publication": self.for_publication,
            "problems": list(self.problems),
            "claims": [asdict(finding) for finding in self.findings],
            "unchecked": [finding.property for finding in self.findings if finding.measured is None],
            "unmeasured_claims": self.unmeasured_claims,
            "signer": self.signer,
            "signer_known": self.signer_known,
            "input_shown": self.input_shown,
            "engine": self.engine,
        }


def show_input(
    folder: str | Path,
    source: str | Path,
    opening: str | Path,
    signer: str | None = None,
    seconds: float = SECONDS,
    *,
    engine: EngineName = "auto",
) -> Verification:
    """Verify a release, and check with the custodian's opening that it was made from the given file, glob or table."""
    verification = verify(folder, signer, seconds, engine=engine)
    if not verification.holds:
        return verification
    commitment = Certificate.read(find_release_folder(Path(folder))).body["input_commitment"]
    if commitment is not None and does_source_match(commitment, Path(opening), source):
        return replace(verification, input_shown=True)
    problem = "the opening does not show that the release was made from this input"
    return replace(verification, input_shown=False, problems=(problem,))


def verify(
    folder: str | Path, signer: str | None = None, seconds: float = SECONDS, *, engine: EngineName = "auto"
) -> Verification:
    """Check a release folder from its files alone: signature, checksums, and every claim that they suffice for.

    Never raises for a bad folder: a file or a claim that cannot be checked is a problem, and so is a certificate whose
    claims take longer than `seconds` to measure. A table in Parquet is read into memory, or counted where it is by
    duckdb or Spark: as `engine` says, or by its size.
    """
    root = find_release_folder(Path(getattr(folder, "out", folder)))  # a run has a folder
    try:
        certificate = Certificate.read(root)
    except SfumatoError as error:
        return Verification((str(error), *_hint_unfinished(root)), (), None, False)
    problems = _list_signature_problems(certificate, signer)
    key = None if problems else certificate.body["signer"]
    check = _ClaimCheck([], (), 0)
    choice = choose_verifying_engine(certificate, engine, root)
    try:
        problems += _list_file_problems(root, certificate) + _list_claim_problems(certificate)
        if not problems:
            check = _check_claims(root, certificate, choice, seconds)
            problems = check.problems
    except (SfumatoError, OSError) as error:
        reason = str(error) if isinstance(error, SfumatoError) else f"a file cannot be read ({error.strerror})"
        problems = [reason]
    unmeasured_claims = 0 if problems else check.unmeasured_claims
    shown_problems = (
        *_count_rest(problems),
        *_describe_delay(check, seconds),
        *(_hint_unfinished(root) if problems else ()),
    )
    public = certificate.body["for_publication"]
    return Verification(
        shown_problems,
        check.findings,
        key,
        signer is not None,
        public,
        engine=choice.name,
        unmeasured_claims=unmeasured_claims,
    )


class _ClaimCheck(NamedTuple):
    """What the data file says about the certificate."""

    problems: list[str]
    findings: tuple[Finding, ...]
    """The claims that were measured in time."""
    unmeasured_claims: int
    """How many were not."""


def _check_claims(root: Path, certificate: Certificate, choice: EngineChoice, seconds: float) -> _ClaimCheck:
    """Measure the claims on the data file; if time runs out, only those that were measured are compared."""
    with _open_published(root, certificate, choice) as published_data:
        findings = _measure_claims(certificate, published_data, seconds)
        unmeasured_claims = len(certificate.body["claims"]) - len(findings)
        with refuse_hostile("the certificate cannot be compared with the data file"):
            problems = [] if unmeasured_claims else _list_content_problems(certificate, published_data)
            problems += _list_finding_problems(certificate, findings)
    return _ClaimCheck(problems, findings, unmeasured_claims)


def _describe_delay(check: _ClaimCheck, seconds: float) -> tuple[str, ...]:
    if not check.unmeasured_claims:
        return ()
    counts = f"{len(check.findings)} of {len(check.findings) + check.unmeasured_claims} were measured"
    return (f"measuring the claims takes longer than {seconds:g} seconds: {counts}; allow more with --seconds",)


def _hint_unfinished(root: Path) -> tuple[str, ...]:
    """Why a folder may be incomplete. It is only reported: a check must not move files."""
    if not is_unfinished(root):
        return ()
    return ("a run into this folder was interrupted during publication; the next run into it finishes that",)


def _count_rest(problems: list[str]) -> list[str]:
    rest_count = len(problems) - MOST_PROBLEMS
    return problems if rest_count <= 0 else [*problems[:MOST_PROBLEMS], f"and {rest_count} more problems, not listed"]


def _read_published(root: Path, certificate: Certificate) -> Any:
    """The data of an untrusted release: any failure is a problem of the release."""
    refuse_packed(root / certificate.body["data"]["file"])
    with refuse_hostile("the data file cannot be read as the certificate describes it"):
        return certificate.read_published(root)


@contextmanager
def _open_published(root: Path, certificate: Certificate, choice: EngineChoice) -> Iterator[Any]:
    """The data of an untrusted release, in memory or in its file."""
    if choice.name == "memory":
        yield _read_published(root, certificate)
        return
    body = certificate.body
    path = root / body["data"]["file"]
    if body["data"]["shape"] == "baskets":
        with open_verified_baskets(path, body["data"], choice.name) as baskets:
            yield baskets
        return
    with open_scratch_folder() as scratch:
        with refuse_hostile("the data file cannot be read as the certificate describes it"):
            check_binary(path, "parquet")
            rows = open_parquet([path], scratch, path.name, choice.name)
            published_table = StoredTable.of(rows, body["roles"], missing=body["missing"])
        yield published_table


def _measure_claims(certificate: Certificate, published_data: Any, seconds: float) -> tuple[Finding, ...]:
    """Measure the claims until time runs out; a claim that is made twice is measured once."""
    claims = certificate.claims()
    measure = _choose_measure(published_data)
    measured_values: dict[str, Number | None] = {}
    findings = []
    deadline = time.monotonic() + seconds
    for number, claim in enumerate(claims):
        if time.monotonic() > deadline:
            break
        with refuse_hostile(f"the claim number {number + 1} cannot be measured on the data file"):
            question = claim.model_dump_json(include={"measure", "arguments", "needs_original"})
            if question not in measured_values:
                measured_values[question] = measure(claim).measured
            findings.append(Finding.of(claim, measured_values[question]))
    return tuple(findings)


def _choose_measure(published_data: Any) -> Callable[[Claim], Finding]:
    if isinstance(published_data, StoredTable):
        stored_evidence = StoredEvidence(published_data)
        return lambda claim: measure_stored_claim(claim, stored_evidence)
    if isinstance(published_data, StoredBaskets):
        hiding = BasketEvidence(published_data)
        return lambda claim: measure_stored_basket_claim(claim, hiding)
    evidence = Evidence(published_data)
    return lambda claim: measure_claim(claim, evidence)


def _list_signature_problems(certificate: Certificate, signer: str | None) -> list[str]:
    if check_signature(certificate.raw):
        if signer is not None and not check_signature(certificate.raw, signer):
            return ["the certificate is signed by another key than the one you gave"]
        return []
    return ["the signature does not fit the certificate: it was changed after it was signed, or never signed"]


def _list_file_problems(root: Path, certificate: Certificate) -> list[str]:
    """A release folder has only regular files, each listed with its checksum; nothing outside is opened."""
    certified_digests: Mapping[str, str] = certificate.body["files"]
    if any(
        Path(name).name != name or name in ("", ".", "..")
        for name in (*certified_digests, certificate.body["data"]["file"])
    ):
        return ["the certificate names a file outside the release folder"]
    if NAME in certified_digests or not all(_DIGEST.fullmatch(digest) for digest in certified_digests.values()):
        return ["the certificate lists itself, or an invalid checksum"]
    present = {entry.name: entry for entry in root.iterdir()}
    problems = [
        f"{name}: this is not a regular file"
        for name, e in sorted(present.items())
        if e.is_symlink() or not e.is_file()
    ]
    if problems:
        return problems
    if hollow := [name for name, entry in sorted(present.items()) if _is_hollow(entry)]:
        return [f"{name}: the file is sparse; it is not read" for name in hollow]
    problems += [f"{name}: the file is missing" for name in certified_digests if name not in present]
    problems += [
        f"{name}: the file was changed after it was certified"
        for name, digest in certified_digests.items()
        if name in present and hash_file(present[name]) != digest
    ]
    if certificate.body["data"]["file"] not in certified_digests:
        problems.append("the certificate does not cover the data file")
    strangers = sorted(set(present) - {*certified_digests, NAME})
    return problems + [f"{name}: the certificate does not list this file" for name in strangers]


def _is_hollow(path: Path) -> bool:
    facts = path.stat()
    return facts.st_size > 1 << 30 and facts.st_size > facts.st_blocks * 512 * _HOLES


def _list_claim_problems(certificate: Certificate) -> list[str]:
    """Claims that no method makes, and roles and limits that contradict a release."""
    body = certificate.body
    problems = [
        f"the claim number {number} is not one that sfumato makes: its property, measure and bound do not match"
        for number, claim in enumerate(body["claims"], 1)
        if not has_known_form(claim)
    ]
    kept_flags = [claim["holds"] is True for claim in body["claims"]] + [
        limit["open"] for limit in body.get("gate", ())
    ]
    if not all(kept_flags):
        problems.append("the certificate itself says that a claim or a limit was broken")
    roles, removed_columns = body.get("roles", {}), set(body.get("removed_columns", ()))
    promises = [claim.get("arguments", {}) for claim in body["claims"] if claim["measure"] == "named_columns"]
    claimed_names = {name for arguments in promises for name in arguments.get("names", ())}
    if "identifying" in roles.values() or removed_columns & roles.keys() or not removed_columns <= claimed_names:
        problems.append("the certificate has identifying columns without a claim that they were removed")
    return problems


def _list_verdict_problems(body: Mapping[str, Any], published_table: AnyTable) -> list[str]:
    """Compare what the verdict states about the released file with the file."""
    verdict, columns = body["verdict"], set(get_outline(published_table).frame.columns)
    counted_columns, not_counted = split_columns(body["changes"], published_table)
    problems = []
    if not columns <= {change["column"] for change in body["changes"]} or not set(verdict["accepted"]) <= columns:
        problems.append(
            "the certificate does not state a change for each column, or accepts a column that is not there"
        )
    if strange := [name for name in not_counted if name not in body["public"] and not _may_be_coded(body)]:
        problems.append(f"the certificate calls {quote_names(strange)} noise, drawn or coded, and states no law for it")
    unique = find_unique(published_table, counted_columns)
    unique_facts = [{"columns": list(rows.columns), "share": rows.share} for rows in unique]
    if list(verdict["not_counted"]) != list(not_counted) or list(verdict["unique_rows"]) != unique_facts:
        problems.append("the certificate counts other unique rows than the data file has")
    problems += _list_warning_problems(body, unique)
    if objections := list_objections(body["changes"], published_table, verdict["accepted"]):
        problems.append(f"the certificate accepts what its rules refuse: {objections[0].reason}")
    return problems


def _list_warning_problems(body: Mapping[str, Any], unique: Sequence[UniqueRows]) -> list[str]:
    """List the warnings again, and compare them and the status with the certificate's."""
    verdict = body["verdict"]
    attacks = [CertifiedAttack(**attack) for attack in body["attacks"]]
    warnings = list_warnings(body, attacks, verdict["accepted"], unique)
    if list(verdict["warnings"]) == list(warnings) and (verdict["status"] == "passed") == (not warnings):
        return []
    return ["the certificate's verdict is not the one that its figures and the data file give"]


def _list_attack_problems(body: Mapping[str, Any], published_data: Any) -> list[str]:
    """Count again what the certificate of an attack says about the released file itself."""
    from sfumato.attack.baskets.remining import count_one_basket_short
    from sfumato.attack.baskets.stored_remining import count_stored_one_basket_short

    method = body["methods"][-1] if body["methods"] else {}
    for attack in body["attacks"]:
        count = None
        kind = find_tagged_class("attack", str(attack["attack"]))
        if kind is not None and kind.recounts_file and isinstance(published_data, Baskets | StoredBaskets):
            stated_parameters = {
                **method,
                **{name: part for name, part in attack["parameters"].items() if part is not None},
            }
            thresholds = stated_parameters["min_support"], stated_parameters.get("min_confidence")
            if isinstance(published_data, Baskets):
                count = count_one_basket_short(published_data, *thresholds)
            else:
                count = count_stored_one_basket_short(published_data, *thresholds)
        if attack["one_basket_short"] != count:
            return ["the certificate counts other rules that are one basket short than the data file has"]
    return []


def _may_be_coded(body: Mapping[str, Any]) -> bool:
    """Whether a method with a key ran: it publishes codes."""
    kinds = [find_tagged_class("method", str(method.get("method"))) for method in body["methods"]]
    return any(kind is not None and issubclass(kind, KeyedMethod) for kind in kinds)


def _list_content_problems(certificate: Certificate, published_data: Any) -> list[str]:
    """Compare the certificate with the data file."""
    data = certificate.body["data"]
    description = find_shape(published_data).describe_file(published_data, data["format"])["data"]
    problems = []
    if any(data.get(name) != description[name] for name in ("rows", "columns", "items") if name in description):
        problems.append("the certificate states another number of rows or columns than the data file has")
    if certificate.body.get("formulas") not in (None, find_shape(published_data).count_formulas(published_data)):
        problems.append("the certificate's count of formulas differs from the data file's")
    if isinstance(published_data, Table | StoredTable):
        column_names = {*data.get("numbers", ()), *data.get("integers", ()), *certificate.body.get("roles", ())}
        if not column_names <= set(get_outline(published_data).frame.columns):
            problems.append("the certificate names columns that the data file does not have")
        problems += _list_verdict_problems(certificate.body, published_data)
        if count := published_data.count_uncounted_rows():
            problems.append(
                f"{count:,} rows have a missing quasi-identifying cell, and the certificate leaves such rows out of "
                "every count"
            )
        if data["missing_mark"] not in MARKS:
            problems.append("the certificate describes missing cells in a way that sfumato does not write")
    else:
        problems += _list_warning_problems(certificate.body, ())
    return problems + _list_attack_problems(certificate.body, published_data)


def _list_finding_problems(certificate: Certificate, findings: tuple[Finding, ...]) -> list[str]:
    """Compare the measured claims with the certificate."""
    problems = []
    for finding, certified_claim in zip(findings, certificate.body["claims"], strict=False):
        if finding.holds is False:
            problems.append(
                f'the claim "{finding.property}" is broken: promised {finding.threshold}, measured {finding.measured}'
            )
        elif certified_claim["threshold"] != finding.threshold or (
            finding.measured is not None and certified_claim["measured"] != finding.measured
        ):
            problems.append(f'the certificate\'s figures for "{finding.property}" differ from those of the data file')
    return problems
