# SPDX-License-Identifier: MIT
"""A complete, commented policy for a file, to start from: `sfumato init`.

Every choice stands in the policy with its reason: the role of each column, the cells that may mean "missing", a
hierarchy for each quasi-identifying column, the method with its alternatives, attacks and a gate. What the verdict
would refuse is left out of the release; nothing is accepted on the custodian's behalf.

A drafted policy and its hierarchies hold names of columns and values of the data. They are the custodian's own files:
mode 0600, never over an existing file.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sfumato.data.cells.misread_columns import find_misread_columns
from sfumato.data.cells.missing_marks import MissingMark
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.data.hierarchies.hierarchy_proposals import HierarchyProposal, propose_hierarchy
from sfumato.data.reading.source import drop_password
from sfumato.data.reading.table_reader import MISSING_MARKS
from sfumato.data.roles.role import Role
from sfumato.data.roles.role_proposals import RoleProposal, propose_roles
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun, quote_names
from sfumato.private.private_file import create_private
from sfumato.runtime.progress import report_progress
from sfumato.workflow.drafts.basket_draft import write_basket_methods
from sfumato.workflow.drafts.draft_methods import (
    PURPOSES,
    DraftTable,
    Purpose,
    choose_k,
    drop_unlearnable,
    parse_purpose,
    write_table_methods,
)
from sfumato.workflow.drafts.draft_notes import (
    note_different_sequences,
    note_empty_columns,
    note_many_columns,
    note_points,
    note_several_rows,
    note_unnamed_columns,
)
from sfumato.workflow.drafts.draft_source import DraftSource
from sfumato.workflow.drafts.event_columns import note_baskets_with_time, note_events
from sfumato.workflow.drafts.sequence_draft import write_sequence_methods
from sfumato.workflow.drafts.toml_text import quote_toml_text, write_comment, write_entry, write_list
from sfumato.workflow.policy import DEMO, Policy


@dataclass(frozen=True)
class PolicyDraft:
    """A drafted policy, and the hierarchy files that it names."""

    path: Path
    """Where `save` writes the policy; the paths in it are relative to its folder."""
    text: str
    """The policy. It may hold values of the data."""
    hierarchies: Mapping[str, Hierarchy]
    """File name → the hierarchy, for those that must list values."""
    notes: tuple[str, ...]
    """What the custodian should know, in sentences without values."""

    def save(self) -> tuple[Path, ...]:
        """Write the policy and its hierarchies, readable by their owner alone; existing files are not overwritten."""
        files = {
            **{self.path.parent / name: format_hierarchy(hierarchy) for name, hierarchy in self.hierarchies.items()},
            self.path: self.text,
        }
        for path in (self.path, *files):
            refuse_existing(path)
        written_paths: list[Path] = []
        try:
            for path, text in files.items():
                create_private(path, text.encode())
                written_paths.append(path)
        except OSError as error:
            for path in written_paths:
                path.unlink(missing_ok=True)
            raise _explain_unwritable(error, path if isinstance(error, FileExistsError) else self.path) from None
        return tuple(written_paths)


def refuse_existing(path: Path) -> None:
    """Refuse to write over a file, or into a folder that is not there."""
    if path.is_dir():
        raise PolicyError(f"{path}: this is a folder; name a file in it, as in --out {path / 'policy.toml'}")
    if os.path.lexists(path):
        raise PolicyError(f"{path}: the file exists and is not overwritten; choose another with --out")
    if not path.parent.is_dir():
        raise _explain_unwritable(FileNotFoundError(), path)


def save_hierarchy(hierarchy: Hierarchy, path: Path) -> None:
    """Write one hierarchy for editing, readable by its owner alone."""
    refuse_existing(path)
    try:
        create_private(path, format_hierarchy(hierarchy).encode())
    except OSError as error:
        raise _explain_unwritable(error, path) from None


def _explain_unwritable(error: OSError, path: Path) -> DataError:
    reason = "it exists already" if isinstance(error, FileExistsError) else error.strerror
    if isinstance(error, FileNotFoundError):
        reason = f"there is no folder {path.parent}: make it first"
    return DataError(f"{path}: cannot be written ({reason}); choose another file with --out")


def format_hierarchy(hierarchy: Hierarchy) -> str:
    """The rows as ARX writes them: no header, semicolons."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(hierarchy.rows)
    return text.getvalue()


