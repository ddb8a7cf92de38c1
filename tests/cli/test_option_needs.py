# SPDX-License-Identifier: MIT
"""Contract: every option of every command states what it needs, and one that would change nothing is refused.

Each case is a command line. Every option of its command is added to it, one at a time: then the command must refuse the
option as idle, or do something else than without it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import typer

import sfumato as sf
from sfumato.cli.commands import app
from sfumato.cli.option_needs import ALWAYS, read_needs
from tests.command_line import Invoke, Ran

CASES = (
    "audit people.csv",
    "audit people.parquet",
    "audit walks.csv",
    "audit walks.txt",
    "audit points.csv",
    "init people.csv",
    "init people.parquet",
    "init people.csv --for synthetic",
    "init shop.csv",
    "init shop.dat",
    "init walks.csv",
    "init walks.txt --for hide",
    "init points.csv",
    "hierarchy people.csv pay",
    "hierarchy people.parquet age",
    "measure people.csv --quasi age,zip --sensitive ill",
    "measure people.parquet --quasi age,zip --sensitive ill",
    "measure people.csv --quasi age,zip --sensitive ill --original people.csv",
    "measure people.csv --quasi age,zip --original people.csv --target ill",
    "verify noisy",
    "verify noisy --input people.csv --opening noisy/private/input_opening.json",
    "mine shop.csv --min-support 2",
    "mine comma.csv --min-support 2",
    "mine shop.dat --min-support 2",
    "mine shop.csv --min-support 2 --rules",
    "mine walks.csv --sequences --min-support 2",
    "mine walks.txt --min-support 2",
    "mine people.csv --private columns=ill --min-support 2",
    "mine filters.dat --requests requests.csv --min-support 3",
    "mine people.csv --learner c45 --target ill",
    "mine noisy --learner c45 --target ill",
    "mine random --min-support 0.1",
    "mine noisy --column age",
    "mine noisy --target ill",
    "decode found.txt items.key",
    "decode found.txt items.key shop.dat",
    "decode found.txt items.key numbers.csv",
    "decode filtered.txt bloom.key",
    "decode tree.json tree.key people.csv",
    "requests bloom.key --out new.csv",
    "channels shop.csv --k 6 --min-support 4",
    "channels shop.dat --k 6 --min-support 4",
    "channels patterns.txt --k 3",
    "channels published --k 3",
    "support shop.csv a",
    "support shop.dat 1",
    "support walks.csv a b --sequences",
    "support walks.txt a b",
    "contains shop.csv a",
    "contains shop.dat 1",
    "contains walks.csv a b --sequences",
    "party init north",
    "regions points.csv --out new.txt",
    "regions points.parquet --out new.txt",
    "regions points.csv --dense 0.02 --grid 4x4 --out new.txt",
    "regions points.csv --polygons areas.geojson --out new.txt",
    "regions points.csv --cells centres.csv --out new.txt",
)
VALUES = {
    "--address": "127.0.0.1:9",
    "--baskets": "77",
    "--bins": "2",
    "--bounds": "0,0,50,50",
    "--cell": "3",
    "--cells": "centres.csv",
    "--column": "zip",
    "--config": "x.toml",
    "--coordinates": "degrees",
    "--days": "9",
    "--decimal": ",",
    "--dense": "0.5",
    "--encoding": "utf-16",
    "--engine": "duckdb",
    "--folder": "sites",
    "--for": "outsource",
    "--format": "comma",
    "--grid": "2x2",
    "--id": "nope",
    "--input": "shop.csv",
    "--item": "nope",
    "--k": "3",
    "--kind": "maximal",
    "--learner": "c45",
    "--max-gap": "0",
    "--max-length": "0",
    "--min-confidence": "7",
    "--min-rows": "-1",
    "--min-support": "9",
    "--missing": "drop",
    "--missing-mark": "40",
    "--name": "nope",
    "--opening": "shop.csv",
    "--original": "people.parquet",
    "--out": "other.txt",
    "--passphrase": "wrong",
    "--polygons": "areas.geojson",
    "--private": "columns=zip",
    "--pruning": "7",
    "--quasi": "zip",
    "--reach": "1",
    "--reconstruct": "nope",
    "--requests": "shop.csv",
    "--rules-out": "rules.txt",
    "--seconds": "0",
    "--sensitive": "zip",
    "--separator": ";",
    "--shape": "points",
    "--signer": "people.csv",
    "--split": "2",
    "--target": "zip",
    "--threshold": "1",
    "--time": "nope",
    "--window": "1",
    "--x": "nope",
    "--y": "nope",
}
"""A value of each option that shows whether it is used."""
CONFIRMED = {
    ("mine walks.txt --min-support 2", "--sequences"),
    ("support walks.txt a b", "--sequences"),
    ("contains walks.txt a b", "--sequences"),
    ("mine comma.csv --min-support 2", "--format"),
    ("init points.csv", "--shape"),
    ("regions points.csv --cells centres.csv --out new.txt", "--coordinates"),
}
"""Options that say what is so anyway."""


TURNED_ON = {("mine", "--header")}
"""Switches that are tried as they are; of others, the one that turns them off."""


def list_commands() -> Iterator[tuple[str, Any]]:
    """Every command by its words."""
    root: Any = typer.main.get_command(app)
    yield "", root
    for name, command in root.commands.items():
        yield name, command
        for inner, subcommand in getattr(command, "commands", {}).items():
            yield f"{name} {inner}", subcommand


COMMANDS = dict(list_commands())


def list_options(name: str) -> dict[str, Any]:
    """The options of a command by their parameters, without those that typer adds."""
    command = COMMANDS[name]
    parameters = inspect.signature(inspect.unwrap(command.callback)).parameters
    return {
        option.name: option for option in command.params if option.name in parameters and option.opts[0].startswith("-")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_states_what_it_needs(name: str) -> None:
    needs = read_needs(inspect.unwrap(COMMANDS[name].callback))
    for parameter, option in list_options(name).items():
        assert needs.get(parameter), (
            f"{option.opts[0]} of `sfumato {name}` does not say when it has an effect: add ALWAYS or what it needs, of "
            "cli/option_needs.py to its Annotated[…] type; let the command say what is met (refuse_idle_options); and "
            "add a case to CASES here in which it is used, and one in which it is refused"
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files of every kind, releases and keys."""
    root = tmp_path_factory.mktemp("options")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("SFUMATO_HOME", str(root / "home"))
        _write_files()
    return root


