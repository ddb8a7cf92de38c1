# SPDX-License-Identifier: MIT
"""What is printed comes from outside: a name can neither move the cursor nor write a verdict of its own."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.terminal import escape_text, print_json
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from tests.faults.test_tampering import resign

EVIL = "x\x1b[2K\r\x1b[1Ay\nThe release is as certified, signed by the key you gave.\x9b31m\u202e\u2066\x07\x08\u2028z"
OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def obeyed(text: str) -> list[str]:
    """Characters that a terminal would obey, but for line ends."""
    return [letter for letter in text if letter != "\n" and unicodedata.category(letter) in OBEYED]


def assert_harmless(ran: Any, *, lines: str = "The release is as certified, signed by the key you gave.") -> None:
    assert not obeyed(ran.output), [hex(ord(letter)) for letter in obeyed(ran.output)]
    assert not [line for line in ran.output.splitlines() if line.startswith(lines)]
    assert "Traceback" not in ran.output
    assert "fault in sfumato" not in ran.output


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ('plain "ü" 😀', 'plain "ü" 😀'),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("\u202e\u2066\u200b\ufeff", "\\u202e\\u2066\\u200b\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("\udc80", "\\udc80"),
        (Path("a\x1b"), "a\\x1b"),
    ],
)
def test_escaped(text: object, expected_text: str) -> None:
    assert escape_text(text) == expected_text


def test_json_is_safe_and_still_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    content = {EVIL: [EVIL, {"\U000e0041": "\x7f"}], "ü": '"😀"'}
    print_json(content)
    printed = capsys.readouterr().out
    assert not obeyed(printed)
    assert "😀" in printed
    assert json.loads(printed) == content


@pytest.fixture
def evil(sandbox: Any, plain_report: None) -> Path:
    """A release whose columns have hostile names, in a folder of a hostile name."""
    name = EVIL.replace("/", "")
    folder = Path(sandbox.root / name)
    frame = pl.DataFrame({name: ["u", "v"] * 20, f"{name}2": [20, 30] * 20, f"{name}3": ["a", "b", "c", "d"] * 10})
    path = sandbox.root / "table.parquet"
    frame.write_parquet(path)
    policy = f"""
        title = {json.dumps(name)}
        [data]
        path = "table.parquet"
        [roles]
        quasi_identifying = [{json.dumps(name)}, {json.dumps(name + "2")}]
        sensitive = [{json.dumps(name + "3")}]
        [[protect]]
        method = "generalize"
        models = [
            {{ model = "k_anonymity", k = 2 }}, {{ model = "l_diversity", l = 1, column = {json.dumps(name + "3")} }},
        ]
        suppression_limit = 0.1
        [[attack]]
        attack = "linking"
    """
    (sandbox.root / "evil.toml").write_text(policy, encoding="utf-8")
    assert run_policy(Policy.parse(policy, sandbox.root / "evil.toml"), folder).published
    return folder


def test_commands_on_hostile_names(evil: Path, invoke: Callable[..., Any]) -> None:
    root = evil.parent
    commands: list[tuple[Any, ...]] = [
        ("run", root / "evil.toml", "--out", root / ("more" + EVIL.replace("/", ""))),
        ("audit", root / "table.parquet"),
        ("measure", root / "table.parquet", "--quasi", EVIL),
        ("compare", evil, evil),
        ("attack", evil, root / "evil.toml"),
        ("mine", evil),
        ("mine", evil, "--column", EVIL),
        ("mine", evil, "--target", EVIL + "3"),
        ("verify", root / EVIL.replace("k", "q")),
        ("audit", root / EVIL),
        ("run", root / (EVIL + ".toml")),
        ("verify", evil, "--signer", EVIL),
        ("verify", evil, f"--{EVIL}"),
        (EVIL,),
    ]
    for command in commands:
        for extra in ((), ("--json",)):
            assert_harmless(invoke(*command, *extra))
    assert not obeyed(invoke("verify", evil).output)


def test_files_of_hostile_names_in_a_release(evil: Path, invoke: Callable[..., Any]) -> None:
    """A stranger's file whose name clears the line and says what verify would say."""
    (evil / "release" / EVIL.replace("/", "")).write_text("more")
    for extra in ((), ("--json",)):
        ran = invoke("verify", evil, *extra)
        assert ran.code == 1
        assert_harmless(ran)
    compared = invoke("compare", evil, evil)
    assert compared.code == 1
    assert_harmless(compared)


@pytest.mark.parametrize("field", ["property", "meaning", "measure"])
def test_hostile_words_in_claims(evil: Path, invoke: Callable[..., Any], field: str) -> None:
    def change(body: dict[str, Any]) -> None:
        body["claims"][0][field] = EVIL

    resign(evil, change)
    for extra in ((), ("--json",)):
        ran = invoke("verify", evil, *extra)
        assert ran.code == 1
        assert not obeyed(ran.output)
        if not extra:
            assert sum(line.startswith("The release is") for line in ran.out.splitlines()) == 1
    assert not obeyed(invoke("compare", evil, evil).output)


