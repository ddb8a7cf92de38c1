# SPDX-License-Identifier: MIT
"""What `sfumato audit` does with a file of sequences, or of points that become sequences."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sfumato.cli.terminal import print_json, print_line, show_progress

if TYPE_CHECKING:
    from sfumato.sequences import Sequences
    from sfumato.workflow.drafts.draft_source import LongColumns
    from sfumato.workflow.sequence_audit import SequenceAudit


def audit_sequence_file(
    data: str, shape: str | None, separator: str | None, columns: Mapping[str, str], as_json: bool
) -> bool:
    """Print what is at risk in a file of sequences or points, and the next command; False if it holds neither."""
    from sfumato.cli.draft_commands import parse_shape
    from sfumato.errors import DataError
    from sfumato.workflow.drafts.draft_source import LongColumns, detect_long_form, detect_shape
    from sfumato.workflow.sequence_audit import audit_sequences

    long_columns = LongColumns(**{option: name for option, name in columns.items() if name != option})
    with show_progress(as_json):
        kind = parse_shape(shape) or (
            detect_long_form(data, separator, long_columns) if any(long_columns) else detect_shape(data)
        )
        if any(long_columns) and kind == "baskets" and shape is None:
            kind = "sequences"  # baskets have nothing to audit
        if kind == "baskets" and shape is None:
            raise DataError(
                f"{data}: this seems to hold baskets, which have no columns to audit; a policy for them: sfumato init "
                f"{shlex.quote(data)}. If it is a table, say so: --shape table"
            )
        if kind not in ("sequences", "points"):
            return False
        findings = audit_sequences(_read_sequences(data, kind == "points", separator, long_columns), data)
    if as_json:
        print_json(findings.as_json())
        return True
    _print_lengths(findings)
    if kind == "points":
        print_line("Points were put into cells of a grid of 10 × 10: smaller regions single out more people.")
    print_line()
    for sentence in findings.sentences():
        print_line(sentence)
    print_line()
    options = {f"--{option}": name for option, name in columns.items() if name != option}
    command = write_next_command(data, {"--separator": separator, "--shape": shape, **options})
    print_line(f"Next, a policy to start from: {command}")
    return True


def _read_sequences(data: str, is_points: bool, separator: str | None, columns: LongColumns) -> Sequences:
    from sfumato.sequences import Sequences
    from sfumato.workflow.drafts.draft_source import DraftSource

    if is_points:
        return DraftSource.of(data, "points", separator, columns=columns).sequences
    return Sequences.read(
        data, id=columns.owner, item=columns.item_column, time=columns.time_column, separator=separator
    )


def _print_lengths(findings: SequenceAudit) -> None:
    print_line(f"{findings.source}: {findings.sequences:,} sequences of {findings.items:,} different items")
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
