# SPDX-License-Identifier: MIT
"""Explain what is wrong in a policy file: the line and the field, never a value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sfumato.data.reading.near_files import explain_unreadable
from sfumato.errors import suggest_name
from sfumato.fields.problem_words import describe_problem, select_causes, suggest_field
from sfumato.runtime.lazy import find_tagged_class

_Path = tuple[int | str, ...]


class _CheckedPolicy(NamedTuple):
    """The model that a policy was checked with, its content, and the line of each part."""

    root: type[BaseModel]
    content: Mapping[str, Any]
    lines: Mapping[_Path, int]


def explain_validation_error(error: ValidationError, text: str, file: Path, root: type[BaseModel]) -> str:
    """One sentence with the first errors of a policy; `root` is the model that it was checked with."""
    if _is_site_file(text):
        return f"{file}: this is the file of a site, not a policy; type: sfumato party --config {file}"
    policy = _CheckedPolicy(root, tomllib.loads(text.removeprefix("\ufeff")), _index_toml_lines(text))
    problems = _drop_consequences(_merge_choices([dict(problem) for problem in select_causes(error)]), policy)
    if line_number := _find_turned_roles(problems, policy):
        return f'{file}: line {line_number}, roles: name the role first, then its columns, as in identifying = ["name"]'
    sentences = [_write_sentence(problem, policy) for problem in problems[:_MOST_SENTENCES]]
    more = len(problems) - len(sentences)
    return f"{file}: " + "; ".join(sentences) + (f"; and {more} more" if more > 0 else "")


def _is_site_file(text: str) -> bool:
    content = tomllib.loads(text.removeprefix("\ufeff"))
    return {"site", "peer"} <= set(content) and "protect" not in content


_MOST_SENTENCES = 8


def _find_turned_roles(problems: list[Mapping[str, Any]], policy: _CheckedPolicy) -> int | None:
    """The line where roles are written column by column, as in `age = "quasi_identifying"`."""
    for problem in problems:
        loc = problem["loc"]
        if problem["type"] == "extra_forbidden" and len(loc) == 2 and loc[0] == "roles":
            word = problem.get("input")
            if isinstance(word, str) and suggest_field(word, _list_fields(("roles",), policy)) is not None:
                return _find_nearest_line(loc, policy.lines)[1]
    return None


def _write_sentence(problem: Mapping[str, Any], policy: _CheckedPolicy) -> str:
    loc = problem["loc"]
    if problem["type"] == "union_tag_invalid":  # the line of the tag itself is wrong
        loc = (*loc, problem["ctx"]["discriminator"].strip("'"))
    path, line = _find_nearest_line(loc, policy.lines)
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in loc).lstrip(".")
    words = _describe_section(problem, policy.root) or describe_problem(problem, _list_fields(loc[:-1], policy))
    if len(loc) == 1 and problem["type"] == "missing":
        return words
    position = ", ".join(filter(None, (f"line {line}" if path else "", field)))
    return f"{position}: {words}" if position else words


def _describe_section(problem: Mapping[str, Any], root: type[BaseModel]) -> str | None:
    """What is wrong with a whole section; None if the problem is inside one."""
    loc, kind = problem["loc"], problem["type"]
    if len(loc) != 1:
        return None
    name = str(loc[0])
    if kind == "extra_forbidden":
        section_names = [field for field in root.model_fields if field != "title"]
        suggestion = suggest_name(name, section_names)
        sections = ", ".join(f"[{field}]" for field in section_names)
        return f"there is no such section; {f'did you mean [{suggestion}]?' if suggestion else f'there are {sections}'}"
    if kind == "missing":
        return f"the section {_EXAMPLES.get(name, f'[{name}]')} is missing; add it"
    if kind == "tuple_type":
        return f"write [[{name}]], with double brackets, since there may be several"
    if kind in ("model_type", "model_attributes_type", "dict_type", "mapping_type"):
        return f"write [{name}] on a line of its own, with single brackets, and its fields below"
    return None


_EXAMPLES = {
    "data": '[data], with path = "people.csv",',
    "protect": '[[protect]], with method = "generalize" or another,',
}


def _merge_choices(problems: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One problem for a field that may be one of several lists of words, or a word or a list."""
    merged_problems: dict[_Path, Mapping[str, Any]] = {}
    for problem in problems:
        loc = tuple(part for part in problem["loc"] if not _is_alternative(part))
        earlier_problem = merged_problems.get(loc)
        # A value of the right kind, but too large or small, says most.
        if earlier_problem is None or (problem["type"] in _BOUNDS and earlier_problem["type"] not in _BOUNDS):
            merged_problems[loc] = {**problem, "loc": loc}
        elif earlier_problem["type"].startswith("int") and problem["type"].startswith("float"):
            merged_problems[loc] = {**problem, "loc": loc}  # a count or a share
        elif earlier_problem["type"] == problem["type"] == "literal_error":
            expected_words = f"{earlier_problem['ctx']['expected']}, {problem['ctx']['expected']}"
            merged_problems[loc] = {**earlier_problem, "ctx": {"expected": expected_words}}
    return list(merged_problems.values())


