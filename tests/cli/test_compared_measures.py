# SPDX-License-Identifier: MIT
"""`sfumato measure --original`: the same as in Python, and mistakes in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from tests.cli.desk import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,sex,disease\n31,f,flu\n31,f,flu\n36,m,asthma\n36,m,flu\n62,f,flu\n")
    Path("release.csv").write_text("age,sex,disease\n3*,f,flu\n3*,f,asthma\n3*,m,flu\n3*,m,flu\n6*,f,flu\n")
    return Desk(monkeypatch, capsys)


def test_both_measures_are_those_of_python(desk: Desk) -> None:
    words = ("release.csv", "--quasi", "age,sex", "--sensitive", "disease", "--original", "people.csv")
    measures = desk.read("measure", *words, "--target", "disease")
    original, published = sf.Table.read("people.csv"), sf.Table.read("release.csv")
    entropy = sf.measure.class_entropy(original, published, "disease", ["age", "sex", "disease"])
    assert measures["class_entropy"]["bits"]["all of them"]["release"] == entropy.joint.release
    assert measures["class_entropy"]["mean_change"] == entropy.mean_change != 0
    moved = sf.measure.joint_divergence(original, published, "disease", ["age", "sex"])
    assert measures["joint_divergence"]["disease"] == {"patterns": moved.patterns, "simple_bayes": moved.simple_bayes}
    code, output = desk.type("measure", *words, "--target", "disease")
    assert code == 0 and "in bits" in output and f"{moved.patterns:.4f}" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "disease"), "name it with --original FILE"),
        (("--original", "people.csv"), "compares columns of --sensitive, and --target"),
        (("--original", "people.csv", "--target", "illness"), '"illness" cannot be compared'),
        (("--original", "peple.csv", "--target", "disease"), "the file does not exist"),
        (("--original", "people.csv", "--target", "disease", "--bins", "0"), "--bins"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(desk: Desk, words: tuple[str, ...], message: str) -> None:
    code, output = desk.type("measure", "release.csv", "--quasi", "age,sex", *words)
    assert code == 2 and message in output and "Traceback" not in output
