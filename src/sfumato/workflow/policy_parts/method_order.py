# SPDX-License-Identifier: MIT
"""Which methods can be listed in one policy, and in which order: decided before any of them runs.

Anyone who checks a release has the published data and the first originals, and nothing of what was in between. So a
method may neither change what another promises about, nor look at what another changed; a truth that answers are to
hide may not have decided what an earlier method publishes; and only the first method may leave rows out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

from sfumato.errors import PolicyError, quote_names
from sfumato.protect.footprint import Footprint, StarSettings, may_drop_rows
from sfumato.protect.method import Method
from sfumato.table import Missing, Table


def refuse_misfits(methods: Sequence[Method], original: Any) -> None:
    """Raise a `PolicyError` if the claims of these methods, in this order, could not all be true and checked."""
    if len(methods) < 2:
        return
    for method in methods:
        if method.must_be_alone:
            other_tags = [_get_tag(other) for other in methods if other is not method]
            raise PolicyError(
                f"{_get_tag(method)} must be the only method of a policy, because its claims compare all that is "
                f"published with the originals; remove {', '.join(other_tags)}"
            )
    for first, second in combinations(methods, 2):
        clash = (
            _explain_table_clash(first, second, original)
            if isinstance(original, Table)
            else second.explain_misfit(first)
        )
        if clash is not None:
            raise PolicyError(f"{_get_tag(second)} cannot follow {_get_tag(first)}: {clash}")


@dataclass(frozen=True)
class _Clash:
    """Why a method cannot follow another one, and what to do."""

    reason: str
    cure: str
    cured_by_order: bool = False
    """Whether the other order avoids it, unless that one has a clash of its own."""


def _explain_table_clash(first: Method, second: Method, original: Table) -> str | None:
    """Why two methods do not fit in this order, and what to do; None if they do. Nobody is sent to the other order
    only to be refused there as well."""
    clash = _find_table_clash(first, second, original)
    if clash is None:
        return None
    if clash.cured_by_order and _find_table_clash(second, first, original) is None:
        return f"{clash.reason}; put {_get_tag(second)} first, or {clash.cure}"
    return f"{clash.reason}; {clash.cure}"


def _find_table_clash(first: Method, second: Method, original: Table) -> _Clash | None:
    """The first reason why two methods do not fit in this order; None if they do."""
    earlier, later_footprint = first.footprint(original), second.footprint(original)
    if later_footprint.drops_rows:
        reason = f"it may drop rows that claims of {_get_tag(first)} cover"
        return _Clash(reason, _cure_dropped_rows(first, second, original), cured_by_order=True)
    return _find_column_clash(_Step(_get_tag(first), earlier), _Step(_get_tag(second), later_footprint), original)


class _Step(NamedTuple):
    """One of two methods that drop no rows."""

    tag: str
    footprint: Footprint

    def keep_sensitive(self) -> _Step:
        """The same if it stars no rows."""
        footprint = self.footprint
        idle_columns = footprint.empties - footprint.promises  # models do not look at them
        starless_footprint = replace(
            footprint,
            changes=footprint.changes - footprint.empties,
            needs=footprint.needs - idle_columns,
            reads=footprint.reads - idle_columns,
            empties=frozenset(),
            stars=None,
        )
        return _Step(self.tag, starless_footprint)


def _find_column_clash(first: _Step, second: _Step, original: Table) -> _Clash | None:
    """The first column about which two methods do not fit in this order, and why; None if they fit."""
    earlier, later_footprint = first.footprint, second.footprint
    if later_footprint.blanks and earlier.survives_blanks:
        return None if earlier.stars is None else _explain_stars(first.tag, earlier.stars)
    if names := later_footprint.changes & (earlier.changes | earlier.promises):
        if names <= earlier.empties | later_footprint.empties:
            return _explain_emptied(_quote(names), first, second, original)
        return _Clash(f"it would change {_quote(names)}, about which {first.tag} promises something", _OWN_COLUMNS)
    if names := (earlier.changes | frozenset(original.identifying)) & later_footprint.needs:
        reason = f"it needs {_quote(names)} as in the originals, and {first.tag} changes or removes it"
        return _Clash(reason, _OWN_COLUMNS, cured_by_order=True)
    if names := earlier.reads & later_footprint.hides:
        reason = f"it hides {_quote(names)}, but what {first.tag} publishes depends on the true {_quote(names)}"
        return _Clash(reason, _OWN_COLUMNS, cured_by_order=True)
    return None


def _cure_dropped_rows(first: Method, second: Method, original: Table) -> str:
    """What lets the two fit: that no row is left out, or none because a cell is missing."""
    if not may_drop_rows(original):
        return "let it leave no rows out, or remove one of them"
    kept_rows = replace(original, missing=Missing.OWN_VALUE)
    if _find_table_clash(first, second, kept_rows) is None:
        return f"{_OTHER_MISSING}, or remove one of them"
    if _find_table_clash(second, first, kept_rows) is None:
        return f"{_OTHER_MISSING}, and put {_get_tag(second)} first, or remove one of them"
    return "remove one of them"


def _explain_stars(first: str, stars: StarSettings) -> _Clash:
    return _Clash(
        f"it may empty cells of suppressed rows, and {first} states how many there are and that they look alike",
        f"let {first} star no row ({_list_settings(stars, may_drop=True)})",
    )


def _list_settings(stars: StarSettings, *, may_drop: bool) -> str:
    """The settings under which no row is starred; only the first of two methods may leave rows out."""
    return f"{stars.drop_rows}; or {stars.keep_rows}" if may_drop and stars.drop_rows else stars.keep_rows


def _explain_emptied(names: str, first: _Step, second: _Step, original: Table) -> _Clash:
    """Both treat some columns, but one of them only because suppressed rows do not show these."""
    star_step, promise_step = (first, second) if first.footprint.empties else (second, first)
    kept_steps = first.keep_sensitive(), second.keep_sensitive()
    cure = "remove one of them"
    for step, later_step in (kept_steps, kept_steps[::-1]):
        if _find_column_clash(step, later_step, original) is None:
            order = "" if step.tag == first.tag else f"put {step.tag} first, and "
            stars = star_step.footprint.stars
            assert stars is not None, "it empties cells of the rows that it stars"
            settings = _list_settings(stars, may_drop=step.tag == star_step.tag)
            cure = f"{order}let {star_step.tag} star no row ({settings})"
            break
    reason = (
        f"{star_step.tag} empties {names} in suppressed rows, and {promise_step.tag} promises something about {names}"
    )
    return _Clash(reason, cure)


_OTHER_MISSING = 'choose another meaning of missing cells than "drop", such as own_value'
_OWN_COLUMNS = "give each method columns of its own, or remove one of them"


def _quote(names: Iterable[str]) -> str:
    return quote_names(sorted(names))


def _get_tag(method: Method) -> str:
    return str(method.model_dump(include={"method"})["method"])
