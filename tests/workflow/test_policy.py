# SPDX-License-Identifier: MIT
"""Policies: errors name the line and the field; impossible ones say what would be possible."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sfumato.errors import DataError, ImpossibleRelease, PolicyError, SfumatoError
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify

CANARY = "ZZSECRETZZ"
POLICY = """\
title = "Patients"

[data]
path = "people.csv"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "zip"]
sensitive = ["disease"]

[hierarchies]
age = { kind = "intervals", widths = [5, 10] }

[[protect]]
method = "generalize"
models = [{ model = "k_anonymity", k = 3 }]
suppression_limit = 0.1

[[attack]]
attack = "linking"

[gate]
max_linking_risk = 0.5

[output]
path = "out"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<!doctype html>")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    policy_folder = tmp_path / "policies"
    policy_folder.mkdir()
    rows = "".join(f"{CANARY}{i},{20 + i % 5},{1300 + i % 2},d{i % 3}\n" for i in range(60))
    (policy_folder / "people.csv").write_text("name,age,zip,disease\n" + rows)
    return policy_folder


def policy(folder: Path, *changes: tuple[str, str]) -> Policy:
    text = POLICY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return Policy.read(path)


def refusal(folder: Path, *changes: tuple[str, str], kind: type[SfumatoError] = PolicyError) -> str:
    with pytest.raises(kind) as error_info:
        run_policy(policy(folder, *changes))
    assert CANARY not in str(error_info.value)
    assert not (folder / "out" / "release").exists()
    assert not list(folder.rglob(".sfumato-partial-*"))
    return str(error_info.value)


def test_a_policy_is_carried_out(folder: Path) -> None:
    result = run_policy(policy(folder))
    assert result.published
    assert verify(folder / "out").holds


