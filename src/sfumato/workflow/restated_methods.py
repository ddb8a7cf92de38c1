# SPDX-License-Identifier: MIT
"""Whether the methods of a certificate are ones that sfumato makes, from their public parameters alone.

Each is made again from what the certificate says of it: a method with other fields, types, limits or words is none.
What a method hides is not published, so of one that needs it only the fields by themselves are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sfumato.attack.anonymity.linking import LIST_OF_PEOPLE
from sfumato.protect.method import Method
from sfumato.runtime.lazy import find_tagged_class

_TECHNIQUE = "iso_20889"
"""What a certificate says of a method besides its parameters."""


def list_method_problems(body: Mapping[str, Any]) -> list[str]:
    """Methods that cannot have these parameters; names of methods that there are not are found elsewhere."""
    problems, maturities = [], []
    for parameters in body["methods"]:
        tag = str(parameters.get("method"))
        kind = find_tagged_class("method", tag)
        if "method" not in parameters:
            problems.append("the certificate has a method without a name")
        elif kind is not None:
            method = _rebuild_method(kind, _list_fields(parameters))
            if not _is_as_stated(kind, method, parameters):
                problems.append(f"the certificate states parameters that {tag} cannot have")
            maturities.append(getattr(method, "maturity", None))
    if problems or None in maturities:
        return problems
    least_maturity = next((maturity for maturity in maturities if maturity != "stable"), "stable")
    return [] if body["maturity"] == least_maturity else ["the certificate states another maturity than its methods"]


def list_attack_problems(body: Mapping[str, Any]) -> list[str]:
    """Attacks that cannot have these parameters; what an attacker looks for may be private."""
    problems = []
    for attack in body["attacks"]:
        kind = find_tagged_class("attack", str(attack["attack"]))
        parameters = {name: value for name, value in attack["parameters"].items() if name != LIST_OF_PEOPLE}
        if kind is not None and (
            parameters.keys() != set(kind.public_fields)
            or _find_faults(kind, {"attack": attack["attack"], **parameters})
        ):
            problems.append(f"the certificate states parameters that {attack['attack']} cannot have")
    return problems


def _find_faults(kind: Any, fields: Mapping[str, Any]) -> list[Any]:
    """What is wrong with the fields by themselves, whatever the others are."""
    try:
        kind.model_validate(fields)
    except ValidationError as error:
        return [fault for fault in error.errors() if fault["loc"] and fault["loc"][0] in fields]
    return []


def _rebuild_method(kind: type[Method], fields: Mapping[str, Any]) -> Method | None:
    """The method with these parameters; None if there is none."""
    try:
        return kind.model_validate(fields)
    except ValidationError:
        return None


def _is_as_stated(kind: type[Method], method: Method | None, parameters: Mapping[str, Any]) -> bool:
    """Whether all public fields are there, and the method describes itself as the certificate does."""
    if parameters.keys() != {"method", _TECHNIQUE, *kind.public_fields}:
        return False
    if kind.hides_parameters:
        technique = kind.iso_20889
        is_technique = not isinstance(technique, str) or technique == parameters[_TECHNIQUE]
        return is_technique and not _find_faults(kind, _list_fields(parameters))
    if method is None:
        return False
    description = method.describe()
    return method.iso_20889 == parameters[_TECHNIQUE] and all(
        description[name] == parameters[name] for name in kind.public_fields if name not in method.list_parts()
    )


def _list_fields(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != _TECHNIQUE}