def _write_files() -> None:
    chance = np.random.default_rng(3)
    age = chance.integers(20, 60, 90)
    people = pl.DataFrame(
        {
            "age": age,
            "zip": chance.choice(["100", "200", "300", ""], 90),
            "ill": np.where((age > 40) ^ (chance.random(90) < 0.2), "flu", "gout"),
            "pay": chance.normal(1000, 200, 90).round(1),
        }
    )
    people.write_csv("people.csv")
    people.with_columns(pl.col("zip").replace({"": None})).write_parquet("people.parquet")
    names = [[name for name in "abcd" if chance.random() < 0.6] or ["a"] for _ in range(40)]
    numbers = [["abcd".index(name) + 1 for name in row] for row in names]
    sf.Baskets.of(names).write("shop.csv")
    sf.Baskets.of(numbers).write("shop.dat")
    sf.Baskets.of(numbers).write("numbers.csv")
    Path("comma.csv").write_text(
        "".join(",".join([*row, "e"] if row_index % 3 else row) + "\n" for row_index, row in enumerate(names))
    )
    walks = sf.Sequences.of([[[name] for name in chance.permutation(list("abc"))] for _ in range(30)])
    walks.write("walks.csv")
    walks.write("walks.txt")
    points = pl.DataFrame(
        {
            "id": np.repeat(np.arange(20), 5),
            "time": np.tile([0, 1, 2, 9, 10], 20),
            "x": chance.uniform(0, 190, 100),
            "y": chance.uniform(0, 100, 100),
        }
    )
    points.write_csv("points.csv")
    points.write_parquet("points.parquet")
    Path("centres.csv").write_text("name,x,y\nA,10,10\nB,80,80\n")
    Path("areas.geojson").write_text(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"name": "A"}, "geometry": '
        '{"type": "Polygon", "coordinates": [[[0, 0], [100, 0], [100, 100], [0, 100], [0, 0]]]}}]}'
    )
    _write_releases()
    _write_codes(sf.Baskets.of(numbers))


def _write_releases() -> None:
    head = '[data]\npath = "people.csv"\n[roles]\nquasi_identifying = ["age"]\nsensitive = ["ill"]\n'
    rest = 'insensitive = ["zip", "pay"]\n[accept]\nill = "a test"\nzip = "a test"\npay = "a test"\n'
    noise = '[[protect]]\nmethod = "add_noise"\ncolumns = "age"\nprivacy = 0.5\nranges = { age = [0, 100] }\n'
    Path("noisy.toml").write_text(f"{head}{rest}{noise}")
    sf.run("noisy.toml", "noisy")
    mask = 'keep = { "*" = 0.9 }\nadd = 0.1\nitems = [1, 2, 3, 4]'
    Path("random.toml").write_text(f'[data]\npath = "shop.dat"\n[[protect]]\nmethod = "randomize_baskets"\n{mask}\n')
    sf.run("random.toml", "random")
    patterns = '[[protect]]\nmethod = "publish_patterns"\nmin_support = 5\nk = 3\n'
    Path("published.toml").write_text(f'[data]\npath = "shop.dat"\n{patterns}')
    sf.run("published.toml", "published")
    sf.Patterns.of(sf.mine.frequent_itemsets(sf.Baskets.read("shop.dat"), 5), 40).write("patterns.txt")