K = '{ model = "k_anonymity", k = 3 }'
ERRORS: dict[str, tuple[tuple[str, str], str, str]] = {
    "no value": (('method = "generalize"', "method ="), "line 15", ""),
    "open text": (('"generalize"', '"generalize'), "line 15", ""),
    "key twice": (('path = "people.csv"', 'path = "people.csv"\npath = "x"'), "line 5", ""),
    "field unknown": (("[data]", "[data]\nfoo = 1"), "line 4", "data.foo"),
    "section unknown": (("[gate]", "[gates]"), "line 22", "gates"),
    "section misspelt by case": (("[data]", "[Data]"), "line 3", "did you mean [data]?"),
    "k text": (("k = 3", 'k = "three"'), "line 16", "k"),
    "k broken": (("k = 3", "k = 2.5"), "line 16", "k"),
    "k zero": (("k = 3", "k = 0"), "line 16", "k"),
    "k negative": (("k = 3", "k = -3"), "line 16", "k"),
    "k truth": (("k = 3", "k = true"), "line 16", "k"),
    "k missing": ((", k = 3", ""), "line 16", "k"),
    "k endless": (("k = 3", "k = " + "9" * 5000), "", "TOML"),
    "method unknown": (('"generalize"', '"magic"'), "line 15", "method"),
    "method missing": (('method = "generalize"\n', 'metric = "nothing"\n'), "line 14", "method"),
    "model unknown": (('"k_anonymity"', '"z_anonymity"'), "line 16", "model"),
    "no models": ((f"[{K}]", "[]"), "line 16", "models"),
    "models no list": ((f"[{K}]", "5"), "line 16", "models"),
    "protect once": (("[[protect]]", "[protect]"), "line 14", "protect"),
    "limit above": (("0.1", "1.5"), "line 17", "suppression_limit"),
    "limit below": (("0.1", "-0.1"), "line 17", "suppression_limit"),
    "limit nan": (("0.1", "nan"), "line 17", "suppression_limit"),
    "limit infinite": (("0.1", "inf"), "line 17", "suppression_limit"),
    "limit text": (("0.1", '"5 %"'), "line 17", "suppression_limit"),
    "two roles": (('["disease"]', '["disease", "age"]'), "line 6", '"age"'),
    "role twice": (('["disease"]', '["disease", "disease"]'), "line 6", '"disease"'),
    "role no list": (('["disease"]', '"disease"'), "line 9", "roles.sensitive"),
    "role misspelt": (('sensitive = ["disease"]', 'sensible = ["disease"]'), "line 9", "roles.sensible"),
    "attack unknown": (('"linking"', '"hypnosis"'), "line 20", "attack"),
    "gate above": (("= 0.5", "= 2"), "line 23", "gate.max_linking_risk"),
    "gate nan": (("= 0.5", "= nan"), "line 23", "gate.max_linking_risk"),
    "gate unknown": (("max_linking_risk", "max_luck"), "line 23", "gate.max_luck"),
    "format unknown": (('path = "out"', 'path = "out"\nformat = "xlsx"'), "line 27", "output.format"),
    "missing unknown": (("[data]", '[data]\nmissing = "sometimes"'), "line 4", "data.missing"),
    "marks no list": (("[data]", '[data]\nmissing_marks = "?"'), "line 4", "data.missing_marks"),
    "path number": (('"people.csv"', "5"), "line 4", "data.path"),
    "title number": (('"Patients"', "5"), "line 1", "title"),
    "hierarchy number": (('{ kind = "intervals", widths = [5, 10] }', "5"), "line 12", "hierarchies.age"),
    "hierarchy kind unknown": (('"intervals"', '"octaves"'), "line 12", "hierarchies.age"),
    "hierarchy without a kind": (('kind = "intervals", ', ""), "line 12", "hierarchies.age"),
    "hierarchy bad widths": (("[5, 10]", "[5, 7]"), "line 12", "hierarchies.age"),
    "hierarchy without widths": ((", widths = [5, 10]", ""), "line 12", "hierarchies.age"),
    "hierarchy field unknown": (("widths", "wideness"), "line 12", "hierarchies.age"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_line_and_field(folder: Path, name: str) -> None:
    change, line, field = ERRORS[name]
    message = refusal(folder, change)
    assert message.startswith(str(folder / "policy.toml"))
    assert line in message, message
    assert field in message, message


@pytest.mark.parametrize("name", [name for name in ERRORS if name.startswith("hierarchy")])
def test_errors_of_hierarchies_speak_of_one_thing(folder: Path, name: str) -> None:
    message = refusal(folder, ERRORS[name][0])
    assert "tagged-union" not in message
    assert "function-" not in message
    assert "valid string;" not in message


def test_several_errors_at_once(folder: Path) -> None:
    message = refusal(folder, ("k = 3", "k = 0"), ("0.1", "7"), ("[gate]", "[gate]\nfoo = 1"))
    assert all(word in message for word in ("line 16", "line 17", "gate.foo")), message


@pytest.mark.parametrize("text", ["", "\0", "[", "=", "a = 1", "[[data]]", "data = 5", "x" * 10_000, "[" * 5_000])
def test_texts_that_are_no_policy(folder: Path, text: str) -> None:
    (folder / "policy.toml").write_text(text)
    with pytest.raises(PolicyError, match=r"policy\.toml"):
        Policy.read(folder / "policy.toml")


@pytest.mark.parametrize("depth", [100, 500, 900, 2_000])
def test_texts_nested_deep(folder: Path, depth: int) -> None:
    for text in (
        "a = " + "[" * depth + "]" * depth,
        "a = " + "{b = " * depth + "1" + "}" * depth,
        "a" + ".b" * depth + " = 1",
    ):
        with pytest.raises(PolicyError):
            Policy.parse(text, folder / "policy.toml")


def test_files_that_are_no_policy(folder: Path) -> None:
    (folder / "latin").write_bytes(b'title = "\xe9"')
    for name in ("nowhere.toml", ".", "latin", "x" * 5000, "a\0b"):
        with pytest.raises(PolicyError):
            Policy.read(folder / name)


def test_a_policy_may_have_a_byte_order_mark_and_crlf(folder: Path) -> None:
    (folder / "policy.toml").write_bytes(b"\xef\xbb\xbf" + POLICY.replace("\n", "\r\n").encode())
    assert Policy.read(folder / "policy.toml").title == "Patients"


def test_columns_without_a_role(folder: Path) -> None:
    message = refusal(folder, ('sensitive = ["disease"]\n', ""), kind=DataError)
    assert '"disease"' in message


def test_roles_of_no_column(folder: Path) -> None:
    message = refusal(folder, ('["disease"]', '["disease", "salary"]'), kind=DataError)
    assert '"salary"' in message
    assert '"zip"' in message, "the columns there are are named"


def test_nothing_is_quasi_identifying(folder: Path) -> None:
    message = refusal(folder, ('quasi_identifying = ["age", "zip"]', 'insensitive = ["age", "zip"]'), kind=SfumatoError)
    assert "quasi_identifying" in message


def test_hierarchy_of_no_column(folder: Path) -> None:
    message = refusal(folder, ("[hierarchies]", '[hierarchies]\nsalary = "salary.csv"'), kind=SfumatoError)
    assert '"salary"' in message


def test_hierarchy_of_a_column_that_is_left_out(folder: Path) -> None:
    message = refusal(folder, ("[hierarchies]", '[hierarchies]\nname = { kind = "prefix", keep = [1] }'))
    assert '"name"' in message
    assert "identifying" in message


def test_a_column_of_numbers_and_a_word_names_its_file(folder: Path) -> None:
    lines = (folder / "people.csv").read_text().splitlines(keepends=True)
    (folder / "people.csv").write_text("".join([*lines, "x,old,1300,d0\n"]))
    message = refusal(folder, kind=DataError)
    assert "people.csv" in message
    assert "1 of its 6 different values is not a number" in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["zip.csv"]),
        ("", ["zip.csv", "no rows"]),
        ("1300;130*;*\n", ['"zip"', "1 value", "30 rows", "zip.csv", "add a row"]),
        (f"1300;a;*\n1301;*\n{CANARY};b;*\n", ["zip.csv", "row 2"]),
        (f"1300;a;*\n1301;a;*\n1300;{CANARY};*\n", ["zip.csv", "row 3"]),
        (f"1300;{CANARY};x;*\n1301;{CANARY};y;*\n", ["zip.csv", "nest", "row 2"]),
    ],
    ids=["missing", "empty", "a value without a row", "ragged", "two parents", "not nesting"],
)
def test_hierarchy_files_with_faults(folder: Path, content: str | None, words: list[str]) -> None:
    if content is not None:
        (folder / "zip.csv").write_text(content)
    message = refusal(folder, ("[hierarchies]", '[hierarchies]\nzip = "zip.csv"'), kind=DataError)
    assert all(word in message for word in words), message


