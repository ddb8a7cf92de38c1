# SPDX-License-Identifier: MIT
"""Write the pages policy, reference, methods and sentences, overviews, and the names that type checkers know.

`python docs/generate.py`. A page is a template in `_templates/`, in which each line `{{ name }}` is replaced by what
the code says: fields and their defaults, signatures, docstrings, options of the command line. The names are lines for
methods, models and attacks in two typing blocks. An attack or a model that its overview lacks gets a row there. What a
method guarantees, and against whom, is copied from its docstring to the table of its page. A method that the change log
does not name gets a line there. A test fails if something that is committed is out of date.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import sfumato as sf
from sfumato import errors
from sfumato.attack import ATTACKS
from sfumato.cli.commands import app
from sfumato.data.hierarchies import hierarchy_builders
from sfumato.data.places import region_builders
from sfumato.fields.field_docs import find_field_doc, read_attribute_docs
from sfumato.protect import METHODS, MODELS
from sfumato.workflow.policy_parts.points_section import PointsSection
from sfumato.workflow.policy_parts.policy_sections import (
    DataSection,
    GateSection,
    MeasureSection,
    OutputSection,
    RolesSection,
)

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))  # the examples of methods are tests

from tests.contract.sentences import write_sentences  # noqa: E402

NAMESPACES = ("protect", "mine", "measure", "attack", "parties")
BUILDERS: tuple[type[BaseModel], ...] = get_args(get_args(hierarchy_builders.HierarchyBuilder)[0])
REGIONS: tuple[type[BaseModel], ...] = get_args(get_args(region_builders.RegionBuilder)[0])
_TAGS = ("method", "model", "attack", "kind")
_WIDTH = 100


def generate_pages() -> dict[str, str]:
    """The text of every generated file, by its path from this folder."""
    return {
        "../src/sfumato/__init__.py": _type_names(sf, (*METHODS, *MODELS)),
        "../src/sfumato/attack/__init__.py": _type_names(sf.attack, ATTACKS),
        "policy.md": _fill("policy.md", _policy_parts()),
        "reference.md": _fill("reference.md", _reference_parts()),
        "methods/index.md": _fill("methods/index.md", {"other_methods": _other_methods()}),
        "attacks/index.md": _list_attacks(),
        "models.md": _list_models(),
        "sentences.md": _fill("sentences.md", {"sentences": write_sentences()}),
        **dict(_state_guarantees()),
        "../CHANGELOG.md": tell_new_methods((DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8"), METHODS),
    }


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _state_guarantees() -> Iterator[tuple[str, str]]:
    """Each method's page, with the rows Guarantee and Against of its first table as the docstring has them."""
    for kind in METHODS:
        name = f"methods/{kind.model_fields['method'].default}.md"
        page = (DOCS / name).read_text(encoding="utf-8") if (DOCS / name).is_file() else ""
        for word in ("Guarantee", "Against"):
            row = f"| {word} | {_cell(_find_statement(kind, word))} |"
            page = re.sub(rf"^\| {word} \|.*\|$", lambda _: row, page, count=1, flags=re.MULTILINE)  # noqa: B023
        if page:
            yield name, page


def tell_new_methods(log: str, kinds: Iterable[type[BaseModel]]) -> str:
    """A change log with a line for each method that it does not name: what its docstring says first."""
    words = set(re.findall(r"\w+", log))
    lines = []
    for kind in kinds:
        tag = kind.model_fields["method"].default
        if not words & {kind.__name__, tag}:
            summary = _join((inspect.getdoc(kind) or "").split("\n\n")[0])
            line = f"- `{kind.__name__}`: {summary[:1].lower() + summary[1:]} ([{tag}](docs/methods/{tag}.md))"
            lines.append(
                textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
            )
    return re.sub(r"(?<=^### Added\n\n)", "".join(f"{line}\n" for line in lines), log, count=1, flags=re.MULTILINE)


def _type_names(package: ModuleType, kinds: Iterable[type]) -> str:
    """The source of a package with a line for each of the kinds in its typing block."""
    source = Path(package.__file__ or "").read_text(encoding="utf-8")
    before, block, after = re.split(r"((?:^    from .*\n)+)", source, maxsplit=1, flags=re.MULTILINE)
    import_lines = {
        kind.__name__: f"    from {kind.__module__} import {kind.__name__} as {kind.__name__}\n" for kind in kinds
    }
    # A line of a class that moved is replaced, and one of a class that is gone is left out.
    other_lines = {
        line
        for line in block.splitlines(keepends=True)
        if line.split()[-1] not in import_lines and _is_there(line.split()[1])
    }
    lines = {*other_lines, *import_lines.values()}
    return before + "".join(sorted(lines, key=lambda line: line.split()[1::2])) + after


