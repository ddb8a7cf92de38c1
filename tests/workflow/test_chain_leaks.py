# SPDX-License-Identifier: MIT
"""What a certificate says of methods in a row, and of hidden cells, does not depend on what they hide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.release import Release
from sfumato.workflow.policy import Policy

PEOPLE = 24


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def certified(folder: Path, methods: list[dict[str, Any]], frame: pl.DataFrame, **more: Any) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    frame.write_csv(folder / "people.csv")
    policy = {
        "data": {"path": str(folder / "people.csv")},
        "roles": {"quasi_identifying": ["age", "town"], "sensitive": ["ill", "pay"]},
        "protect": methods,
        "measure": {"queries": 0},
        **more,
    }
    result = sf.run(Policy.model_validate(policy), folder / "out")
    body: dict[str, Any] = json.loads((result.out / "release/certificate.json").read_text())
    return body


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + number % 6 for number in range(PEOPLE)],
            "town": ["Aton" if number % 2 else "Belham" for number in range(PEOPLE)],
            "ill": ["yes" if number % 3 else "no" for number in range(PEOPLE)],
            "pay": [1000 + 10 * number for number in range(PEOPLE)],
        }
    )


ANSWERS = {"method": "randomize_response", "column": "ill", "categories": ["yes", "no"]}
OTHERS: list[dict[str, Any]] = [
    {"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}]},
    {"method": "add_noise", "columns": ["pay"], "ranges": {"pay": [0, 2000]}},
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda method: str(method["method"]))
@pytest.mark.parametrize("first", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_no_sentence_tells_whether_an_answer_changed(tmp_path: Path, other: dict[str, Any], first: bool) -> None:
    """With p near 1 mostly nothing changes, with p = 1/2 mostly something does: the certificate says the same."""
    texts = set()
    for p in (0.999999, 0.5):
        for number in range(2):
            answers = {**ANSWERS, "p": p}
            methods = [answers, other] if first else [other, answers]
            body = certified(tmp_path / f"{p}-{number}", methods, people())
            texts.add(tuple(c["meaning"] for c in body["claims"] if "epsilon" not in c["property"]))
    assert len(texts) == 1


@pytest.mark.parametrize("next_method", [OTHERS[1], {**ANSWERS, "epsilon": 1.0}], ids=["noise", "answers"])
def test_rows_that_were_dropped_are_not_counted(tmp_path: Path, next_method: dict[str, Any]) -> None:
    frame = pl.concat([people(), people().head(1).with_columns(pl.lit(93, dtype=pl.Int64).alias("age"))])
    drop = {**OTHERS[0], "suppression_limit": 0.2, "suppressed_rows": "drop"}
    body = certified(tmp_path, [drop, next_method], frame)
    assert body["data"]["rows"] <= PEOPLE
    sentence = "Suppressed rows, if there are any, are not in the release."
    assert body["suppression"] == {"rows": None, "safe": True, "why": sentence}


@pytest.mark.parametrize("how", [5, [1100.0, 1200.0]])
def test_private_numbers_move_nobodys_midpoint(how: Any) -> None:
    """Everybody sees the midpoints: a private salary must not stretch the range that they come from."""
    columns = set()
    for secret in (1050.0, 90_000.0, -5.0):
        frame = people().with_columns(pay=pl.Series([secret, *(1000.0 + 10 * number for number in range(1, PEOPLE))]))
        table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
        method = sf.SuppressEntries(
            private={"cells": [[0, "pay"]]}, discretize={"pay": how}, confidence=0.9, min_support=9
        )
        columns.add(tuple(method.protect(table, sf.Randomness.seeded(1)).data.frame["pay"].to_list()))
    assert len(columns) == 1


def test_the_type_of_a_column_does_not_tell_of_a_hidden_cell() -> None:
    kinds = set()
    for secret in ("77", "77.5", "unknown", "2020-01-01"):
        frame = people().with_columns(pay=pl.Series([secret, *(str(10 * number) for number in range(1, PEOPLE))]))
        if secret in ("77", "77.5"):
            frame = frame.with_columns(pl.col("pay").cast(pl.Int64 if secret == "77" else pl.Float64))
        table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
        release: Release = sf.SuppressEntries(private={"cells": [[0, "pay"]]}, confidence=0.9, min_support=9).protect(
            table, sf.Randomness.seeded(1)
        )
        assert release.data.frame["pay"][0] is None
        kinds.add(str(release.data.frame["pay"].dtype))
    assert kinds == {"Int64"}


def test_a_share_and_a_count_of_one_threshold_do_not_leave_together(tmp_path: Path) -> None:
    """Together they tell how many baskets there are, and so how many the additive repair made up."""
    rows = [
        "abcdefgh",
        "abcdeg",
        "abcde",
        "abcdefg",
        "abcde",
        "abcde",
        "abde",
        "aefg",
        "cdefg",
        "cde",
        "cdefgh",
        "abfg",
    ]
    (tmp_path / "baskets.dat").write_text("\n".join(" ".join(row) for row in rows))
    policy = {
        "data": {"path": str(tmp_path / "baskets.dat")},
        "protect": [{"method": "publish_patterns", "k": 3, "min_support": 0.6}],
    }
    result = sf.run(Policy.model_validate(policy), tmp_path / "out")
    assert "min_support" not in result.certificate.body["methods"][0]
    assert result.certificate.body["claims"][0]["threshold"] == 8


def test_accuracy_can_be_measured_where_rows_were_dropped(tmp_path: Path) -> None:
    frame = pl.concat([people(), people().head(1).with_columns(pl.lit(93, dtype=pl.Int64).alias("age"))])
    drop = {**OTHERS[0], "suppression_limit": 0.2, "suppressed_rows": "drop"}
    body = certified(tmp_path, [drop], frame, measure={"queries": 0, "classify": "ill"})
    assert body["claims"]
