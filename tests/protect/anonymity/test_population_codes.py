# SPDX-License-Identifier: MIT
"""A population may hold values that the table does not have: an error says where, and its cure works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.workflow.policy import Policy
from tests.command_line import Invoke

RECIPES: dict[str, Any] = {
    "intervals": {"kind": "intervals", "widths": [5, 10]},
    "quantiles": {"kind": "quantiles", "counts": [4, 2]},
    "prefix": {"kind": "prefix", "keep": [1]},
}
AGES = [20, 21, 22, 23, 24, 30, 31, 32, 33, 34] * 3
EVERYBODY = [*AGES, *AGES, 25, 35, 35]
MODELS: dict[str, dict[str, Any]] = {"k_map": {"k": 5}, "delta_presence": {"high": 0.6}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": AGES, "ill": ["flu", "gout"] * (len(AGES) // 2)}).write_csv("sample.csv")
    pl.DataFrame({"age": EVERYBODY}).write_csv("all voters.csv")
    return tmp_path


def run(model: str, hierarchies: dict[str, Any], engine: str) -> sf.Run:
    policy = {
        "data": {"path": "sample.csv", "engine": engine},
        "roles": {"quasi_identifying": ["age"], "sensitive": ["ill"]},
        "hierarchies": hierarchies,
        "protect": [
            {"method": "generalize", "models": [{"model": model, "population": "all voters.csv", **MODELS[model]}]}
        ],
        "measure": {"queries": 0},
    }
    return sf.run(Policy.model_validate(policy), "out", sf.Randomness.seeded(1))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("recipe", [*RECIPES, "none"])
@pytest.mark.parametrize("model", list(MODELS))
def test_a_hierarchy_of_the_values_of_the_table_is_replaced_by_one_of_the_population(
    model: str, recipe: str, engine: str, invoke: Invoke
) -> None:
    hierarchies = {} if recipe == "none" else {"age": RECIPES[recipe]}
    with pytest.raises(sf.DataError) as refusal:
        run(model, hierarchies, engine)
    message = str(refusal.value)
    assert message.startswith('all voters.csv: 2 values of "age", in 3 rows of the population, have no row in ')
    assert "add a row" not in message
    command = re.search(r"`sfumato (.*)`", message)
    assert command is not None
    assert invoke(*shlex.split(command[1])).code == 0
    findings = run(model, {"age": "age.csv"}, engine).findings
    assert next(finding.holds for finding in findings if finding.property == model)


def test_in_python_the_values_of_both_tables_make_a_hierarchy() -> None:
    sample, everybody = pl.read_csv("sample.csv"), pl.read_csv("all voters.csv")
    both = sf.Table.of(pl.concat([sample.select("age"), everybody]), hierarchies={"age": RECIPES["intervals"]})
    roles = {"age": "quasi_identifying", "ill": "sensitive"}
    method = sf.Generalize(models=(sf.KMap(k=5, population=sf.Table.of(everybody, source="census")),))
    with pytest.raises(sf.DataError, match=r"census: 2 values .* in Python a hierarchy of the values of both tables"):
        method.protect(sf.Table.of(sample, roles, {"age": RECIPES["intervals"]}))
    table = sf.Table.of(sample, roles, {"age": both.hierarchies["age"]})
    assert all(finding.holds for finding in sf.check(method.protect(table), table))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_written_hierarchy_gets_a_row_for_each_value(engine: str, folder: Path) -> None:
    lines = [f"{age};{age // 10}0s;*\n" for age in sorted(set(AGES))]
    (folder / "ages.csv").write_text("".join(lines))
    with pytest.raises(sf.DataError, match=r"all voters.csv: 2 values .*; add a row for each to ages.csv$"):
        run("k_map", {"age": "ages.csv"}, engine)
    (folder / "ages.csv").write_text("".join([*lines, "25;20s;*\n", "35;30s;*\n"]))
    run("k_map", {"age": "ages.csv"}, engine)


def test_a_population_without_a_column_is_refused() -> None:
    table = sf.Table.of({"age": [1, 2]}, {"age": "quasi_identifying"})
    population = sf.Table.of({"ages": [1, 2]}, source="census")
    with pytest.raises(sf.DataError, match='census: the population has no column "age"'):
        sf.Generalize(models=(sf.KMap(k=2, population=population),)).protect(table)
