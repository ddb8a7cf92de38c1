# SPDX-License-Identifier: MIT
"""The words by which `--method TAG` finds the tests of one method: its names, those of its examples and checks."""

from __future__ import annotations

import inspect
import sys

import pytest

from sfumato.change_kinds import ChangeKind
from sfumato.protect import METHODS
from sfumato.runtime.lazy import find_checks
from tests.contract.examples import METHOD_EXAMPLES

OF_ALL_METHODS = (
    "can_be_surveyed", "change_kinds", "generated", "keys_of_details", "losses", "names_of_their_own", "new_method",
    "share_a_name", "subclass",
)  # fmt: skip
"""Words of tests that compare what all methods have in common, such as the list of kinds of change."""


def list_words(tag: str) -> tuple[str, ...]:
    """Words of which the name of a test has at least one; a test of another method that has one runs as well."""
    kinds = {get_tag(kind): kind for kind in METHODS}
    if tag not in kinds:
        raise pytest.UsageError(
            f'no method has the tag "{tag}": its class must be a subclass of Method in a module of '
            f'src/sfumato/protect/FAMILY, with the line `method: Literal["{tag}"] = "{tag}"`. Tags: {", ".join(kinds)}'
        )
    kind = kinds[tag]
    text = read_module(kind)
    other_texts = [read_module(other) for other in METHODS if other.__module__ != kind.__module__]

    def is_own(word: str) -> bool:
        return word in text and not any(word in other_text for other_text in other_texts)

    own_checks = {name: module for name, module in find_checks().items() if is_own(f'"{name}"')}
    checks = [*own_checks, *(module.rpartition(".")[2] for module in own_checks.values())]
    changes = [change.value for change in ChangeKind if is_own(f"ChangeKind.{change.name}")]
    examples = [example.name for example in METHOD_EXAMPLES if type(example.subject) is kind]
    names = (tag, kind.__name__, kind.__module__.rpartition(".")[2])
    return tuple(dict.fromkeys((*names, *checks, *changes, *examples, *OF_ALL_METHODS)))


def read_module(kind: type) -> str:
    """The source of a method's module."""
    return inspect.getsource(sys.modules[kind.__module__])


def get_tag(kind: type) -> str:
    """The tag of a method in a policy."""
    return str(kind.model_fields["method"].default)  # type: ignore[attr-defined]
