# SPDX-License-Identifier: MIT
"""Figures 10 to 12: the census table Adult.

The paper keeps 45,222 complete rows, drops 4 columns in which most rows have the same value, and discretizes three. It
names neither the dropped columns nor the way of cutting: we drop the four with the commonest single value, and cut into
intervals of about equal frequency, which gives the cardinalities that the paper states.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from papers.aggarwal_2006.runs import Blanked, blank, private_share
from papers.census import INCOME, read_adult
from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.data.hierarchies.discretization import cut_equal_frequency
from sfumato.table import Table

CUT = {"age": 10, "fnlwgt": 150, "education-num": 17}
DROPPED, FACTOR, CONFIDENCE, PRIVATE_SEED = 4, 10_000, 0.8, 1


@cache
def adult(data: Path) -> Table:
    """Adult as the paper prepares it: 45,222 rows, 10 columns."""
    frame = read_adult(data).drop(INCOME).drop_nulls()
    shares = {name: _commonest(frame[name]) for name in frame.columns}
    dropped = sorted(shares, key=lambda name: shares[name])[-DROPPED:]
    frame = frame.drop(dropped).with_columns(
        cut_equal_frequency(frame[name].cast(pl.Int64), bins).apply(frame[name].cast(pl.Int64))
        for name, bins in CUT.items()
    )
    return Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"), source="Adult")


def _commonest(column: pl.Series) -> float:
    return int(column.value_counts()["count"].max() or 0) / len(column)  # type: ignore[arg-type]


@cache
def _blanked(data: Path, private: int, support: float) -> Blanked:
    table = adult(data)
    share = private / table.frame.height / table.frame.width
    return blank(table, private_share(table, share, PRIVATE_SEED), CONFIDENCE, support, FACTOR)


def _row(found: Blanked) -> dict[str, Any]:
    return {
        "rules": found.rules,
        "sensitive_entries": found.sensitive,
        "derived_entries": found.derived,
        "seconds": round(found.seconds, 2),
    }


def figure_10(setting: Setting) -> Findings:
    """Sensitive and derived entries by the size of the directly private set."""
    sizes = [10_000, 30_000] if setting.quick else [10_000, 20_000, 30_000, 40_000, 50_000]
    found = [_blanked(setting.folder, size, 0.02) for size in sizes]
    sensitive, derived = [one.sensitive for one in found], [one.derived for one in found]
    entries = adult(setting.folder).frame.height * adult(setting.folder).frame.width
    x = Axis("private entries")
    spread = max(sensitive) / min(sensitive) - 1
    growth, more = derived[-1] / derived[0], sizes[-1] / sizes[0]
    return Findings(
        statements=(
            Statement(
                "The number of sensitive entries is not very sensitive to the private set.",
                f"{min(sensitive):,} to {max(sensitive):,} of {entries:,}: {spread:.0%} apart "
                "(10 % counts as insensitive).",
                spread <= 0.1,
                _COLUMNS,
            ),
            Statement(
                "Derived entries increase with the private set.",
                f"{' → '.join(f'{n:,}' for n in derived)}.",
                derived == sorted(derived),
                _BATCHES,
            ),
            Statement(
                "They increase quite slowly with it.",
                f"{more:g} times the private entries, {growth:.2f} times the derived ones.",
                growth < more,
                _BATCHES,
            ),
        ),
        grids=(
            Grid(
                "sizes",
                "By private entries",
                frame_of([{"private_entries": size, **_row(one)} for size, one in zip(sizes, found, strict=True)]),
            ),
        ),
        plots=(
            draw_curves(
                "Sensitive and derived entries",
                x,
                Axis("entries"),
                [
                    Curve("sensitive", list(zip(sizes, map(float, sensitive), strict=True))),
                    Curve("derived", list(zip(sizes, map(float, derived), strict=True))),
                ],
            ),
        ),
        remarks=(_describe_columns(adult(setting.folder)), _BATCHES, _LOT),
    )


_COLUMNS = "The paper names neither the four columns it drops nor how it cuts."
_BATCHES = (
    f"Entries are blanked {FACTOR:,} at a time, so a derived set is known to about that many: a difference smaller "
    "than a batch says little."
)
_LOT = f"The private entries are drawn at random with seed {PRIVATE_SEED}, a larger set anew."


def _describe_columns(table: Table) -> str:
    """Which columns are left and how they are cut."""
    kept = ", ".join(f"{name} ({table.frame[name].n_unique()} values)" for name in table.frame.columns)
    return f"{_COLUMNS} Ours drops those in which one value is commonest, and keeps {kept}."


def figure_11(setting: Setting) -> Findings:
    """Rules, sensitive entries and derived entries by support."""
    supports, found = _by_support(setting)
    rules, sensitive = [one.rules for one in found], [one.sensitive for one in found]
    derived = [one.derived for one in found]
    x = Axis("least support, share of rows", percent=True)
    entries = [
        Curve("sensitive", list(zip(supports, map(float, sensitive), strict=True))),
        Curve("derived", list(zip(supports, map(float, derived), strict=True))),
    ]
    down = f"From {supports[-1]:.1%} down to {supports[0]:.1%}"
    return Findings(
        statements=(
            *(
                Statement(
                    f"{name} go up as the support threshold goes down.",
                    f"{down}: {' → '.join(f'{number:,}' for number in values[::-1])}.",
                    values == sorted(values, reverse=True),
                    _BATCHES,
                )
                for name, values in (("Rules", rules), ("Sensitive entries", sensitive), ("Derived entries", derived))
            ),
            Statement(
                "The derived set is within a small factor of the private set over all supports.",
                f"At most {max(derived) / _PRIVATE:.1f} times the {_PRIVATE:,} private entries (3 counts as small).",
                max(derived) <= 3 * _PRIVATE,
                _COLUMNS,
            ),
        ),
        grids=(_support_grid(supports, found),),
        plots=(
            draw_curves(
                "Adversarial rules",
                x,
                Axis("adversarial rules"),
                [Curve("ours", list(zip(supports, map(float, rules), strict=True)))],
            ),
            draw_curves(
                "Sensitive and derived entries",
                x,
                Axis("entries"),
                entries,
            ),
        ),
        remarks=(_describe_columns(adult(setting.folder)), _BATCHES, _LOT),
    )


_PRIVATE = 30_000


def _by_support(setting: Setting) -> tuple[list[float], list[Blanked]]:
    supports = [0.02, 0.05] if setting.quick else [0.01, 0.015, 0.02, 0.03, 0.04, 0.05]
    return supports, [_blanked(setting.folder, _PRIVATE, support) for support in supports]


def _support_grid(supports: list[float], found: list[Blanked]) -> Grid:
    rows = [{"support": support, **_row(one)} for support, one in zip(supports, found, strict=True)]
    return Grid("supports", "By support", frame_of(rows))


def figure_12(setting: Setting) -> Findings:
    """Running time by support: the runs of Figure 11."""
    supports, found = _by_support(setting)
    seconds = [one.seconds for one in found]
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
        grids=(_support_grid(supports, found),),
        plots=(plot,),
        remarks=("The same runs as Figure 11.",),
    )
