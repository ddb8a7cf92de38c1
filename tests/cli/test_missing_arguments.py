# SPDX-License-Identifier: MIT
"""Whoever leaves out what a command needs is shown a command that has all of it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from sfumato.cli.commands import app
from sfumato.cli.messages import say_plainly


def list_commands(command: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if hasattr(command, "commands"):
        for name, part in command.commands.items():
            yield from list_commands(part, (*names, name))
    else:
        yield names, command


NEEDY = {
    " ".join(names): command
    for names, command in list_commands(typer.main.get_command(app))
    if any(parameter.required for parameter in command.params)
}


@pytest.mark.parametrize("name", NEEDY)
def test_a_missing_argument_is_shown_in_an_example(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["sfumato", *name.split()])
    required = [parameter for parameter in NEEDY[name].params if parameter.required]
    for parameter in required:
        option = parameter.opts[0]
        said = say_plainly(f"Missing {parameter.param_type_name} '{option}'.")
        words = shlex.split(said.partition(f"Type, for example: sfumato {name} ")[2])
        assert all(part.param_type_name == "argument" or part.opts[0] in words for part in required)
        values = [
            word
            for word, before in zip(words, ["", *words[:-1]], strict=True)
            if not word.startswith("--") and not before.startswith("--")
        ]
        assert len(values) == sum(part.param_type_name == "argument" for part in required)
