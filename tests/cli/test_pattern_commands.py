# SPDX-License-Identifier: MIT
"""`sfumato channels`, `support` and `contains`: the same as in Python, and bad input in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from tests.cli.desk import Desk

TWELVE = "abcdefgh abcdeg abcde abcdefg abcde abcde abde aefg cdefg cde cdefgh abfg"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.chdir(tmp_path)
    sf.Baskets.of([list(basket) for basket in TWELVE.split()]).write("b.dat")
    Path("numbers.dat").write_text("1 2 3\n1 2\n3\n")
    Path("walks.txt").write_text("1 2 -1 3 -1 -2\n1 -1 4 -1 3 -1 -2\n3 -1 1 -1 -2\n")
    Path("long.csv").write_text('who,what\np,"a, b"\np,c\nq,c\n')
    return Desk(monkeypatch, capsys)


def test_channels_of_baskets_are_those_of_the_paper(desk: Desk) -> None:
    """Atzori et al. 2005: 13 channels at support 8 and k = 3, three of them maximal."""
    assert desk.read("channels", "b.dat", "--k", "3", "--min-support", "8", "--out", "c.csv")["count"] == 13
    assert Path("c.csv").read_text().startswith("inner,outer,support\n")
    widest = desk.read("channels", "b.dat", "--k", "3", "--min-support", "8", "--maximal")["rows"]
    assert {("".join(row["inner"]), "".join(row["outer"]), row["support"]) for row in widest} == {
        ("a", "ab", 1), ("a", "ae", 1), ("", "cde", 1)
    }  # fmt: skip


def test_channels_of_published_patterns_and_rules(desk: Desk) -> None:
    baskets = sf.Baskets.of([list(row) for row in ["abc", "abc", "abc", "ab", "ab", "a", "b", "b", "b", "c"]])
    patterns = sf.Patterns.of(sf.mine.frequent_itemsets(baskets, 4), len(baskets), complete_from=4)
    patterns.write("patterns.txt")
    channels = desk.read("channels", "patterns.txt", "--k", "3")
    assert channels["count"] == len(sf.mine.forced_patterns(patterns, 3)) > 0
    assert {"pattern": "a, not b", "least": 1, "most": 1} in channels["rows"]
    sf.mine.save_rules(sf.mine.association_rules(baskets, 4, 0.8), "rules.txt")
    rows = desk.read("channels", "rules.txt", "--k", "3", "--baskets", "10")["rows"]
    assert {"pattern": "a, not b", "least": 1, "most": 1} in rows
    published = sf.PublishRules(k=2, min_support=4, min_confidence=0.8, repair="none").protect(baskets).data
    published.write("published.txt")
    assert desk.read("channels", "published.txt", "--k", "3")["rows"] == rows


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("b.dat", "a", "b"), 8), (("b.dat", "a,b"), 8), (("b.dat", "a", "zebra"), 0), (("numbers.dat", "1", "2"), 2),
        (("walks.txt", "1", "3"), 2), (("walks.txt", "1", "3", "--max-gap", "0"), 1), (("walks.txt", "1,2", "3"), 1),
        (("long.csv", "--id", "who", "--item", "what", '["a, b"]', "c"), 1),
    ],
)  # fmt: skip
def test_support_and_rows(desk: Desk, words: tuple[str, ...], count: int) -> None:
    support_result = desk.read("support", *words)
    listed = desk.read("contains", *words)
    assert support_result["support"] == listed["count"] == len(listed["rows"]) == count
    assert support_result["unknown_items"] == ("zebra" in words)
    if words[0] == "long.csv":
        assert listed["rows"] == [{"row": 0, "id": "p"}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("channels", "b.dat", "--k", "3"), "--min-support is missing"),
        (("channels", "b.dat", "--k", "0", "--min-support", "2"), "k must be"),
        (("channels", "none.dat", "--k", "3", "--min-support", "2"), "none.dat"),
        (("channels", "p.txt", "--k", "3"), "number of baskets"),
        (
            ("channels", "p.txt", "--k", "3", "--baskets", "9", "--maximal"),
            "--maximal is about files of baskets, and these are published supports",
        ),
        (("channels", "r.txt", "--k", "3"), "give --baskets"),
        (("support", "b.dat", "a,,b"), "is empty"),
        (("support", "b.dat", "[a"), "is JSON"),
        (("support", "b.dat", "a", "--window", "2"), "--window is about sequences, and the file is read as baskets"),
    ],
)
def test_bad_input_is_one_sentence(desk: Desk, words: tuple[str, ...], message: str) -> None:
    Path("p.txt").write_text("1 #SUP: 3\n")
    Path("r.txt").write_text("1 ==> 2 #SUP: 3 #CONF: 0.5\n")
    code, printed = desk.type(*words)
    assert code == 2 and message in printed, printed


def test_a_person_is_told_of_a_misspelt_item(desk: Desk) -> None:
    code, printed = desk.type("support", "b.dat", "a", "zebra")
    assert code == 0
    assert "0 of 12 baskets (0)." in printed and "check their spelling" in printed
