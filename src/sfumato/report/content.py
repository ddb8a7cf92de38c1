# SPDX-License-Identifier: MIT
"""The content of the report, computed before layout.

The public page is made from the certificate and the released data alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from sfumato.attack.anonymity.linking import LIST_OF_PEOPLE
from sfumato.change import Change, ChangeKind, describe_changes
from sfumato.errors import count_noun, join_names
from sfumato.fields.field_docs import find_field_doc
from sfumato.measure.changes import ColumnDifference
from sfumato.report.run_account import RunAccount
from sfumato.report.words import loss_words, wording
from sfumato.rules import Rules
from sfumato.runtime.lazy import find_tagged_class
from sfumato.table import Missing


@dataclass(frozen=True)
class GateLine:
    """One limit of the release gate, and the measured value."""

    name: str
    meaning: str
    limit: str
    value: str
    """Empty on the public page."""
    is_open: bool


@dataclass(frozen=True)
class KeyFigure:
    """One key figure."""

    figure: str
    caption: str
    note: str
    wide: bool = False


@dataclass(frozen=True)
class ColumnRow:
    """One row of the table of columns."""

    name: str
    role: str
    level: int | None
    height: int | None
    change_words: str
    is_kept: bool
    """Whether every cell is as it was."""
    loss: float | None
    values: int
    examples: tuple[str, ...]
    original_values: int | None
    """None on the public page."""


def list_gates(body: Mapping[str, Any]) -> list[GateLine]:
    """Every limit of the gate, with the measured value."""
    rows = []
    for gate in body.get("gate", ()):
        title, meaning = wording.GATES.get(gate["gate"]) or _describe_risk_gate(gate["gate"])
        limit = gate["limit"]
        measured_text = wording.format_gate_value(gate["found"], limit) if "found" in gate else ""
        rows.append(GateLine(title, meaning, wording.format_gate_limit(limit), measured_text, gate["open"]))
    return rows


def _describe_risk_gate(name: str) -> tuple[str, str]:
    """A limit on one attack, `max_risk.ATTACK`; any other limit by its name."""
    limit_name, _, attack = name.partition(".")
    if limit_name != "max_risk" or not attack:
        return wording.spell_name(name), ""
    return (
        f"Risk by {wording.spell_name(attack)}",
        "The share of right guesses, at the upper end of its interval.",
    )


def are_rows_drawn(account: RunAccount) -> bool:
    """Whether rows were drawn from a model, so that none belongs to a person, as a method states it."""
    methods = [
        (find_tagged_class("method", str(method["method"])), method) for method in account.certificate["methods"]
    ]
    return any(kind is not None and kind.draws_rows(method) for kind, method in methods)


def name_things(account: RunAccount) -> str:
    """What a release is made of: people, unless the rows are synthetic; rules if they come with their two sides."""
    if isinstance(account.published_data, Rules):
        return "rules"
    if are_rows_drawn(account):
        return "rows"
    shape = str(account.certificate["data"]["shape"])
    return "people" if shape == "table" else shape


def count_things(account: RunAccount) -> int:
    """How many of them there are."""
    if isinstance(account.published_data, Rules):
        return len(account.published_data.wholes)
    return int(account.certificate["data"]["rows"])


def list_tiles(account: RunAccount) -> list[KeyFigure]:
    """The key figures."""
    body, is_drawn = account.certificate, are_rows_drawn(account)
    tiles = [_build_size_tile(account)]
    if account.sizes_after.height and not is_drawn:
        tiles.append(_build_crowd_tile(account))
    if may_suppress_rows(body) and body["suppression"]["rows"] is not None:
        label = "sequences left out" if body["data"]["shape"] == "sequences" else "rows suppressed"
        tiles.append(_count_figure(body["suppression"]["rows"], label, _describe_suppressed_share(body)))
    if account.internal:
        tiles += _list_method_tiles(body)
    tiles += [] if is_drawn else _list_linking_tiles(account)
    return tiles + _list_kept_tiles(body, is_rounded=not account.internal)


def may_suppress_rows(body: Mapping[str, Any]) -> bool:
    """Whether rows were or may be suppressed or left out, or a limit on suppressed rows was promised.

    How many rows were left out does not leave: then there is no number, and a reason.
    """
    suppression = body["suppression"]
    return (
        bool(suppression["rows"])
        or suppression["rows"] is None
        or any(claim["property"] == "suppressed_share" and claim["threshold"] > 0 for claim in body["claims"])
    )


def _list_linking_tiles(account: RunAccount) -> list[KeyFigure]:
    """The share of people whom linking finds: before and after for the custodian, an upper bound for others."""
    linking, caption = find_main_attack(account.certificate), "of people found by linking"
    if linking is None:
        return []
    if not account.internal:
        most = linking["risk_at_most"]
        return (
            []
            if most is None
            else [KeyFigure(f"≤ {wording.format_percent(most)}", caption, "at 95 % confidence, rounded up")]
        )
    if account.original_linking is None:
        return []
    note = f"before → after; 95 % interval {wording.format_span(linking['low'], linking['high'])}"
    figure = f"{wording.format_percent(account.original_linking.risk)} → {wording.format_percent(linking['risk'])}"
    return [KeyFigure(figure, caption, note, wide=True)]


def _list_kept_tiles(body: Mapping[str, Any], *, is_rounded: bool = False) -> list[KeyFigure]:
    """What is left, as measured on the written file; by the method's own loss if nobody measured it."""
    words = loss_words.describe_loss(body)
    loss = body["utility"].get("loss", body["losses"].get("loss"))
    if loss is None:
        return []
    note = f"{words.scope}; rows left out count as lost" if "published_loss" in body["utility"] else words.scope
    note = f"{note}; rounded to steps of 5{wording.NBSP}%" if is_rounded else note
    return [KeyFigure(wording.format_percent(max(0.0, 1 - loss)), words.caption, note)]


