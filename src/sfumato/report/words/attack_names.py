# SPDX-License-Identifier: MIT
"""Names for attacks of which a policy lists several of a kind: with the public parameters in which these differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import join_names
from sfumato.report.words import wording
from sfumato.runtime.lazy import find_tagged_class


def name_attacks(attacks: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Each name, with what tells it from equal names: parameters, or its number where all of them agree.

    An attack comes with its record or the certificate's entry; private parameters are in neither.
    """
    return number_names([_add_parameters(name, attack, attacks) for name, attack in attacks])


def number_names(names: Sequence[str]) -> list[str]:
    """Names, each with its number where several are the same."""
    totals, numbers = Counter(names), Counter[str]()
    numbered_names = []
    for name in names:
        numbers[name] += 1
        numbered_names.append(f"{name}, {numbers[name]} of {totals[name]}" if totals[name] > 1 else name)
    return numbered_names


def _add_parameters(name: str, attack: Mapping[str, Any], attacks: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """A name with the parameters in which attacks of this name differ."""
    alike = [other.get("parameters", {}) for other_name, other in attacks if other_name == name]
    parameters = attack.get("parameters", {})
    differing_fields = [
        field
        for field in parameters
        if any(other.get(field) != parameters[field] for other in alike) or _is_unusual(field, attack)
    ]
    texts = [f"{wording.spell_name(field)}: {_format_parameter(parameters[field])}" for field in differing_fields]
    return f"{name} ({'; '.join(texts)})" if texts else name


def _is_unusual(field: str, attack: Mapping[str, Any]) -> bool:
    """Whether a parameter determines what counts as a success, and is not what it is by default."""
    parameters = attack["parameters"]
    kind: Any = find_tagged_class("attack", str(attack.get("attack") or parameters.get("attack")))
    if kind is None or field not in kind.report_labels:
        return False
    return bool(parameters[field] != kind.model_fields[field].default)


def _format_parameter(value: Any) -> str:
    if value is None:
        return "by default"
    if isinstance(value, list | tuple):
        return wording.shorten_label(join_names(map(str, value)))
    return wording.shorten_label(wording.format_exactly(value))
