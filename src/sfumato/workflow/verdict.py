# SPDX-License-Identifier: MIT
"""The verdict on a whole release: passed, passed with warnings, or refused, and why.

Claims cover what a method promises, no more. The verdict looks at the rest of the written file as well: columns that
look as if they named a person, rows that are unique by a few columns whatever their role, the strongest attack against
blind guessing, and what nobody checked. It is computed from the written file and the outcomes of the attacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from sfumato.attack.attack_gain import is_alarming_gain
from sfumato.baskets import Baskets
from sfumato.change import ChangeKind
from sfumato.data.roles.role import Role
from sfumato.data.roles.role_proposals import RoleProposal, propose_roles
from sfumato.engine.profiles import propose_stored_roles
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import PolicyError, quote_names
from sfumato.measure.anonymity.stored_unique_rows import find_stored_unique_rows
from sfumato.measure.anonymity.unique_rows import MOST_COLUMNS, UniqueRows, find_unique_rows
from sfumato.measure.checks import CHECKS
from sfumato.report.words.attack_gains import (
    AttackInWords,
    compare_with_guessing,
    describe_attack,
    find_strongest_attack,
)
from sfumato.report.words.attack_names import name_attacks
from sfumato.report.words.wording import spell_percent
from sfumato.runtime.lazy import find_tagged_class
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences
from sfumato.table import Table
from sfumato.workflow.drafts.toml_text import quote_key
from sfumato.workflow.outgoing import (
    CertifiedAttack,
    build_outgoing_attack,
    count_hidden_people,
    list_public_targets,
)
from sfumato.workflow.published_columns import AnyTable, gather_kinds, get_outline, split_columns

UNIQUE_LIMIT = 0.1
"""The share of unique rows from which exact columns are refused or warned of."""


class VerdictStatus(StrEnum):
    """The verdict in a word or three."""

    PASSED = "passed"
    WARNED = "passed with warnings"
    REFUSED = "refused"


@dataclass(frozen=True)
class Objection:
    """Columns that contradict their roles. It stops a release unless the policy accepts it by name."""

    columns: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        """The objection, and its cure."""
        cure = f"Change the role under [roles], or accept it with a reason: [accept] {quote_key(self.columns[0])} = ..."
        return f"{self.reason} {cure}"


@dataclass(frozen=True, repr=False)
class Verdict:
    """The verdict on a whole release; for the custodian."""

    status: VerdictStatus
    headline: str
    """The verdict in a few sentences."""
    unique_rows: tuple[UniqueRows, ...] = ()
    """For one, two and three published columns, those by which the most rows are unique."""
    unique_before: tuple[UniqueRows, ...] = ()
    """The same of the originals, among the same columns: private."""
    not_counted: tuple[str, ...] = ()
    """Columns of noise, drawn values or codes, which others do not know of a person."""
    strongest_attack: AttackInWords | None = None
    """The attack that gains most over blind guessing: private."""
    accepted: Mapping[str, str] = field(default_factory=dict)
    """Column → why it may be published although it contradicts its role, from the policy."""
    warnings: tuple[str, ...] = ()
    """What everybody should know about the release: computed from what leaves."""
    alarms: tuple[str, ...] = ()
    """What only the custodian may know: attacks that are alarming, and whose outcomes are not published."""
    objections: tuple[Objection, ...] = ()
    """Why the release was refused, besides the limits of the gate."""
    unchecked: tuple[str, ...] = ()
    """What nobody checked."""

    def __repr__(self) -> str:
        """The headline and how much there is to read."""
        counts = f"{len(self.warnings)} warnings, {len(self.alarms)} alarms, {len(self.objections)} objections"
        return f"Verdict({self.headline} {counts})"

    def as_json(self) -> dict[str, Any]:
        """The verdict for a script or the custodian's record."""
        return asdict(self)


