# SPDX-License-Identifier: MIT
"""The certificate: claims measured on the written file, attacks, losses, checksums, a signature."""

from __future__ import annotations

import json
import os
import platform
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from sfumato.change import Change, ChangeKind
from sfumato.data.reading.near_files import ask_for_file
from sfumato.errors import CertificateRefused, DataError, SfumatoError
from sfumato.measure.checks import Evidence, measure_claim
from sfumato.protect.data_checks import refuse_unfit
from sfumato.release import Claim, Finding, Release, refuse_other_order
from sfumato.workflow.outgoing import CertifiedClaim, DataFile, OutgoingCertificate
from sfumato.workflow.shapes.file_shapes import get_shape
from sfumato.workflow.signing.certificate_text import LARGEST_CERTIFICATE, parse_certificate

NAME = "certificate.json"
_OLDER = ("sfumato certificate 1", "sfumato certificate 2")
MOST_CLAIMS = 5_000
"""The most claims of one certificate."""
MOST_FILES = 100
"""The most files of one release."""


class _StatedFile(DataFile):
    @model_validator(mode="after")
    def _check_known_format(self) -> _StatedFile:
        shape = get_shape(self.shape)
        if (self.columns is None) == (self.shape == "table") or (self.items is None) != (self.shape == "table"):
            raise ValueError("a table has columns, and no other data has")
        if self.format not in shape.formats or self.file != shape.name_file(self.format):
            raise ValueError("unknown format, or the file does not have this format")
        return self


class _CertificateBody(OutgoingCertificate):
    """The form of a certificate; any other form is refused before a file is opened."""

    data: _StatedFile
    claims: tuple[CertifiedClaim, ...] = Field(min_length=1, max_length=MOST_CLAIMS)
    files: Mapping[str, str] = Field(max_length=MOST_FILES)
    signer: str
    signature: str


_FIELDS = frozenset({*_CertificateBody.model_fields, *_StatedFile.model_fields, *CertifiedClaim.model_fields})


@dataclass(frozen=True, repr=False)
class Certificate:
    """A certificate as written: the signed body, readable as JSON, and the bytes that were signed."""

    body: Mapping[str, Any]
    """The certified content, as parsed from JSON."""
    raw: bytes = b""
    """The bytes of the file; empty if nothing was published."""

    @classmethod
    def of(cls, raw: bytes) -> Certificate:
        """Parse the bytes of a certificate, strictly."""
        return cls(parse_certificate(raw), raw)

    @classmethod
    def read(cls, folder: Path) -> Certificate:
        """Read the certificate of a release folder; its form is checked first."""
        path = folder / NAME
        try:
            certificate = cls.of(_read_certificate(path))
            if certificate.body.get("format") in _OLDER:
                raise CertificateRefused(
                    "this certificate has an older form, which states no verdict on the whole release; run the policy "
                    "again"
                )
            _refuse_other_spelling(certificate.body, _CertificateBody.model_validate(certificate.body))
        except ValidationError as error:
            # Repeat only our own field names: anything else in a certificate may be an attacker's text.
            parts = [str(part) for part in error.errors()[0]["loc"] if isinstance(part, int) or part in _FIELDS]
            raise CertificateRefused(
                f"{path}: this is not a certificate that sfumato wrote ({'.'.join(parts) or 'all of it'} is malformed)"
            ) from None
        except CertificateRefused as refusal:
            raise CertificateRefused(f"{path}: {refusal}") from None
        except (OSError, ValueError):
            raise CertificateRefused(f"{path}: the certificate cannot be read") from None
        return certificate

    def __repr__(self) -> str:
        """The title, the verdict and the counts."""
        title, status = self.body.get("title"), self.body.get("verdict", {}).get("status")
        return f"Certificate({title!r}: {status}, {len(self.body.get('claims', ()))} claims)"

    def _repr_html_(self) -> str:
        from sfumato.report.notebook_views import render_certificate

        return render_certificate(self)

    def list_claims(self) -> tuple[Claim, ...]:
        """The claims to measure."""
        return tuple(
            Claim.model_validate({name: claim[name] for name in Claim.model_fields}) for claim in self.body["claims"]
        )

    def list_changes(self) -> tuple[Change, ...]:
        """What was done to each column, as the methods stated it."""
        return tuple(
            Change(**{**change, "kind": ChangeKind(change["kind"])}) for change in self.body.get("changes", ())
        )

    def read_published(self, folder: Path) -> Any:
        """The data of the release, read as the certificate describes it."""
        data = self.body["data"]
        return get_shape(data["shape"]).read(folder / data["file"], self.body)