def _is_alternative(part: int | str) -> bool:
    """Whether pydantic put this part in to say which kind of value it tried."""
    return isinstance(part, str) and bool(_ALTERNATIVE.match(part))


_ALTERNATIVE = re.compile(
    r"(?:literal|tuple|list|dict|constrained|nullable|function-[a-z]+)\[|(?:constrained-)?(?:str|int|float|bool)$"
)
_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


def _drop_consequences(problems: list[Mapping[str, Any]], policy: _CheckedPolicy) -> list[Mapping[str, Any]]:
    """A field is missing only because its name is misspelt: say that alone."""
    meant_paths = set()
    for problem in problems:
        if problem["type"] == "extra_forbidden":
            outer = problem["loc"][:-1]
            meant_paths.add((*outer, suggest_field(str(problem["loc"][-1]), _list_fields(outer, policy))))
    return [problem for problem in problems if problem["type"] != "missing" or problem["loc"] not in meant_paths]


def _list_fields(outer: _Path, policy: _CheckedPolicy) -> list[str]:
    """The fields that may stand at a place of the policy; none if they are free, as columns are."""
    models: list[type[BaseModel]] = [policy.root]
    node: Any = policy.content
    for part in outer:
        if len(models) > 1:  # pydantic put the tag in that says which of several kinds was tried
            models = [model for model in models if any(field.default == part for field in model.model_fields.values())]
            continue
        fields = [model.model_fields[part] for model in models if isinstance(part, str) and part in model.model_fields]
        models = [inner for field in fields for inner in _list_models(field.annotation)]
        node = _get_inside(node, part)
        if isinstance(node, Mapping):
            tags = ((tag, node[tag]) for tag in _TAGS if isinstance(node.get(tag), str))
            kind = next((find_tagged_class(tag, value) for tag, value in tags), None)
            models = models if kind is None else [kind]
    return list(models[0].model_fields) if len(models) == 1 else []


def _list_models(annotation: Any) -> list[type[BaseModel]]:
    """The models that a field may hold: one, one or nothing, or one of several kinds."""
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) else []
    if get_origin(annotation) in (Union, UnionType, Annotated):
        return [model for part in get_args(annotation) for model in _list_models(part)]
    return []


_TAGS = ("method", "attack", "model")


def _get_inside(node: Any, part: int | str) -> Any:
    if isinstance(node, Mapping):
        return node.get(str(part))
    return node[part] if isinstance(node, list) and isinstance(part, int) and part < len(node) else None


def explain_unreadable_policy(error: OSError, file: Path) -> str:
    """Why a policy cannot be read, and which file may have been meant."""
    if isinstance(error, IsADirectoryError):
        policies = sorted(entry.name for entry in file.glob("*.toml"))
        return f"{file}: this is a folder; name the policy file in it" + (
            f", such as {policies[0]}" if policies else ", or write one with `sfumato init`"
        )
    return f"{file}: the policy cannot be read {explain_unreadable(error, file)}"