def _build_size_tile(account: RunAccount) -> KeyFigure:
    label = f"{name_things(account)} in the release"
    return _count_figure(count_things(account), label, count_parts(account))


def _count_figure(count: float, caption: str, note: str) -> KeyFigure:
    """A count above its caption, whose first word is a plural; one thing is in the singular."""
    plural, space, rest = caption.partition(" ")
    singular = _SINGULARS.get(plural, plural.removesuffix("s"))
    return KeyFigure(wording.format_count(count), f"{singular if count == 1 else plural}{space}{rest}", note)


_SINGULARS = {"people": "person", "entries": "entry"}


def describe_size(account: RunAccount) -> str:
    """The size of the data file."""
    data = account.certificate["data"]
    if data["shape"] == "table":
        return f"{count_noun(data['rows'], 'row')}, {count_parts(account)}"
    return f"{count_noun(count_things(account), name_things(account).removesuffix('s'))}, {count_parts(account)}"


def count_parts(account: RunAccount) -> str:
    """What is in rows or baskets: columns, or items without the marks of hidden ones; codes by their own noun."""
    data = account.certificate["data"]
    if data["shape"] == "table":
        return count_noun(data["columns"], "column")
    nouns, items = ("item", "items"), {str(item) for item in getattr(account.published_data, "items", ())}
    for method in account.certificate["methods"]:
        kind = find_tagged_class("method", str(method["method"]))
        if kind is not None:
            nouns, mark = kind.holds, kind.find_mark(method)
            items = {item.removesuffix(mark) for item in items} - {""} if mark else items
    return count_noun(len(items), *nouns)


def _list_method_tiles(body: Mapping[str, Any]) -> list[KeyFigure]:
    """The counts that methods name as their own, each once: several methods of one kind add theirs up."""
    kinds = [find_tagged_class("method", str(method["method"])) for method in body["methods"]]
    counts = dict.fromkeys(kind.headline_count for kind in kinds if kind is not None and kind.headline_count)
    losses = body["losses"]
    return [
        _count_figure(
            sum(losses[name] for name in count.losses),
            count.caption,
            count.note.format(**{name: wording.format_count(losses[name]) for name in count.losses}),
        )
        for count in counts
    ]


