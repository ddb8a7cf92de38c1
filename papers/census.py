# SPDX-License-Identifier: MIT
"""The census table Adult of the UCI repository, as several papers use it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

FILES = ("adult/adult.data", "adult/adult.test")
INCOME = "income"
NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
)  # fmt: skip


def read_adult(data: Path, files: Sequence[str] = FILES) -> pl.DataFrame:
    """All records as text: the files have blanks after commas, "?" for a missing cell, a comment and a final dot."""
    parts = [
        pl.read_csv(data / file, has_header=False, new_columns=[*NAMES, INCOME], comment_prefix="|", infer_schema=False)
        for file in files
    ]
    clean = pl.concat(parts).select(pl.all().str.strip_chars()).filter(pl.col(INCOME).is_not_null())
    return clean.with_columns(pl.col(INCOME).str.strip_chars("."), pl.col(NAMES).replace("?", None))
