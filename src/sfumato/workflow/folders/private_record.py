# SPDX-License-Identifier: MIT
"""What a run leaves for its custodian alone: the record, the opening of the commitment, the keys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.writing.table_writer import write_frame
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import hide_password
from sfumato.key import Key
from sfumato.release import Release
from sfumato.table import Table
from sfumato.workflow.folder import StagingFolder
from sfumato.workflow.policy import Policy
from sfumato.workflow.published_columns import get_outline
from sfumato.workflow.recorded_policy import digest_hierarchies
from sfumato.workflow.signing.commitment import OPENING, Commitment


def keep_private(
    policy: Policy, original: Any, release: Release, findings: Mapping[str, Any], staging: StagingFolder
) -> None:
    """The custodian's record: what must not be published, and what is needed to check every claim later."""
    if (rows := release.details.rows) is not None:
        write_frame(pl.DataFrame({"original_row": rows}), staging.private / "rows.parquet", "parquet")
    step_files = _name_files(release)
    for step, file_names in zip(release.list_steps(), step_files, strict=True):
        for name, file_name in file_names.items():
            write_frame(_frame_detail(name, step.details[name]), staging.private / f"{file_name}.parquet", "parquet")
    outline = get_outline(original) if isinstance(original, Table | StoredTable) else None
    record = {
        "found": dict(findings),
        "source": hide_password(policy.data.path) if outline is None else outline.source,
        "rows": len(original),
        "columns": None if outline is None else outline.frame.columns,
        "roles": None if outline is None else {name: role.value for name, role in outline.roles.items()},
        "hierarchies": {} if outline is None else digest_hierarchies(original.hierarchies),
        "policy": policy.model_dump(mode="json"),
        "steps": [
            _describe_step(step, file_names) for step, file_names in zip(release.list_steps(), step_files, strict=True)
        ],
    }
    path = staging.private / "record.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False, default=str), encoding="utf-8")
    for file in staging.private.iterdir():
        file.chmod(0o600)


_MARKS = {"row": pl.Int64, "position": pl.Int64, "item": pl.String}


def _name_files(release: Release) -> list[dict[str, str]]:
    """For each step, the details that have a file of their own, and its name; of two steps, each has its own file."""
    step_names = [
        [name for name, detail in step.details.items() if isinstance(detail, pl.DataFrame) or name == "marks"]
        for step in release.list_steps()
    ]
    counts = Counter(name for names in step_names for name in names)
    return [
        {name: name if counts[name] == 1 else f"{name}-{number}" for name in names}
        for number, names in enumerate(step_names, 1)
    ]


def _frame_detail(name: str, detail: Any) -> pl.DataFrame:
    """A detail as a frame."""
    if isinstance(detail, pl.DataFrame):
        return detail
    return pl.DataFrame([(row, position, str(item)) for row, position, item in detail], schema=_MARKS, orient="row")


def _describe_step(step: Release, file_names: Mapping[str, str]) -> dict[str, Any]:
    """What each method decided: its family, by which attacks read it, its values, and the files that hold the rest."""
    details = step.details
    return {
        "method": step.method.method,
        "family": details.family,
        **{name: _list_plain(details[name]) for name in details.stored_fields if name in details},
        "files": dict(file_names),
    }


def _list_plain(value: Any) -> Any:
    """Row numbers as JSON has them."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def keep_secrets(commitment: Commitment | None, keys: Mapping[str, Key], staging: StagingFolder) -> None:
    """The opening of the commitment, and the keys of the methods."""
    if commitment is not None:
        commitment.save(staging.private / OPENING)
    for name, secret in keys.items():
        secret.save(staging.private / f"{name}.key.json")


def keep_only_refusal(staging: StagingFolder) -> None:
    """The gate refused: keep the report for the custodian, and nothing that could be published."""
    for file in staging.release.iterdir():
        file.unlink()
    staging.release.rmdir()
    staging.private.rename(staging.root / "refused")