def _other_methods() -> str:
    """A row for each method that the table written by hand does not have."""
    table = (DOCS / "_templates" / "methods" / "index.md").read_text(encoding="utf-8")
    rows = []
    for kind in METHODS:
        page = f"{kind.model_fields['method'].default}.md"
        if f"]({page})" not in table:
            cells = [_cell(_find_statement(kind, word)) for word in ("Guarantee", "Against", "Papers")]
            rows.append(f"| [`{kind.__name__}`]({page}) | {' | '.join(cells)} |")
    return "\n".join(rows)


def _list_attacks() -> str:
    """The page with a row for each attack, a new one after the others of its family; what is gone is left out."""
    rows: dict[type[BaseModel], str] = {
        kind: f"| [`{kind.__name__}`]({_get_tag(kind)}.md) | {_cell(_summary(kind))} |" for kind in ATTACKS
    }
    return _complete_table("attacks/index.md", rows)


def _list_models() -> str:
    """The page with a row for each privacy model; what is gone is left out."""
    rows: dict[type[BaseModel], str] = {}
    for kind in MODELS:
        monotone = "yes" if vars(kind).get("steady") is True else "see its page" if "steady" in vars(kind) else "no"
        link = f"[`{kind.__name__}`](policy.md#{_get_tag(kind)})"
        rows[kind] = f"| {link} | {_cell(_summary(kind))} | see its fields | {monotone} |"
    return _complete_table("models.md", rows)


def _complete_table(name: str, rows: Mapping[type[BaseModel], str]) -> str:
    """A page whose first table has one row for each kind; rows that were written by hand stay as they are."""
    page = (DOCS / name).read_text(encoding="utf-8")
    before, table, after = re.split(r"((?:^\|.*\n)+)", page, maxsplit=1, flags=re.MULTILINE)
    homes = {kind.__name__: kind.__module__.rsplit(".", 1)[0] for kind in rows}
    lines = [line for line in table.splitlines() if (row_name := _find_row_name(line)) is None or row_name in homes]
    for kind, row in rows.items():
        if kind.__name__ not in map(_find_row_name, lines):
            home = homes[kind.__name__]
            family = [n for n, line in enumerate(lines) if homes.get(_find_row_name(line) or "") == home]
            lines.insert(max(family, default=len(lines) - 1) + 1, row)
    return before + "".join(f"{line}\n" for line in lines) + after


def _find_row_name(line: str) -> str | None:
    """The class that a row of an overview links; None for a heading."""
    link = re.match(r"\| \[`(\w+)`\]", line)
    return link[1] if link else None


def _get_tag(kind: type[BaseModel]) -> str:
    return str(next(kind.model_fields[tag].default for tag in _TAGS if _is_tag(kind, tag)))


def _find_statement(kind: type, word: str) -> str:
    """What the docstring of a method says after a word, up to the next one."""
    match = re.search(rf"{word}: (.*?)\s*(?=Guarantee:|Against:|Limits:|Papers:|\Z)", _join(inspect.getdoc(kind) or ""))
    return match[1][:1].upper() + match[1][1:] if match else "see its page"


def _fill(name: str, parts: Mapping[str, str]) -> str:
    template = (DOCS / "_templates" / name).read_text(encoding="utf-8")
    return (
        re.sub(r"^\{\{ (\w+) \}\}$", lambda line: parts[line[1]].strip(), template, flags=re.MULTILINE).rstrip() + "\n"
    )


# The policy page: a table of fields for every section, method, model, attack and kind of hierarchy.


def _policy_parts() -> dict[str, str]:
    sections: dict[str, type[BaseModel]] = {
        "top": sf.Policy,
        "data": DataSection,
        "points": PointsSection,
        "roles": RolesSection,
        "gate": GateSection,
        "measure": MeasureSection,
        "output": OutputSection,
    }
    kinds = {"hierarchies": BUILDERS, "regions": REGIONS, "methods": METHODS, "models": MODELS, "attacks": ATTACKS}
    parts = {name: _policy_table(section) for name, section in sections.items()} | {
        name: "\n\n".join(map(_policy_section, several)) for name, several in kinds.items()
    }
    return parts | {"regions": parts["regions"].replace("### ", "#### "), "shapes": _list_shapes()}