def explain_toml_error(error: Exception, text: str, file: Path) -> str:
    """Where a text stops being TOML, and what the line probably lacks; never the line itself."""
    if file.suffix.lower() in (".json", ".yaml", ".yml"):
        return f"{file}: a policy is written in TOML; `sfumato init FILE` writes one to start from"
    if _looks_like_data(text, file):
        return f"{file}: this is a data file, not a policy; `sfumato init {file.name}` writes a policy for it"
    location = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(error))
    position = location[1] if location else "an unknown position"
    number = re.match(r"line (\d+)", position)
    line = text.splitlines()[int(number[1]) - 1] if number else ""
    habits = (cure for habit, cure in _TOML_HABITS.items() if re.search(habit, line))
    cure = next(habits, None) or next((cure for words, cure in _TOML_CURES.items() if words in str(error)), "")
    return f"{file}: not valid TOML at {position}" + (f"; {cure}" if cure else "")


_TOML_CURES = {
    "Invalid value": 'text stands in quotes, as in method = "partition"',
    "Expected '='": 'a line is a [section], or a field with its value, as in path = "people.csv"',
    "Cannot overwrite": "this name is given twice; remove one of the two",
    "Cannot declare": "this section is there twice; put their fields together",
    "Cannot mutate": "this name is given twice; remove one of the two",
    "Unescaped": "in a path, write / or \\\\ for \\, or use single quotes, as in 'C:\\data.csv'",
    "hex": "in a path, write / or \\\\ for \\, or use single quotes, as in 'C:\\data.csv'",
    "Illegal character": "a quote is probably not closed on this line",
    "Unterminated": "a quote is not closed",
    "Unclosed": "a bracket is not closed",
    "Expected newline": "one field stands on each line; text stands in quotes",
    "Expected ']": "a bracket is not closed",
}


_TOML_HABITS = {
    "[\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb]": 'quotes must be straight, as in "people.csv"',
    r"=\s*(True|False|TRUE|FALSE|yes|no|Yes|No)\s*(#|$)": "write true or false, in small letters and without quotes",
    r"=\s*(None|null|NULL)\s*(#|$)": "leave out a field that has no value",
    r"=\s*[-+]?\d+,\d+\s*(#|$)": "decimals have a point, as in 0.1",
    r"""["'}]\s+["'{]""": "a comma is missing between two items of a list",
}
"""What a line has that people write by habit, and what TOML wants instead."""


def _looks_like_data(text: str, file: Path) -> bool:
    """Whether this is a table rather than a policy: the first line has neither a section nor a value."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return file.suffix.lower() != ".toml" and "=" not in first and not first.lstrip().startswith(("[", "#"))


def _index_toml_lines(text: str) -> dict[_Path, int]:
    """The line of each table and key of a TOML text."""
    line_numbers: dict[_Path, int] = {}
    counts: dict[_Path, int] = {}
    table: _Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line):
            table = tuple(part.strip().strip("\"'") for part in head[2].split("."))
            if head[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            line_numbers.setdefault(table, number)
        elif key := re.match(r"\s*([A-Za-z0-9_\-\"'.]+)\s*=", line):
            path = (*table, *(part.strip("\"'") for part in key[1].split(".")))
            line_numbers.setdefault(path, number)
    return line_numbers


def _find_nearest_line(loc: _Path, lines: Mapping[_Path, int]) -> tuple[_Path, int]:
    """The innermost part of a field's path that has its own line."""
    path: _Path = ()
    for part in loc:
        if any(known_path[: len(path) + 1] == (*path, part) for known_path in lines):
            path = (*path, part)
    return path, lines.get(path, next((n for known_path, n in lines.items() if known_path[: len(path)] == path), 1))