def test_more_people_asked_than_there_are(folder: Path) -> None:
    message = refusal(folder, ("k = 3", "k = 61"), kind=ImpossibleRelease)
    assert "60" in message
    assert "relax" in message


def test_hierarchies_without_a_top(folder: Path) -> None:
    (folder / "zip.csv").write_text("1300;a\n1301;b\n")
    (folder / "age.csv").write_text("".join(f"{age};{age}\n" for age in range(20, 25)))
    message = refusal(
        folder,
        ('{ kind = "intervals", widths = [5, 10] }', '"age.csv"\nzip = "zip.csv"'),
        ("k = 3", "k = 10"),
        kind=ImpossibleRelease,
    )
    assert "level with one label" in message or "relax" in message


def test_a_cure_that_cures(folder: Path) -> None:
    """Do what the message says, and it works."""
    (folder / "people.csv").write_text(
        "name,age,zip,disease\n" + "".join(f"n{i},20,{1300 if i < 50 else 1301},d\n" for i in range(60))
    )
    (folder / "zip.csv").write_text("1300;a\n1301;b\n")
    hierarchy = ("[hierarchies]", '[hierarchies]\nzip = "zip.csv"')
    message = refusal(folder, hierarchy, ("k = 3", "k = 20"), kind=ImpossibleRelease)
    match = re.search(r"raise suppression_limit to ([0-9.]+)", message)
    assert match, message
    gate = ("max_linking_risk = 0.5", "max_linking_risk = 1.0")
    result = run_policy(policy(folder, hierarchy, ("k = 3", "k = 20"), ("= 0.1", f"= {match[1].rstrip('.')}"), gate))
    assert result.published


def test_paths_are_relative_to_the_policy(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "zip.csv").write_text("1300;130*;*\n1301;130*;*\n")
    policy(
        folder, ("[hierarchies]", '[hierarchies]\nzip = "zip.csv"'), ('"linking"', '"linking"\nexternal = "people.csv"')
    )
    other_folder = tmp_path / "elsewhere"
    other_folder.mkdir()
    monkeypatch.chdir(other_folder)
    assert run_policy(Policy.read(Path("..") / "policies" / "policy.toml")).out.resolve() == folder / "out"
    assert not list(other_folder.iterdir())
    assert run_policy(Policy.read(folder / "policy.toml"), "here").out.resolve() == other_folder / "here"