def judge_release(
    record: Mapping[str, Any],
    published_data: Any,
    original: Any,
    accepted_columns: Mapping[str, str],
    *,
    gate_open: bool,
) -> Verdict:
    """Judge a written release from the custodian's record of its run and the two tables."""
    report_progress("judging the whole release")
    attack = find_strongest_attack(record["attacks"])
    verdict = Verdict(VerdictStatus.PASSED, "", strongest_attack=attack)
    if isinstance(published_data, Table | StoredTable):
        _refuse_unknown_columns(accepted_columns, original)
        verdict = replace(
            verdict,
            **_look_at_columns(record["changes"], published_data, original),
            accepted=_keep_exact_columns(accepted_columns, record["changes"], published_data),
            objections=list_objections(record["changes"], published_data, accepted_columns),
        )
    elif isinstance(original, Table):  # rules about it are published, and no column that could be accepted
        _refuse_unknown_columns(accepted_columns, original)
    elif accepted_columns:
        raise PolicyError("[accept] names columns, and only a table has columns; remove it")
    verdict = replace(
        verdict,
        warnings=list_warnings(record, _build_attacks(record), verdict.accepted, verdict.unique_rows),
        alarms=_list_alarms(record),
        unchecked=list_unchecked(record, published_data),
    )
    status = _choose_status(verdict, gate_open=gate_open)
    verdict = replace(verdict, status=status)
    return replace(verdict, headline=_write_headline(verdict))


def _refuse_unknown_columns(accepted_columns: Mapping[str, str], original: Any) -> None:
    unknown = [name for name in accepted_columns if name not in get_outline(original).frame.columns]
    if unknown:
        raise PolicyError(f"[accept] names {quote_names(unknown)}, which the table does not have")


def _keep_exact_columns(
    accepted_columns: Mapping[str, str], changes: Iterable[Mapping[str, Any]], published_table: AnyTable
) -> dict[str, str]:
    """What was accepted and is published: not a column that a method removed, or changed so that it names nobody."""
    kinds = gather_kinds(changes)
    published_columns = get_outline(published_table).frame.columns
    return {
        name: reason
        for name, reason in accepted_columns.items()
        if name in published_columns and _may_name_people(kinds.get(name, ()))
    }


def _look_at_columns(
    changes: Iterable[Mapping[str, Any]], published_table: AnyTable, original: AnyTable
) -> dict[str, Any]:
    """Unique rows by few columns, in the release and in the originals."""
    counted_columns, not_counted = split_columns(changes, published_table)
    known_columns = [name for name in counted_columns if name in get_outline(original).frame.columns]
    return {
        "unique_rows": find_unique(published_table, counted_columns),
        "unique_before": find_unique(original, known_columns),
        "not_counted": not_counted,
    }


def find_unique(table: AnyTable, columns: Sequence[str], most: int = MOST_COLUMNS) -> tuple[UniqueRows, ...]:
    """Unique rows by few columns, counted where the rows are."""
    if isinstance(table, Table):
        return find_unique_rows(table.frame, columns, most)
    return find_stored_unique_rows(table.rows, columns, most)


def _propose_roles(table: AnyTable, columns: Sequence[str]) -> tuple[RoleProposal, ...]:
    if isinstance(table, Table):
        return propose_roles(table.frame.select(columns))
    return propose_stored_roles(table.rows, columns)


def _may_name_people(kinds: Iterable[ChangeKind]) -> bool:
    """Whether a column that was changed in these ways may publish values of the originals."""
    return all(kind.meaning.publishes_originals for kind in kinds)


def _list_changed_columns(changes: Iterable[Mapping[str, Any]]) -> set[str]:
    """The columns of which a method states a change, of all cells or of those in suppressed rows."""
    return {change["column"] for change in changes if change["kind"] != ChangeKind.KEPT or change["starred"]}


