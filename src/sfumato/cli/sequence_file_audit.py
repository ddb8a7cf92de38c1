# SPDX-License-Identifier: MIT
"""What `sfumato audit` does with a file of sequences, or of points that become sequences."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sfumato.cli.terminal import print_json, print_line, show_progress
from sfumato.errors import count_noun

if TYPE_CHECKING:
    from sfumato.cli.audit_command import AuditedFile
    from sfumato.sequences import Sequences
    from sfumato.workflow.drafts.draft_source import DataShape, LongColumns
    from sfumato.workflow.sequence_audit import SequenceAudit


def find_audited_shape(data: str, shape: str | None, separator: str | None, columns: LongColumns) -> DataShape:
    """What a file holds; baskets are refused, since nothing can be audited in them."""
    from sfumato.cli.audit_command import SHAPES
    from sfumato.cli.draft_commands import parse_shape
    from sfumato.errors import DataError
    from sfumato.workflow.drafts.draft_source import detect_long_form, detect_shape

    if shape is not None and shape != "baskets":
        return parse_shape(shape, SHAPES) or "table"
    if shape is None:
        kind = detect_long_form(data, separator, columns) if any(columns) else detect_shape(data)
        if kind != "baskets":
            return kind
        if any(columns):
            return "sequences"  # of baskets, no column would have been named
    reason = "--shape baskets" if shape is not None else "this"
    verb = "says that it holds" if shape is not None else "seems to hold"
    raise DataError(
        f"{data}: {reason} {verb} baskets, which have no columns to audit; a policy for them: sfumato init "
        f"{shlex.quote(data)}. If it is a table, say so: --shape table"
    )


def audit_sequence_file(file: AuditedFile, typed_shape: str | None, as_json: bool) -> None:
    """Print what is at risk in a file of sequences or points, and the next command."""
    from sfumato.workflow.sequence_audit import audit_sequences

    with show_progress(as_json):
        sequences = _read_sequences(file.path, file.shape == "points", file.separator, file.columns)
        findings = audit_sequences(sequences, file.path)
    if as_json:
        print_json(findings.as_json())
        return
    _print_lengths(findings)
    if file.shape == "points":
        print_line("Points were put into cells of a grid of 10 × 10: smaller regions single out more people.")
    print_line()
    for sentence in findings.list_sentences():
        print_line(sentence)
    print_line()
    options = {f"--{option}": name for option, name in file.columns._asdict().items() if name is not None}
    command = write_next_command(file.path, {"--separator": file.separator, "--shape": typed_shape, **options})
    print_line(f"Next, a policy to start from: {command}")


def _read_sequences(data: str, is_points: bool, separator: str | None, columns: LongColumns) -> Sequences:
    from sfumato.sequences import Sequences
    from sfumato.workflow.drafts.draft_source import DraftSource

    if is_points:
        return DraftSource.of(data, "points", separator, columns=columns).sequences
    return Sequences.read(
        data, id=columns.owner, item=columns.item_column, time=columns.time_column, separator=separator
    )


def _print_lengths(findings: SequenceAudit) -> None:
    counts = f"{count_noun(findings.sequences, 'sequence')} of {count_noun(findings.items, 'different item')}"
    print_line(f"{findings.source}: {counts}")
    lengths = f"{findings.shortest:,} to {findings.longest:,}, half of them up to {findings.median_length:g}"
    empty = f"; {findings.empty:,} have none" if findings.empty else ""
    print_line(f"Elements in a sequence: {lengths}{empty}")


_DEFAULTS = (("--encoding", "utf-8"), ("--decimal", "."), ("--missing-mark", ""), ("--missing-mark", "?"))


def write_next_command(
    data: str, option_values: Mapping[str, str | None], marks: Iterable[str] = (), header: bool = True
) -> str:
    """The command that drafts a policy for a file, with the options by which the file was read."""
    options = [*option_values.items(), *(("--missing-mark", mark) for mark in marks)]
    pairs = [(option, value) for option, value in options if value is not None and (option, value) not in _DEFAULTS]
    words = [shlex.join(pair) for pair in pairs]
    return " ".join(["sfumato init", shlex.quote(data), *words, *([] if header else ["--no-header"])])
