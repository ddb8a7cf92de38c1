# SPDX-License-Identifier: MIT
"""Which methods can be listed in one policy, and in which order: decided before any of them runs.

Anyone who checks a release has the published data and the first originals, and nothing of what was in between. So a
method may neither change what another promises about, nor look at what another changed; a truth that answers are to
hide may not have decided what an earlier method publishes; and only the first method may leave rows out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from sfumato.errors import PolicyError, quote_names
from sfumato.protect.method import Method
from sfumato.table import Table


def refuse_misfits(methods: Sequence[Method], original: Any) -> None:
    """Raise a `PolicyError` if the claims of these methods, in this order, could not all be true and checked."""
    if len(methods) < 2:
        return
    for method in methods:
        if method.alone:
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


def _explain_table_clash(first: Method, second: Method, original: Table) -> str | None:
    """Why two methods do not fit in this order, and what to do; None if they do."""
    earlier, later_footprint = first.footprint(original), second.footprint(original)
    if later_footprint.drops_rows:
        return f"it may drop rows that claims of {_get_tag(first)} cover; list it first"
    if later_footprint.blanks and earlier.survives_blanks:
        return _STARS.format(first=_get_tag(first)) if earlier.stars_rows else None
    if names := later_footprint.changes & (earlier.changes | earlier.promises):
        return f"it would change {_quote(names)}, about which {_get_tag(first)} promises something; {_APART}"
    if names := (earlier.changes | frozenset(original.identifying)) & later_footprint.needs:
        return (
            f"it needs {_quote(names)} as in the originals, and {_get_tag(first)} changes or removes it; put "
            f"{_get_tag(second)} first, or {_APART}"
        )
    if names := earlier.reads & later_footprint.hides:
        return (
            f"it hides {_quote(names)}, but what {_get_tag(first)} publishes depends on the true {_quote(names)}; put "
            f"{_get_tag(second)} first, or {_APART}"
        )
    return None


_STARS = (
    "it may empty cells of suppressed rows, and {first} states how many there are and that they look alike; let "
    '{first} star no row (suppressed_rows = "drop" and global recoding, suppression_limit = 0, or suppress = false)'
)
_APART = "give each method columns of its own, or remove one of them"


def _quote(names: Iterable[str]) -> str:
    return quote_names(sorted(names))


def _get_tag(method: Method) -> str:
    return str(method.model_dump(include={"method"})["method"])