def _list_shapes() -> str:
    """Which methods take which shape of data, and what they return."""
    tags: dict[tuple[str, str], list[str]] = {}
    for kind in METHODS:
        tags.setdefault((kind.shape, kind.gives), []).append(f"`{_get_tag(kind)}`")
    rows = [f"| {takes} | {gives} | {', '.join(names)} |" for (takes, gives), names in tags.items()]
    return "\n".join(["| takes | returns | methods |", "|---|---|---|", *rows])


def _policy_section(kind: type[BaseModel]) -> str:
    folder, tag = next((f"{tag}s", tag) for tag in _TAGS if _is_tag(kind, tag))
    name = kind.model_fields[tag].default
    page = DOCS / folder / f"{name}.md"
    more = f" [More]({folder}/{name}.md)." if page.is_file() else ""
    return f"### `{name}`\n\n{_summary(kind)}{more}\n\n{_policy_table(kind)}"


def _policy_table(model: type[BaseModel]) -> str:
    fields = ((name, field) for name, field in model.model_fields.items() if not _is_tag(model, name))
    rows = [f"| `{name}` | {_policy_default(field)} | {_cell(_meaning(model, name))} |" for name, field in fields]
    return "\n".join(["| field | default | meaning |", "|---|---|---|", *rows])


def _is_tag(model: type[BaseModel], name: str) -> bool:
    field = model.model_fields.get(name)
    return field is not None and get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1


def _policy_default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default is None or field.default_factory is not None or isinstance(field.default, BaseModel):
        return ""
    return f"`{_spell_toml(field.default)}`"


def _spell_toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(map(_spell_toml, value))}]"
        case _:
            return f"{value:g}"


def _meaning(model: type[BaseModel], name: str) -> str:
    """A field's docstring, and the values it takes where the docstring does not name them all."""
    field_doc, annotation = _join(find_field_doc(model, name)), model.model_fields[name].annotation
    choices = _choices(annotation)
    if all(f"`{choice}`" in field_doc for choice in choices):
        return field_doc
    several = "Any" if get_origin(annotation) is tuple else "One"
    return f"{field_doc} {several} of {', '.join(f'`{_spell_toml(choice)}`' for choice in choices)}."


def _choices(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for part in get_args(annotation) for choice in _choices(part)]


# The reference: every public name with its signature, the first paragraph of its docstring, and its fields.


def _reference_parts() -> dict[str, str]:
    names = {name: getattr(sf, name) for name in dir(sf)}
    groups: dict[str, list[str]] = {
        group: [] for group in ("data", "methods", "models", "release", "workflow", "errors")
    }
    for name, thing in names.items():
        if not isinstance(thing, ModuleType):
            groups[_group(thing)].append(_document(name, thing))
    parts = {group: "\n\n".join(texts) for group, texts in groups.items()}
    parts |= {space: _document_namespace(getattr(sf, space), names) for space in NAMESPACES}
    parts["error_tree"] = f"```text\n{_error_tree()}\n```"
    parts["commands"] = "\n\n".join(_commands())
    return parts


def _group(thing: Any) -> str:
    package = str(thing.__module__).removeprefix("sfumato.").split(".")[0]
    if thing in MODELS:
        return "models"
    if package in ("table", "baskets", "sequences", "patterns", "data"):
        return "data"
    if package in ("protect", "mine"):
        return "methods"
    if package in ("errors", "workflow"):
        return package
    return "release"


def _document_namespace(space: Any, documented_names: Mapping[str, Any]) -> str:
    """The names of `sf.mine` and the like, without those that stand at the root as well."""
    members = {name: getattr(space, name) for name in space.__all__ if name not in documented_names}
    return "\n\n".join(_document(name, thing) for name, thing in members.items() if _is_documented(thing))


def _is_documented(thing: Any) -> bool:
    return inspect.isfunction(thing) or inspect.isclass(thing)


def _document(name: str, thing: Any) -> str:
    if inspect.isfunction(thing):
        return f"### `{name}`\n\n{_signature_block(name, thing)}\n\n{_summary(thing)}"
    parts = [f"### `{name}`", _summary(thing)]
    fields = _fields(thing)
    if issubclass(thing, BaseModel):
        parts.insert(1, _block(f"{name}({', '.join(_model_parameters(thing))})"))
    if fields:
        parts.append("\n".join(f"- `{field}`: {meaning}" for field, meaning in fields.items()))
    parts += [
        f"`{name}.{method}`: {_summary(function)}\n\n{_signature_block(f'{name}.{method}', function)}"
        for method, function in _methods(thing)
    ]
    return "\n\n".join(parts)