def draft_policy(
    data: str | Path | DraftSource,
    purpose: str = "publish",
    out: str | Path = "policy.toml",
    *,
    k: int | None = None,
    sensitive: Sequence[str] | None = None,
) -> PolicyDraft:
    """Draft a complete policy for a file; nothing is written before `save`."""
    path, chosen_purpose = Path(out), parse_purpose(purpose)
    source = data if isinstance(data, DraftSource) else DraftSource.of(data)
    head = _write_head(source, path, chosen_purpose)
    if k is not None and k < 2:
        raise PolicyError("k is how many people each person is hidden among: at least 2")
    if source.shape != "table":
        methods = (
            write_basket_methods(source.baskets, source.path, chosen_purpose, k)
            if source.shape == "baskets"
            else write_sequence_methods(source.sequences, source.path, chosen_purpose, k)
        )
        draft = PolicyDraft(path, _join_sections(head, methods, _write_output()), {}, tuple(_note_order(source)))
    else:
        draft = _draft_table_policy(source, path, chosen_purpose, head, k, sensitive)
    Policy.parse(draft.text, path)  # a draft that cannot be read is a fault of ours
    return draft


def _note_order(source: DraftSource) -> Iterable[str]:
    """What the custodian should know about the order of items."""
    if source.shape == "sequences":
        return note_different_sequences(source.sequences)
    return note_baskets_with_time(source) if source.shape == "baskets" else ()


def _draft_table_policy(
    source: DraftSource, path: Path, purpose: Purpose, head: list[str], k: int | None, sensitive: Sequence[str] | None
) -> PolicyDraft:
    frame = source.frame
    report_progress("proposing roles")
    proposals = decide_roles(source, purpose, sensitive)
    table = DraftTable(source.path, frame, proposals, k or choose_k(frame.height, source.path))
    if table.k > frame.height:
        raise PolicyError(
            f"{source.path}: k is {table.k}, and the table has {count_noun(frame.height, 'row')}; choose a smaller k"
        )
    methods = write_table_methods(table, purpose)
    report_progress("proposing hierarchies")
    hierarchies = {
        name: proposal
        for name in table.list_role_columns(Role.QUASI_IDENTIFYING)
        if (proposal := propose_hierarchy(frame[name]))
    }
    files = _name_hierarchy_files(hierarchies, path)
    sections = (head, _write_roles(proposals), _write_hierarchies(table, hierarchies, files), methods, _write_output())
    file_hierarchies = {file: hierarchies[column].hierarchy for column, file in files.items()}
    return PolicyDraft(path, _join_sections(*sections), file_hierarchies, _list_draft_notes(source, proposals))


def decide_roles(
    source: DraftSource, purpose: Purpose, sensitive: Sequence[str] | None = None
) -> tuple[RoleProposal, ...]:
    """The proposed roles, changed so that a release is possible and the verdict does not refuse it."""
    proposals = propose_roles(source.frame)
    if sensitive is not None:
        unknown = [name for name in sensitive if name not in source.frame.columns]
        if unknown:
            cure = ask_meant(unknown, source.frame.columns)
            raise PolicyError(f"{source.path}: there is no column {quote_names(unknown)}{cure}")
        proposals = tuple(_choose_sensitive(proposal, set(sensitive)) for proposal in proposals)
    if purpose == "synthetic":
        proposals = drop_unlearnable(proposals, source.frame)
    remaining_proposals = [proposal for proposal in proposals if proposal.role is not Role.IDENTIFYING]
    if not remaining_proposals:
        raise DataError(
            f"{source.path}: every column names people or cannot be published, so nothing would be left of the table; "
            "add other columns"
        )
    if purpose in ("publish", "share") and not any(p.role is Role.QUASI_IDENTIFYING for p in remaining_proposals):
        proposals = tuple(p if p.role is Role.IDENTIFYING else _hide_in_crowd(p) for p in proposals)
    return proposals