def _build_crowd_tile(account: RunAccount) -> KeyFigure:
    claims = [claim for claim in account.certificate["claims"] if claim["property"] == "k_anonymity"]
    if claims:
        least = max(int(claim["threshold"]) for claim in claims)
        measured_k = min((c["measured"] for c in claims if c["measured"] is not None), default=None)
        return KeyFigure(
            f"k = {wording.format_count(measured_k)}",
            "smallest class",
            f"promised: at least {wording.format_count(least)}",
        )
    return KeyFigure(
        f"k = {wording.format_count(find_smallest_crowd(account.sizes_after))}",
        "smallest class",
        "not promised, only measured",
    )


def _describe_suppressed_share(body: Mapping[str, Any]) -> str:
    """The measured share of suppressed rows, if all of them are in it: another method may have left rows out."""
    shares = [claim["measured"] for claim in body["claims"] if claim["property"] == "suppressed_share"]
    count, published_count = body["suppression"]["rows"], body["data"]["rows"]
    totals = (published_count, published_count + count)  # with stars in the release, or not in it
    if not shares or shares[0] is None or count not in [round(shares[0] * total) for total in totals]:
        return ""
    rows = "rows with no missing value" if body.get("missing") == Missing.DROP else "all rows"
    return f"{wording.format_percent(shares[0])} of {rows}"


def find_smallest_crowd(sizes: pl.DataFrame) -> int:
    """The size of the smallest class; 0 if there is none."""
    least = sizes["size"].min() if sizes.height else 0
    return int(least) if isinstance(least, int) else 0


