# SPDX-License-Identifier: MIT
"""Figures 3 to 9: adversarial rules, sensitive entries and blanking on tables of the Zipf generator.

The scan of the figures holds no numbers that can be read, so each curve is compared with what the text says about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from papers.aggarwal_2006.runs import BlankingRun, MiningRun, blank, mine, private_share, synthetic
from papers.plots import Axis, Curve, StatedPoint, draw_curves
from papers.study import EXACT, Findings, Grid, Pair, Setting, Statement, Tolerance, compare, frame_of, require_all

SEED, PRIVATE_SEED = 2006, 1
"""Of the generator, and of the lot that draws the private entries; repeated runs count on from them."""
ROWS, COLUMNS, CARDINALITY, FACTOR, SHARE = 10_000, 10, 10, 2.0, 0.01
SENSITIVE_THEIRS, AT_ONE, AT_THIRTY = 61_964, 545, 1_320

_PRIOR = (
    "At Zipf factor 2 and 10 values, the commonest value has 64.5 % of a column, so that many rules at δ = 60 % only "
    "restate how common it is."
)
_RULES = Axis("adversarial rules")
_SENSITIVE = Axis("sensitive entries")


def _mine_synthetic(
    confidence: float,
    support: float,
    *,
    rows: int = ROWS,
    share: float = SHARE,
    factor: float = FACTOR,
    columns: int = COLUMNS,
    cardinality: int = CARDINALITY,
    table: int = 0,
) -> MiningRun:
    """One run of FAiR; the defaults are the paper's. `table` counts on from the first seeds."""
    data = synthetic(rows, columns, cardinality, factor, SEED + table)
    return mine(data, private_share(data, share, PRIVATE_SEED + table), confidence, support)


def _rows(xs: Sequence[float], runs: Sequence[MiningRun], name: str) -> list[dict[str, Any]]:
    return [
        {name: x, "rules": run.rules, "sensitive_entries": run.sensitive, "mining_seconds": round(run.seconds, 3)}
        for x, run in zip(xs, runs, strict=True)
    ]


def _two(xs: Sequence[float], runs: Sequence[MiningRun], x: Axis, *, log: bool = False) -> tuple[Any, Any]:
    """Rules and sensitive entries, each in its own picture: their scales have nothing to do with each other."""
    rules = [(x_value, float(run.rules)) for x_value, run in zip(xs, runs, strict=True)]
    sensitive = [(x_value, float(run.sensitive)) for x_value, run in zip(xs, runs, strict=True)]
    return (
        draw_curves("Adversarial rules", x, Axis(_RULES.title, log), [Curve("ours", rules)]),
        draw_curves("Sensitive entries", x, _SENSITIVE, [Curve("ours", sensitive)]),
    )


def is_falling(values: Sequence[float]) -> bool:
    """Whether every value is below the one before it."""
    return all(follower < earlier for earlier, follower in pairwise(values))


def measure_bend(xs: Sequence[float], ys: Sequence[float]) -> float:
    """How far a line is from the best straight one, as a share of its range."""
    line = np.polynomial.Polynomial.fit(xs, ys, 1)
    return float(np.abs(line(np.asarray(xs)) - ys).max()) / (max(ys) - min(ys))


def tolerate_one_more(own_result: Sequence[float]) -> Tolerance:
    """Where the paper's one table would lie if it were one more of ours: a prediction interval of 95 %."""
    from scipy.stats import t

    count = len(own_result)
    if count < 2:
        return EXACT
    reach = float(t.ppf(0.975, count - 1)) * float(np.std(own_result, ddof=1)) * float(np.sqrt(1 + 1 / count))
    return Tolerance(reach, f"where one more table drawn at random would be, 95 % sure, from our {count}")


def _run_of(numbers: Sequence[float]) -> str:
    return " → ".join(f"{number:,.0f}" for number in numbers)


