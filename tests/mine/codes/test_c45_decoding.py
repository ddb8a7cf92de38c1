# SPDX-License-Identifier: MIT
"""C4.5 trees grown on codes decode exactly to the trees of the originals, from memory and from files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.codes.tree_equality import same_tree
from sfumato.mine.codes import c45_splits
from sfumato.mine.codes.c45 import C45Tree, train_c45
from sfumato.mine.codes.decoded_tree import decode_tree, tree_rules
from sfumato.mine.codes.tree_files import read_tree, write_tree
from sfumato.protect.codes.encode_for_trees import EncodeForTrees


def mixed_table(seed: int, rows: int = 120, classes: int = 2, missing: float = 0.1) -> sf.Table:
    """Numbers with pure stretches, numbers of few values, words, and holes in all of them."""
    lot = np.random.default_rng(seed)
    latent_values = lot.normal(size=rows)
    numbers = np.round(latent_values * 20 + lot.normal(size=rows) * 3, int(lot.integers(0, 3)))
    columns: dict[str, pl.Series] = {
        "n": pl.Series(numbers),
        "few": pl.Series(lot.integers(0, 4, rows) + (latent_values > 0.5)),
        "w": pl.Series([f"w{value}" for value in np.digitize(latent_values + lot.normal(size=rows), (-1, 0, 1))]),
        "v": pl.Series([f"v{value}" for value in lot.integers(0, 9, rows)]),
    }
    holes = {
        name: column.zip_with(pl.Series(lot.random(rows) >= missing), pl.Series([None] * rows, dtype=column.dtype))
        for name, column in columns.items()
    }
    kinds = np.clip(np.digitize(latent_values, np.linspace(-1, 1, classes + 1)[1:-1]), 0, classes - 1)
    kinds = np.where(lot.random(rows) < 0.1, lot.integers(0, classes, rows), kinds)
    return sf.Table.of(pl.DataFrame(holes | {"y": [f"class {chr(104 - kind)}" for kind in kinds]}))


class Job:
    """A table, its release, and the trees of both."""

    def __init__(self, table: sf.Table, seed: int = 0, settings: dict[str, Any] | None = None, **method: Any) -> None:
        self.table = table
        encode = EncodeForTrees(target="y", **method)
        self.key = encode.new_key(table, sf.Randomness.seeded(seed))
        self.release = encode.protect(table, self.key).data
        self.direct, self.provider = (train_c45(data, "y", **(settings or {})) for data in (table, self.release))


@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3]),
    st.sampled_from([0.0, 0.15]),
    st.fixed_dictionaries({"min_rows": st.sampled_from([1, 2, 5]), "confidence": st.sampled_from([None, 0.25, 0.6])}),
    st.fixed_dictionaries({"permute": st.booleans(), "min_width": st.sampled_from([1, 3])}),
)
def test_decoded_is_direct(
    seed: int, classes: int, missing: float, settings: dict[str, Any], method: dict[str, Any]
) -> None:
    job = Job(mixed_table(seed, classes=classes, missing=missing), seed, settings, **method)
    decoded = decode_tree(job.provider, job.key, job.table)
    assert same_tree(decoded, job.direct)
    assert decoded.spell_rules() == job.direct.spell_rules()
    assert np.array_equal(decoded.predict(job.table), job.direct.predict(job.table))


@given(st.integers(0, 10**6))
def test_falling_codes_separate_the_same_rows(seed: int) -> None:
    """Equally good thresholds may be chosen differently, but what the provider's tree does to the rows is kept."""
    job = Job(mixed_table(seed), seed, direction="random")
    decoded = decode_tree(job.provider, job.key, job.table)
    ends, theirs = decoded.apply(job.table), job.provider.apply(job.release)
    assert (
        len(set(zip(ends.tolist(), theirs.tolist(), strict=True)))
        == len(set(ends.tolist()))
        == len(set(theirs.tolist()))
    )
    counts = decoded.nodes.tally.sum(axis=1)
    assert np.array_equal(np.bincount(ends, minlength=len(counts))[decoded.nodes.leaves], counts[decoded.nodes.leaves])


