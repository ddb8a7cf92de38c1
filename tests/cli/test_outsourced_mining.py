# SPDX-License-Identifier: MIT
"""Outsourced mining on the command line: run, mine, decode; with codes and with filters; and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from tests.cli.desk import Desk

LEAST = 12


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    chance = np.random.default_rng(5)
    purchases = chance.random((80, 6)) < np.linspace(0.6, 0.25, 6)
    purchases[:, 1] |= purchases[:, 0] & (chance.random(80) < 0.8)
    sf.Baskets.of([[f"i{code}" for code in np.flatnonzero(row)] for row in purchases]).write("shop.dat")
    return Desk(monkeypatch, capsys)


def encode(method: sf.EncodeItems | sf.EncodeBloom) -> sf.Baskets:
    """The files of a run, without its report."""
    baskets = sf.Baskets.read("shop.dat")
    key = method.new_key(baskets)
    key.save("key.json")
    method.protect(baskets, key).data.write("codes.dat")
    return baskets


def list_sets(rows: list[dict[str, Any]]) -> set[Any]:
    return {(*row["items"], row["support"]) for row in rows}


def list_rules(rows: list[dict[str, Any]]) -> set[Any]:
    return {(*row["antecedent"], "→", *row["consequent"], row["support"], row["confidence"]) for row in rows}


@pytest.mark.parametrize(
    "method", [sf.EncodeItems(k=3), sf.EncodeItems(kind="one_to_n"), sf.EncodeBloom(bits=16, hashes=2)]
)
def test_what_a_provider_mined_is_decoded_exactly(desk: Desk, method: sf.EncodeItems | sf.EncodeBloom) -> None:
    baskets = encode(method)
    mine_options: tuple[str, ...] = ()
    if isinstance(method, sf.EncodeBloom):
        assert desk.read("requests", "key.json", "--out", "requests.csv") == {"requests": 6, "written": "requests.csv"}
        mine_options = ("--requests", "requests.csv")
    desk.read("mine", "codes.dat", *mine_options, "--min-support", str(LEAST), "--out", "found.txt")
    options = ("--min-support", str(LEAST), "--min-confidence", "0.6", "--out", "sets.txt", "--rules-out", "rules.txt")
    decoded = desk.read("decode", "found.txt", "key.json", "shop.dat", *options)
    itemsets = sf.mine.frequent_itemsets(baskets, LEAST).to_dicts()
    rules = sf.mine.association_rules(baskets, LEAST, 0.6).to_dicts()
    assert list_sets(decoded["itemsets"]) == list_sets(itemsets)
    assert list_rules(decoded["rules"]) == list_rules(rules)
    assert decoded["proved_complete"] and decoded["exact_supports"] and decoded["baskets"] == 80
    assert list_sets(sf.mine.read_itemsets("sets.txt").to_dicts()) == list_sets(itemsets)
    assert list_rules(sf.mine.read_rules("rules.txt").to_dicts()) == list_rules(rules)
    confidence = () if isinstance(method, sf.EncodeBloom) else ("--min-confidence", "0.6")
    decoding = desk.read("decode", "found.txt", "key.json", "--min-support", str(LEAST), *confidence)
    assert not decoding["proved_complete"]
    if isinstance(method, sf.EncodeBloom):
        assert decoding["rules"] is None and not decoding["exact_supports"]
        assert len(decoding["itemsets"]) >= len(itemsets)
    else:
        assert list_rules(decoding["rules"]) == list_rules(rules)
        assert decoding["spot_checks"] > 0


def test_a_provider_who_did_otherwise_is_noticed(desk: Desk) -> None:
    encode(sf.EncodeItems(k=3))
    desk.read("mine", "codes.dat", "--min-support", "20", "--out", "higher.txt")
    code, output = desk.type("decode", "higher.txt", "key.json", "--min-support", str(LEAST))
    assert code == 2 and "was mined" in output
    desk.read("mine", "codes.dat", "--min-support", str(LEAST), "--kind", "maximal", "--out", "maximal.txt")
    code, output = desk.type("decode", "maximal.txt", "key.json")
    assert code == 2 and "not the closed or maximal ones" in output
    desk.read("mine", "codes.dat", "--min-support", str(LEAST), "--max-length", "1", "--out", "short.txt")
    code, output = desk.type("decode", "short.txt", "key.json", "--min-support", str(LEAST))
    assert code == 2 and "left itemsets out" in output
    assert desk.read("decode", "short.txt", "key.json", "shop.dat", "--max-length", "1")["proved_complete"]


def test_bad_input_is_one_sentence(desk: Desk) -> None:
    encode(sf.EncodeItems(k=3))
    desk.read("mine", "codes.dat", "--min-support", str(LEAST), "--rules", "--out", "rules.txt")
    Path("empty.txt").write_text("# no pattern\n")
    for words, message in (
        (("decode", "rules.txt", "key.json"), "this file holds rules"),
        (("decode", "none.txt", "key.json"), "none.txt"),
        (("decode", "empty.txt", "key.json", "--min-support", "few"), "--min-support must be a count"),
        (("requests", "key.json", "--out", "r.csv"), "not a key of encode_bloom"),
        (
            ("mine", "codes.dat", "--requests", "r.csv", "--rules"),
            "--rules is about baskets, and --requests finds all itemsets in filters; leave it out",
        ),
        (("mine", "codes.dat", "--requests", "none.csv"), "none.csv"),
    ):
        code, printed = desk.type(*words)
        assert code == 2 and message in printed and "fault" not in printed, (words, printed)


def test_a_tree_is_decoded_with_the_table_only(desk: Desk) -> None:
    table = sf.Table.of({"x": list(range(40)), "y": ["a", "b"] * 20}, {"x": "quasi_identifying", "y": "sensitive"})
    sf.EncodeForTrees(target="y").new_key(table).save("tree.json")
    code, output = desk.type("decode", "tree.txt", "tree.json")
    assert code == 2 and "sfumato decode TREE KEY DATA" in output
