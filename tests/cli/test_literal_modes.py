# SPDX-License-Identifier: MIT
"""Published algorithms and smaller measures from the command line: what a run prints, keeps and lets out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.command_line import Invoke

ROLES = '[roles]\nquasi_identifying = ["age", "town"]\nsensitive = ["ill", "pay"]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """120 people; the town foretells the illness, the age the pay."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(1)
    town = chance.choice(["Bari", "Lecce", "Pisa"], 120)
    age = chance.integers(20, 60, 120)
    ill = np.where(chance.random(120) < 0.8, np.where(town == "Pisa", "flu", "gout"), "rash")
    pl.DataFrame({"age": age, "town": town, "ill": ill, "pay": age // 20 * 1000}).write_csv("people.csv")
    return tmp_path


def run(invoke: Invoke, folder: Path, protect: str, more: str = "") -> tuple[str, dict[str, Any], dict[str, Any]]:
    """What the command printed, the custodian's record and the certificate."""
    (folder / "policy.toml").write_text(f'[data]\npath = "people.csv"\n{ROLES}\n[[protect]]\n{protect}\n{more}')
    ran = invoke("run", "policy.toml", "--out", "out")
    assert ran.code == 0, ran.output
    record = json.loads((folder / "out/private/record.json").read_text())["found"]
    certificate = json.loads((folder / "out/release/certificate.json").read_text())
    return ran.output, record, certificate.get("body", certificate)


def test_grades_once_says_what_it_leaves(invoke: Invoke, folder: Path) -> None:
    output, record, _ = run(
        invoke, folder, 'method = "suppress_entries"\nsearch = "grades_once"\nconfidence = 0.6\nmin_support = 3\n'
        'private = { columns = ["ill"], where = { town = "Pisa" } }'
    )  # fmt: skip
    assert record["maturity"] == "for study"
    assert "adversarial_rules" not in {claim["property"] for claim in record["claims"]}
    leftover_count = record["losses"]["leftover_rules"]
    assert ("leftover rules" in output) == (leftover_count > 0)
    assert "for study" in output


def test_incognito_keeps_all_generalizations(invoke: Invoke, folder: Path) -> None:
    run(invoke, folder, 'method = "generalize"\nsearch = "incognito"\nmodels = [{ model = "k_anonymity", k = 5 }]')
    generalizations = pl.read_parquet(folder / "out/private/generalizations.parquet")
    assert generalizations.height >= 1 and generalizations["minimal"].any()
    counts = pl.read_parquet(folder / "out/private/node_counts.parquet")
    assert counts["search"].to_list() == ["incognito", "incognito", "minimal"]
    assert "Incognito, as printed" in (folder / "out/private/report.html").read_text()
    assert "Incognito" not in (folder / "out/release/report.html").read_text()


def test_swapping_reports_divergence_and_entropy_to_the_custodian(invoke: Invoke, folder: Path) -> None:
    _, record, certificate = run(
        invoke,
        folder,
        'method = "swap_confidential"\ncolumn = "ill"\nshare = 0.5\nsearch = "proportional"',
        '[measure]\nclassify = "ill"\n[accept]\npay = "it is known"\n',
    )
    figures = {"joint_i_divergence", "bayes_i_divergence", "entropy_change", "joint_entropy_change"}
    assert figures <= record["utility"].keys()
    assert record["utility"]["bayes_i_divergence"] > 0
    text = json.dumps(certificate) + (folder / "out/release/report.html").read_text()
    assert not any(name in text for name in figures)
    page = (folder / "out/private/report.html").read_text()
    assert "I-divergence, simple Bayes" in page and "Change of the class" in page


def test_cuts_leave_with_the_release_and_are_counted(invoke: Invoke, folder: Path) -> None:
    _, _, certificate = run(
        invoke, folder, 'method = "add_noise"\ncolumns = "age"\nkind = "discretize"\nranges = { age = [0, 100] }\n'
        "discretize = { age = [30, 45] }", '[accept]\npay = "it is known"\n'
    )  # fmt: skip
    assert certificate["public"]["age"]["edges"] == [0, 30, 45, 101]
    mined = invoke("mine", "out/release", "--column", "age", "--json")
    rows = json.loads(mined.out)["rows"]
    ages = pl.read_csv("people.csv")["age"]
    assert [row["probability"] for row in rows] == pytest.approx(
        [(ages < 30).mean(), ((ages >= 30) & (ages < 45)).mean(), (ages >= 45).mean()]
    )