def list_objections(
    changes: Iterable[Mapping[str, Any]], published_table: AnyTable, accepted_columns: Iterable[str] = ()
) -> tuple[Objection, ...]:
    """Columns that look as if they named a person, and exact insensitive columns by which many rows are unique."""
    kinds, fine, columns = gather_kinds(changes), set(accepted_columns), get_outline(published_table).frame.columns
    suspect_names = [n for n in columns if n not in fine and _may_name_people(kinds.get(n, ()))]
    objections = [
        Objection((proposal.column,), f'The published column "{proposal.column}" may name people. {proposal.reason}')
        for proposal in _propose_roles(published_table, suspect_names)
        if proposal.role is Role.IDENTIFYING and not proposal.by_counts
    ]
    fine |= {name for objection in objections for name in objection.columns}
    exact = [n for n in columns if n not in fine and all(kind.is_exact for kind in kinds.get(n, ()))]
    loose = [name for name in exact if published_table.roles.get(name) is Role.INSENSITIVE]
    return (*objections, *_object_to_unique_rows(find_unique(published_table, loose, most=2)))


def _object_to_unique_rows(few: Iterable[UniqueRows]) -> tuple[Objection, ...]:
    """The fewest exact columns by which many rows are unique."""
    for rows in few:
        if rows.share > UNIQUE_LIMIT:
            reason = (
                f"{spell_percent(rows.share)} of the rows are unique by {quote_names(rows.columns)} alone, published "
                "unchanged and marked insensitive."
            )
            return (Objection(rows.columns, reason),)
    return ()


def list_warnings(
    body: Mapping[str, Any],
    attacks: Iterable[CertifiedAttack],
    accepted_columns: Mapping[str, str],
    unique_rows: Sequence[UniqueRows],
) -> tuple[str, ...]:
    """Warnings that are no refusals, from what is published alone: a warning must not disclose more than the release.

    Anyone can list them again from the certificate, its `body`, and the released file.
    """
    changed_columns = _list_changed_columns(body["changes"])
    sentences = [
        f'"{name}" is published {"as its method changed it" if name in changed_columns else "unchanged"}; '
        f"accepted: {reason}"
        for name, reason in accepted_columns.items()
    ]
    sentences += [text for text in (warn_of_unique_rows(unique_rows),) if text]
    for attack in attacks:
        if attack.risk_at_most is not None and is_alarming_gain(attack.risk_at_most, attack.guessing or 0.0):
            sentences.append(
                f"The attack {attack.attack.replace('_', ' ')} may be right much more often than guessing."
            )
    if not body["suppression"]["safe"]:
        sentences.append(body["suppression"]["why"])
    kinds = [(find_tagged_class("method", str(parameters["method"])), parameters) for parameters in body["methods"]]
    if any(kind is not None and kind.find_repair(parameters) == "none" for kind, parameters in kinds):
        sentences.append("Nothing was repaired: groups of fewer people than k may follow from the published supports.")
    if body["maturity"] != "stable":
        sentences.append("A method of this release is for study, not for use.")
    if not body["for_publication"]:
        sentences.append("Random numbers came from a seed: not for publication.")
    return tuple(sentences)


def _build_attacks(record: Mapping[str, Any]) -> list[CertifiedAttack]:
    people = count_hidden_people(record)
    return [build_outgoing_attack(attack, people) for attack in record["attacks"]]


def _list_alarms(record: Mapping[str, Any]) -> tuple[str, ...]:
    descriptions = [describe_attack(attack) for attack in record["attacks"]]
    names = name_attacks([(attack["attack"].replace("_", " "), attack) for attack in record["attacks"]])
    return tuple(
        f"The attack {name} is right for {spell_percent(words.risk)}, guessing for {spell_percent(words.blind_share)}"
        f"{f'; the same guesses are right for {words.strangers}' if words.strangers else ''}."
        for name, words in zip(names, descriptions, strict=True)
        if words.is_alarming
    )


def warn_of_unique_rows(unique: Sequence[UniqueRows]) -> str:
    """A sentence about the fewest columns by which many rows are unique; empty if there are none."""
    rows = next((rows for rows in unique if rows.share > UNIQUE_LIMIT), None)
    if rows is None:
        return ""
    return f"{spell_percent(rows.share)} of the published rows are unique by {quote_names(rows.columns)}."