def _choose_sensitive(proposal: RoleProposal, sensitive: set[str]) -> RoleProposal:
    if proposal.column in sensitive and proposal.role is Role.IDENTIFYING and not proposal.by_counts:
        return replace(proposal, reason=f"You called it sensitive, but it names people. {proposal.reason}")
    if proposal.column in sensitive:
        return replace(proposal, role=Role.SENSITIVE, reason=f"You called it sensitive. {proposal.reason}")
    if proposal.role is Role.SENSITIVE:
        reason = f"You did not call it sensitive. {proposal.reason}"
        return replace(proposal, role=Role.QUASI_IDENTIFYING, reason=reason)
    return proposal


def _hide_in_crowd(proposal: RoleProposal) -> RoleProposal:
    """Without a quasi-identifying column there is nobody to hide; then rare values are generalized."""
    reason = f"No column looks like something that others know, so each must hide its rare values. {proposal.reason}"
    return replace(proposal, role=Role.QUASI_IDENTIFYING, reason=reason)


def _join_sections(*sections: list[str]) -> str:
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _write_head(source: DraftSource, path: Path, purpose: Purpose) -> list[str]:
    lines = [
        *write_comment(f"A draft by `sfumato init`, to {purpose}: {PURPOSES[purpose]}."),
        *write_comment(
            "Read it, change what you know better, and type: sfumato run " + path.name + ". Lines with #| take effect "
            "without that mark."
        ),
        *write_comment(
            "PRIVATE: this file and the hierarchies next to it hold values of your data. Do not publish them."
        ),
        "",
        write_entry("title", "Release", "put a title of your own: it is published"),
        "",
        "[data]",
        write_entry("path", locate_data(source.path, path)),
    ]
    return [*lines, *_write_reading(source)]


def locate_data(data: str, policy: Path) -> str:
    """The data's path as seen from the policy's folder."""
    if data == DEMO or "://" in data:
        return drop_password(data)
    plain = Path(data).expanduser().absolute()
    relative_path = os.path.relpath(plain, policy.absolute().parent)
    shown_path = str(plain) if relative_path.startswith("..") else relative_path
    return f"./{shown_path}" if shown_path == DEMO or shown_path.startswith("~") else shown_path


def _write_reading(source: DraftSource) -> list[str]:
    """How the file is read, as far as it was decided."""
    if source.shape == "points":
        return source.points.write_reading()
    if source.shape != "table":
        read = {"separator": source.separator, **source.columns._asdict()}
        return [write_entry(name, value) for name, value in read.items() if value]
    lines = _write_text_reading(source) if source.is_text else []
    if source.dates:
        lines.append(write_entry("dates", source.dates, "how dates are written; they are published as 2009-06-30"))
    if source.takes_marks and (source.is_text or source.noticed_marks or source.missing_marks != MISSING_MARKS):
        lines.append(write_entry("missing_marks", list(source.missing_marks), 'cells that mean "missing"'))
    if source.noticed_marks:
        lines += write_comment("These may mean missing, too. If they do, add them above:")
        lines += [f"#     {quote_toml_text(mark.mark)}  {_count_mark(mark)}" for mark in source.noticed_marks]
    return lines


def _write_text_reading(source: DraftSource) -> list[str]:
    """What a text file does not say itself."""
    lines = [write_entry("separator", source.separator)] if source.separator else []
    if source.header is False:
        lines.append(write_entry("header", False, "the first line holds values, not names"))
    if source.encoding != "utf-8":
        lines.append(write_entry("encoding", source.encoding))
    if source.decimal != ".":
        lines.append(write_entry("decimal", source.decimal, "1,5 is a number; it is published as 1.5"))
    return lines


def _count_mark(mark: MissingMark) -> str:
    column_list = ", ".join(f"{quote_toml_text(name)} ({count_noun(rows, 'row')})" for name, rows in mark.rows.items())
    return f"in {column_list}"


