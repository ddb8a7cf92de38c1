# SPDX-License-Identifier: MIT
"""What is known about each column of stored rows before its role is judged: counts, and a sample of its words."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.roles.role_proposals import SAMPLE, ColumnProfile, RoleProposal, propose_role, trim_sample
from sfumato.engine.stored_rows import StoredRows
from sfumato.runtime.progress import report_progress


def propose_stored_roles(rows: StoredRows, columns: Sequence[str] | None = None) -> tuple[RoleProposal, ...]:
    """A role for each column, as `propose_roles` gives to a frame."""
    names = list(rows.schema) if columns is None else list(columns)
    missing = rows.count_missing()
    texts = [name for name in names if rows.schema[name] == pl.String]
    samples = rows.sample_values(texts, SAMPLE)
    whole = _find_whole_columns(rows, [name for name in names if rows.schema[name].is_float()])
    proposals = []
    for number, name in enumerate(names):
        report_progress("proposing roles", number, len(names))
        kind = rows.schema[name]
        profile = ColumnProfile(
            name=name,
            dtype=kind,
            rows=rows.height,
            distinct=rows.count_values(name),
            missing=missing[name],
            whole=whole.get(name, kind.is_integer()),
            sample=trim_sample(samples[name]) if name in samples else (),
        )
        proposals.append(propose_role(profile))
    return tuple(proposals)


def _find_whole_columns(rows: StoredRows, names: list[str]) -> dict[str, bool]:
    """Which columns of fractions hold whole numbers only."""
    whole = dict.fromkeys(names, True)
    for flags in rows.map_batches(_flag_whole_columns, names) if names else ():
        for name in names:
            whole[name] = whole[name] and bool(flags[name][0])
    return whole


def _flag_whole_columns(batch: pl.DataFrame, _: int) -> pl.DataFrame:
    return pl.DataFrame({name: [(batch[name].drop_nulls() % 1 == 0).all()] for name in batch.columns})