def list_unchecked(record: Mapping[str, Any], published_data: Any) -> tuple[str, ...]:
    """What no claim and no attack covered, decided without looking at the outcomes."""
    sentences = []
    kinds = [find_tagged_class("attack", str(attack["attack"])) for attack in record["attacks"]]
    covered_risks = {kind.covers for kind in kinds if kind is not None}
    if not kinds:
        sentences.append("No attack was tried.")
    if isinstance(published_data, Table | StoredTable):
        outline = get_outline(published_data)
        hides_targets = any(kind.hides_targets for kind in kinds if kind is not None)
        targets = {name for attack in record["attacks"] for name in list_public_targets(attack)}
        missed_columns = [name for name in outline.sensitive if name not in targets]
        if missed_columns:
            noun = "column" if len(missed_columns) == 1 else "columns"
            subject = "Apart from attacks on private entries, no attack" if hides_targets else "No attack"
            sentences.append(f"{subject} targeted the sensitive {noun} {quote_names(missed_columns)}.")
        column_kinds = gather_kinds(record["changes"])
        coded_columns = [name for name in outline.quasi_identifying if ChangeKind.CODED in column_kinds.get(name, ())]
        if coded_columns:
            sentences.append(f"People were not looked up by what the codes of {quote_names(coded_columns)} stand for.")
    checks = [CHECKS.get(claim["measure"]) for claim in record["claims"]]
    claimed_risks = {check.covers for check in checks if check is not None}
    if isinstance(published_data, Baskets | StoredBaskets | Sequences) and "people by their items" not in claimed_risks:
        ending = "." if "people by their items" in covered_risks else ", and it was not tested."
        sentences.append(f"No claim covers finding people by items that others know{ending}")
    if "other releases" not in covered_risks:
        sentences.append("Combination with other releases was not tested.")
    private = sum(claim["needs_original"] for claim in record["claims"])
    if private:
        claims = "1 claim is" if private == 1 else f"{private} claims are"
        sentences.append(f"{claims} about the originals: a recipient cannot check {'it' if private == 1 else 'them'}.")
    return tuple(sentences)


def _choose_status(verdict: Verdict, *, gate_open: bool) -> VerdictStatus:
    if verdict.objections or not gate_open:
        return VerdictStatus.REFUSED
    return VerdictStatus.WARNED if verdict.warnings else VerdictStatus.PASSED


def _write_headline(verdict: Verdict) -> str:
    """Status and alarms, unique rows and the strongest attack, in this order."""
    alarms = f", but {_count_alarms(verdict)}" if verdict.alarms and verdict.status is not VerdictStatus.REFUSED else ""
    sentences = [f"{verdict.status.value.capitalize()}{alarms}.", *describe_unique_rows(verdict)]
    if verdict.strongest_attack is not None:
        sentences.append(compare_with_guessing(verdict.strongest_attack))
    return " ".join(sentences)


def _count_alarms(verdict: Verdict) -> str:
    return "one attack is alarming" if len(verdict.alarms) == 1 else f"{len(verdict.alarms)} attacks are alarming"


def describe_unique_rows(verdict: Verdict) -> list[str]:
    """How many rows are unique at most, by the fewest columns by which that many are, after and before."""
    if not verdict.unique_rows:
        return []
    rows = _choose_fewest_columns(verdict.unique_rows)
    originals = verdict.unique_before
    was = f" ({_describe_unique(_choose_fewest_columns(originals), 'original')})" if originals else ""
    rest = ", not counting columns of noise, drawn values or codes" if verdict.not_counted else ""
    return [f"{_describe_unique(rows, 'published', ' are unique')}{was}{rest}."]


def _choose_fewest_columns(unique: Sequence[UniqueRows]) -> UniqueRows:
    """The largest share: a further column by which no more rows are unique, such as one of stars, is not blamed."""
    most = max(unique, key=lambda rows: rows.share)
    return most if most.share else unique[-1]


def _describe_unique(rows: UniqueRows, table: str, verb: str = "") -> str:
    """A share of rows and the columns by which they are unique; if none was found, how many columns."""
    if not rows.share:
        number = ("one column", "two columns", "three columns")[len(rows.columns) - 1]
        return f"No {table} row was found to be unique by {number}" if verb else f"no {table} row by {number}"
    return f"{spell_percent(rows.share)} of the {table} rows{verb} by {quote_names(rows.columns)}"
