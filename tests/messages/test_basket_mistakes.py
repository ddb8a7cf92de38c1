# SPDX-License-Identifier: MIT
"""Natural mistakes in policies about baskets and sequences, and in the file of a site, and what each is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import Invoke

SHOP = "bread butter milk\nbread butter milk\nbread butter milk\nbread butter\nmilk\n\nbeer nuts\n"
HIDE = """\
[data]
path = "shop.dat"
[[protect]]
method = "hide_rules"
rules = ["bread, butter ==> milk"]
min_support = 2
min_confidence = 0.7
[output]
path = "out"
"""
WALKS = """\
[data]
path = "walks.txt"
[[protect]]
method = "hide_sequences"
patterns = [["1", "2"]]
threshold = 0
[output]
path = "out"
"""
SITE = """\
[site]
name = "east"
address = "127.0.0.1:7101"
certificate = "east.crt"
key = "east.key"
[[peer]]
name = "north"
address = "127.0.0.1:7102"
certificate = "north.crt"
[[peer]]
name = "south"
address = "127.0.0.1:7103"
certificate = "south.crt"
[data]
path = "shop.dat"
[mining]
min_support = 0.3
"""
RULES = 'rules = ["bread, butter ==> milk"]'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.dat").write_text(SHOP, encoding="utf-8")
    (tmp_path / "walks.txt").write_text("1 -1 2 -1 -2\n1 -1 -2\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("policy", "old", "new", "words"),
    [
        (HIDE, "butter ==> milk", "butter ==>", "a side of the rule is empty: write it as a,b ==> c"),
        (HIDE, "==> milk", "==> bread", "1 of 1 rule has an empty side, or the same item on both; give that rule two"),
        (HIDE, "min_support = 2", 'min_support = "20%"', "min_support: must be a number, without quotes: 5 % is 0.05"),
        (HIDE, "min_support = 2", 'min_support = "2"', "min_support: must be a number, without quotes\n"),
        (HIDE, RULES, 'file = "secret.txt"', "secret.txt: the file of rules does not exist"),
        (HIDE, RULES, 'file = "arrows.txt"', "the rules name 1 item that no basket holds; check the spelling, write"),
        (
            HIDE,
            '"out"',
            '"out"\nformat = "spmf"',
            "1 of 7 published baskets is empty, and SPMF has no line for an empty",
        ),
        (WALKS, '[["1", "2"]]', '["1", "2"]', "must be a list of patterns, each a list of items"),
        (SITE, "", "", "this is the file of a site, not a policy; type: sfumato party --config policy.toml"),
    ],
)
def test_a_mistake_in_a_policy(invoke: Invoke, folder: Path, policy: str, old: str, new: str, words: str) -> None:
    (folder / "arrows.txt").write_text("bread, butter => milk\n", encoding="utf-8")
    (folder / "policy.toml").write_text(policy.replace(old, new) if old else policy, encoding="utf-8")
    ran = invoke("run", folder / "policy.toml")
    assert ran.code == 2 and words.replace("policy.toml", str(folder / "policy.toml")) in ran.err, ran.err


def test_a_format_that_cannot_hold_an_item_is_named_by_its_field(invoke: Invoke, folder: Path) -> None:
    """The sentence named a file in a folder that is never made."""
    (folder / "bought.csv").write_text("id,item\n1,rye bread\n1,milk\n2,rye bread\n2,milk\n", encoding="utf-8")
    text = HIDE.replace("shop.dat", "bought.csv").replace("bread, butter", "rye bread")
    (folder / "policy.toml").write_text(text.replace('"out"', '"out"\nformat = "fimi"'), encoding="utf-8")
    ran = invoke("run", folder / "policy.toml")
    assert ran.code == 2 and 'set format = "long" in [output]' in ran.err and "out/release" not in ran.err
    (folder / "policy.toml").write_text(text.replace('"out"', '"out"\nformat = "long"'), encoding="utf-8")
    assert invoke("run", folder / "policy.toml").code == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", "this site's own certificate does not exist; `sfumato party init east` makes it"),
        ('[[peer]]\nname = "north"', '[peer]\nname = "north"', "each other site has its own [[peer]], with double"),
        ("min_support = 0.3", 'min_support = "30%"', "mining.min_support must be a number, without quotes: 5 %"),
        ('"north"', '"east"', "site.toml: two sites have the same name; give each its own"),
        (SITE, HIDE, "this is a policy, not the file of a site; type: sfumato run"),
    ],
)
def test_a_mistake_in_the_file_of_a_site(invoke: Invoke, folder: Path, old: str, new: str, words: str) -> None:
    (folder / "site.toml").write_text(SITE.replace(old, new) if old else SITE, encoding="utf-8")
    ran = invoke("party", "--config", folder / "site.toml")
    assert ran.code == 2 and words in ran.err, ran.err


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1:99999", ":7101"])
def test_an_address_without_a_port_makes_no_site(invoke: Invoke, folder: Path, address: str) -> None:
    ran = invoke("party", "init", "east", "--address", address)
    assert ran.code == 2 and 'such as "10.0.0.7:7001"' in ran.err
    assert not list(folder.glob("east*"))


def test_lines_that_end_in_a_separator_are_said_to(invoke: Invoke, folder: Path) -> None:
    lines = [f"{20 + row},{'fm'[row % 2]}" for row in range(20)]
    file = folder / "people.csv"
    file.write_text("\n".join(["age,sex", *(f"{line}," for line in lines)]), encoding="utf-8")
    ran = invoke("audit", file)
    assert ran.code == 2 and "20 lines have 3; remove the separator at the end of these lines, or remove" in ran.err
    file.write_text("\n".join(["age,sex", *lines]), encoding="utf-8")
    assert invoke("audit", file).code == 0
