# SPDX-License-Identifier: MIT
"""Packages whose public names are found in their source and imported on first use, without registration.

The public names of such a package are those that its `if TYPE_CHECKING:` block imports, so that type checkers
and Python read the same lines. Methods, models, attacks and checks are found by what their files say: a class with a
tag (`method: Literal["generalize"] = "generalize"`), a measure under `@checks_claim("k_anonymity", …)`. What runs a
method or attack on data that stay in files is a class that names it: `class StoredTopCode(StoredTableMethod[TopCode])`.
Files are read as text, in some milliseconds, when such a name is asked for; a module is imported when one of its names
is needed. For type checkers, `docs/generate.py` writes the lines of methods, models and attacks into the blocks.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # type checkers take it as true; importing typing would take longer than everything else
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TAGGED_CLASS = (
    r"""^class (\w+)\((?:\s*Stored(?:Table|Basket)(?:Method|Attack)\[(\w+)\])?"""
    r"""|^    ({}): Literal\[["'](\w+)["']\] = ["']\4["']"""
)
_STORED_TAG = "stored"
"""Stands among the tags: there, classes that run on stored data are found by the method or attack that they name."""
_CLAIM_CHECK = r"""^@?checks_claim\(\s*["'](\w+)["']"""
_STORED_CLAIM_CHECK = r"""^@?checks_stored_claim\(\s*["'](\w+)["']"""
_LAW = r"^class \w+Law\("
_LAWS = "sfumato.public"
_PACKAGE_OF = {"method": "sfumato.protect", "model": "sfumato.protect", "attack": "sfumato.attack"}
_CHECKS = "sfumato.measure"
_SEARCH_PACKAGES = ("sfumato.attack", "sfumato.measure", "sfumato.mine")
"""Where a name is looked for that the package itself does not have."""
_OTHER_FUNCTIONS = {
    "l_diversity": "distinct_l",
    "t_closeness": "t_equal",
    "information_loss": "loss",
    "anonymize": "run",
    "anonymise": "run",
    "protect": "run",
}
"""What functions are called elsewhere; of measures that have several forms, the first."""


class LazyPackage(ModuleType):
    """A package whose names are imported on first use; a list such as METHODS holds every class with a tag."""

    def __getattr__(self, name: str) -> Any:
        """Import a name and cache it."""
        if name == "__all__":
            return sorted({*_find_public_names(self), *vars(self).get("_tags", {}), *_find_tagged_names(self)})
        if name.startswith("__"):
            raise AttributeError(name)
        if name in (tags := vars(self).get("_tags", {})):
            attribute: Any = tuple(_fetch(*home) for home in find_tagged(tags[name]).values())
        elif name in (homes := _find_public_names(self)):
            attribute = _fetch_named(homes[name], name, self)
        elif name in (homes := _find_tagged_names(self)):
            attribute = _fetch(homes[name], name)
        else:
            raise AttributeError(f'{self.__name__} has no "{name}"{_suggest(name, self)}')
        if "_adapt" in vars(self):
            attribute = vars(self)["_adapt"](attribute)
        super().__setattr__(name, attribute)
        return attribute

    def __dir__(self) -> list[str]:
        """The public names."""
        names: list[str] = self.__all__
        return names

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name; the import system may not put a module where a function of its name is public."""
        if not isinstance(value, ModuleType) or _find_public_names(self).get(name) in (None, self.__name__):
            super().__setattr__(name, value)


def make_lazy(package: str, *kinds: str, **tags: str) -> None:
    """Make a package lazy: after `make_lazy(__name__, METHODS="method")` it has all methods, too, and a list of them.

    After `make_lazy(__name__, "method")` it has them without a list.
    """
    vars(sys.modules[package])["_tags"] = tags
    vars(sys.modules[package])["_named"] = (*kinds, *tags.values())
    sys.modules[package].__class__ = LazyPackage


def find_tagged(tag: str) -> Mapping[str, tuple[str, str]]:
    """The module and class name of every method, model or attack, by tag. Nothing is imported."""
    return _find_homes(_PACKAGE_OF[tag])[tag]


def find_tagged_class(tag: str, value: str) -> Any:
    """The class that has a tag, `find_tagged_class("method", "generalize")`; None if there is none."""
    home = find_tagged(tag).get(value)
    return None if home is None else _fetch(*home)


def find_stored_class(tag: str, value: str) -> Any:
    """The class that runs a method or attack with this tag on data that stay in files; None if there is none."""
    tagged_home = find_tagged(tag).get(value)
    stored_homes = _find_homes(_PACKAGE_OF[tag])[_STORED_TAG]
    return _fetch(*stored_homes[tagged_home[1]]) if tagged_home and tagged_home[1] in stored_homes else None


def find_checks() -> Mapping[str, str]:
    """The module of every check that a claim can name. Nothing is imported."""
    homes: Mapping[str, str] = _remember("checks", _scan_checks)[_CLAIM_CHECK]
    return homes


def find_stored_checks() -> Mapping[str, str]:
    """The module of every check that measures a claim on a release in its file. Nothing is imported."""
    homes: Mapping[str, str] = _remember("checks", _scan_checks)[_STORED_CLAIM_CHECK]
    return homes


def import_laws() -> None:
    """Import the modules of every class that says how a column was randomized: its name ends in Law."""
    _remember("laws", _import_laws)


_REMEMBERED_RESULTS: dict[str, Any] = {}


def _find_homes(package: str) -> Mapping[str, Mapping[str, tuple[str, str]]]:
    homes: Mapping[str, Mapping[str, tuple[str, str]]] = _remember(f"tags of {package}", lambda: _scan_tags(package))
    return homes


def _remember(key: str, find: Any) -> Any:
    if key not in _REMEMBERED_RESULTS:
        _REMEMBERED_RESULTS[key] = find()
    return _REMEMBERED_RESULTS[key]


def _fetch(module: str, name: str) -> Any:
    """A name of a module; the name of a package inside it is a module itself."""
    return import_module(f"{module}.{name}") if module == "sfumato" else getattr(import_module(module), name)


def _fetch_named(module: str, name: str, package: Any) -> Any:
    """The same for a name of the typing block, which may have moved since `docs/generate.py` wrote the block."""
    try:
        return _fetch(module, name)
    except ModuleNotFoundError as error:
        new_module = _find_tagged_names(package).get(name)
        if error.name is None or not module.startswith(error.name) or new_module is None:
            raise
        return _fetch(new_module, name)


def _find_public_names(package: Any) -> dict[str, str]:
    """Name → module, from the lines `from module import Name as Name` of a package's typing block."""

    def read() -> dict[str, str]:
        source: str = package.__spec__.loader.get_data(package.__file__).decode("utf-8")
        lines = [line.split() for line in source.splitlines() if line.startswith("    from ")]
        return {line[3]: line[1] for line in lines if line[4:] == ["as", line[3]]}

    names: dict[str, str] = _remember(package.__name__, read)
    return names


def _find_tagged_names(package: Any) -> dict[str, str]:
    """Name → module of the methods, models or attacks of a package."""
    return {name: module for tag in vars(package).get("_named", ()) for module, name in find_tagged(tag).values()}


def _scan_tags(package: str) -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """The homes of all tags of a package, and of what runs on stored data, which are read together."""
    import re

    tags = [tag for tag, home in _PACKAGE_OF.items() if home == package]
    homes: dict[str, dict[str, tuple[str, str]]] = {tag: {} for tag in (*tags, _STORED_TAG)}
    for module, text in _read_sources(package):
        name = ""
        for match in re.finditer(_TAGGED_CLASS.format("|".join(tags)), text, re.MULTILINE):
            name = match[1] or name
            if match[2]:
                homes[_STORED_TAG][match[2]] = (module, name)
            if match[3]:
                homes[match[3]][match[4]] = (module, name)
    return homes


def _scan_checks() -> Mapping[str, Mapping[str, str]]:
    """The modules of all checks, in memory and in files, which are read together."""
    import re

    homes: dict[str, dict[str, str]] = {_CLAIM_CHECK: {}, _STORED_CLAIM_CHECK: {}}
    for module, text in _read_sources(_CHECKS):
        for pattern, modules in homes.items():
            modules.update(dict.fromkeys(re.findall(pattern, text, re.MULTILINE), module))
    return homes


def _import_laws() -> tuple[ModuleType, ...]:
    import re

    sources = _read_sources(_LAWS)
    return tuple(import_module(module) for module, text in sources if re.search(_LAW, text, re.MULTILINE))


def _read_sources(package: str) -> Any:
    """Every module of a package, in order, with its text."""
    from pathlib import Path

    for folder in import_module(package).__path__:
        for path in sorted(Path(folder).rglob("*.py")):
            module_parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join((package, *module_parts)).removesuffix(".__init__"), path.read_text(encoding="utf-8")


def _suggest(name: str, package: Any) -> str:
    """The public name that was probably meant."""
    from difflib import get_close_matches

    from sfumato.fields.problem_words import find_other_name

    if name.startswith("_"):
        return ""
    if name.startswith("read_") and "Table" in dir(package):
        return '; did you mean "Table.read"?'
    if package.__name__ == "sfumato":
        homes = [home for home in _SEARCH_PACKAGES if name in dir(import_module(home))]
        if homes:
            return f'; did you mean "sf.{homes[0].removeprefix("sfumato.")}.{name}"?'
    other_name = (find_other_name(name) or "").replace("_", "")
    same_names = [public_name for public_name in dir(package) if public_name.lower() == other_name]
    same_names += [public_name for public_name in dir(package) if public_name == _OTHER_FUNCTIONS.get(name)]
    suggestions = same_names or get_close_matches(name, dir(package), n=1)
    return f'; did you mean "{suggestions[0]}"?' if suggestions else ""