PATHS: dict[str, tuple[tuple[str, str], ...]] = {
    "data nul": (('"people.csv"', '"a\\u0000b"'),),
    "data of nobody": (('"people.csv"', '"~nosuchuser/x.csv"'),),
    "data long": (('"people.csv"', f'"{"x" * 5000}"'),),
    "data empty": (('"people.csv"', '""'),),
    "data missing": (('"people.csv"', '"nowhere.csv"'),),
    "data pattern": (('"people.csv"', '"nowhere/*.csv"'),),
    "output nul": (('"out"', '"a\\u0000b"'),),
    "output of nobody": (('"out"', '"~nosuchuser/x"'),),
    "output long": (('"out"', f'"{"x" * 300}"'),),
    "output is the data": (('"out"', '"people.csv"'),),
    "output below the data": (('"out"', '"people.csv/x"'),),
    "hierarchy nul": (("[hierarchies]", '[hierarchies]\nzip = "a\\u0000b"'),),
    "hierarchy of nobody": (("[hierarchies]", '[hierarchies]\nzip = "~nosuchuser/x"'),),
    "hierarchy long": (("[hierarchies]", f'[hierarchies]\nzip = "{"x" * 5000}"'),),
    "hierarchy a folder": (("[hierarchies]", '[hierarchies]\nzip = "."'),),
    "external nul": (('"linking"', '"linking"\nexternal = "a\\u0000b"'),),
    "external missing": (('"linking"', '"linking"\nexternal = "nowhere.csv"'),),
    "external of nobody": (('"linking"', '"linking"\nexternal = "~nosuchuser/x"'),),
    "encoding": (("[data]", '[data]\nencoding = "hex"'),),
    "separator": (("[data]", '[data]\nseparator = "\\u0000"'),),
    "columns": (("[data]", '[data]\ncolumns = ["a"]'),),
    "knowledge of no column": (('"linking"', '"linking"\nknowledge = ["salary"]'),),
    "knowledge twice": (('"linking"', '"linking"\nknowledge = ["age", "age"]'),),
}


@pytest.mark.parametrize("name", PATHS)
def test_places_and_settings_that_do_not_work(folder: Path, name: str) -> None:
    refusal(folder, *PATHS[name], kind=SfumatoError)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "excel", "stata", "spss"])
def test_forms_of_output(folder: Path, kind: str) -> None:
    result = run_policy(policy(folder, ('path = "out"', f'path = "out"\nformat = "{kind}"')))
    assert result.published
    ending = {"excel": "xlsx", "stata": "dta", "spss": "sav"}.get(kind, kind)
    assert (folder / "out" / "release" / f"data.{ending}").exists()
    assert verify(folder / "out").holds


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("meaning", ["own_value", "matches_any", "never_matches", "drop"])
def test_meanings_of_missing(folder: Path, meaning: str, kind: str) -> None:
    rows = "".join(f"n{i},{'?' if i % 7 == 0 else 20 + i % 2},{'' if i % 11 == 0 else 1300},d\n" for i in range(80))
    (folder / "people.csv").write_text("name,age,zip,disease\n" + rows)
    result = run_policy(
        policy(
            folder,
            ("[data]", f'[data]\nmissing = "{meaning}"'),
            ('path = "out"', f'path = "out"\nformat = "{kind}"'),
            ("max_linking_risk = 0.5", "max_linking_risk = 1.0"),
        )
    )
    assert result.published
    assert all(finding.holds for finding in result.findings)
    verification = verify(folder / "out")
    assert verification.holds, verification.problems
    by_name = {finding.property: finding.measured for finding in result.findings}
    assert {f.property: f.measured for f in verification.findings if f.measured is not None}.items() <= by_name.items()


def test_the_gate_keeps_shut(folder: Path) -> None:
    result = run_policy(policy(folder, ("max_linking_risk = 0.5", "max_linking_risk = 0.0")))
    assert not result.published
    assert not (folder / "out" / "release").exists()
    assert result.as_json()["release_dir"] is None
    assert result.as_json()["gate"][0]["gate"] == "max_linking_risk"


def test_a_shut_gate_leaves_the_earlier_release(folder: Path) -> None:
    assert run_policy(policy(folder)).published
    certificate_text = (folder / "out" / "release" / "certificate.json").read_text()
    assert not run_policy(policy(folder, ("max_linking_risk = 0.5", "max_linking_risk = 0.0"))).published
    assert (folder / "out" / "release" / "certificate.json").read_text() == certificate_text
    assert verify(folder / "out").holds
    assert run_policy(policy(folder)).published
    assert not (folder / "out" / "refused").exists(), "a refusal does not outlive the next release"


def test_two_steps_of_generalizing(folder: Path) -> None:
    """The second goes on from the first, or the policy is refused with words that fit."""
    second = (
        '[[protect]]\nmethod = "generalize"\nmodels = [{ model = "k_anonymity", k = 25 }]\nsuppression_limit = 0.1\n'
    )
    try:
        result = run_policy(policy(folder, ("k = 3", "k = 15"), ("[[attack]]", second + "\n[[attack]]")))
    except PolicyError as error:
        assert "[[protect]]" in str(error)
    else:
        assert result.published
        assert verify(folder / "out").holds


def test_the_policy_is_read_only(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run_policy(policy(folder))
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "policy.toml"}
    assert after == before
