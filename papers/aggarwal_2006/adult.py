# SPDX-License-Identifier: MIT
"""Figures 10 to 12: the census table Adult.

The paper keeps 45,222 complete rows, drops 4 columns in which most rows have the same value, and discretizes three. It
names neither the dropped columns nor the way of cutting: we drop the four with the commonest single value, and cut into
intervals of about equal frequency, which gives the cardinalities that the paper states, or of equal width, some of
which are empty. Every statement is judged for both cuts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import polars as pl

from papers.aggarwal_2006.runs import BlankingRun, blank, private_share
from papers.census import INCOME, read_adult
from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Plot, Setting, Statement, frame_of, require_all
from sfumato.data.hierarchies.discretization import cut_equal_frequency, cut_equal_width
from sfumato.table import Table

CUT = {"age": 10, "fnlwgt": 150, "education-num": 17}
DULL_COLUMNS, FACTOR, CONFIDENCE, PRIVATE_SEED = 4, 10_000, 0.8, 1


Cut = Literal["equal frequency", "equal width"]
CUTS: tuple[Cut, ...] = ("equal frequency", "equal width")


@cache
def adult(data: Path, cut: Cut = "equal frequency") -> Table:
    """Adult as the paper prepares it: 45,222 rows, 10 columns."""
    frame = read_adult(data).drop(INCOME).drop_nulls()
    shares = {name: _commonest(frame[name]) for name in frame.columns}
    dull_columns = sorted(shares, key=lambda name: shares[name])[-DULL_COLUMNS:]
    choose_cuts = cut_equal_frequency if cut == "equal frequency" else cut_equal_width
    frame = frame.drop(dull_columns).with_columns(
        choose_cuts(frame[name].cast(pl.Int64), bins).apply(frame[name].cast(pl.Int64)) for name, bins in CUT.items()
    )
    return Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"), source="Adult")


def _commonest(column: pl.Series) -> float:
    return int(column.value_counts()["count"].max() or 0) / len(column)  # type: ignore[arg-type]


@cache
def _blank_adult(data: Path, private: int, support: float, cut: Cut) -> BlankingRun:
    table = adult(data, cut)
    share = private / table.frame.height / table.frame.width
    return blank(table, private_share(table, share, PRIVATE_SEED), CONFIDENCE, support, FACTOR)


def require_both_cuts(by_cut: Mapping[Cut, Sequence[Statement]]) -> tuple[Statement, ...]:
    """The same statements for both cuts: each holds only if it does for both."""
    return tuple(
        require_all("how numbers are cut", {str(cut): statement for cut, statement in zip(by_cut, column, strict=True)})
        for column in zip(*by_cut.values(), strict=True)
    )


def _row(run: BlankingRun) -> dict[str, Any]:
    return {
        "rules": run.rules,
        "sensitive_entries": run.sensitive,
        "derived_entries": run.derived,
        "seconds": round(run.seconds, 2),
    }


def figure_10(setting: Setting) -> Findings:
    """Sensitive and derived entries by the size of the directly private set."""
    sizes = [10_000, 30_000] if setting.quick else [10_000, 20_000, 30_000, 40_000, 50_000]
    runs_by_cut = {cut: [_blank_adult(setting.folder, size, 0.02, cut) for size in sizes] for cut in CUTS}
    rows = [
        {"cut": cut, "private_entries": size, **_row(run)}
        for cut, many in runs_by_cut.items()
        for size, run in zip(sizes, many, strict=True)
    ]
    return Findings(
        statements=require_both_cuts({cut: state_sizes(sizes, many) for cut, many in runs_by_cut.items()}),
        grids=(Grid("sizes", "By private entries", frame_of(rows)),),
        plots=(_draw_entries(Axis("private entries"), sizes, runs_by_cut[CUTS[0]]),),
        remarks=(_describe_columns(adult(setting.folder)), _BATCHES, _LOT),
    )


def state_sizes(sizes: Sequence[int], runs: Sequence[BlankingRun]) -> tuple[Statement, ...]:
    """What the text says about Figure 10, for one cut."""
    sensitive, derived = [run.sensitive for run in runs], [run.derived for run in runs]
    growths = [f"{follower / earlier:.2f}" for earlier, follower in pairwise(derived)]
    more = [f"{follower / earlier:.2f}" for earlier, follower in pairwise(sizes)]
    return (
        Statement(
            "The number of sensitive entries is not very sensitive to the private set.",
            f"{min(sensitive):,} to {max(sensitive):,}, {max(sensitive) / min(sensitive) - 1:.0%} apart",
            None,
            _WORD,
        ),
        Statement(
            "Derived entries increase with the private set.",
            _write_run(derived),
            all(earlier < follower for earlier, follower in pairwise(derived)),
            _BATCHES,
        ),
        Statement(
            "They increase quite slowly with it.",
            f"{', '.join(growths)} times, for {', '.join(more)} times the private entries",
            None,
            _WORD,
        ),
    )


def _write_run(numbers: Sequence[int]) -> str:
    return " → ".join(f"{number:,}" for number in numbers)


def _draw_entries(x: Axis, places: Sequence[float], runs: Sequence[BlankingRun]) -> Plot:
    """Sensitive and derived entries of the first cut."""
    lines = {"sensitive": [run.sensitive for run in runs], "derived": [run.derived for run in runs]}
    curves = [Curve(name, list(zip(places, map(float, many), strict=True))) for name, many in lines.items()]
    return draw_curves(f"Sensitive and derived entries, cut by {CUTS[0]}", x, Axis("entries"), curves)


_WORD = "The paper gives no number, only a word and a curve."
_COLUMNS = "The paper names neither the four columns it drops nor how it cuts."
_BATCHES = (
    f"Entries are blanked {FACTOR:,} at a time, so a derived set is known to about that many: a difference smaller "
    "than a batch says little."
)
_LOT = f"The private entries are drawn at random with seed {PRIVATE_SEED}, a larger set anew."


def _describe_columns(table: Table) -> str:
    """Which columns are left and how they are cut."""
    columns_text = ", ".join(f"{name} ({table.frame[name].n_unique()} values)" for name in table.frame.columns)
    return f"{_COLUMNS} Ours drops those in which one value is commonest, and keeps {columns_text}."


def figure_11(setting: Setting) -> Findings:
    """Rules, sensitive entries and derived entries by support."""
    supports, runs_by_cut = _by_support(setting)
    x = Axis("least support, share of rows", percent=True)
    rules = [float(run.rules) for run in runs_by_cut[CUTS[0]]]
    return Findings(
        statements=require_both_cuts({cut: _state_supports(supports, many) for cut, many in runs_by_cut.items()}),
        grids=(_support_grid(supports, runs_by_cut),),
        plots=(
            draw_curves(
                f"Adversarial rules, cut by {CUTS[0]}",
                x,
                Axis("adversarial rules"),
                [Curve("ours", list(zip(supports, rules, strict=True)))],
            ),
            _draw_entries(x, supports, runs_by_cut[CUTS[0]]),
        ),
        remarks=(_describe_columns(adult(setting.folder)), _BATCHES, _LOT),
    )


def _state_supports(supports: Sequence[float], runs: Sequence[BlankingRun]) -> tuple[Statement, ...]:
    counts = {
        "Rules": [run.rules for run in runs],
        "Sensitive entries": [run.sensitive for run in runs],
        "Derived entries": [run.derived for run in runs],
    }
    factors = [run.derived / _PRIVATE for run in runs]
    return (
        *(
            Statement(
                f"{name} go up as the support threshold goes down.",
                f"from {supports[-1]:.1%} down to {supports[0]:.1%} {_write_run(values[::-1])}",
                all(earlier > follower for earlier, follower in pairwise(values)),
                _BATCHES,
            )
            for name, values in counts.items()
        ),
        Statement(
            "The derived set is within a small factor of the private set over all supports.",
            f"{min(factors):.1f} to {max(factors):.1f} times the {_PRIVATE:,} private entries",
            None,
            _WORD,
        ),
    )


_PRIVATE = 30_000


def _by_support(setting: Setting) -> tuple[list[float], dict[Cut, list[BlankingRun]]]:
    supports = [0.02, 0.05] if setting.quick else [0.01, 0.015, 0.02, 0.03, 0.04, 0.05]
    return supports, {
        cut: [_blank_adult(setting.folder, _PRIVATE, support, cut) for support in supports] for cut in CUTS
    }


def _support_grid(supports: list[float], runs_by_cut: Mapping[Cut, list[BlankingRun]]) -> Grid:
    rows = [
        {"cut": cut, "support": support, **_row(run)}
        for cut, many in runs_by_cut.items()
        for support, run in zip(supports, many, strict=True)
    ]
    return Grid("supports", "By support", frame_of(rows))


def figure_12(setting: Setting) -> Findings:
    """Running time by support: the runs of Figure 11."""
    supports, runs_by_cut = _by_support(setting)
    seconds = [run.seconds for run in runs_by_cut[CUTS[0]]]
    plot = draw_curves(
        "Seconds",
        Axis("least support, share of rows", percent=True),
        Axis("seconds"),
        [Curve("ours", list(zip(supports, seconds, strict=True)))],
    )
    return Findings(
        statements=(
            Statement(
                "A curve only; the text gives no seconds and says that the time follows the sensitive entries.",
                f"{seconds[0]:.1f} s at {supports[0]:.1%}, {seconds[-1]:.1f} s at {supports[-1]:.1%}.",
                None,
                "Another machine, and a curve without numbers.",
            ),
        ),
        grids=(_support_grid(supports, runs_by_cut),),
        plots=(plot,),
        remarks=("The same runs as Figure 11.",),
    )
