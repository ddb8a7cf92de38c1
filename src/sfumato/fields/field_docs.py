# SPDX-License-Identifier: MIT
"""The docstrings of a model's fields, read from its source when someone asks.

Pydantic would read the sources of all models whenever they are imported: 0.3 s of every command.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Mapping
from itertools import pairwise
from textwrap import dedent
from types import MappingProxyType

from pydantic import BaseModel

_read: dict[type[BaseModel], Mapping[str, str]] = {}
"""The docstrings of the models that were asked for."""


def find_field_doc(model: type[BaseModel], name: str) -> str:
    """What the docstring under a field says, in the class or the nearest base that documents it; "" if none does."""
    bases = [base for base in model.__mro__ if issubclass(base, BaseModel) and base is not BaseModel]
    for base in bases:
        if base not in _read:
            _read[base] = read_attribute_docs(base)
    return next((_read[base][name] for base in bases if name in _read[base]), "")


def read_attribute_docs(owner: type) -> Mapping[str, str]:
    """The texts below the attributes in a class's own body, which Python itself forgets."""
    try:
        definition = _parse_definition(owner)
    except (OSError, TypeError):  # built in, or typed at a prompt
        return MappingProxyType({})
    assert isinstance(definition, ast.ClassDef)
    docs = {}
    for statement, next_statement in pairwise(definition.body):
        match statement, next_statement:
            case (
                (ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)])),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                docs[name] = inspect.cleandoc(text)
    return MappingProxyType(docs)


def _parse_definition(owner: type) -> ast.stmt:
    """The class statement; of a plain one, only its lines are parsed and not, as `inspect` does, the whole module."""
    lines = linecache.getlines(inspect.getsourcefile(owner) or "")
    plain = re.search(rf"^class {owner.__qualname__}\b.*?(?=^[^\s)]|\Z)", "".join(lines), re.MULTILINE | re.DOTALL)
    try:
        return ast.parse(plain[0] if plain else dedent(inspect.getsource(owner))).body[0]
    except SyntaxError:  # a text in it begins a line
        return ast.parse(dedent(inspect.getsource(owner))).body[0]
