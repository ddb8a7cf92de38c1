# SPDX-License-Identifier: MIT
"""What is wrong with a field, in words: pydantic's problems without its jargon, its addresses and the given value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sfumato.errors import quote_names, suggest_name

_OTHER_NAMES = {
    "mondrian": "partition",
    "incognito": "generalize",
    "datafly": "generalize",
    "samarati": "generalize",
    "flash": "generalize",
    "mdav": "microaggregate",
    "pram": "randomize_response",
    "swap": "swap_confidential",
    "noise": "add_noise",
    "laplace": "add_noise",
    "local_suppression": "suppress_entries",
    "topcoding": "top_code",
    "lump": "group_rare_values",
    "synthetic": "synthesize",
    "linkage": "linking",
    "reidentification": "linking",
    "membership": "copied_records",
    "anonymity": "k_anonymity",
    "diversity": "l_diversity",
    "closeness": "t_closeness",
    "range": "intervals",
    "xlsx": "excel",
    "xls": "excel",
    "dta": "stata",
    "sav": "spss",
    "feather": "arrow",
    "txt": "csv",
    "quasi": "quasi_identifying",
    "delta": "Δ",
}
"""What methods, attacks, models and formats are called elsewhere, and here."""
_OTHER_FIELDS = {
    "file": "path",
    "filename": "path",
    "source": "path",
    "delimiter": "separator",
    "sep": "separator",
    "na_values": "missing_marks",
    "names": "columns",
    "type": "kind",
    "qi": "quasi_identifying",
    "keyvars": "quasi_identifying",
    "identifier": "identifying",
    "confidential": "sensitive",
    "other": "insensitive",
    "suppression": "suppression_limit",
    "max_suppression": "suppression_limit",
    "folder": "path",
    "dir": "path",
    "directory": "path",
    "quotechar": "quote",
    "decimal_comma": "decimal",
}
"""What fields are called elsewhere, and here."""


def find_other_name(name: str) -> str | None:
    """What a method, attack, model or format of another tool is called here."""
    return _OTHER_NAMES.get(name.lower())


def select_causes(error: ValidationError) -> list[ErrorDetails]:
    """The problems that no other one explains: a list may be empty only because its item was refused."""
    problems = error.errors(include_url=False)
    locations = [problem["loc"] for problem in problems]
    return [
        problem
        for problem in problems
        if not any(
            len(location) > len(problem["loc"]) and location[: len(problem["loc"])] == problem["loc"]
            for location in locations
        )
    ]


def describe_problem(problem: Mapping[str, Any], fields: Iterable[str] = ()) -> str:
    """Say what is wrong and what would be right; `fields` are the names that may stand where an unknown one does."""
    kind, context, input_value = str(problem["type"]), problem.get("ctx", {}), problem.get("input")
    if kind == "extra_forbidden":
        return _describe_unknown_field(str(problem["loc"][-1]), list(fields))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _describe_tag(context, input_value)
    if kind == "literal_error":
        return _propose_choice(input_value, _list_quoted(context["expected"]))
    if kind in _BOUNDS:
        word, name = _BOUNDS[kind]
        return f"must be {word} {context[name]:g}" + _explain_percentage(kind, context[name], input_value)
    message = _WORDS.get(kind) or str(problem["msg"]).removeprefix("Value error, ")
    cure = _ask_for_no_quotes(kind, input_value) + _explain_percent_sign(kind, input_value)
    return f"{message[0].lower()}{message[1:]}{cure}"


_WORDS = {
    "missing": "missing; add it",
    "tuple_type": "must be a list, in square brackets",
    "list_type": "must be a list, in square brackets",
    "dict_type": "must be a table of names and values, in braces",
    "mapping_type": "must be a table of names and values, in braces",
    "model_type": "must be a table of names and values, in braces",
    "model_attributes_type": "must be a table of names and values, in braces",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text, in quotes",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("greater than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def _describe_unknown_field(name: str, fields: list[str]) -> str:
    suggestion = suggest_field(name, fields)
    if suggestion is not None:
        return f'there is no such field; did you mean "{suggestion}"?'
    if cure := explain_model_field(name, fields):
        return f"there is no such field; {cure}"
    return f"there is no such field; there are {', '.join(fields)}" if fields else "there is no such field; remove it"


def explain_model_field(name: str, fields: Iterable[str]) -> str | None:
    """Where the number of a model belongs that was given to a method."""
    model = {"k": "k_anonymity", "l": "l_diversity", "t": "t_closeness"}.get(name)
    if model is None or "models" not in fields:
        return None
    return f'{name} belongs to a model: models = [{{ model = "{model}", {name} = … }}]'


def suggest_field(name: str, fields: Iterable[str]) -> str | None:
    """The field that was probably meant, if there is one like it."""
    field_names = list(fields)
    other = _OTHER_FIELDS.get(name.lower())
    return other if other in field_names else suggest_name(name, field_names)


def _describe_tag(context: Mapping[str, Any], input_value: Any) -> str:
    """What is wrong with the word that says which method, attack, model or kind of hierarchy this is."""
    tag = context["discriminator"].strip("'")
    if "tag" in context:
        return f"there is no such {tag}; {_propose_choice(context['tag'], _list_quoted(context['expected_tags']))}"
    suggestion = (
        suggest_name(tag, (name for name in input_value if isinstance(name, str)))
        if isinstance(input_value, Mapping)
        else None
    )
    return (
        f'say which {tag} it is: write "{tag}" for "{suggestion}"'
        if suggestion
        else f'say which {tag} it is: {tag} = "…"'
    )


def _list_quoted(text: str) -> list[str]:
    return re.findall(r"'([^']*)'", text)


def _propose_choice(input_value: Any, choices: list[str]) -> str:
    suggestion = find_other_name(input_value) if isinstance(input_value, str) else None
    if suggestion not in choices:
        suggestion = suggest_name(input_value, choices) if isinstance(input_value, str) else None
    return f'did you mean "{suggestion}"?' if suggestion is not None else f"choose {quote_names(choices)}"


def _ask_for_no_quotes(kind: str, input_value: Any) -> str:
    return ", without quotes" if isinstance(input_value, str) and kind.startswith(("int", "float", "bool")) else ""


def _explain_percent_sign(kind: str, input_value: Any) -> str:
    is_percentage = isinstance(input_value, str) and input_value.rstrip().endswith("%") and kind.startswith("float")
    return ": 5 % is 0.05" if is_percentage else ""


def _explain_percentage(kind: str, bound: float, input_value: Any) -> str:
    is_share = (
        kind.startswith("less") and bound == 1 and isinstance(input_value, (int, float)) and 1 < input_value <= 100
    )
    return ": it is a share, so 5 % is 0.05" if is_share else ""
