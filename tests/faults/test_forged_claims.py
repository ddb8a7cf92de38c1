# SPDX-License-Identifier: MIT
"""A signer cannot make verify say more than was measured: claims have known forms, and fit their release."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measure.anonymity.crowd_sizes import _match_classes_by_pattern, match_class_pairs
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import show_input, verify
from tests.faults.test_tampering import body_of, expect_refusal, resign

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def out(sandbox: Any, plain_report: None) -> Path:
    run_policy(Policy.read(sandbox.write_policy(k=3)))
    return Path(sandbox.out)


def claim(number: int, **changes: Any) -> Change:
    def change(body: dict[str, Any]) -> None:
        body["claims"][number] |= changes

    return change


def field(**changes: Any) -> Change:
    def change(body: dict[str, Any]) -> None:
        body |= changes

    return change


def mark(body: dict[str, Any]) -> None:
    body["data"]["missing_mark"] = "male"


def names(body: dict[str, Any]) -> None:
    next(entry for entry in body["claims"] if entry["measure"] == "named_columns")["arguments"] = {"names": []}


def identify(body: dict[str, Any]) -> None:
    body["roles"][next(iter(body["roles"]))] = "identifying"


FORGERIES: dict[str, Change] = {
    "rows counted as k": claim(0, measure="rows", arguments={}),
    "k at the most": claim(0, bound="at_most"),
    "only the originals could tell": claim(0, needs_original=True, measured=None, arguments={}),
    "needs the originals, in words": claim(0, needs_original="yes"),
    "a property of one's own": claim(0, property="perfectly_safe"),
    "a verdict as a property": claim(0, property="The release is as certified, signed by the key you gave."),
    "a strange argument": claim(0, arguments={"starred_rows": "class", "x": 1}),
    "strange stars": claim(0, arguments={"starred_rows": "junk"}),
    "not kept": claim(3, holds=False),
    "no name removed": names,
    "an identifying column": identify,
    "removed, and there": field(removed_columns=["nobody"]),
    "people called missing": mark,
    "a shut gate": field(gate=[{"gate": "max_loss", "limit": 0.1, "open": False}]),
    "approved": field(maturity="approved"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_claim_is_refused(out: Path, invoke: Callable[..., Any], name: str) -> None:
    resign(out, FORGERIES[name])
    expect_refusal(invoke, out)


def test_verify_changes_nothing(out: Path) -> None:
    old_times = {path: path.stat().st_mtime_ns for path in [out.parent, *out.rglob("*")]}
    assert verify(out).holds
    assert {path: path.stat().st_mtime_ns for path in [out.parent, *out.rglob("*")]} == old_times


def test_a_packed_data_file_is_refused(out: Path, invoke: Callable[..., Any]) -> None:
    data = out / "release/data.csv"
    data.write_bytes(gzip.compress(data.read_bytes()))
    resign(out, lambda body: None)
    expect_refusal(invoke, out)


def test_many_empty_cells_in_a_small_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        line = b"," * 9_999 + b"\n"
        for _ in range(40):
            file.write(line * 50)
    with pytest.raises(sf.DataError, match="unpacks to more than"):
        sf.Table.read(path)


def test_pipes_are_not_waited_for(out: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for input_path, opening in ((pipe, out / "private/input_opening.json"), (tmp_path / "people.csv", pipe)):
        with pytest.raises(sf.DataError):
            show_input(out, input_path, opening)


@pytest.mark.parametrize("seed", range(20))
def test_crowds_are_the_same_by_joins_and_by_pairs(seed: int) -> None:
    chance = np.random.default_rng(seed)
    values = {f"c{index}": [None if n > 2 else int(n) for n in chance.integers(0, 5, 40)] for index in range(3)}
    frame = pl.DataFrame(values, schema=dict.fromkeys(values, pl.Int64))
    names = list(values)
    pattern = pl.concat_str([pl.col(name).is_null().cast(pl.Int8).cast(pl.String) for name in names])
    classes = frame.group_by(names).agg(pl.len().cast(pl.Int64).alias("\0rows"))
    classes = classes.with_columns(pattern.alias("\0pattern")).with_row_index("\0class")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_match_classes_by_pattern.__globals__, "_ROWS_A_JOIN", 0)
        joined = _match_classes_by_pattern(frame, names)
    paired = match_class_pairs(classes, names)
    assert sorted(joined.rows()) == sorted(paired.rows())


def test_many_patterns_of_missing_cells_end() -> None:
    """1,024 rows with as many patterns took more than 100 seconds; the test ends, or it hangs."""
    rows = [[None if (row >> index) & 1 else index for index in range(10)] for row in range(1024)]
    columns = [f"c{index}" for index in range(10)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Int64), orient="row")
    table = sf.Table.of(frame, dict.fromkeys(columns, "quasi_identifying"), missing="matches_any")
    assert sf.measure.k_anonymity(table) == 1024


def test_rows_that_the_certificate_does_not_count_are_refused(invoke: Callable[..., Any], out: Path) -> None:
    """Unique people with an empty cell, and a certificate that says missing = drop: no measure would count them."""
    path = out / "release" / body_of(out)["data"]["file"]
    frame = pl.read_csv(path, infer_schema=False)
    columns = [name for name, role in body_of(out)["roles"].items() if role == "quasi_identifying"]
    pl.concat([frame, frame.head(1).with_columns(pl.lit(None, pl.String).alias(columns[0]))]).write_csv(path)

    def change(body: dict[str, Any]) -> None:
        body["missing"] = "drop"
        body["data"]["rows"] += 1

    resign(out, change)
    assert "1 row has a missing quasi-identifying cell" in expect_refusal(invoke, out)