def _refuse_other_spelling(body: Mapping[str, Any], model: _CertificateBody) -> None:
    """A certificate has every field, in the type that is written: nothing is filled in or converted."""
    written_fields = model.model_dump(mode="json")
    for name in sorted({*body, *written_fields}):
        if name not in body or json.dumps(body[name], sort_keys=True) != json.dumps(
            written_fields[name], sort_keys=True
        ):
            raise CertificateRefused(f"this is not a certificate that sfumato wrote ({name} is malformed)")


def _read_certificate(path: Path) -> bytes:
    """The bytes of a certificate; links, pipes and devices are never opened."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        sibling = (path.parent.parent / "release" / path.name).is_file() and path.parent.name in ("private", "refused")
        hint = f"; the release is next to this folder, in {path.parent.parent / 'release'}" if sibling else ""
        if (path.parent / "refused").is_dir():
            hint = "; a run into this folder was refused, so nothing was released"
        raise CertificateRefused(f"the certificate is missing, or it is a link{hint}") from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise CertificateRefused("the certificate is missing: there is no regular file with its name")
        return file.read(LARGEST_CERTIFICATE + 1)


def check(release: Release, original: Any = None) -> tuple[Finding, ...]:
    """Measure every claim of a release in memory; claims about the originals need `original`."""
    release = getattr(release, "release", release)  # of a run
    refuse_other_order(release, original)
    if original is not None and release.method is not None:
        refuse_unfit(release.method, original)
    evidence = Evidence(
        release.data, original, release.details.rows, release.details.get("population"), release.details
    )
    return tuple(measure_claim(claim, evidence) for claim in release.claims)


def describe_finding(claim: Claim, finding: Finding) -> dict[str, Any]:
    """A claim and its measured value, as JSON."""
    return {**finding.as_certified(), "measure": claim.measure, "arguments": claim.model_dump(mode="json")["arguments"]}


def list_versions() -> dict[str, str]:
    """The versions of the software."""
    packages = {name: _find_version(name) for name in ("sfumato", "polars", "numpy", "numba", "pyarrow")}
    return {**packages, "python": platform.python_version()}


@cache
def _find_version(package: str) -> str:
    """Once in a process: looking it up reads files."""
    return version(package)


def format_timestamp() -> str:
    """The current time in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextmanager
def refuse_hostile(reason: str) -> Iterator[None]:
    """Turn any failure on an untrusted release into a refusal: it can neither crash nor pass a check."""
    try:
        yield
    except (SfumatoError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a polars panic is not an Exception
        if os.environ.get("SFUMATO_DEBUG"):
            raise
        raise CertificateRefused(f"{reason} ({type(error).__name__})") from None


def find_release_folder(folder: Path) -> Path:
    """The `release/` folder of an output folder, or the folder itself if it is one."""
    if not folder.is_dir():
        if folder.is_file():
            has_certificate = any((folder.parent / name).exists() for name in (NAME, f"release/{NAME}"))
            folder_text = f"its folder, {folder.parent}" if has_certificate else "the folder that `sfumato run` wrote"
            raise DataError(f"{folder}: this is a file, and a release is a folder; name {folder_text}")
        raise DataError(f"{folder}: there is no such folder{ask_for_file(folder, is_folder=True)}")
    inner = folder / "release"
    return inner if not (folder / NAME).exists() and inner.is_dir() else folder
