# SPDX-License-Identifier: MIT
"""The line to type where roles are missing: every column with a proposed role, for the custodian to check."""

from __future__ import annotations

import json

import polars as pl

from sfumato.data.roles.role import Role, are_plausible_names
from sfumato.data.roles.role_proposals import propose_roles

_MOST = 40
"""A line with more columns is not typed but taken from an audit."""


def explain_missing_roles(frame: pl.DataFrame, source: str) -> str:
    """Why a table without roles cannot be used, and what to type."""
    return (
        f"{source}: no roles are given; state for each column whether it is "
        f"{', '.join(role.value for role in Role)}. Proposed, for you to check: {write_role_line(frame, source)}"
    )


def write_role_line(frame: pl.DataFrame, source: str = "table") -> str:
    """A line of Python that makes the table with proposed roles."""
    in_memory = source == "table"
    start = "sf.Table.of(df" if in_memory else f"sf.Table.read({json.dumps(source, ensure_ascii=False)}"
    if frame.width > _MOST or not are_plausible_names(frame.columns):
        return f"{start}, roles=sf.audit({'df' if in_memory else 'path'}).roles)"
    roles = {proposal.column: proposal.role.value for proposal in propose_roles(frame)}
    return f"{start}, roles={json.dumps(roles, ensure_ascii=False)})"