def _fields(thing: type) -> dict[str, str]:
    """Fields, properties and members of an enumeration, with their docstrings."""
    if issubclass(thing, BaseModel):
        fields = {name: _meaning(thing, name) for name in thing.model_fields if not _is_tag(thing, name)}
    elif issubclass(thing, Enum):
        docs = read_attribute_docs(thing)
        fields = {str(member.value): _join(docs.get(member.name, "")) for member in thing}
    else:
        fields = {name: _join(doc) for name, doc in read_attribute_docs(thing).items() if not name.startswith("_")}
    return fields | {name: _summary(p.fget) for name, p in _list_own_members(thing) if isinstance(p, property)}


def _methods(thing: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods of its own."""
    for name, member in _list_own_members(thing):
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if inspect.isfunction(function) and function.__doc__:
            yield name, function


def _list_own_members(thing: type) -> Iterator[tuple[str, Any]]:
    """Public members that no base class has."""
    base_names = {name for base in thing.__mro__[1:] for name in vars(base)}
    return ((name, member) for name, member in vars(thing).items() if name not in base_names and name[0] != "_")


def _model_parameters(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if _is_tag(model, name):
            continue
        if field.is_required():
            yield name
        else:
            yield f"{name}={'{}' if field.default_factory else _python_default(field.default)}"


def _python_default(value: object) -> str:
    return f"{type(value).__name__}()" if isinstance(value, BaseModel) else repr(value)


def _signature_block(name: str, function: Callable[..., Any]) -> str:
    """The signature with annotations as they are written, which `inspect` would put in quotes."""
    signature = inspect.signature(function)
    words: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not any(word[0] == "*" for word in words):
            words.append("*")
        if parameter.name not in ("self", "cls"):
            words.append(_spell_parameter(parameter))
    return _block(f"{name}({', '.join(words)}) -> {signature.return_annotation}")


def _spell_parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        stars = "*"
    else:
        stars = "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{stars}{parameter.name}: {parameter.annotation}{default}"


def _block(text: str) -> str:
    if len(text) > _WIDTH:
        text = "\n    ".join(textwrap.wrap(text, _WIDTH - 4, break_long_words=False, break_on_hyphens=False))
    return f"```text\n{text}\n```"


def _summary(thing: Any) -> str:
    return _join((inspect.getdoc(thing) or "").split("\n\n")[0])


def _join(text: str) -> str:
    """A paragraph as one line in Markdown: no marks of reStructuredText, straight quotes."""
    for old, new in (("``", "`"), ("«", '"'), ("»", '"')):
        text = text.replace(old, new)
    return re.sub(r"\s+", " ", re.sub(r":\w+:(?=`)", "", text)).strip()


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _error_tree() -> str:
    tree = re.search(r"::\n\n(.*?)\n\n", inspect.getdoc(errors) or "", re.DOTALL)
    assert tree, "errors.py draws its tree in its docstring"
    return textwrap.dedent(tree[1])


def _commands() -> Iterable[str]:
    root: Any = typer.main.get_command(app)
    commands = dict(root.commands)
    commands |= {
        f"{group} {name}": subcommand
        for group, many in root.commands.items()
        for name, subcommand in _list_subcommands(many)
    }
    for name, command in sorted(commands.items()):
        parameters = [p for p in command.params if p.name != "as_json"]
        words = [_usage(p) for p in parameters if p.param_type_name == "argument"]
        rows = [f"| `{_spell_option(p)}` | {_cell(_join(p.help or ''))} |" for p in parameters]
        table = "\n".join(["| argument | meaning |", "|---|---|", *rows]) if rows else ""
        yield f"### `sfumato {' '.join([name, *words])}`\n\n{_join(command.help or '')}\n\n{table}".rstrip()


def _list_subcommands(command: Any) -> Iterable[tuple[str, Any]]:
    commands: Mapping[str, Any] = getattr(command, "commands", {})
    return commands.items()


def _usage(argument: Any) -> str:
    return argument.name.upper() if argument.required else f"[{argument.name.upper()}]"


def _spell_option(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    return ", ".join([*parameter.opts, *parameter.secondary_opts])


if __name__ == "__main__":
    for page, text in generate_pages().items():
        (DOCS / page).write_text(text, encoding="utf-8")