def test_other_thresholds_would_not_decode(monkeypatch: pytest.MonkeyPatch) -> None:
    """A positive control: with a least number of rows, cuts inside a run of one class make other trees on codes."""

    def find_all_cuts(counts: Any, known_counts: Any, least: int) -> tuple[Any, Any]:
        positions = np.flatnonzero(counts.node[1:] == counts.node[:-1])
        low = (
            np.cumsum(counts.tally, axis=0)[positions]
            - (np.cumsum(known_counts, axis=0) - known_counts)[counts.node[positions]]
        )
        fit = np.minimum(low.sum(axis=1), known_counts.sum(axis=1)[counts.node[positions]] - low.sum(axis=1)) >= least
        return low[fit], positions[fit]

    monkeypatch.setattr(c45_splits, "_find_cuts", find_all_cuts)
    lot = np.random.default_rng(0)
    table = sf.Table.of({"x": lot.permutation(120), "z": lot.integers(0, 3, 120), "y": ["u"] * 120})
    table = table.replace_frame(
        table.frame.with_columns(pl.when(pl.col("x") < 15).then(pl.lit("w")).otherwise(pl.lit("u")).alias("y"))
    )
    with pytest.raises(sf.DataError, match="separates codes, but not the originals"):
        job = Job(table, 0, {"min_rows": 20, "confidence": None})
        decode_tree(job.provider, job.key, job.table)
    monkeypatch.undo()
    job = Job(table, 0, {"min_rows": 20, "confidence": None})
    assert same_tree(decode_tree(job.provider, job.key, job.table), job.direct)


def test_from_a_file(tmp_path: Path) -> None:
    job = Job(mixed_table(5, classes=3), 5, {"confidence": 0.8})
    path = write_tree(job.provider, tmp_path / "tree.json")
    assert same_tree(read_tree(path), job.provider)
    decoded = decode_tree(path, job.key, job.table)
    assert same_tree(decoded, job.direct)
    assert tree_rules(decoded, []) == job.direct.spell_rules()
    tree_copy = read_tree(write_tree(decoded, tmp_path / "decoded.json"))
    assert isinstance(tree_copy, C45Tree) and tree_copy.spell_rules() == job.direct.spell_rules()
    assert np.array_equal(tree_copy.predict(job.table), job.direct.predict(job.table).astype(str))


def test_from_the_written_release(tmp_path: Path) -> None:
    """A release that went through CSV gives the same tree."""
    job = Job(mixed_table(6), 6)
    job.release.frame.write_csv(tmp_path / "data.csv")
    read = sf.Table.read(tmp_path / "data.csv")
    assert same_tree(decode_tree(train_c45(read, "y"), job.key, job.table), job.direct)


def test_strangers_are_refused() -> None:
    job, other = Job(mixed_table(1), 1), Job(mixed_table(1), 2)
    with pytest.raises(sf.DataError, match=r"not trained on this table"):
        decode_tree(job.provider, other.key, job.table)
    fewer = job.table.replace_frame(job.table.frame.head(100))
    with pytest.raises(sf.DataError, match="not trained on this table"):
        decode_tree(job.provider, job.key, fewer)
    renamed = replace(
        job.provider, columns=tuple(replace(column, name=f"{column.name}!") for column in job.provider.columns)
    )
    with pytest.raises(sf.PolicyError, match="not a column of the release"):
        decode_tree(renamed, job.key, job.table)


def test_spoilt_files_are_refused(tmp_path: Path) -> None:
    job = Job(mixed_table(3), 3, {"min_rows": 1, "confidence": None})
    good = json.loads(write_tree(job.provider, tmp_path / "tree.json").read_text())
    number = next(index for index, side in enumerate(good["missing"]) if side >= 0)
    spoilt: list[tuple[str, Any]] = [
        ("column", [9, *good["column"][1:]]),
        ("column", [-2, *good["column"][1:]]),
        ("children", good["children"][::-1]),
        ("children", [-1, *good["children"][1:]]),
        ("threshold", [None] * len(good["threshold"])),
        ("missing", [-1] * len(good["missing"])),
        ("word", [0, *good["word"][1:]]),
        ("word", [99] * len(good["word"])),
        ("tally", [[count + 1 for count in row] for row in good["tally"]]),
        ("tally", good["tally"][:-1]),
        ("features", good["features"][:-1]),
        ("classes", [good["classes"][0]] * 2),
        ("words", [None] * len(good["words"])),
        ("settings", {}),
        ("column", []),
    ]
    assert good["threshold"][number] is not None
    for part, content in spoilt:
        path = tmp_path / "spoilt.json"
        path.write_text(json.dumps(good | {part: content}))
        with pytest.raises(sf.DataError, match=r"do not make a C4.5 tree|not a tree as sfumato writes it"):
            read_tree(path)
