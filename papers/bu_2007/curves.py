# SPDX-License-Identifier: MIT
"""Figures 9 and 10 and the table of Section 6.2.2: curve fitting.

Every trial draws a new key and new knowledge points. The paper tries radii of 1, 2 and 5 % and does not say which of
them a figure shows. Every statement is judged at all three; pictures show 2 %, which comes nearest to Figure 11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from papers.bu_2007.data import (
    CLASSES,
    DRAWN_RADIUS,
    MEDIANS,
    RADII,
    SEED,
    Attribute,
    MedianRisk,
    adult,
    attributes,
    choose_bp,
    choose_max_mp,
    count_trials,
    domain_risks,
    one_curve,
    require_all_radii,
    wdbc,
    write_radius,
)
from papers.plots import Axis, draw_curves
from papers.plots import Curve as Line
from papers.study import Findings, Grid, Pair, Setting, Statement, compare, frame_of
from sfumato.protect.codes.encode_for_trees import EncodeForTrees
from sfumato.protect.codes.tree_codes import Curve
from sfumato.public.codes.crack_functions import FITS, Fit, KnowledgePoints, fit_curve
from sfumato.runtime.progress import report_progress

PIECES = 20
TABLE_6_2_2: dict[tuple[Fit, Curve], float] = {
    ("regression", "polynomial"): 10.39,
    ("regression", "log"): 11.53,
    ("regression", "sqrt_log"): 10.85,
    ("spline", "polynomial"): 14.51,
    ("spline", "log"): 14.8,
    ("spline", "sqrt_log"): 15.28,
    ("polyline", "polynomial"): 15.55,
    ("polyline", "log"): 18.05,
    ("polyline", "sqrt_log"): 18.03,
}
"""Attribute 10, ChooseMaxMP, expert: per cent."""
BARS = ("no breakpoint, expert", "ChooseBP, expert", "ChooseMaxMP, expert", "ChooseMaxMP, knowledgeable")
IGNORANT = "ChooseMaxMP, ignorant"
BAD_POINT = "ChooseMaxMP, three good points and a bad one"
Bars = Mapping[str, MedianRisk]


def count_pieces(attribute: Attribute) -> int:
    """How many pieces ChooseMaxMP makes; ChooseBP gets as many, and both at least twenty."""
    return max(PIECES, len(choose_max_mp().draw_key(attribute.ranks, np.random.default_rng(SEED)).starts))


def _measure_bars(attribute: Attribute, many: int, radius: float) -> dict[str, MedianRisk]:
    """The four bars of Figure 9, and the ignorant adversary of its text."""
    pure = choose_max_mp()
    adversaries: tuple[tuple[str, EncodeForTrees, int], ...] = (
        (BARS[0], one_curve(), 4),
        (BARS[1], choose_bp(count_pieces(attribute)), 4),
        (BARS[2], pure, 4),
        (BARS[3], pure, 2),
        (IGNORANT, pure, 0),
    )
    return {
        name: MedianRisk.of(domain_risks(attribute, method, many, radius, good=n)) for name, method, n in adversaries
    }


def figure_9(setting: Setting) -> Findings:
    """Domain disclosure of all ten attributes by a polyline."""
    many, columns = count_trials(setting), attributes(setting.folder)
    bars_by_radius = {radius: [_measure_bars(column, many, radius) for column in columns] for radius in RADII}
    bad_point_risks = {
        radius: MedianRisk.of(domain_risks(columns[-1], choose_max_mp(), many, radius, bad=1, good=3))
        for radius in RADII
    }
    rows = [
        {"attribute": number, "radius": radius, "adversary": name, "median": r.median, "low": r.low, "high": r.high}
        for radius, bars in bars_by_radius.items()
        for number, attribute_bars in enumerate(bars, 1)
        for name, r in (attribute_bars | ({BAD_POINT: bad_point_risks[radius]} if number == len(bars) else {})).items()
    ]
    lines = [
        Line(
            name,
            [
                (number, attribute_bars[name].median)
                for number, attribute_bars in enumerate(bars_by_radius[DRAWN_RADIUS], 1)
            ],
        )
        for name in BARS
    ]
    title = f"Domain disclosure by attribute, radius {write_radius(DRAWN_RADIUS)}"
    picture = draw_curves(title, Axis("attribute"), Axis("values cracked", percent=True), lines)
    pieces = ", ".join(str(count_pieces(column)) for column in columns)
    return Findings(
        (*state_figure_9(bars_by_radius, bad_point_risks), _state_significance(bars_by_radius)),
        (Grid("bars", "Median of the trials with a 95 % interval", frame_of(rows)),),
        (picture,),
        (
            f"Pieces of ChooseMaxMP, and of ChooseBP beside it, by attribute: {pieces}.",
            "Ours draws the widths of pieces without looking at their content.",
        ),
    )


def state_figure_9(
    bars_by_radius: Mapping[float, Sequence[Bars]], bad_point_risks: Mapping[float, MedianRisk]
) -> tuple[Statement, ...]:
    """What the text says about Figure 9, at every radius."""
    return require_all_radii(
        {radius: _state_bars(bars, bad_point_risks[radius]) for radius, bars in bars_by_radius.items()}
    )


def _state_bars(bars: Sequence[Bars], bad_point_risk: MedianRisk) -> tuple[Statement, ...]:
    """The same at one radius; `spoiled` is attribute 10 with a bad point."""
    curve_only, bp, mp, two = BARS
    first, second, last = bars[0], bars[1], bars[-1]
    highest_medians = {bar: max(attribute[bar].median for attribute in bars) for bar in (two, IGNORANT)}
    return (
        _bound("Attribute 1 without breakpoints: over 65 %", first[curve_only].median, lower_limit=0.65),
        compare(
            "Attribute 1 with breakpoints", [Pair(30, 100 * first[bp].median)], MEDIANS, unit=" %", assumes=(CLASSES,)
        ),
        _bound("Attribute 1 with pure pieces: below 10 %", first[mp].median, upper_limit=0.1),
        _count_lower(
            "Breakpoints lower the risk of every attribute.",
            bars,
            bp,
            curve_only,
            "ChooseBP gets as many pieces as ChooseMaxMP. Hundreds of small curves add up to nearly a line.",
        ),
        _bound("Attribute 2 with breakpoints: below 25 %", second[bp].median, upper_limit=0.25),
        _count_lower("The risk is lower for an adversary who knows less, for all attributes.", bars, two, mp),
        _bound("A knowledgeable adversary, all attributes: below 15 %", highest_medians[two], upper_limit=0.15),
        _bound("An ignorant adversary, all attributes: below 5 %", highest_medians[IGNORANT], upper_limit=0.05),
        compare(
            "Attribute 10, four good points, and one of them bad",
            [Pair(20, 100 * last[mp].median), Pair(10, 100 * bad_point_risk.median)],
            MEDIANS,
            unit=" %",
            reason="Nor does it say how a bad point is drawn.",
            assumes=(CLASSES,),
        ),
    )


def _bound(paper_result: str, risk: float, *, lower_limit: float = 0.0, upper_limit: float = 1.0) -> Statement:
    return Statement(paper_result, f"{100 * risk:.1f} %", lower_limit < risk < upper_limit, assumes=(CLASSES,))


def _count_lower(paper_result: str, bars: Sequence[Bars], low: str, high: str, reason: str = "") -> Statement:
    """Whether one bar is below another for every attribute."""
    lower = sum(attribute_bars[low].median < attribute_bars[high].median for attribute_bars in bars)
    return Statement(
        paper_result, f"{lower} of {len(bars)}", lower == len(bars), reason, assumes=(CLASSES,), cases=len(bars)
    )


def _state_significance(bars_by_radius: Mapping[float, Sequence[Bars]]) -> Statement:
    """How much less is cracked by who knows less; the paper has a word for it."""
    expert, two = BARS[2:]
    shares = {
        radius: [
            attribute_bars[two].median / attribute_bars[expert].median
            for attribute_bars in bars
            if attribute_bars[expert].median
        ]
        for radius, bars in bars_by_radius.items()
    }
    return Statement(
        "The risk is significantly lower for an adversary who knows less.",
        "; ".join(
            f"{write_radius(radius)}: two points crack {min(ratios):.2f} to {max(ratios):.2f} times what four do"
            for radius, ratios in shares.items()
        ),
        None,
        'The paper gives no number for "significantly".',
    )


def figure_10(setting: Setting) -> Findings:
    """Three curves and three functions on attribute 10, and what several curves crack."""
    many, tenth = count_trials(setting), attributes(setting.folder)[-1]
    rows = []
    for (fit, curve), paper_result in TABLE_6_2_2.items():
        risks = {
            radius: MedianRisk.of(domain_risks(tenth, choose_max_mp((curve,)), many, radius, fit)) for radius in RADII
        }
        own_result = {_name_column(radius): round(100 * risk.median, 2) for radius, risk in risks.items()}
        rows.append({"attack": fit, "function": curve, "theirs": paper_result, **own_result})
    venn = {radius: _measure_venn(tenth, many, radius) for radius in RADII}
    parts = [
        {"cracked_by": name, "theirs": VENN.get(name), **{_name_column(radius): venn[radius][name] for radius in RADII}}
        for name in venn[DRAWN_RADIUS]
    ]
    return Findings(
        (*state_table_6_2_2(rows), *state_figure_10(venn)),
        (
            Grid("fits", "Cracked in the median trial, per cent", frame_of(rows)),
            Grid("venn", "Parts of the Venn diagram and their sums in the median trial, per cent, √log",
                 frame_of(parts)),
        ),
    )  # fmt: skip


def _name_column(radius: float) -> str:
    return f"radius_{radius:.0%}"


def state_table_6_2_2(rows: Sequence[Mapping[str, str | float]]) -> tuple[Statement, ...]:
    """The table of Section 6.2.2 at every radius: nine numbers, and that the polyline is the worst."""
    return require_all_radii({radius: _state_fits(rows, _name_column(radius)) for radius in RADII})


def _state_fits(rows: Sequence[Mapping[str, str | float]], column: str) -> tuple[Statement, ...]:
    functions = sorted({str(row["function"]) for row in rows})
    worst = [
        max((row for row in rows if row["function"] == function), key=lambda row: float(row[column]))["attack"]
        for function in functions
    ]
    return (
        compare(
            "Cracked by regression, spline and polyline, each for polynomial, log and √log",
            [Pair(float(row["theirs"]), float(row[column])) for row in rows],
            MEDIANS,
            unit=" %",
            assumes=(CLASSES,),
        ),
        Statement(
            "The polyline is the worst of the three, for each function.",
            ", ".join(f"{function} {fit}" for function, fit in zip(functions, worst, strict=True)),
            set(worst) == {"polyline"},
            assumes=(CLASSES,),
        ),
    )


VENN = {"polyline": 3, "polyline and spline": 9, "any": 25, "expected": 12.5, "two or more": 16}
"""Two parts of Figure 10 and three sums that are in the text, per cent."""


def state_figure_10(venn: Mapping[float, Mapping[str, float]]) -> tuple[Statement, ...]:
    """The Venn diagram at every radius."""
    claim = (
        "Cracked by the polyline alone, by polyline and spline only, by any of the three, as an expected value, and by "
        "two or more"
    )
    return require_all_radii(
        {
            radius: (
                compare(
                    claim,
                    [Pair(paper_result, parts[name]) for name, paper_result in VENN.items()],
                    MEDIANS,
                    unit=" %",
                    reason="The parts follow from the risks of the table of Section 6.2.2.",
                    assumes=(CLASSES,),
                ),
            )
            for radius, parts in venn.items()
        }
    )


def _measure_venn(attribute: Attribute, many: int, radius: float) -> dict[str, float]:
    """Per cent of values that exactly some of the curves crack, and the sums of the text, in the median trial."""
    chance = np.random.Generator(np.random.PCG64DXSM(SEED))
    parts = np.zeros((many, 2 ** len(FITS)))
    for trial in range(many):
        report_progress("trials of three curves", trial, many)
        column, _ = attribute.encode(choose_max_mp(), chance)
        points = KnowledgePoints.draw(column, 4, 0, radius, 1, chance)
        crack_masks = sum(
            column.flag_cracks(fit_curve(points, column.codes, fit)[0], radius) << bit for bit, fit in enumerate(FITS)
        )
        parts[trial] = 100 * np.bincount(crack_masks, minlength=parts.shape[1]) / len(column.codes)
    names = [" and ".join(fit for bit, fit in enumerate(FITS) if part >> bit & 1) for part in range(1, parts.shape[1])]
    curves = np.array([name.count(" and ") + 1 for name in names])
    sums = {"any": curves > 0, "expected": curves / len(FITS), "two or more": curves > 1}
    medians = dict(zip(names, np.median(parts[:, 1:], axis=0), strict=True))
    medians |= {name: np.median(parts[:, 1:] @ weights) for name, weights in sums.items()}
    return {name: round(float(value), 2) for name, value in medians.items()}


def other_data_curves(setting: Setting) -> Findings:
    """The bars of Figure 9 on WDBC and Adult's columns of numbers."""
    many = max(count_trials(setting) // 5, 10)
    rows: list[dict[str, str | float]] = []
    for table in (wdbc(setting.folder), adult(setting.folder)):
        for name in table.frame.columns[:-1][: 6 if setting.quick else None]:
            bars = _measure_bars(Attribute.of(table, name), many, DRAWN_RADIUS)
            rows.append({"data": table.source, "column": name, **{bar: round(r.median, 4) for bar, r in bars.items()}})
    lower = sum(float(row[BARS[2]]) <= float(row[BARS[0]]) for row in rows)
    return Findings(
        (
            Statement(
                "Results on Covertype are representative of those on census income and WDBC.",
                f"ChooseMaxMP is cracked no more than one curve in {lower} of {len(rows)} columns.",
                None,
                "The paper prints no result on these data.",
            ),
        ),
        (
            Grid(
                "bars",
                f"Median share of values cracked by a polyline, radius {write_radius(DRAWN_RADIUS)}",
                frame_of(rows),
            ),
        ),
    )
