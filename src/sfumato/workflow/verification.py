# SPDX-License-Identifier: MIT
"""Check a release folder from its files alone, as someone who trusts neither them nor their sender.

`verify` needs only the folder, and says which claims it cannot check without the originals. Whatever the files hold, it
neither crashes nor hangs: they are read under limits, and measuring all claims has a limit of time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from sfumato.data.reading.binary import check_binary
from sfumato.details import Details
from sfumato.engine.choice import EngineChoice
from sfumato.engine.engine_names import ChosenEngine, EngineName
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.staging import open_parquet
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import CertificateRefused, SfumatoError
from sfumato.measure.baskets.stored_hiding import BasketEvidence, measure_stored_basket_claim
from sfumato.measure.checks import Evidence, measure_claim
from sfumato.measure.stored_claims import StoredEvidence, measure_stored_claim
from sfumato.published_law import read_laws
from sfumato.release import Claim, Finding, Number, Release
from sfumato.workflow.certificate import Certificate, find_release_folder, refuse_hostile
from sfumato.workflow.certificate_problems import (
    list_claim_problems,
    list_content_problems,
    list_file_problems,
    list_finding_problems,
    list_signature_problems,
)
from sfumato.workflow.folders.leftovers import is_unfinished
from sfumato.workflow.shapes.verified_data import (
    choose_verifying_engine,
    open_verified_baskets,
    refuse_foreign_parts,
    refuse_foreign_sheet,
    refuse_packed,
)
from sfumato.workflow.signing.commitment import does_source_match

MOST_PROBLEMS = 20
"""How many problems are listed; the rest are counted."""
SECONDS = 600.0
"""How long measuring the claims of an untrusted certificate may take."""
VerificationOutcome = Literal["as certified", "not as certified", "not verified in time"]


def read_release(folder: str | Path) -> Release:
    """A release as its recipient has it: the data, its claims, what was done to each column, and the laws of chance.

    The method stays with the custodian, so `method` is None. A folder that was changed after it was signed is refused;
    `verify` measures the claims.
    """
    root = find_release_folder(Path(folder))
    certificate = read_unchanged_certificate(root)
    details = Details(public=read_laws(certificate.body.get("public", {})))
    losses = certificate.body.get("losses", {})
    data = _read_published(root, certificate)
    return Release(data, None, certificate.list_claims(), losses, details, certificate.list_changes())


def read_unchanged_certificate(root: Path) -> Certificate:
    """The certificate of a release folder, refused if anything in the folder was changed after it was signed."""
    certificate = Certificate.read(root)
    if problems := list_signature_problems(certificate, None) + list_file_problems(root, certificate):
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
    problems = list_signature_problems(certificate, signer)
    key = None if problems else certificate.body["signer"]
    check = _ClaimCheck([], (), 0)
    choice = choose_verifying_engine(certificate, engine, root)
    try:
        with refuse_hostile("the certificate contradicts itself"):
            problems += list_file_problems(root, certificate) + list_claim_problems(certificate)
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
            problems = [] if unmeasured_claims else list_content_problems(certificate, published_data)
            problems += list_finding_problems(certificate, findings)
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
    path, form = root / certificate.body["data"]["file"], certificate.body["data"]["format"]
    refuse_packed(path)
    with refuse_hostile("the data file cannot be read as the certificate describes it"):
        refuse_foreign_parts(path, form)
        published_data = certificate.read_published(root)
        refuse_foreign_sheet(path, form, published_data)
        return published_data


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
    claims = certificate.list_claims()
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
        basket_evidence = BasketEvidence(published_data)
        return lambda claim: measure_stored_basket_claim(claim, basket_evidence)
    evidence = Evidence(published_data)
    return lambda claim: measure_claim(claim, evidence)
