# SPDX-License-Identifier: MIT
"""What was found, on paper: claims measured again on the written file, attacks, losses, checksums, a signature.

`check` looks at a release in memory, `verify` at a folder on disk: the second needs nothing but the folder,
and says which claims it cannot judge without the originals.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError, model_validator

from sfumato.errors import CertificateRefused, DataError, SfumatoError
from sfumato.folder import finish_interrupted, sha256
from sfumato.measure.checks import Evidence, measured
from sfumato.release import Claim, Finding, Release
from sfumato.shapes import shape_named, shape_of
from sfumato.signature import vouched
from sfumato.table import Table
from sfumato.workflow.outgoing import DataFile, OutgoingCertificate

NAME = "certificate.json"


class _DataFile(DataFile):
    @model_validator(mode="after")
    def _known_format(self) -> _DataFile:
        if self.format not in shape_named(self.shape).formats:
            raise ValueError("no such format")
        return self


class _Body(OutgoingCertificate):
    """A whole certificate; one that says anything otherwise is refused before anything is opened."""

    data: _DataFile
    files: Mapping[str, str]
    signer: str
    signature: str


@dataclass(frozen=True)
class Certificate:
    """A certificate as written: the signed body, readable as JSON."""

    body: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Certificate:
        """Read the certificate of a release folder."""
        path = folder / NAME
        try:
            if path.is_symlink() or not path.is_file():
                raise CertificateRefused(f"{path}: the certificate is missing")
            body = json.loads(path.read_text(encoding="utf-8"))
            _Body.model_validate(body)
        except ValidationError as error:
            field = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise CertificateRefused(
                f"{path}: this is not a certificate that sfumato wrote ({field or 'all of it'} is not as it must be)"
            ) from None
        except (OSError, ValueError, RecursionError):
            raise CertificateRefused(f"{path}: the certificate is damaged; it is not readable JSON") from None
        return cls(body)

    def claims(self) -> tuple[Claim, ...]:
        """The claims, to be measured again."""
        return tuple(
            Claim.model_validate({name: one[name] for name in Claim.model_fields}) for one in self.body["claims"]
        )

    def published(self, folder: Path) -> Any:
        """The data of the release, read as the certificate says it is spelt."""
        data = self.body["data"]
        return shape_named(data["shape"]).read(folder / data["file"], self.body)


def check(release: Release, original: Any = None) -> tuple[Finding, ...]:
    """Measure every claim of a release again, in memory; claims about the originals need them."""
    evidence = Evidence(
        release.data, original, release.details.get("rows"), population_of(release.method), release.details
    )
    return tuple(measured(claim, evidence) for claim in release.claims)


def read_release(folder: str | Path) -> Release:
    """A release as whoever receives it has it: the data, its claims, and what was made public of chance.

    Who made it and what it hides stays with the custodian, so `method` is None. A folder that was changed after it was
    signed is refused; claims are measured by `verify`.
    """
    root = release_folder(Path(folder))
    certificate = unchanged(root)
    told = {"public": certificate.body.get("public", {})}
    return Release(certificate.published(root), None, certificate.claims(), certificate.body["losses"], told)


def unchanged(root: Path) -> Certificate:
    """The certificate of a release folder, refused if anything in the folder was changed after it was signed."""
    certificate = Certificate.read(root)
    if problems := _signature_problems(certificate, None) + _file_problems(root, certificate):
        raise CertificateRefused(f"{root}: {problems[0]}; nothing is to be read from it")
    return certificate


def population_of(method: Any) -> Table | None:
    """The population that a method's models compare with."""
    populations = [one for model in getattr(method, "models", ()) for one in model.populations()]
    return populations[0] if populations else None


def finding_json(claim: Claim, finding: Finding) -> dict[str, Any]:
    """A claim and what was found of it, for certificate and script."""
    return {**asdict(finding), "measure": claim.measure, "arguments": claim.model_dump(mode="json")["arguments"]}


def versions() -> dict[str, str]:
    """What made the release."""
    named = {name: version(name) for name in ("sfumato", "polars", "numpy", "numba", "pyarrow")}
    return {**named, "python": platform.python_version()}