def figure_3(setting: Setting) -> Findings:
    """Rules by Zipf factor, for several numbers of columns and values."""
    factors = [1.0, 2.0, 3.0, 5.0] if setting.quick else [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
    shapes = [(10, 10), (8, 10)] if setting.quick else [(10, 10), (8, 10), (12, 10), (10, 20)]
    names = [f"{columns} columns of {cardinality} values" for columns, cardinality in shapes]
    runs_by_table = {
        name: [
            _mine_synthetic(0.6, 0.0005, factor=factor, columns=shape[0], cardinality=shape[1]) for factor in factors
        ]
        for name, shape in zip(names, shapes, strict=True)
    }
    x = Axis("Zipf factor")
    lines = {name: list(zip(factors, many, strict=True)) for name, many in runs_by_table.items()}
    rules = [
        Curve(name, [(zipf_factor, float(run.rules)) for zipf_factor, run in line]) for name, line in lines.items()
    ]
    sensitive = [
        Curve(name, [(zipf_factor, float(run.sensitive)) for zipf_factor, run in line]) for name, line in lines.items()
    ]
    grid = [
        {"table": name, **row} for name, many in runs_by_table.items() for row in _rows(factors, many, "zipf_factor")
    ]
    return Findings(
        statements=_of_figure_3(factors, runs_by_table, names),
        grids=(Grid("rules", "Rules and sensitive entries by Zipf factor", frame_of(grid)),),
        remarks=(_PRIOR,),
        plots=(
            draw_curves("Adversarial rules", x, Axis(_RULES.title, True), rules),
            draw_curves("Sensitive entries", x, _SENSITIVE, sensitive),
        ),
    )


def _of_figure_3(
    factors: Sequence[float], runs_by_table: dict[str, list[MiningRun]], names: Sequence[str]
) -> tuple[Statement, ...]:
    """What the text says, for every shape and at every factor."""
    statements = [
        require_all(_SHAPE, {name: _state_peak(factors, [run.rules for run in runs_by_table[name]]) for name in names}),
        require_all(
            _SHAPE,
            {name: _state_sensitive(factors, [run.sensitive for run in runs_by_table[name]], name) for name in names},
        ),
        _state_more(
            "The number of rules increases with dimensionality.",
            factors,
            [runs_by_table[name] for name in _by_columns(names)],
        ),
    ]
    if len(names) > 3:
        statements.append(
            _state_more(
                "It reduces with increasing cardinality.", factors, [runs_by_table[names[3]], runs_by_table[names[0]]]
            )
        )
    return tuple(statements)


_SHAPE = "the number of columns and values"


def _by_columns(names: Sequence[str]) -> list[str]:
    """The shapes of ten values, fewest columns first."""
    return [names[1], names[0], *names[2:3]]


def _state_peak(factors: Sequence[float], rules: Sequence[int]) -> Statement:
    peak = factors[int(np.argmax(rules))]
    tail = [many for factor, many in zip(factors, rules, strict=True) if factor >= 3]
    return Statement(
        "Many rules for Zipf factors 2 to 3, fewer towards 5.",
        f"most at {peak:g} ({max(rules):,}); from 3 to 5 {_run_of(tail)}",
        2 <= peak <= 3 and is_falling(tail),
    )


def _state_sensitive(factors: Sequence[float], sensitive: Sequence[int], name: str) -> Statement:
    high = [many for factor, many in zip(factors, sensitive, strict=True) if factor >= 2]
    public_entries = round((1 - SHARE) * ROWS * int(name.split(maxsplit=1)[0]))
    return Statement(
        "Sensitive entries do not drop with high Zipf factors, and are bounded by the entries published.",
        f"from 2 to 5 {_run_of(high)} of {public_entries:,}",
        high == sorted(high) and max(sensitive) <= public_entries,
        "Where nearly every published entry is sensitive, chance moves the rest up and down.",
    )


def _state_more(paper_result: str, factors: Sequence[float], run_groups: Sequence[Sequence[MiningRun]]) -> Statement:
    """Whether there are more rules in every later shape, at every factor."""
    more = [
        factor
        for index, factor in enumerate(factors)
        if all(group[index].rules < other[index].rules for group, other in pairwise(run_groups))
    ]
    sums = [sum(run.rules for run in many) for many in run_groups]
    return Statement(
        paper_result,
        f"So at {len(more)} of {len(factors)} Zipf factors; over all of them {_run_of(sums)} rules.",
        len(more) == len(factors),
        f"Not at {', '.join(f'{factor:g}' for factor in factors if factor not in more)}.",
        cases=len(factors),
    )


def figure_4(setting: Setting) -> Findings:
    """Rules and sensitive entries by support threshold."""
    supports = [0.0005, 0.001, 0.005] if setting.quick else [0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01]
    runs = [_mine_synthetic(0.6, support) for support in supports]
    rules, sensitive = [run.rules for run in runs], [run.sensitive for run in runs]
    steps = [_factor_a_step(supports, rules, index) for index in range(len(supports) - 1)][::-1]
    return Findings(
        statements=(
            Statement(
                "Rules increase as the support threshold goes down.",
                f"From the largest threshold to the smallest: {_run_of(rules[::-1])}.",
                is_falling(rules),
            ),
            _judge_line(
                "They increase exponentially.",
                supports,
                [float(np.log(many)) for many in rules],
                f"A tenth of a percent less gives {', '.join(f'{step:.2f}' for step in steps)} times the rules, from "
                "the largest threshold to the smallest; on a logarithmic scale",
                "The fewer rows a rule needs, the more a step adds.",
            ),
            _judge_line(
                "Sensitive entries change linearly with the threshold.",
                supports,
                sensitive,
                f"{_run_of(sensitive[::-1])};",
                "Nearly every entry is sensitive at these thresholds, so that the line flattens.",
            ),
        ),
        grids=(Grid("supports", "Rules and sensitive entries by support", frame_of(_rows(supports, runs, "support"))),),
        remarks=(_PRIOR,),
        plots=_two(supports, runs, Axis("least support, share of rows", percent=True), log=True),
    )


STRAIGHT = Tolerance(0.1, "of the curve's height; less is hard to see in a printed curve, and no number is printed")


def _judge_line(paper_result: str, xs: Sequence[float], ys: Sequence[float], values: str, reason: str) -> Statement:
    """Whether a curve is straight, over all its points."""
    bend = measure_bend(xs, ys)
    own_result = f"{values} the best straight line is off by {bend:.0%} of the range at most."
    return Statement(paper_result, own_result, bend <= STRAIGHT.size, reason, tolerance=STRAIGHT.describe(""))


def _factor_a_step(supports: Sequence[float], rules: Sequence[int], index: int) -> float:
    """How many times the rules there are for each tenth of a percent of support less."""
    tenths = (supports[index + 1] - supports[index]) * 1000
    return float((rules[index] / max(rules[index + 1], 1)) ** (1 / tenths))


def figure_5(setting: Setting) -> Findings:
    """Rules and sensitive entries by confidence threshold."""
    confidences = [0.6, 0.8, 1.0] if setting.quick else [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]
    runs = [_mine_synthetic(confidence, 0.0005) for confidence in confidences]
    rules, sensitive = [run.rules for run in runs], [run.sensitive for run in runs]
    row_shares = [100 * runs[-1].rows / ROWS]
    row_shares += [
        100 * _mine_synthetic(1.0, 0.0005, table=table_number).rows / ROWS
        for table_number in range(1, 1 if setting.quick else TABLES)
    ]
    return Findings(
        statements=(
            Statement(
                "A lower confidence threshold introduces more rules and sensitive entries.",
                f"From 100 % down to 60 %: rules {_run_of(rules[::-1])}; sensitive entries {_run_of(sensitive[::-1])}.",
                is_falling(rules) and is_falling(sensitive),
            ),
            Statement("There are rules of confidence 100 %.", f"{rules[-1]:,} rules.", rules[-1] > 0),
            compare(
                "They affect about this many of the tuples",
                [Pair(20, _mean(row_shares))],
                tolerate_one_more(row_shares),
                unit=" %",
                reason="Ours counts rows that hold an entry such a rule rests on: "
                f"{min(row_shares):.1f} to {max(row_shares):.1f} % in {len(row_shares)} tables.",
            ),
        ),
        grids=(
            Grid(
                "confidences",
                "Rules and sensitive entries by confidence",
                frame_of(_rows(confidences, runs, "confidence")),
            ),
        ),
        remarks=(_PRIOR,),
        plots=_two(confidences, runs, Axis("least confidence", percent=True, zero=False), log=True),
    )


def figure_6(setting: Setting) -> Findings:
    """Rules by the size of the directly private set."""
    shares = [0.001, 0.01, 0.03, 0.05] if setting.quick else [0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05]
    runs = [_mine_synthetic(0.6, 0.0005, share=share) for share in shares]
    rules = [run.rules for run in runs]
    sizes = [round(share * ROWS * COLUMNS) for share in shares]
    return Findings(
        statements=(
            Statement(
                "Rules increase with the directly private set.",
                f"{_run_of(rules)} for {_run_of(sizes)} private entries.",
                is_falling(rules[::-1]),
            ),
            _judge_line(
                "They increase linearly with it.",
                sizes,
                rules,
                "Over all sizes",
                "More private entries find the rules that fewer have found, so that the line flattens.",
            ),
        ),
        remarks=(_PRIOR,),
        grids=(Grid("sizes", "Rules by private entries", frame_of(_rows(sizes, runs, "private_entries"))),),
        plots=_two(sizes, runs, Axis("private entries")),
    )


BLANKING_FACTORS = (1, 5, 10, 20, 30, 50, 100)
"""Blanking factors of Figures 7 and 8."""
TABLES = 5
"""Tables over which they take the mean."""


@cache
def _run_blankings(quick: bool) -> dict[int, list[BlankingRun]]:
    """|K| by blanking factor; every factor on the same tables, one for each seed of the generator."""
    runs_by_factor: dict[int, list[BlankingRun]] = {}
    tables = [
        synthetic(ROWS, COLUMNS, CARDINALITY, FACTOR, SEED + table_number)
        for table_number in range(1 if quick else TABLES)
    ]
    for factor in (1, 30) if quick else BLANKING_FACTORS:
        runs_by_factor[factor] = [
            blank(table, private_share(table, SHARE, PRIVATE_SEED + table_number), 0.8, 0.001, factor)
            for table_number, table in enumerate(tables)
        ]
    return runs_by_factor


def _mean(values: Sequence[float]) -> float:
    return float(sum(values)) / len(values)


def _blanking_grid(runs_by_factor: dict[int, list[BlankingRun]]) -> Grid:
    paper_numbers = {1: (AT_ONE, 1988.0), 30: (AT_THIRTY, 157.0)}
    rows = [
        {
            "blanking_factor": factor,
            "theirs": paper_numbers.get(factor, (None, None))[0],
            **{f"ours_seed_{SEED + table_number}": run.as_published for table_number, run in enumerate(many)},
            "ours_mean": round(_mean([run.as_published for run in many]), 1),
            "rules_left_mean": round(_mean([run.leftover_rules for run in many]), 1),
            "until_safe_mean": round(_mean([run.derived for run in many]), 1),
            "their_seconds": paper_numbers.get(factor, (None, None))[1],
            "our_seconds": round(_mean([run.seconds_as_published for run in many]), 3),
            "until_safe_seconds": round(_mean([run.seconds for run in many]), 3),
        }
        for factor, many in runs_by_factor.items()
    ]
    remark = (
        "The paper stops when the rules that were mined at first are gone, and so does ours beside it (grades_once). "
        "Rules left: what mining finds then. Until safe: the entries it takes until mining finds no rule at all."
    )
    return Grid("blanking", "Entries blanked, and seconds, by blanking factor", frame_of(rows), remark)


def figure_7(setting: Setting) -> Findings:
    """The size of the derived private set by blanking factor."""
    runs_by_factor = _run_blankings(setting.quick)
    sizes = {factor: _mean([run.as_published for run in many]) for factor, many in runs_by_factor.items()}
    sensitive = [float(run.sensitive) for run in runs_by_factor[1]]
    entry_counts = {factor: [float(run.as_published) for run in runs_by_factor[factor]] for factor in (1, 30)}
    x = Axis("entries blanked at a time", log=True)
    plot = draw_curves(
        "Derived private entries",
        x,
        Axis("entries blanked"),
        [Curve("ours", list(sizes.items()))],
        [StatedPoint(1, AT_ONE, f"theirs: {AT_ONE}"), StatedPoint(30, AT_THIRTY, f"theirs: {AT_THIRTY:,}")],
    )
    return Findings(
        statements=(
            _compare_mean("Sensitive entries", SENSITIVE_THEIRS, sensitive),
            _compare_mean("Entries blanked one at a time (546 in another place of the text)", AT_ONE, entry_counts[1]),
            Statement(
                "Less than 1 % of the sensitive entries.",
                f"{sizes[1] / _mean(sensitive):.2%}.",
                sizes[1] < 0.01 * _mean(sensitive),
            ),
            _compare_mean("Entries blanked 30 at a time", AT_THIRTY, entry_counts[30]),
            Statement(
                "The fewer entries are blanked in a round, the smaller the derived set.",
                _run_of(list(sizes.values())) + ".",
                is_falling([*sizes.values()][::-1]),
            ),
            _judge_privacy(runs_by_factor[1]),
        ),
        grids=(_blanking_grid(runs_by_factor),),
        plots=(plot,),
    )


def _judge_privacy(runs: Sequence[BlankingRun]) -> Statement:
    """Whether the printed algorithm keeps what Theorem 1 promises."""
    return Statement(
        "Privacy is preserved by blanking only these entries.",
        f"One at a time, {_run_of([run.leftover_rules for run in runs])} adversarial rules are left; until none is, "
        f"it takes {_run_of([run.derived for run in runs])} entries.",
        not any(run.leftover_rules for run in runs),
        "Blanking creates rules that the paper does not mine for.",
    )


def _compare_mean(quantity: str, paper_result: float, means: Sequence[float]) -> Statement:
    """The mean of our tables against the one table of the paper."""
    reason = f"Tables are drawn at random, and the paper reports one; ours have {min(means):,.0f} to {max(means):,.0f}."
    return compare(quantity, [Pair(paper_result, _mean(means))], tolerate_one_more(means), reason=reason)


def figure_8(setting: Setting) -> Findings:
    """Running time by blanking factor: the runs of Figure 7."""
    runs_by_factor = _run_blankings(setting.quick)
    seconds = {factor: _mean([run.seconds_as_published for run in many]) for factor, many in runs_by_factor.items()}
    x = Axis("entries blanked at a time", log=True)
    plot = draw_curves(
        "Seconds",
        x,
        Axis("seconds", log=True),
        [Curve("ours", list(seconds.items()))],
        [StatedPoint(1, 1988, "theirs: 1,988 s"), StatedPoint(30, 157, "theirs: 157 s")],
    )
    return Findings(
        statements=(
            Statement(
                "1,988 s at a blanking factor of 1, 157 s at 30 (a laptop of 2004).",
                f"{seconds[1]:.2f} s and {seconds[30]:.2f} s: {seconds[1] / seconds[30]:.1f} times as long one at a "
                f"time, theirs {1988 / 157:.1f} times.",
                None,
                "Another machine and another implementation.",
            ),
        ),
        grids=(_blanking_grid(runs_by_factor),),
        plots=(plot,),
        remarks=("The same runs as Figure 7: mining once, blanking, and counting the rules that are left.",),
    )


def figure_9(setting: Setting) -> Findings:
    """Rules and sensitive entries by the size of the table."""
    sizes = [10_000, 20_000, 40_000] if setting.quick else list(range(10_000, 100_001, 10_000))
    runs = [_mine_synthetic(0.8, 0.0005, rows=rows) for rows in sizes]
    rules = [run.rules for run in runs]
    return Findings(
        statements=(
            Statement("The number of rules decreases as the table grows.", f"{_run_of(rules)}.", is_falling(rules)),
            Statement(
                "Mining takes less than 5 s for 10,000 tuples, and grows linearly with the table.",
                f"{runs[0].seconds:.2f} s for 10,000 rows, {runs[-1].seconds:.2f} s for {sizes[-1]:,}.",
                None,
                "Another machine and another implementation.",
            ),
        ),
        grids=(Grid("sizes", "Rules and sensitive entries by rows", frame_of(_rows(sizes, runs, "rows"))),),
        plots=_two(sizes, runs, Axis("rows")),
    )
