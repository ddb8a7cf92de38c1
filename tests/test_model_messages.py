# SPDX-License-Identifier: MIT
"""Mistakes with models, rules and estimates: each is explained by a sentence with a cure, in Python and on the desk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from tests.cli.desk import Desk

BASKETS = sf.Baskets.of([["a", "b"], ["a"], ["b", "c"], ["a", "b", "c"]] * 10)
TABLE = sf.Table.of(
    {"age": [20, 30, 40, 50] * 20, "job": ["cook", "clerk", "nurse", "cook"] * 20, "y": ["u", "v", "u", "u"] * 20},
    roles={"age": "quasi_identifying", "job": "quasi_identifying", "y": "sensitive"},
)


def publish(table: sf.Table = TABLE, **fields: Any) -> sf.Release:
    return sf.PublishClassifier(**{"target": "y", "k": 5, **fields}).protect(table)


def replace_cells(**columns: Any) -> sf.Table:
    return TABLE.replace_frame(TABLE.frame.with_columns(**columns))


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: publish(target="Y"), 'did you mean "y"'),
    (lambda: publish(classes=["u", "x"]), "does not have 1 of the classes"),
    (lambda: publish(columns=["ag"]), 'did you mean "age"'),
    (lambda: publish(k=50), "1 class has fewer than k = 50 rows; name the common ones"),
    (lambda: publish(max_confidence=0.6), "75.0 % of the rows.*raise max_confidence"),
    (lambda: publish(replace_cells(y=pl.lit(None, pl.String))), "nothing to learn"),
    (lambda: publish(replace_cells(job=pl.col("job").str.replace("k", "\n"))), '"job" has line ends in 2 values'),
    (lambda: publish(replace_cells(y=pl.col("y").str.replace("u", "\r"))), '"y" has line ends in 1 value;'),
    (lambda: sf.mine.classify(publish(), TABLE), "of a release, give its data"),  # type: ignore[arg-type]
    (lambda: sf.mine.forced_patterns(publish(), 3), "of a release, give its data"),  # type: ignore[arg-type]
    (lambda: sf.mine.forced_patterns(BASKETS, 3), "for baskets use inference_channels"),  # type: ignore[arg-type]
    (lambda: sf.mine.estimate_itemsets(BASKETS, 0.1), "give the release, not its data"),  # type: ignore[arg-type]
    (lambda: sf.mine.estimate_joint(publish(), ["a", "b"]), "for baskets use estimate_itemsets"),
    (lambda: sf.mine.train_c45(TABLE, "Y"), 'did you mean "y"'),
    (lambda: sf.mine.train_c45(TABLE, "y", "age"), r'such as \["age"\]'),  # type: ignore[arg-type]
    (lambda: sf.mine.train_c45(TABLE, "y", ["ag"]), 'did you mean "age"'),
    (lambda: sf.mine.train_c45(TABLE, "y", min_rows=2.5), "whole number"),  # type: ignore[arg-type]
    (lambda: sf.mine.train_c45(TABLE, "y", confidence="0.25"), "such as 0.25"),  # type: ignore[arg-type]
    (lambda: sf.mine.train_c45(TABLE.frame, "y"), "not DataFrame"),  # type: ignore[arg-type]
    (lambda: sf.measure.class_entropy(3, TABLE, "y"), "polars, pandas or pyarrow table"),  # type: ignore[arg-type]
    (lambda: sf.measure.class_entropy(TABLE, TABLE, "y", "ag"), '"ag"'),
    (lambda: sf.measure.class_entropy(TABLE, TABLE, "y", bins="x"), "whole number"),  # type: ignore[arg-type]
    (lambda: sf.measure.joint_divergence(TABLE, 3, "y"), "polars, pandas or pyarrow table"),  # type: ignore[arg-type]
    (lambda: sf.measure.joint_divergence(TABLE, TABLE, "y", "ag"), '"ag"'),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_python_explains(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(sf.SfumatoError, match=message):
        mistake()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.chdir(tmp_path)
    BASKETS.write("b.dat")
    TABLE.frame.write_csv("people.csv")
    Path("folder").mkdir()
    Path("points.csv").write_text("id,time,x,y\na,1,0,0\na,2,1,1\nb,1,0,1\nb,2,1,0\n")
    return Desk(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mine b.dat --min-support 0.1 --min-confidence 0.7", "add --rules"),
        ("mine people.csv --learner c45 --target y --rules", "does not use --rules"),
        ("mine people.csv --learner c45 --target y --min-support 5", "does not use --min-support"),
        ("mine people.csv --learner c45 --target Y", 'did you mean "y"'),
        ("channels nothing.dat --k 3", "nothing.dat: the file cannot be read"),
        ("channels b.dat --k x --min-support 0.1", "'--k': give a whole number"),
        ("measure people.csv --quasi age --threshold x", "'--threshold': give a number"),
        ("support folder a", "this is a folder; name the data file in it"),
    ],
)  # fmt: skip
def test_commands_explain(desk: Desk, words: str, message: str) -> None:
    code, output = desk.type(*words.split())
    assert code == 2 and message in output, output


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ('regions = { kind = "grid", colums = 3 }', 'did you mean "columns"'),
        ('regions = { kind = "dense", min_shar = 0.1 }', 'did you mean "min_share"'),
        ('region = { kind = "grid" }', 'did you mean "regions"'),
    ],
)  # fmt: skip
def test_a_policy_proposes_the_option_of_regions(desk: Desk, regions: str, message: str) -> None:
    steps = '[[protect]]\nmethod = "anonymize_sequences"\nk = 2\n'
    Path("p.toml").write_text(f'[data]\npath = "points.csv"\n[data.points]\n{regions}\n{steps}')
    code, output = desk.type("run", "p.toml")
    assert code == 2 and message in output, output
