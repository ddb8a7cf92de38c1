# SPDX-License-Identifier: MIT
"""Every command proposes the file or folder that was probably meant by a name that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from sfumato.cli.commands import app
from tests.command_line import Invoke

POLICY = """
data = { path = "poeple.csv" }
roles = { quasi_identifying = ["age"] }
protect = [{ method = "top_code", columns = ["age"], k = 5 }]
attack = [{ attack = "linking" }]
"""
COMMANDS = {
    "audit": ("audit", "poeple.csv"),
    "init": ("init", "poeple.csv"),
    "hierarchy": ("hierarchy", "poeple.csv", "age"),
    "measure": ("measure", "poeple.csv", "--quasi", "age"),
    "measure: original": ("measure", "people.csv", "--quasi", "age", "--sensitive", "ill", "--original", "poeple.csv"),
    "run": ("run", "plicy.toml"),
    "run: data": ("run", "policy.toml"),
    "run: data, stored": ("run", "policy.toml", "--engine", "duckdb"),
    "verify": ("verify", "ot"),
    "compare": ("compare", "ot", "out"),
    "mine": ("mine", "shp.fimi", "--min-support", "2"),
    "mine: releases": ("mine", "ot", "--column", "age"),
    "attack": ("attack", "ot", "policy.toml"),
    "attack: policy": ("attack", "out", "plicy.toml"),
    "decode": ("decode", "tree.json", "ky.json", "people.csv"),
    "requests": ("requests", "ky.json", "--out", "requests.csv"),
    "channels": ("channels", "shp.fimi", "--k", "2", "--min-support", "2"),
    "support": ("support", "shp.fimi", "a"),
    "contains": ("contains", "shp.fimi", "a"),
    "regions": ("regions", "pints.csv", "--out", "regions.txt"),
    "party": ("party", "--config", "ste.toml"),
}
FILELESS = {"demo", "signer", "party init"}
"""Commands that read no file of the user's."""


def list_commands() -> set[str]:
    """Every command; of a group that runs by itself, its own name too."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return set(commands) | {
        f"{name} {part}" for name, group in commands.items() for part in getattr(group, "commands", ())
    }


def test_every_command_that_reads_a_file_is_tried() -> None:
    assert {name.partition(":")[0] for name in COMMANDS} | FILELESS == list_commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_mistyped_name_gets_the_one_that_was_meant(
    name: str, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,ill\n" + "".join(f"{20 + row % 5},flu\n" for row in range(40)))
    Path("policy.toml").write_text(POLICY)
    for file in ("shop.fimi", "points.csv", "key.json", "site.toml", "tree.json"):
        Path(file).write_text("")
    for folder in ("release", "private"):
        (tmp_path / "out" / folder).mkdir(parents=True)
    ran = invoke(*COMMANDS[name])
    words = " ".join(ran.err.split())
    assert ran.code == 2, ran
    assert words.endswith('"?') and "; did you mean " in words, words
