# SPDX-License-Identifier: MIT
"""The names of the engines, in a module that costs a command nothing to import."""

from __future__ import annotations

from typing import Literal

EngineName = Literal["auto", "memory", "duckdb", "spark"]
"""Where rows are counted: in memory, by duckdb or Spark where they are, or as their number suggests."""
ChosenEngine = Literal["memory", "duckdb", "spark"]
"""An engine, chosen."""