def find_main_attack(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Linking of everybody by all quasi-identifying columns: the same on the originals can be put next to it."""
    quasi_identifying = {name for name, role in body.get("roles", {}).items() if role == "quasi_identifying"}
    linking = [
        attack
        for attack in body["attacks"]
        if _is_linking(attack)
        and not attack.get("parameters", {}).get(LIST_OF_PEOPLE)
        and [set(side) for side in attack.get("known_columns", ())] == [quasi_identifying]
    ]
    return max(linking, key=lambda attack: float(attack.get("risk", attack.get("risk_at_most")) or 0), default=None)


def _is_linking(attack: Mapping[str, Any]) -> bool:
    kind = find_tagged_class("attack", str(attack.get("attack")))
    return kind is not None and "max_linking_risk" in kind.gates


BINS: tuple[tuple[str, int, int | None], ...] = (
    ("1", 1, 1),
    ("2–4", 2, 4),
    ("5–9", 5, 9),
    ("10–49", 10, 49),
    ("50–199", 50, 199),
    ("200+", 200, None),
)
"""Bins of class sizes: label, smallest and largest size."""


def compute_crowd_shares(sizes: pl.DataFrame) -> list[float]:
    """The share of people in each bin of class sizes."""
    total = int(sizes["rows"].sum()) if sizes.height else 0
    if not total:
        return [0.0] * len(BINS)
    return [compute_share_between(sizes, low, high) for _, low, high in BINS]


def compute_share_between(sizes: pl.DataFrame, low: int, high: int | None) -> float:
    """The share of people in classes of these sizes."""
    total = int(sizes["rows"].sum()) if sizes.height else 0
    size_filter = (pl.col("size") >= low) & (pl.col("size") <= high if high is not None else pl.lit(True))
    return int(sizes.filter(size_filter)["rows"].sum()) / total if total else 0.0


def list_column_rows(account: RunAccount) -> list[ColumnRow]:
    """One row per released column: what the methods state and, for the custodian, what was measured."""
    changes_by_column = _collect_stated_changes(account.certificate)
    return [_build_column_row(account, name, changes_by_column.get(name, [])) for name in account.distributions]


def _collect_stated_changes(body: Mapping[str, Any]) -> dict[str, list[Change]]:
    changes_by_column: dict[str, list[Change]] = {}
    for change in body.get("changes", ()):
        changes_by_column.setdefault(change["column"], []).append(
            Change(**{**change, "kind": ChangeKind(change["kind"])})
        )
    return changes_by_column


def list_coded_columns(body: Mapping[str, Any]) -> frozenset[str]:
    """The columns that hold codes, which mean nothing without the key."""
    return frozenset(change["column"] for change in body.get("changes", ()) if change["kind"] == ChangeKind.CODED)


def _build_column_row(account: RunAccount, name: str, changes: list[Change]) -> ColumnRow:
    counts, role = account.distributions[name], str(account.certificate["roles"].get(name, ""))
    published_counts = counts.filter(pl.col("published") > 0).sort(["published", "value"], descending=[True, False])
    blank_label = "*" if "*" in published_counts["value"].to_list() else "(empty)"
    has_stars = any(change.makes_stars for change in changes)  # else somebody has a value that reads "*"
    labels = wording.NON_VALUES if has_stars else wording.NON_VALUES[:1]
    published_counts = published_counts.filter(~pl.col("value").is_in(labels))
    generalization = next((change for change in changes if change.level is not None), None)
    difference = account.differences.get(name)
    return ColumnRow(
        name=name,
        role=wording.spell_role(role),
        level=generalization.level if generalization else None,
        height=generalization.height if generalization else None,
        is_kept=bool(changes) and all(change.trivial for change in changes),
        change_words=_describe_column(changes, difference, nothing_left=not published_counts.height),
        loss=difference.loss if difference is not None and difference.coarser + difference.suppressed else None,
        values=published_counts.height,
        examples=tuple(wording.shorten_label(label, 28) for label in published_counts["value"].head(3).to_list())
        or (blank_label,),
        original_values=_count_original_values(account, name) if account.internal else None,
    )


def _describe_column(changes: list[Change], difference: ColumnDifference | None, *, nothing_left: bool) -> str:
    """What was done to a column; for the custodian with the measured share of changed cells."""
    words = describe_changes(changes) if changes else "changed by an unknown method"
    if nothing_left:
        words = f"{words}: no value is published"
    if difference is None:
        return words
    if not difference.changed_count:
        is_kept = all(change.kind is ChangeKind.KEPT for change in changes)
        return words if is_kept else f"{words} (no cell changed)"
    return f"{words} ({wording.format_percent(difference.share)} of cells changed)"


def _count_original_values(account: RunAccount, name: str) -> int | None:
    frame = account.original.frame
    return frame[name].drop_nulls().n_unique() if name in frame.columns else None


def describe_roles(body: Mapping[str, Any]) -> str:
    """The meaning of the roles in use, as one sentence."""
    present = [wording.ROLES[role] for role in wording.ROLES if role in body.get("roles", {}).values()]
    meanings = "; ".join(f"{'a' if name[0] not in 'aeiou' else 'an'} {name} one {meaning}" for name, meaning in present)
    return f"Every column has a role: {meanings}." if meanings else ""


def list_parameters(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each method with its parameters and their docstrings."""
    method_entries = []
    for method in body["methods"]:
        kind = find_tagged_class("method", method["method"])
        rows = [
            (
                "ISO/IEC 20889 class" if name == "iso_20889" else wording.spell_name(name),
                _format_parameter(value),
                "" if kind is None else find_field_doc(kind, name),
            )
            for name, value in method.items()
            if name != "method"
        ]
        method_entries.append(
            {
                "name": wording.spell_name(method["method"]),
                "rows": [(name, value, meaning.replace("`", "")) for name, value, meaning in rows],
            }
        )
    return method_entries


def _format_parameter(value: Any) -> str:
    if isinstance(value, Mapping):
        tag = next((str(value[key]) for key in ("model", "kind", "method", "attack") if key in value), "")
        rest = ", ".join(f"{key} = {_format_parameter(part)}" for key, part in value.items() if str(part) != tag)
        return f"{wording.spell_name(tag)} ({rest})" if tag and rest else wording.spell_name(tag) or rest
    if isinstance(value, list | tuple):
        return join_names(_format_parameter(part) for part in value[:24]) + (" …" if len(value) > 24 else "")
    return "not given" if value is None else wording.shorten_label(wording.format_exactly(value), 80)
