# SPDX-License-Identifier: MIT
"""Natural mistakes, in policies and on the command line, and the sentence that each of them gets."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.command_line import CANARY, Invoke, Ran

PROTECT = """\
method = "generalize"
models = [{ model = "k_anonymity", k = 3 }]
suppression_limit = 0.1
"""
AGE = 'age = { kind = "intervals", widths = [5, 10] }'
POLICY = f"""\
title = "Patients"

[data]
path = "people.csv"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "zip", "sex"]
sensitive = ["disease", "ward"]

[hierarchies]
{AGE}

[[protect]]
{PROTECT}
[[attack]]
attack = "linking"

[gate]
max_linking_risk = 0.5

[output]
path = "out"
"""
K, PATH = '{ model = "k_anonymity", k = 3 }', 'path = "people.csv"'


def replace_models(model: str, *fields: str) -> tuple[str, str]:
    return K, f'{{ model = "{model}", {", ".join(fields)} }}'


class Mistake(NamedTuple):
    """What is changed in the policy, and the words of the sentence that it gets."""

    old: str
    new: str
    words: tuple[str, ...]
    code: int = 2


def spoil(old: str, new: str, *words: str, code: int = 2) -> Mistake:
    return Mistake(old, new, words, code)


POLICIES = {
    # sections
    "protect with single brackets": spoil("[[protect]]", "[protect]", "line 14, protect", "write [[protect]]"),
    "attack with single brackets": spoil("[[attack]]", "[attack]", "line 19, attack", "write [[attack]]"),
    "gate with double brackets": spoil("[gate]", "[[gate]]", "line 22, gate", "write [gate]", "single brackets"),
    "gates": spoil("[gate]", "[gates]", "line 22, gates", "did you mean [gate]?"),
    "hierarchy": spoil("[hierarchies]", "[hierarchy]", "line 11, hierarchy", "did you mean [hierarchies]?"),
    "Data": spoil("[data]", "[Data]", "line 3, Data", "did you mean [data]?"),
    "an unknown section": spoil("[gate]", "[colours]", "line 22, colours", "no such section", "[roles]"),
    "no data": spoil(f"[data]\n{PATH}\n", "", "the section [data]", "is missing", "path ="),
    "no method": spoil(f"[[protect]]\n{PROTECT}", "", "the section [[protect]]", "is missing", "method ="),
    # fields
    "file for path": spoil(PATH, 'file = "people.csv"', "line 4, data.file", 'did you mean "path"?'),
    "delimiter": spoil(PATH, f'{PATH}\ndelimiter = ";"', "line 5", 'did you mean "separator"?'),
    "quasi_identifier": spoil("quasi_identifying", "quasi_identifier", "line 8", 'did you mean "quasi_identifying"?'),
    "supression_limit": spoil("suppression_limit", "supression_limit", "line 17", 'did you mean "suppression_limit"?'),
    "a capital K": spoil("k = 3", "K = 3", "line 16", "models[0].K", 'did you mean "k"?'),
    "model for models": spoil("models =", "model =", "line 16", "protect[0].model", 'did you mean "models"?'),
    "methods for method": spoil('method = "gen', 'methods = "gen', "protect[0]", 'write "method" for "methods"'),
    "max_linking": spoil("max_linking_risk", "max_linking", "line 23", 'did you mean "max_linking_risk"?'),
    "column for columns": spoil(
        PROTECT, 'method = "top_code"\ncolumn = "age"\nk = 3\n', "line 16", 'did you mean "columns"?'
    ),
    "an unknown field": spoil("[gate]", "[gate]\ncolour = 1", "line 23, gate.colour", "there are", "max_loss"),
    # words that are chosen from a list
    "generalise": spoil('"generalize"', '"generalise"', "line 15", "method", 'did you mean "generalize"?'),
    "mondrian": spoil('"generalize"', '"mondrian"', "line 15", "method", 'did you mean "partition"?'),
    "swap": spoil('"generalize"', '"swap"', "line 15", "method", 'did you mean "swap_confidential"?'),
    "an unknown method": spoil('"generalize"', '"hocus"', "line 15", "no such method", '"partition"'),
    "k-anonymity": spoil('"k_anonymity"', '"k-anonymity"', "line 16", "model", 'did you mean "k_anonymity"?'),
    "linkage": spoil('"linking"', '"linkage"', "line 20", "attack", 'did you mean "linking"?'),
    "interval": spoil('"intervals"', '"interval"', "line 12, hierarchies.age: there", 'did you mean "intervals"?'),
    "no kind": spoil('kind = "intervals", ', "", "line 12, hierarchies.age: say which kind"),
    "width": spoil("widths", "width", "line 12, hierarchies.age: width: there", 'did you mean "widths"?'),
    "CSV": spoil('path = "out"', 'path = "out"\nformat = "CSV"', "line 27, output.format: did", '"csv"?'),
    "an unknown format": spoil('path = "out"', 'path = "out"\nformat = "wax"', "output.format: choose", '"csv"'),
    "a format that no table has": spoil(
        'path = "out"', 'path = "out"\nformat = "json"', 'output.format: choose "csv", ', '"stata", "spss"\n'
    ),
    "xlsx for excel": spoil('path = "out"', 'path = "out"\nformat = "xlsx"', "output.format: did", '"excel"?'),
    "sav for spss": spoil('path = "out"', 'path = "out"\nformat = "sav"', "output.format: did", '"spss"?'),
    "dta for stata": spoil('path = "out"', 'path = "out"\nformat = "dta"', "output.format: did", '"stata"?'),
    "years for year": spoil(AGE, 'age = { kind = "date", units = ["years"] }', 'units.0: did you mean "year"?\n'),
    "a count in quarters": spoil(AGE, 'age = { kind = "quantiles", counts = [0.2] }', "counts.0: must be a whole"),
    "a kind for a hierarchy": spoil(AGE, 'age = "intervals"', "cannot be read", 'to build one, write { kind'),
    "a form for all dates": spoil(PATH, f'{PATH}\ndates = "%Y"', "line 5, data.dates", "a table of names and values"),
    "a form without codes": spoil(PATH, f'{PATH}\ndates = {{ zip = "MM/DD/YYYY" }}', '"zip"', 'write "%m/%d/%Y"'),
    "a form in words": spoil(PATH, f'{PATH}\ndates = {{ zip = "American" }}', '"zip"', "%d is the day"),
    "dates of no column": spoil(PATH, f'{PATH}\ndates = {{ zp = "%Y" }}', '"zp"', 'did you mean "zip"?'),
    "dates of words": spoil(PATH, f'{PATH}\ndates = {{ sex = "%Y-%m-%d" }}', '"sex"', "cells are not dates"),
    "date for dates": spoil(PATH, f'{PATH}\ndate = {{ zip = "%Y" }}', "data.date", 'did you mean "dates"?'),
    "a decimal in words": spoil(PATH, f'{PATH}\ndecimal = "comma"', "line 5, data.decimal", "choose"),
    "a decimal separator": spoil(PATH, f'{PATH}\ndecimal_separator = ","', 'did you mean "decimal"?'),
    "no path": spoil('"people.csv"', '""', "line 4, data.path: must not be empty"),
    "no output": spoil('path = "out"', 'path = ""', "output.path: must not be empty"),
    "a directory": spoil('path = "out"', 'dir = "out"', "output.dir", 'did you mean "path"?'),
    "two columns in one": spoil('"disease", "ward"', '"disease, ward"', "is several", "quotes of its own"),
    "k of a method": spoil('"generalize"', '"generalize"\nk = 5', "protect[0].k", "belongs to a model", "k_anonymity"),
    "a mark without a list": spoil(PATH, f'{PATH}\nmissing_marks = "NA"', "missing_marks: must be a list"),
    "own for own_value": spoil(PATH, f'{PATH}\nmissing = "own"', "line 5, data.missing", 'did you mean "own_value"?'),
    # values
    "k = 0": spoil("k = 3", "k = 0", "line 16", "models[0].k", "at least 1"),
    'k = "5"': spoil("k = 3", 'k = "5"', "line 16", "models[0].k", "a whole number, without quotes"),
    "k = 2.5": spoil("k = 3", "k = 2.5", "line 16", "models[0].k", "a whole number"),
    "no k": spoil(", k = 3", "", "line 16", "models[0].k", "missing; add it"),
    "a name for a model": spoil(f"[{K}]", '["k_anonymity"]', "line 16", "models[0]", "braces"),
    "one model, no list": spoil(f"[{K}]", K, "line 16", "protect[0].models", "a list, in square brackets"),
    "a name for a list": spoil('["name"]', '"name"', "line 7, roles.identifying", "a list, in square brackets"),
    "one width, no list": spoil("[5, 10]", "5", "line 12", "widths: must be a list"),
    "widths that do not nest": spoil("[5, 10]", "[5, 7]", "line 12", "widths: every width", "multiple"),
    "a percentage": spoil("limit = 0.1", "limit = 5", "line 17", "at most 1", "5 % is 0.05"),
    "a percent sign": spoil("limit = 0.1", 'limit = "5 %"', "line 17", "a number, without quotes"),
    "a percentage in the gate": spoil("= 0.5", "= 20", "line 23, gate.max_linking_risk", "5 % is 0.05"),
    "an empty reason": spoil("[gate]", '[accept]\nsex = ""\n[gate]', "accept.sex", "must not be empty"),
    # TOML
    "text without quotes": spoil('"generalize"', "generalize", "TOML at line 15", "text stands in quotes"),
    "a colon for =": spoil(PATH, 'path: "people.csv"', "TOML at line 4", "path ="),
    "a field twice": spoil(PATH, f"{PATH}\n{PATH}", "TOML at line 5", "given twice"),
    "a section twice": spoil("[output]", "[data]", "TOML at line 25", "there twice"),
    "a Windows path": spoil('"people.csv"', '"C:\\Users\\people.csv"', "TOML at line 4", "single quotes"),
    "curly quotes": spoil('"generalize"', "“generalize”", "TOML at line 15", "quotes must be straight"),
    "True": spoil(PATH, f"{PATH}\nheader = True", "TOML at line 5", "write true or false, in small letters"),
    "None": spoil(PATH, f"{PATH}\nseparator = None", "TOML at line 5", "leave out a field that has no value"),
    "a decimal comma": spoil("limit = 0.1", "limit = 0,1", "TOML at line 17", "decimals have a point, as in 0.1"),
    "no comma in a list": spoil('"age", "zip"', '"age" "zip"', "TOML at line 8", "a comma is missing"),
    "an open quote": spoil('"generalize"', '"generalize', "TOML at line 15", "quote"),
    # columns and roles
    "columns with their role": spoil(
        'identifying = ["name"]', 'name = "identifying"', "line 7, roles: name the role first", 'identifying = ["name"]'
    ),
    "two roles": spoil('"ward"]', '"ward", "age"]', "line 6, roles", '"age"', "more than one role"),
    "a role twice": spoil('"ward"]', '"ward", "ward"]', "line 6, roles", '"ward" is listed twice in sensitive'),
    "another case": spoil('"age", "zip"', '"Age", "zip"', '"Age"', "people.csv", 'did you mean "age"?'),
    "a typing error": spoil('"zip"', '"zp"', '"zp"', "people.csv", 'did you mean "zip"?'),
    "a column without a role": spoil(', "ward"]', "]", "people.csv", "no role", '"ward"', "insensitive"),
    "nobody can be linked": spoil('quasi_identifying = ["age", "zip", "sex"]', 'insensitive = ["age", "zip", "sex"]',
        "max_linking_risk", "no column is quasi_identifying"),
    "a hierarchy of no column": spoil("age = {", "agee = {", 'people.csv: a hierarchy is given for "agee"', '"age"?'),
    "noise on no column": spoil(PROTECT, 'method = "add_noise"\ncolumns = ["agee"]\n', "protect[0].columns", '"age"?'),
    "a reason for no column": spoil("[gate]", '[accept]\nsexx = "why"\n[gate]', "[accept]", '"sexx"', '"sex"?'),
    "to classify no column": spoil("[gate]", '[measure]\nclassify = "wards"\n[gate]', "measure.classify", '"ward"?'),
    "an attack on no column": spoil(
        'attack = "linking"', 'attack = "homogeneity"\ncolumn = "wards"', "attack[0].column", '"ward"?'
    ),
    # models and methods that do not fit
    "l above the number of values": spoil(
        *replace_models("l_diversity", "l = 9", 'column = "disease"'),
        "l_diversity", "9 values", '"disease"', "has 4", "l = 4 at most", code=1,
    ),
    "diversity of a quasi-identifier": spoil(
        *replace_models("l_diversity", "l = 2", 'column = "sex"'), '"sex"', "quasi_identifying", "make it sensitive"
    ),
    "diversity of a name": spoil(
        *replace_models("l_diversity", "l = 2", 'column = "name"'), '"name"', "identifying", "never published"
    ),
    "diversity of no column": spoil(
        *replace_models("l_diversity", "l = 2", 'column = "wards"'), "models[0].column", '"ward"?'
    ),
    "diversity without a column": spoil(*replace_models("l_diversity", "l = 2"), "line 16", "column", "missing"),
    "k above the number of rows": spoil("k = 3", "k = 5000", "k_anonymity", "60 rows", "k = 60 at most", code=1),
    "k above the number of rows, in parts": spoil(
        PROTECT, f'method = "partition"\nmodels = [{K.replace("3", "5000")}]\n', "60 rows", "k = 60 at most", code=1
    ),
    "a method for baskets": spoil(
        PROTECT, 'method = "hide_rules"\nrules = [[["1"], ["2"]]]\nmin_support = 2\nmin_confidence = 0.5\n',
        "hide_rules takes baskets", "remove [roles]", "method for tables",
    ),
    "an attack on baskets": spoil('"linking"', '"remining"', "remining cannot attack a table", "choose another"),
    "a method twice": spoil(
        "[[attack]]", f"[[protect]]\n{PROTECT}[[attack]]", "generalize appears twice under [[protect]]"
    ),
    "a format of baskets": spoil(
        PATH, f'{PATH}\nformat = "fimi"', "generalize takes a table", "remove format under [data]"
    ),
    "a limit for no attack": spoil("max_linking_risk = 0.5", "max_risk = { similarity = 0.2 }", "similarity", "[[att"),
    # hierarchies
    "intervals of text": spoil(
        "age = {", "sex = {", 'people.csv: column "sex" holds text (of its 2 different values, none is a number)',
        "prefix or tree",
    ),
    "dates of numbers": spoil(AGE, 'age = { kind = "date", units = ["year"] }', '"age"', "9 values are not dates"),
    "a leaf that is misspelt": spoil(
        AGE, 'sex = { kind = "tree", groups = { all = ["m", "female"] } }', '"sex"',
        "1 value, in 30 rows, has no row", '"female"'
    ),
    "a tree without lists": spoil(AGE, 'sex = { kind = "tree", groups = { all = "m" } }', "lists of values"),
    "a hierarchy that is not there": spoil(AGE, 'zip = "zipp.csv"', "zipp.csv", 'did you mean "zip.csv"?'),
    "a hierarchy with a row too few": spoil(AGE, 'zip = "zip.csv"', '"zip"', "5 values", "50 rows", "zip.csv"),
    "a hierarchy with names above": spoil(
        AGE, 'zip = "headed.csv"', '"zip"', "5 values", "its first row seems to name the levels: remove it"
    ),
    # the data
    "a file that is not there": spoil("people.csv", "peple.csv", "peple.csv", "does not exist", '"people.csv"?'),
    "a folder": spoil('"people.csv"', '"."', "this is a folder", "name a file"),
    "an empty file": spoil("people.csv", "empty.csv", "empty.csv", "is empty"),
    "a header alone": spoil("people.csv", "header.csv", "header.csv", "no rows"),
    "another encoding": spoil("people.csv", "latin.csv", "latin.csv", "not utf-8", "latin-1"),
    "no encoding": spoil(PATH, f'{PATH}\nencoding = "utf9"', "not a text encoding", "latin-1"),
    "the wrong separator": spoil(PATH, f'{PATH}\nseparator = ";"', "people.csv", "single column", 'separator = ","'),
    "a rare separator": spoil("people.csv", "rare.csv", "rare.csv", "single column", 'separator = "#"'),
    "a separator in words": spoil(PATH, f'{PATH}\nseparator = "tab"', "separator", "one plain character"),
    "a file for the output": spoil('path = "out"', 'path = "people.csv"', "people.csv", "this is a file"),
}  # fmt: skip

COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "run a policy that is not there": (("run", "polcy.toml"), ("polcy.toml", 'did you mean "policy.toml"?')),
    "run in no folder": (("run", "nowhere/policy.toml"), ("policy.toml", "there is no folder")),
    "run a folder": (("run", "."), ("this is a folder", "such as policy.toml")),
    "run the data": (("run", "people.csv"), ("people.csv", "not a policy", "sfumato init people.csv")),
    "run an empty file": (("run", "empty.csv"), ("the policy is empty",)),
    "run YAML": (("run", "policy.yaml"), ("policy.yaml", "a policy is written in TOML", "sfumato init")),
    "init a policy": (("init", "policy.toml", "--out", "p.toml"), ("this is a policy", "sfumato run policy.toml")),
    "init for a misspelt purpose": (("init", "people.csv", "--for", "publishing", "--out", "p"), ('mean "publish"?',)),
    "init a misspelt shape": (("init", "people.csv", "--shape", "tabel", "--out", "p"), ('did you mean "table"?',)),
    "init a misspelt column": (("init", "people.csv", "--sensitive", "diseas", "--out", "p"), ('mean "disease"?',)),
    "init into a folder": (("init", "people.csv", "--out", "."), ("this is a folder", "--out policy.toml")),
    "init into no folder": (("init", "people.csv", "--out", "new/p.toml"), ("there is no folder new",)),
    "init hides nobody": (("init", "people.csv", "--k", "1"), ("--k", "give at least 2")),
    "a misspelt engine": (("run", "policy.toml", "--engine", "polars"), ("--engine", "'polars' is not one of 'auto'")),
    "columns after blanks": (("audit", "people.csv", "--quasi", "age", "zip"), ("(zip)", "as in --quasi age,zip")),
    "a hierarchy of a misspelt column": (("hierarchy", "people.csv", "agee"), ('"agee"', 'did you mean "age"?')),
    "anonymize": (("anonymize", "people.csv"), ("'anonymize'", "Did you mean 'sfumato run'?")),
    "version": (("version",), ("Did you mean 'sfumato --version'?",)),
    "help": (("help",), ("Did you mean 'sfumato --help'?",)),
    "audit a file that is not there": (("audit", "peple.csv"), ("peple.csv", "does not exist", '"people.csv"?')),
    "audit a folder": (("audit", "."), ("this is a folder", "*.csv")),
    "audit an empty file": (("audit", "empty.csv"), ("empty.csv", "is empty")),
    "audit another encoding": (("audit", "latin.csv"), ("not utf-8", "latin-1")),
    "audit no column": (("audit", "people.csv", "--quasi", ""), ("--quasi names no column", "--quasi age,zip")),
    "audit a comma too many": (("audit", "people.csv", "--quasi", "age,,zip"), ("--quasi", "between two commas")),
    "audit a misspelt column": (("audit", "people.csv", "--quasi", "agee,zip"), ('"agee"', 'did you mean "age"?')),
    "audit another case": (("audit", "people.csv", "--quasi", "AGE"), ('"AGE"', 'did you mean "age"?')),
    "audit an unlike column": (("audit", "people.csv", "--quasi", "colour"), ('"colour"', "its columns are", '"ward"')),
    "verify a file": (("verify", "people.csv"), ("people.csv", "this is a file", "the folder that")),
    "verify nothing": (("verify", "nowhere"), ("nowhere", "no such folder")),
    "compare files": (("compare", "people.csv", "rare.csv"), ("people.csv", "this is a file")),
    "attack a file": (("attack", "people.csv", "policy.toml"), ("people.csv", "this is a file")),
    "a table as key": (("decode", "people.csv", "people.csv", "people.csv"), ("not a key", ".key.json")),
    "measure no column": (("measure", "people.csv", "--quasi", " "), ("--quasi names no column",)),
    "measure without columns": (("measure", "people.csv"), ("--quasi",)),
    "two roles": (("measure", "people.csv", "--quasi", "age,sex", "--sensitive", "sex"), ('"sex"', "one role")),
    "a misspelt role": (("measure", "people.csv", "--quasi", "agee"), ("people.csv", '"agee"', 'did you mean "age"?')),
    "a missing word": (("measure", "people.csv", "--quasi", "age", "--missing", "own"), ("own_value",)),
    "mine a table": (("mine", "people.csv"), ("people.csv", '"id", "item"')),
    "a support in words": (("mine", "baskets.dat", "--min-support", "ten"), ("--min-support", "0.01")),
    "a misspelt command": (("rnu", "policy.toml"), ("rnu", "Did you mean 'run'?")),
    "a misspelt option": (("audit", "people.csv", "--quassi", "age"), ("--quassi", "--quasi")),
    "run without a policy": (("run",), ("'policy'", "sfumato run policy.toml")),
    "init without a file": (("init",), ("'data'", "sfumato init people.csv")),
    "mine without a file": (("mine",), ("'data'", "sfumato mine baskets.txt")),
    "support without a file": (("support",), ("'data'", "sfumato support baskets.txt")),
    "audit text that is called Stata": (("audit", "foo.dta"), ("foo.dta: this is not a Stata file", "damaged")),
    "audit bytes that are called SPSS": (("audit", "foo.sav"), ("foo.sav: this is not an SPSS file", "damaged")),
    "verify without a folder": (("verify",), ("'folder'", "sfumato verify out/release")),
    "a hierarchy without a column": (("hierarchy", "people.csv"), ("'column'", "sfumato hierarchy people.csv age")),
    "a folder after the policy": (("run", "policy.toml", "out2"), ("(out2)", "--out")),
    "a policy after the data": (("init", "people.csv", "p.toml"), ("(p.toml)", "--out")),
    "a decimal in words": (("audit", "people.csv", "--decimal", "comma"), ('decimal must be "."',)),
    "columns with semicolons": (("measure", "people.csv", "--quasi", "age;zip"), ('"age;zip" is several',)),
    "a web address": (("init", "https://example.com/x.csv", "--out", "p"), ("https", "download it")),
    "half an opening": (("verify", ".", "--input", "people.csv"), ("--input and --opening go together",)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    work_folder = tmp_path / "work"
    work_folder.mkdir()
    monkeypatch.chdir(work_folder)
    header = "name,age,zip,sex,disease,ward\n"
    rows = "".join(f"{CANARY}{i},{20 + i % 9},{13000 + i % 6},{'mf'[i % 2]},d{i % 4},w{i % 3}\n" for i in range(60))
    (work_folder / "people.csv").write_text(header + rows)
    (work_folder / "rare.csv").write_text((header + rows).replace(",", "#"))
    (work_folder / "header.csv").write_text(header)
    (work_folder / "empty.csv").write_text("")
    (work_folder / "latin.csv").write_bytes(f"{header}José{CANARY},1,2,m,d,w\n".encode("latin-1"))
    (work_folder / "zip.csv").write_text("13000;1300*;*\n")
    (work_folder / "headed.csv").write_text("zip;level1;level2\n13000;1300*;*\n")
    (work_folder / "foo.dta").write_text("foo\n")
    (work_folder / "foo.sav").write_bytes(bytes(range(1, 256)))
    (work_folder / "policy.yaml").write_text("data:\n  path: people.csv\n")
    (work_folder / "baskets.dat").write_text("1 2 3\n1 2\n")
    (work_folder / "policy.toml").write_text(POLICY)
    return work_folder


def assert_one_sentence(answer: Ran, words: tuple[str, ...], code: int) -> None:
    assert answer.code == code, answer
    assert answer.out == ""
    assert answer.err.startswith("sfumato: ")
    assert answer.err.count("\n") == 1, "one line"
    for word in words:
        assert word in answer.err, answer.err
    for jargon in (CANARY, "Traceback", "pydantic", "https://", "tagged-union", "literal[", "nput should", "Input"):
        assert jargon not in answer.err
    assert ": :" not in answer.err


def test_there_are_many() -> None:
    assert len(POLICIES) + len(COMMANDS) >= 100


@pytest.mark.parametrize("name", POLICIES)
def test_mistakes_in_a_policy(invoke: Invoke, folder: Path, name: str) -> None:
    mistake = POLICIES[name]
    assert mistake.old in POLICY
    (folder / "policy.toml").write_text(POLICY.replace(mistake.old, mistake.new, 1))
    assert_one_sentence(invoke("run", "policy.toml"), mistake.words, mistake.code)
    assert not (folder / "out" / "release").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_mistakes_on_the_command_line(invoke: Invoke, name: str) -> None:
    argv, words = COMMANDS[name]
    assert_one_sentence(invoke(*argv), words, 2)


@pytest.mark.parametrize(
    ("file", "options", "sign"), [("rare.csv", [], "#"), ("people.csv", ["--separator", ";"], ",")]
)
def test_an_audit_questions_a_single_column(invoke: Invoke, file: str, options: list[str], sign: str) -> None:
    answer = invoke("audit", file, *options)
    assert answer.code == 0
    assert f'read as a single column. If it has several, give its separator: "{sign}"' in answer.out
    assert "people cannot be looked up" not in answer.out


def test_a_file_inside_a_release_names_its_folder(invoke: Invoke, folder: Path) -> None:
    (folder / "out" / "release").mkdir(parents=True)
    (folder / "out" / "release" / "certificate.json").write_text("{}")
    answer = invoke("verify", "out/release/certificate.json")
    assert_one_sentence(answer, ("this is a file", "name its folder, out/release"), 2)


def test_claims_alike_are_told_apart_by_column(invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<!doctype html>")
    models = ", ".join(f'{{ model = "l_diversity", l = 2, column = "{name}" }}' for name in ("disease", "ward"))
    (folder / "policy.toml").write_text(POLICY.replace(f"[{K}]", f"[{models}]"))
    result = invoke("run", "policy.toml")
    assert result.code == 0, result
    for column in ("disease", "ward"):
        assert f'distinct_l_diversity of "{column}"' in result.out
    assert 'distinct_l_diversity of "ward": promised' in invoke("verify", "out").out


def test_a_tab_may_be_typed_as_in_other_tools(invoke: Invoke, folder: Path) -> None:
    (folder / "tabs.txt").write_text((folder / "people.csv").read_text().replace(",", "\t"))
    assert "60 rows, 6 columns" in invoke("audit", "tabs.txt", "--separator", "\\t").out
    assert "60 rows, 6 columns" in invoke("audit", "tabs.txt", "--separator=\\t").out


def test_no_command_shows_the_help_and_nothing_else(invoke: Invoke) -> None:
    answer = invoke()
    assert answer.code == 2 and answer.err == ""
    assert answer.out.index(" audit ") < answer.out.index(" init ") < answer.out.index(" run ")


@pytest.mark.parametrize(
    ("method", "rows"),
    [
        ('method = "encode_items"\nk = 50', "a b c\na b\nb c\n"),
        ('method = "anonymize_sequences"\nk = 9', "1 -1 2 -1 -2\n1 -1 -2\n"),
    ],
    ids=["codes", "sequences"],
)
def test_an_error_about_baskets_or_sequences_names_their_file(
    invoke: Invoke, folder: Path, method: str, rows: str
) -> None:
    """They know no name of their own, unlike a table."""
    (folder / "rows.txt").write_text(rows, encoding="utf-8")
    (folder / "rows.toml").write_text(f'[data]\npath = "rows.txt"\n\n[[protect]]\n{method}\n', encoding="utf-8")
    answer = invoke("run", "rows.toml")
    assert answer.code == 1
    assert "rows.txt: " in answer.err


def test_items_that_no_basket_holds_are_counted_for_their_file(invoke: Invoke, folder: Path) -> None:
    method = 'method = "hide_rules"\nrules = [[["1"], ["9"]]]\nmin_support = 2\nmin_confidence = 0.5\n'
    (folder / "hide.toml").write_text(f'[data]\npath = "baskets.dat"\n[[protect]]\n{method}')
    words = ("baskets.dat: the rules name 1 item that no basket holds; check the spelling, or remove it",)
    assert_one_sentence(invoke("run", "hide.toml"), words, 2)