def _write_codes(baskets: sf.Baskets) -> None:
    items, bloom = sf.EncodeItems(k=2), sf.EncodeBloom(bits=16, hashes=2)
    key = items.new_key(baskets)
    key.save("items.key")
    sf.mine.save_itemsets(sf.mine.frequent_itemsets(items.protect(baskets, key).data, 5), "found.txt")
    key = bloom.new_key(baskets)
    key.save("bloom.key")
    filters, requests = bloom.protect(baskets, key).data, sf.mine.filter_requests(key)
    filters.write("filters.dat")
    requests.write("requests.csv", "long", id="request", item="bit")
    sf.mine.save_itemsets(sf.mine.mine_filters(filters, requests, 5), "filtered.txt")
    table = sf.Table.read("people.csv", roles=dict.fromkeys(("age", "zip", "ill", "pay"), "insensitive"))
    trees = sf.EncodeForTrees(target="ill")
    key = trees.new_key(table)
    key.save("tree.key")
    coded = trees.protect(table, key).data
    sf.mine.write_tree(sf.mine.train_c45(coded, "ill"), "tree.json")


def observe(invoke: Invoke, folder: Path, words: list[str]) -> tuple[Ran, dict[str, bytes]]:
    """What a command said and wrote; what it wrote is removed."""
    old_paths = set(folder.rglob("*"))
    ran = invoke(*words)
    new_paths = sorted(set(folder.rglob("*")) - old_paths)
    content = {str(path): path.read_bytes() for path in new_paths if path.is_file()}
    for path in reversed(new_paths):
        path.rmdir() if path.is_dir() else path.unlink()
    return ran, content


class Trials:
    """Every option of a command, added to each of its cases."""

    def __init__(self, invoke: Invoke, folder: Path, name: str) -> None:
        self.invoke, self.folder, self.name = invoke, folder, name
        self.refused: set[str] = set()
        self.used: set[str] = set()
        self.problems: list[str] = []

    def try_options(self, line: str) -> None:
        words = line.split()
        plain = observe(self.invoke, self.folder, words)
        assert plain[0].code == 0, (line, plain[0].output)
        for option in list_options(self.name).values():
            if any(spelling in words for spelling in option.opts):
                self.used.add(option.name)
            else:
                is_off = option.secondary_opts and (self.name, option.opts[0]) not in TURNED_ON
                typed = [option.secondary_opts[0] if is_off else option.opts[0]]
                typed += [] if option.is_flag else [VALUES[option.opts[0]]]
                changed = observe(self.invoke, self.folder, [*words, *typed])
                is_refused = changed[0].code == 2 and f"sfumato: {typed[0]} is about" in changed[0].err
                (self.refused if is_refused else self.used).add(option.name)
                if changed == plain and (line, typed[0]) not in CONFIRMED:
                    self.problems.append(f"sfumato {line} {' '.join(typed)}: the option changes nothing")
                if changed[0].code > 2:
                    self.problems.append(f"sfumato {line} {' '.join(typed)}: {changed[0].output}")


@pytest.mark.parametrize("name", sorted({line.split(" --")[0].split()[0] for line in CASES}))
def test_an_option_is_refused_or_has_an_effect(
    name: str, folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SFUMATO_HOME", str(folder / "home"))
    trials = Trials(invoke, folder, "party init" if name == "party" else name)
    for line in CASES:
        if line.split()[0] == name:
            trials.try_options(line)
    assert not trials.problems, "\n".join(trials.problems)
    needs = read_needs(inspect.unwrap(COMMANDS[trials.name].callback))
    conditional = {parameter for parameter, conditions in needs.items() if conditions != (ALWAYS,)}
    assert conditional <= trials.refused, f"add a case to CASES that refuses {conditional - trials.refused}"
    assert needs.keys() <= trials.used, f"add a case to CASES that uses {needs.keys() - trials.used}"


def test_options_of_a_group_are_refused_before_its_command(invoke: Invoke) -> None:
    ran = invoke("party", "--config", "x.toml", "init", "north")
    assert ran.code == 2 and "--config is about running this site, and init does something else" in ran.err


def test_an_option_with_its_default_value_is_refused_too(folder: Path, invoke: Invoke) -> None:
    ran = invoke("measure", folder / "people.csv", "--quasi", "age", "--bins", "10")
    assert ran.code == 2
    assert "--bins is about the class column, and there is no original; add --target COLUMN, or leave it out" in ran.err


def test_several_idle_options_are_named_together(folder: Path, invoke: Invoke) -> None:
    ran = invoke("mine", folder / "shop.csv", "--max-gap", "1", "--window", "2")
    assert "--max-gap and --window are about sequences, and the file is read as baskets; add --sequences" in ran.err
    assert "leave them out" in ran.err


def test_baskets_are_not_audited_as_a_table(folder: Path, invoke: Invoke) -> None:
    for words in (("--shape", "baskets"), ()):
        ran = invoke("audit", folder / "shop.csv", *words)
        assert ran.code == 2 and "baskets, which have no columns to audit" in ran.err
        assert "sfumato init" in ran.err and "--shape table" in ran.err
    assert "baskets" not in COMMANDS["audit"].params[4].help
