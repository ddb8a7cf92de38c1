# SPDX-License-Identifier: MIT
"""What a certificate says about columns, compared with the file, the methods and itself: who named and changed which.

Methods and attacks name columns in their public parameters, and methods say which of them they change, and how.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sfumato.change_kinds import ChangeKind
from sfumato.errors import quote_names
from sfumato.runtime.lazy import find_tagged_class


def list_column_problems(body: Mapping[str, Any], published_columns: Iterable[str]) -> list[str]:
    """Columns that are nowhere, and changes that the methods of the certificate do not make."""
    columns, removed_columns = frozenset(published_columns), frozenset(body["removed_columns"])
    problems = []
    if strange := _list_named_columns(body) - columns - removed_columns:
        problems.append(f"the methods or attacks name columns that are not in the data: {quote_names(sorted(strange))}")
    if any(
        change["column"] not in (removed_columns if change["kind"] == ChangeKind.DROPPED else columns)
        for change in body["changes"]
    ):
        problems.append("the certificate states changes of columns that neither the data file has nor a method removed")
    problems += [
        f"the certificate states targets that {attack['attack']} cannot have"
        for attack in body["attacks"]
        if not _has_possible_targets(attack, columns)
    ]
    return problems + _list_change_problems(body, columns)


def _has_possible_targets(attack: Mapping[str, Any], columns: frozenset[str]) -> bool:
    """Whether it guessed published columns, each once, that its parameters name and that its attacker did not know."""
    targets, parameters = set(attack["targets"]), attack["parameters"]
    kind = find_tagged_class("attack", str(attack["attack"]))
    named_targets = kind.list_columns_in({name: parameters.get(name) for name in _TARGET_FIELDS}) if kind else ()
    return (
        len(targets) == len(attack["targets"])
        and targets <= columns
        and targets.isdisjoint(name for party in attack["known_columns"] for name in party)
        and (not named_targets or targets <= named_targets)
    )


_TARGET_FIELDS = ("column", "columns")
"""The fields in which an attack names what it guesses."""


def _list_named_columns(body: Mapping[str, Any]) -> frozenset[str]:
    """Every column that methods, models and attacks name."""
    names: set[str] = set()
    for parameters in body["methods"]:
        names |= _read_names("method", str(parameters["method"]), parameters)
        for model in parameters.get("models") or ():
            names |= _read_names("model", str(model["model"]), model)
    for attack in body["attacks"]:
        names |= _read_names("attack", str(attack["attack"]), attack["parameters"])
        names |= {*attack["targets"], *(name for party in attack["known_columns"] for name in party)}
    return frozenset(names)


def _read_names(tag: str, value: str, parameters: Mapping[str, Any]) -> frozenset[str]:
    kind = find_tagged_class(tag, value)
    return frozenset() if kind is None else kind.list_columns_in(parameters)


def _is_possible(kind: Any, changes: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a method, if its parameters do not say what it changes, may make such changes at all."""
    if kind is None or not kind.change_kinds:
        return True
    change_kinds = {ChangeKind(change["kind"]) for change in changes}
    return all(change_kind.meaning.is_of_any_method or change_kind in kind.change_kinds for change_kind in change_kinds)


class _ColumnChange(NamedTuple):
    """What a method does to a column."""

    column: str
    kind: str


def _list_change_problems(body: Mapping[str, Any], columns: frozenset[str]) -> list[str]:
    """Compare the changes with what the methods do by their public parameters, and their tags with the methods'."""
    methods: dict[str, list[Mapping[str, Any]]] = {}
    for parameters in body["methods"]:
        methods.setdefault(str(parameters["method"]), []).append(parameters)
    if not {change["method"] for change in body["changes"]} <= methods.keys():
        return ["the certificate states changes by a method that it does not name"]
    problems = []
    for tag, parameters_of_each in methods.items():
        kind = find_tagged_class("method", tag)
        if not _is_possible(kind, [change for change in body["changes"] if change["method"] == tag]):
            problems.append(f"the certificate states changes that {tag} never makes")
        is_drawn = kind is not None and any(kind.draws_rows(parameters) for parameters in parameters_of_each)
        if is_drawn and any(c["method"] == tag and c["kind"] == ChangeKind.KEPT for c in body["changes"]):
            problems.append(f"the certificate states that {tag} draws whole rows, and keeps a column")
        kinds = [None if kind is None else kind.list_change_kinds(parameters) for parameters in parameters_of_each]
        known_kinds = [kinds_by_column for kinds_by_column in kinds if kinds_by_column is not None]
        if len(known_kinds) == len(kinds):
            expected_changes = sorted(
                _ColumnChange(name, (kinds_by_column or {}).get(name, ChangeKind.KEPT))
                for kinds_by_column in known_kinds
                for name in columns
            )
            changes = [change for change in body["changes"] if change["method"] == tag]
            stated_changes = sorted(
                _ColumnChange(change["column"], change["kind"])
                for change in changes
                if change["kind"] != ChangeKind.DROPPED
            )
            is_levelled = any(change["starred"] or change["level"] is not None for change in changes)
            if stated_changes != expected_changes or is_levelled:
                problems.append(f"the certificate states other changes than {tag} makes with its parameters")
    return problems