def _write_roles(proposals: tuple[RoleProposal, ...]) -> list[str]:
    meanings = {
        Role.IDENTIFYING: "Never released.",
        Role.QUASI_IDENTIFYING: "Others may know these; together they can single a person out.",
        Role.SENSITIVE: "What an adversary wants to learn; released as it is.",
        Role.INSENSITIVE: "Discloses nothing; released as it is.",
    }
    lines = ["[roles]"]
    for role, meaning in meanings.items():
        names = [(proposal.column, proposal.reason) for proposal in proposals if proposal.role is role]
        if names:
            lines += [*write_comment(meaning), *write_list(role.value, names)]
    return lines


def _write_hierarchies(
    table: DraftTable, hierarchies: Mapping[str, HierarchyProposal], files: Mapping[str, str]
) -> list[str]:
    if not table.list_role_columns(Role.QUASI_IDENTIFYING):
        return []
    lines = ["[hierarchies]", *write_comment("What a value may be generalized to, level by level; * is on top.")]
    for name in table.list_role_columns(Role.QUASI_IDENTIFYING):
        proposal = hierarchies.get(name)
        if proposal is None:
            lines += write_comment(f"{quote_toml_text(name)} has none: its values have no groups or order to propose.")
            continue
        entry = files.get(name) or proposal.description
        lines += [*write_comment(proposal.reason), write_entry(name, entry)]
    return lines


def _name_hierarchy_files(hierarchies: Mapping[str, HierarchyProposal], path: Path) -> dict[str, str]:
    """A file for each hierarchy that lists values, named after the policy and the column."""
    files: dict[str, str] = {}
    for column, proposal in hierarchies.items():
        if proposal.description is None:
            plain = re.sub(r"[^\w-]+", "_", column)[:40].strip("_") or "column"
            name = f"{path.stem}_hierarchy_{plain}"
            taken_names = {file.casefold() for file in files.values()}
            while f"{name}.csv".casefold() in taken_names:
                name += "_"
            files[column] = f"{name}.csv"
    return files


def _write_output() -> list[str]:
    return [
        "[about]",
        '#| purpose = "research on …"  # published',
        '#| recipient = "…"  # published',
        '#| decided_by = "…"  # stays in the internal report',
        "",
        "[output]",
        write_entry("path", "out", "becomes out/release, which may be published, and out/private, which stays"),
    ]


def _list_draft_notes(source: DraftSource, proposals: tuple[RoleProposal, ...]) -> tuple[str, ...]:
    notes = []
    if drop_password(source.path) != source.path:
        notes.append("The password was not written into the policy: set PGPASSWORD, or write it into ~/.pgpass.")
    if source.header is False and source.is_text:
        notes.append(
            "The first line looks like data, so columns are numbered. If it names the columns, use --header; if you "
            "know their names, put them under [data]: columns = [...]."
        )
    if source.noticed_marks:
        cells = sum(sum(mark.rows.values()) for mark in source.noticed_marks)
        columns = {name for mark in source.noticed_marks for name in mark.rows}
        notes.append(
            f"{count_noun(cells, 'cell')} in {count_noun(len(columns), 'column')} may mean missing; [data] lists them, "
            "but they are not applied."
        )
    notes += note_unnamed_columns(source.frame) if source.header is not False else []
    notes += note_empty_columns(source.frame)
    if source.dates:
        notes.append(f"Read as dates, and published as 2009-06-30: {quote_names(source.dates)}.")
    if source.decimal == ",":
        notes.append('Numbers have a decimal comma (decimal = ","), and are published as 1.5.')
    removed_columns = [p.column for p in proposals if p.role is Role.IDENTIFYING]
    notes += find_misread_columns(source.frame.drop(removed_columns)).explain()
    points = list(note_points(source.frame.columns))
    events = points or list(note_events(source.path, proposals))
    notes += [*note_many_columns(proposals), *note_several_rows(proposals), *events]
    if removed_columns:
        notes.append(f"Not released: {quote_names(removed_columns)}.")
    return tuple(notes)
