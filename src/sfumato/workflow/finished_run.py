# SPDX-License-Identifier: MIT
"""A finished run: what it released and found, and its files, on disk or in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.attack.attack import AttackResult
from sfumato.errors import DataError
from sfumato.key import Key
from sfumato.release import Finding, Number, Release
from sfumato.workflow.certificate import Certificate
from sfumato.workflow.folder import StagingFolder, reserve_target
from sfumato.workflow.folders.manifest import NAME as MANIFEST
from sfumato.workflow.folders.publication import PARTS
from sfumato.workflow.gate import Refusal
from sfumato.workflow.verdict import Objection, Verdict


@dataclass(frozen=True, repr=False)
class Run:
    """What a run did."""

    folder: Path | None
    """The folder that was written; None for a run in memory, until it is saved."""
    release: Release
    """The release; its method and details stay with the custodian."""
    certificate: Certificate
    """What is published; unsigned and without files if the gate refused."""
    record: Mapping[str, Any]
    """All findings, for the custodian only: counts of attacks, losses, measured claims."""
    findings: tuple[Finding, ...]
    """Every claim, as measured on the written file."""
    attacks: tuple[AttackResult, ...]
    """The attacks that ran, with their outcomes."""
    verdict: Verdict
    """The verdict on the whole release."""
    refusals: tuple[Refusal | Objection, ...]
    """The limits of the gate that were exceeded, and columns that contradict their roles."""
    publication_notes: tuple[str, ...] = ()
    """Sentences about earlier runs: the release that this one replaced, and files that were kept under another name
    (keys, and files that a user changed)."""
    keys: Mapping[str, Key] = field(default_factory=dict)
    """Method → its secret key, which decodes what is mined; it stays."""
    files: RunFiles | None = None
    """The files of a run in memory; None if the run wrote its folder."""

    @property
    def out(self) -> Path:
        """The folder that was written."""
        if self.folder is None:
            raise DataError("this run is in memory only; write its folders first: run.save(folder)")
        return self.folder

    @property
    def published(self) -> bool:
        """Whether there is a release."""
        return not self.refusals

    @property
    def report(self) -> ReportPages:
        """The report as HTML: `report.outgoing` may be published, `report.internal` stays."""
        files = self.files or RunFiles.read(self.out)
        internal = "private/report.html" if self.published else "refused/report.html"
        outgoing_page = files.contents["release/report.html"] if self.published else None
        return ReportPages(
            Page(files.contents[internal].decode()), None if outgoing_page is None else Page(outgoing_page.decode())
        )

    def save(self, folder: str | Path) -> Run:
        """Write `release/` and `private/`, or `refused/`, as the command line does; returns the run with its folder."""
        if self.files is None:
            raise DataError(f"{self.out}: this run has already been written; copy its folder")
        with reserve_target(Path(folder)) as target, target.stage_folders() as staging:
            self.files.write(staging)
            publication_notes = target.publish()
        return replace(self, folder=target.path, publication_notes=publication_notes)

    @property
    def losses(self) -> Mapping[str, Number]:
        """What the method says that was lost; it stays with the custodian."""
        return self.release.losses

    def to_pandas(self, *, index: bool = True) -> Any:
        """The released data as a pandas frame; see `Release.to_pandas` about its index."""
        return self._get_published().to_pandas(index=index)

    def to_polars(self) -> pl.DataFrame:
        """The released data as a polars frame."""
        return self._get_published().to_polars()

    def to_arrow(self) -> Any:
        """The released data as a pyarrow table."""
        return self._get_published().to_arrow()

    def to_csv(self, path: str | Path) -> None:
        """Write the released data alone as a CSV file; `save` also writes the certificate and the reports."""
        self._get_published().to_csv(path)

    def _get_published(self) -> Release:
        if not self.published:
            raise DataError(
                "this run published nothing: the gate refused it, see run.refusals. For your eyes only, its data is "
                "run.release.to_pandas()"
            )
        return self.release

    def as_json(self) -> dict[str, Any]:
        """The run as JSON, for the custodian only: it holds facts about the originals."""
        body = self.record
        release = self.out / "release"
        return {
            "audience": "custodian",
            "release_dir": str(release) if self.published else None,
            "private_dir": str(self.out / ("private" if self.published else "refused")),
            "report": str(release / "report.html") if self.published else None,
            "claims": [asdict(finding) for finding in self.findings],
            "losses": dict(body["losses"]),
            "advice": list(body["advice"]),
            "utility": dict(body["utility"]),
            "attacks": list(body["attacks"]),
            "levels": dict(body["levels"]),
            "suppressed_rows": body["suppression"]["rows"],
            "formulas": dict(body["formulas"]),
            "gate": list(body["gate"]),
            "verdict": self.verdict.as_json(),
            "refusals": [str(refusal) for refusal in self.refusals],
            "signer": body["signer"],
            "kept": list(self.publication_notes),
        }

    def __repr__(self) -> str:
        """The verdict, the release and where it is."""
        location = f"saved in {self.folder}" if self.folder else "in memory"
        return f"Run({self.verdict.status}, {location}; {self.release!r})"

    def _repr_html_(self) -> str:
        from sfumato.report.notebook_views import render_run

        return render_run(self)


@dataclass(frozen=True, repr=False)
class RunFiles:
    """The files of a run in memory, private ones among them: they are written by `Run.save`, never pickled."""

    contents: Mapping[str, bytes]
    """Name, such as `release/data.csv` → content."""

    @classmethod
    def read(cls, folder: Path) -> RunFiles:
        """The files of a folder that a run has just written."""
        paths = [path for part in PARTS if (folder / part).is_dir() for path in sorted((folder / part).iterdir())]
        return cls({f"{path.parent.name}/{path.name}": path.read_bytes() for path in paths if path.name != MANIFEST})

    def write(self, staging: StagingFolder) -> None:
        """Write the files where a run writes before anything is published."""
        parts = {name.partition("/")[0] for name in self.contents}
        for folder in (staging.release, staging.private):
            if folder.name not in parts:
                folder.rmdir()
        for name, content in self.contents.items():
            path = staging.root / name
            path.parent.mkdir(mode=0o700, exist_ok=True)
            path.write_bytes(content)

    def __reduce__(self) -> str:
        """Refuse pickling, which would make an unwanted copy of private files."""
        raise TypeError("a run in memory is written by Run.save, not by pickling")

    def __repr__(self) -> str:
        """The names of the files, never their contents."""
        return f"RunFiles({', '.join(self.contents)})"


class Page(str):
    """A page of HTML; a notebook shows it in a frame."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The size of the page, not its text."""
        return f"Page({len(self):,} characters of HTML)"

    def _repr_html_(self) -> str:
        style = "width:100%;height:32em;border:1px solid rgba(128,128,128,.4)"
        return f'<iframe title="report" sandbox="" style="{style}" srcdoc="{escape(self)}"></iframe>'


@dataclass(frozen=True)
class ReportPages:
    """The report of a run: the page that stays, and the public page."""

    internal: Page
    """For the custodian: it holds facts about the originals."""
    outgoing: Page | None
    """For everybody; None if the release was refused."""

    def _repr_html_(self) -> str:
        """The public page: what a notebook shows is stored in its file."""
        if self.outgoing is None:
            return "<p>The release was refused: only <code>report.internal</code> exists.</p>"
        return self.outgoing._repr_html_()
