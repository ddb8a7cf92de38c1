# SPDX-License-Identifier: MIT
"""Whether the methods of a certificate are ones that sfumato makes, from their public parameters alone.

Each is made again from what the certificate says of it: a method with other fields, types, limits or words is none.
What a method hides is not published, so of one that needs it only the fields by themselves are checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError

from sfumato.attack.anonymity.linking import LIST_OF_PEOPLE
from sfumato.description import Description
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
    kinds = [find_tagged_class("method", str(parameters.get("method"))) for parameters in body["methods"]]
    fixed_kinds = [kind for kind in kinds if kind is not None and not kind.by_chance]
    if len(fixed_kinds) > len(set(fixed_kinds)):
        problems.append("the certificate names a method twice, which no policy can")
    if problems or None in maturities:
        return problems
    least_maturity = next((maturity for maturity in maturities if maturity != "stable"), "stable")
    return [] if body["maturity"] == least_maturity else ["the certificate states another maturity than its methods"]


def rebuild_methods(body: Mapping[str, Any]) -> list[Method]:
    """The methods of a certificate that can be made again from their public parameters."""
    kinds = [(find_tagged_class("method", str(parameters["method"])), parameters) for parameters in body["methods"]]
    methods = [_rebuild_method(kind, _list_fields(parameters)) for kind, parameters in kinds if kind is not None]
    return [method for method in methods if method is not None]


def list_attack_problems(body: Mapping[str, Any]) -> list[str]:
    """Attacks that cannot have these parameters; what an attacker looks for may be private."""
    problems = []
    for attack in body["attacks"]:
        kind = find_tagged_class("attack", str(attack["attack"]))
        parameters = {name: value for name, value in attack["parameters"].items() if name != LIST_OF_PEOPLE}
        if kind is not None and (
            parameters.keys() != set(kind.public_fields)
            or _has_faults(kind, {"attack": attack["attack"], **parameters})
        ):
            problems.append(f"the certificate states parameters that {attack['attack']} cannot have")
    return problems


def _has_faults(kind: type[Description], fields: Mapping[str, Any]) -> bool:
    """Whether something is wrong with the fields by themselves, whatever the others are."""
    if any(name in kind.model_fields and not _is_typed(kind, name, value) for name, value in fields.items()):
        return True
    try:
        kind.model_validate(fields)
    except ValidationError as error:
        return any(fault["loc"] and fault["loc"][0] in fields for fault in error.errors())
    return False


def _is_typed(kind: type[Description], name: str, value: Any) -> bool:
    """Whether a value has the type of its field: a truth or a text is no number."""
    if isinstance(value, list) and all(isinstance(part, Mapping) and "model" in part for part in value):
        models = [(find_tagged_class("model", str(part["model"])), part) for part in value]
        return all(model is None or not _has_faults(model, part) for model, part in models)
    try:
        _build_adapter(kind, name).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        # What makes one name several by itself is no longer strict about lists, and `model_validate` sees those.
        return any(fault["type"] == "tuple_type" for fault in error.errors())
    return True


@cache
def _build_adapter(kind: type[Description], name: str) -> TypeAdapter[Any]:
    field = kind.model_fields[name]
    annotation: Any = Annotated[field.annotation, None, *field.metadata]
    return TypeAdapter(annotation)


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
        return is_technique and not _has_faults(kind, _list_fields(parameters))
    if method is None or _has_faults(kind, _list_fields(parameters)):
        return False
    description = method.describe()
    return method.iso_20889 == parameters[_TECHNIQUE] and all(
        _spell(description[name]) == _spell(parameters[name])
        for name in kind.public_fields
        if name not in method.list_parts()
    )


def _spell(value: Any) -> str:
    """As a certificate has it: 1 is another number than 1.0, which may be a share."""
    return json.dumps(value, sort_keys=True)


def _list_fields(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name != _TECHNIQUE}
