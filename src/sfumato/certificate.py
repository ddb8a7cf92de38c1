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

from sfumato.data.read import TextFormat, read_frame
from sfumato.data.roles import Role
from sfumato.data.write import SEPARATOR_OF
from sfumato.errors import CertificateRefused, DataError, SfumatoError
from sfumato.folder import sha256
from sfumato.measure.checks import Evidence, measured
from sfumato.release import Claim, Finding, Release
from sfumato.signature import vouched
from sfumato.table import Missing, Table

FORMAT = "sfumato certificate 1"
NAME = "certificate.json"


@dataclass(frozen=True)
class Certificate:
    """A certificate as written: the signed body, readable as JSON."""

    body: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Certificate:
        """Read the certificate of a release folder."""
        path = folder / NAME
        try:
            body = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CertificateRefused(f"{path}: the certificate is missing") from None
        except (OSError, UnicodeDecodeError, ValueError, RecursionError):
            raise CertificateRefused(f"{path}: the certificate is damaged; it is not readable JSON") from None
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise CertificateRefused(f"{path}: this is not a certificate that sfumato wrote")
        return cls(body)

    def claims(self) -> tuple[Claim, ...]:
        """The claims, to be measured again."""
        return tuple(Claim.model_validate(one["claim"]) for one in self.body["claims"])

    def published(self, folder: Path) -> Table:
        """The data of the release, read as the certificate says it is spelt."""
        data = self.body["data"]
        text = written_format(data["format"], data["missing_mark"])
        frame = read_frame(folder / data["file"], text)
        roles = {name: role for name, role in self.body["roles"].items() if role != Role.IDENTIFYING}
        return Table.of(frame, roles, missing=self.body["missing"], source=data["file"])


def written_format(kind: str, mark: str) -> TextFormat:
    """How a release's text file is spelt, to read it back exactly."""
    return TextFormat(separator=SEPARATOR_OF.get(kind, ","), missing_marks=(mark,), trim=False)


def check(release: Release, original: Any = None) -> tuple[Finding, ...]:
    """Measure every claim of a release again, in memory; claims about the originals need them."""
    evidence = Evidence(release.data, original, release.details.get("rows"))
    return tuple(measured(claim, evidence) for claim in release.claims)


def finding_json(claim: Claim, finding: Finding) -> dict[str, Any]:
    """A claim and what was found of it, for certificate and script."""
    return {**asdict(finding), "measure": claim.measure, "claim": claim.model_dump(mode="json")}


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
    missing: Missing | None = None

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
    root = release_folder(Path(folder))
    try:
        certificate = Certificate.read(root)
        named = certificate.body.get("signer")
        problems = _signature_problems(certificate, signer)
        problems += _file_problems(root, certificate)
        findings = () if problems else _remeasured(root, certificate)
    except (KeyError, TypeError, ValueError, AttributeError):
        return Verification((f"{root / NAME}: the certificate lacks what it must say",), (), None, False)
    except SfumatoError as error:
        return Verification((str(error),), (), None, False)
    problems += [
        f"the claim «{found.property}» is broken: promised {found.threshold}, measured {found.measured}"
        for found in findings
        if found.holds is False
    ]
    return Verification(tuple(problems), findings, named, signer is not None)


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
    problems = []
    expected: Mapping[str, str] = certificate.body["files"]
    for name, digest in expected.items():
        path = root / name
        if not path.is_file():
            problems.append(f"{name}: the file is missing")
        elif sha256(path) != digest:
            problems.append(f"{name}: the file was changed after it was certified")
    if certificate.body["data"]["file"] not in expected:
        problems.append("the certificate does not cover the data file")
    present = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    problems += [f"{name}: the certificate does not know this file" for name in sorted(present - {*expected, NAME})]
    return problems


def _remeasured(root: Path, certificate: Certificate) -> tuple[Finding, ...]:
    evidence = Evidence(certificate.published(root))
    return tuple(measured(claim, evidence) for claim in certificate.claims())