def stamp() -> str:
    """Now, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Verification:
    """An auditor's re-check of a release folder."""

    problems: tuple[str, ...]
    findings: tuple[Finding, ...]
    signer: str | None
    signer_known: bool
    """Whether the auditor named the signer; otherwise anybody could have signed."""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """The verification for a script."""
        return {
            "holds": self.holds,
            "problems": list(self.problems),
            "claims": [asdict(finding) for finding in self.findings],
            "unchecked": [finding.property for finding in self.findings if finding.measured is None],
            "signer": self.signer,
            "signer_known": self.signer_known,
        }


def verify(folder: str | Path, signer: str | None = None) -> Verification:
    """Check a release folder from its files alone: signature, checksums, and every claim that can be."""
    finish_interrupted(Path(folder))
    root = release_folder(Path(folder))
    try:
        certificate = Certificate.read(root)
        problems = _signature_problems(certificate, signer) + _file_problems(root, certificate)
        findings: tuple[Finding, ...] = ()
        if not problems:
            published = certificate.published(root)
            findings = tuple(measured(claim, Evidence(published)) for claim in certificate.claims())
            problems = _content_problems(certificate, published, findings)
    except (SfumatoError, OSError) as error:
        said = str(error) if isinstance(error, SfumatoError) else f"a file cannot be read ({error.strerror})"
        return Verification((said,), (), None, False)
    return Verification(tuple(problems), findings, certificate.body["signer"], signer is not None)


def release_folder(folder: Path) -> Path:
    """The `release/` folder of an output folder, or the folder itself if it is one."""
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder")
    inner = folder / "release"
    return inner if not (folder / NAME).exists() and inner.is_dir() else folder


def _signature_problems(certificate: Certificate, signer: str | None) -> list[str]:
    if vouched(certificate.body):
        if signer is not None and not vouched(certificate.body, signer):
            return ["the certificate is signed by another key than the one you named"]
        return []
    return ["the signature does not fit the certificate: it was changed after it was signed, or never signed"]


def _file_problems(root: Path, certificate: Certificate) -> list[str]:
    """Only plain files lie in a release folder, each known by its name and its checksum; nothing outside is opened."""
    expected: Mapping[str, str] = certificate.body["files"]
    if any(
        Path(name).name != name or name in ("", ".", "..") for name in (*expected, certificate.body["data"]["file"])
    ):
        return ["the certificate names a file outside the release folder"]
    present = {entry.name: entry for entry in root.iterdir()}
    problems = [
        f"{name}: this is no plain file" for name, e in sorted(present.items()) if e.is_symlink() or not e.is_file()
    ]
    if problems:
        return problems
    problems += [f"{name}: the file is missing" for name in expected if name not in present]
    problems += [
        f"{name}: the file was changed after it was certified"
        for name, digest in expected.items()
        if name in present and sha256(present[name]) != digest
    ]
    if certificate.body["data"]["file"] not in expected:
        problems.append("the certificate does not cover the data file")
    strangers = sorted(set(present) - {*expected, NAME})
    return problems + [f"{name}: the certificate does not know this file" for name in strangers]


def _content_problems(certificate: Certificate, published: Any, findings: tuple[Finding, ...]) -> list[str]:
    """What the certificate says, against what the file gives."""
    data = certificate.body["data"]
    counted = shape_of(published).described(published, data["format"])["data"]
    problems = []
    if any(data.get(name) != counted[name] for name in ("rows", "columns", "items") if name in counted):
        problems.append("the certificate speaks of another number of rows or columns than the data file has")
    if certificate.body.get("formulas") not in (None, shape_of(published).count_formulas(published)):
        problems.append("the certificate's count of formulas is not that of the data file")
    for found, said in zip(findings, certificate.body["claims"], strict=True):
        if found.holds is False:
            problems.append(
                f"the claim «{found.property}» is broken: promised {found.threshold}, measured {found.measured}"
            )
        elif said["threshold"] != found.threshold or (
            found.measured is not None and said["measured"] != found.measured
        ):
            problems.append(f"the certificate's figures for «{found.property}» are not those of the data file")
    return problems
