# SPDX-License-Identifier: MIT
"""Explain wrong parameters of a method, model or attack: which one, what it should be, and what was probably meant.

What was given is never repeated, except the name of a parameter that does not exist: it may say what is to be hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from sfumato.errors import PolicyError
from sfumato.fields.field_docs import find_field_doc
from sfumato.fields.problem_words import describe_problem, suggest_field
from sfumato.runtime.lazy import find_tagged_class

_MOST_PROBLEMS = 8
_TAGS = ("method", "model", "attack")
_REFUSAL = " must be "
_TOML_SYNTAX = re.compile(r", in (quotes|square brackets|braces)")
"""How a policy file writes texts and lists; Python has its own ways."""


class ParameterError(PolicyError, ValidationError):
    """Parameters that make no sense, in one sentence; a model around this one collects it like pydantic's errors."""

    sentence: str = ""

    def __str__(self) -> str:
        """The sentence, without pydantic's types and addresses."""
        return self.sentence

    __repr__ = __str__


def explain_parameters(
    error: ValidationError, kind: type[BaseModel], field_values: Mapping[str, Any], title: str = ""
) -> ParameterError:
    """An error of pydantic about the given fields of a class, as one sentence."""
    name = title or kind.__name__
    problems: Any = error.errors(include_url=False)
    parameter_error = ParameterError.from_exception_data(name, problems, hide_input=True)
    parameter_error.sentence = f"{name}: {'; '.join(_list_sentences(problems, kind, field_values))}"
    return parameter_error


def _list_parameters(kind: type[BaseModel]) -> list[str]:
    return [name for name in kind.model_fields if name not in _TAGS]


def _list_sentences(problems: list[Any], kind: type[BaseModel], field_values: Any) -> list[str]:
    """A sentence for each parameter: the members of a union that all refuse a value are one problem."""
    by_parameter: dict[str, list[str]] = {}
    for problem in _select_causes(problems, kind, field_values):
        path, owner = _locate_problem(problem["loc"], kind, field_values)
        sentence = _explain_problem(problem, path, owner)
        problem_key = path if sentence.startswith(path + _REFUSAL) else sentence
        by_parameter.setdefault(problem_key, []).append(sentence)
    sentences = [
        several[0] + "".join(f" or {other.removeprefix(path + _REFUSAL)}" for other in dict.fromkeys(several[1:]))
        for path, several in ((path, _drop_narrower(several)) for path, several in by_parameter.items())
    ]
    more = len(sentences) - _MOST_PROBLEMS
    return [*sentences[:_MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]


def _drop_narrower(sentences: list[str]) -> list[str]:
    """Without "must be a whole number" where any number will do, such as a count or a share."""
    has_number = any(" must be a number" in sentence for sentence in sentences)
    return [sentence for sentence in sentences if not (has_number and " must be a whole number" in sentence)]


def _select_causes(problems: list[Any], kind: type[BaseModel], field_values: Any) -> list[Any]:
    """Leave out what another problem explains: a list that lacks a refused item, a parameter that is only misspelt."""
    places = [problem["loc"] for problem in problems]
    meant_places = set()
    for problem in problems:
        if problem["type"] == "extra_forbidden":
            _, owner = _locate_problem(problem["loc"], kind, field_values)
            meant_places.add((*problem["loc"][:-1], suggest_field(str(problem["loc"][-1]), _list_parameters(owner))))
    return [
        problem
        for problem, loc in zip(problems, places, strict=True)
        if not any(len(other) > len(loc) and other[: len(loc)] == loc for other in places)
        and not (problem["type"] == "missing" and loc in meant_places)
    ]


def _locate_problem(
    loc: tuple[int | str, ...], kind: type[BaseModel], field_values: Any
) -> tuple[str, type[BaseModel]]:
    """The path of a parameter without pydantic's own words in it, and the class it belongs to."""
    path, owner, value = "", kind, field_values
    for part in loc:
        field = owner.model_fields.get(part) if isinstance(part, str) else None
        if field is None and isinstance(part, str) and not _is_column(part, path, value, owner):
            continue  # a member of a union, or a name that there is not
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
        value = _look_into(value, part)
        owner = _find_class(value, field) or owner
    return path.removeprefix("."), owner


def _is_column(part: str, path: str, value: Any, owner: type[BaseModel]) -> bool:
    """Whether this is a column that a field of columns maps to something."""
    field = path.rpartition(".")[2]
    return field in getattr(owner, "column_fields", ()) and isinstance(value, Mapping) and part in value


def _look_into(value: Any, part: int | str) -> Any:
    try:
        return value[part]
    except (TypeError, LookupError):
        return getattr(value, str(part), None)


def _find_class(value: Any, field: Any) -> type[BaseModel] | None:
    """The class that a given value describes: by its tag, or because its field takes no other."""
    if isinstance(value, Mapping):
        tags = [tag for tag in _TAGS if isinstance(value.get(tag), str)]
        if tags:
            model: type[BaseModel] | None = find_tagged_class(tags[0], value[tags[0]])
            return model
    annotation = None if field is None else field.annotation
    if field is not None and isinstance(field.discriminator, str):  # one of several classes, by its kind
        kind_name = _look_into(value, field.discriminator)
        kinds = {kind.model_fields[field.discriminator].default: kind for kind in get_args(annotation)}
        return kinds.get(kind_name)
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _explain_problem(problem: Any, path: str, owner: type[BaseModel]) -> str:
    if problem["type"] in _EXPLANATIONS:
        return _EXPLANATIONS[problem["type"]](problem, path, owner)
    words = _TOML_SYNTAX.sub("", describe_problem(problem))
    if not path:
        return words
    return f"{path} {words}" if words.startswith("must ") else f"{path}: {words}"


def _explain_unknown(problem: Any, path: str, owner: type[BaseModel]) -> str:
    name, parameters = str(problem["loc"][-1]), _list_parameters(owner)
    suggestion = suggest_field(name, parameters)
    cure = f'did you mean "{suggestion}"?' if suggestion else f"it takes {', '.join(parameters) or 'none'}"
    models = {"k": "KAnonymity(k=5)", "l": 'LDiversity(l=2, column="…")', "t": 'TCloseness(t=0.2, column="…")'}
    if name in models and "models" in parameters:
        cure = f"write models=[sf.{models[name]}]"
    return f'{f"{path}: " if path else ""}there is no parameter "{name}"; {cure}'


def _explain_missing(problem: Any, path: str, owner: type[BaseModel]) -> str:
    meaning = find_field_doc(owner, str(problem["loc"][-1])).split("\n\n")[0]
    return f"{path} is missing" + (f" ({' '.join(meaning.split()).rstrip('.')})" if meaning else "")


def _explain_frozen(problem: Any, path: str, owner: type[BaseModel]) -> str:
    return "it cannot be changed; make another one, or a copy: .model_copy(update={...})"


_EXPLANATIONS: Mapping[str, Callable[[Any, str, type[BaseModel]], str]] = {
    "extra_forbidden": _explain_unknown,
    "missing": _explain_missing,
    "frozen_instance": _explain_frozen,
}