def test_not_for_publication_is_said_first_and_last(
    sandbox: Any, plain_report: None, invoke: Callable[..., Any]
) -> None:
    run_policy(Policy.read(sandbox.policy), randomness=sf.Randomness.seeded(1))
    words = invoke("verify", sandbox.out)
    assert words.code == 0
    lines = words.out.strip().splitlines()
    assert "NOT FOR PUBLICATION" in lines[0]
    assert "NOT FOR PUBLICATION" in lines[-1]
    assert json.loads(invoke("verify", sandbox.out, "--json").out)["for_publication"] is False
    assert "NOT FOR PUBLICATION" in invoke("compare", sandbox.out, sandbox.out).out
    (sandbox.out / "release" / "data.csv").write_text("changed")
    verification = invoke("verify", sandbox.out)
    assert verification.code == 1
    assert "NOT FOR PUBLICATION" in verification.out.splitlines()[0]
    run_policy(Policy.read(sandbox.policy))
    assert "NOT FOR PUBLICATION" not in invoke("verify", sandbox.out).out
    assert json.loads(invoke("verify", sandbox.out, "--json").out)["for_publication"] is True


BASKETS = """
    [data]
    path = "shop.dat"
    [[protect]]
    {method}
    [[attack]]
    attack = "remining"
    items = ["4"]
    min_support = 2
    [output]
    path = "{out}"
"""
HIDE = 'method = "hide_items"\nitems = ["4"]\nmin_support = 10\nmin_confidence = 0.6'
PATTERNS = 'method = "publish_patterns"\nk = 2\nmin_support = 5'


_SHAPES: dict[str, Path] = {}


@pytest.fixture
def shapes(sandbox: Any, plain_report: None) -> dict[str, Path]:
    """A release of each shape, made once."""
    if _SHAPES:
        return _SHAPES
    (sandbox.root / "shop.dat").write_text("".join(f"1 2 {3 + i % 3}\n" for i in range(40)))
    run_policy(Policy.read(sandbox.policy))
    folders = {"table": sandbox.out, "root": sandbox.root}
    for name, method in (("baskets", HIDE), ("patterns", PATTERNS)):
        text = BASKETS.format(method=method, out=name)
        if name == "patterns":
            text = text.split("[[attack]]", maxsplit=1)[0] + f'[output]\npath = "{name}"\n'
        (sandbox.root / f"{name}.toml").write_text(text)
        folders[name] = run_policy(Policy.read(sandbox.root / f"{name}.toml"), sandbox.root / name).out
    sandbox.write_policy(protect='[[attack]]\nattack = "linking"')
    _SHAPES.update(folders)
    return folders


@pytest.mark.parametrize("shape", ["baskets", "patterns"])
@pytest.mark.parametrize("options", [(), ("--column", "age"), ("--target", "age"), ("--column", "a", "--column", "b")])
def test_mining_columns_of_what_has_none(
    shapes: dict[str, Path], invoke: Callable[..., Any], shape: str, options: tuple[str, ...]
) -> None:
    ran = invoke("mine", shapes[shape], *options)
    assert ran.code == 2, ran.output
    assert f"holds {shape}" in ran.err
    assert "data." in ran.err
    assert "fault in sfumato" not in ran.output
    assert json.loads(invoke("mine", shapes[shape], *options, "--json").out)["error"] == "PolicyError"


def test_the_cure_that_is_named_works(shapes: dict[str, Path], invoke: Callable[..., Any]) -> None:
    message = invoke("mine", shapes["baskets"], "--column", "age").err
    file = message.split("sfumato mine ")[1].split(" --")[0]
    assert invoke("mine", file, "--min-support", "0.01").code == 0


def test_asking_a_file_about_its_columns(shapes: dict[str, Path], invoke: Callable[..., Any]) -> None:
    ran = invoke("mine", shapes["table"] / "release" / "data.csv", "--column", "age")
    assert ran.code == 2
    assert "release folder" in ran.err


@pytest.mark.parametrize("shape", ["table", "baskets", "patterns"])
@pytest.mark.parametrize("policy", ["policy", "baskets"])
def test_attacks_with_another_shape_of_policy(
    shapes: dict[str, Path], invoke: Callable[..., Any], shape: str, policy: str
) -> None:
    ran = invoke("attack", shapes[shape], shapes["root"] / f"{policy}.toml")
    right = (shape, policy) in (("table", "policy"), ("baskets", "baskets"))
    assert ran.code == (0 if right else 2), ran.output
    if not right:
        assert f"holds {shape}" in ran.err


def test_comparing_shapes(shapes: dict[str, Path], invoke: Callable[..., Any]) -> None:
    for first in ("table", "baskets", "patterns"):
        for second in ("table", "baskets", "patterns"):
            ran = invoke("compare", shapes[first], shapes[second])
            assert ran.code == 0, ran.output
            assert "fault in sfumato" not in ran.output
