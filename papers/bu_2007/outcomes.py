# SPDX-License-Identifier: MIT
"""Figure 12 and Section 6.4: who goes with whom, and the paths of the tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.bu_2007.data import (
    CLASSES,
    MEDIANS,
    RADII,
    SEED,
    TARGET,
    WHOLE_PER_CENT,
    Attribute,
    MedianRisk,
    attributes,
    choose_max_mp,
    count_trials,
    covertype,
    require_all_radii,
    write_radius,
)
from papers.study import Assumption, Findings, Grid, Pair, Setting, Statement, compare, frame_of
from sfumato.measure.codes.tree_risk import PathRisk, path_risk
from sfumato.public.codes.coded_columns import CodedColumn, pair_coded_columns
from sfumato.public.codes.crack_functions import KnowledgePoints, fit_curve, spread_evenly
from sfumato.runtime.progress import report_progress

Subspace = tuple[int, ...]
SORTED_COLUMN: Subspace = (2,)
"""Attacked by sorting, where nothing is random."""
SUBSPACES: dict[Subspace, float | None] = {
    SORTED_COLUMN: 100,
    (4,): 16,
    (7,): 25,
    (10,): 18,
    (4, 7): 4,
    (4, 10): None,
    (7, 10): None,
    (4, 7, 10): 0.2,
    (2, 4): None,
    (2, 7): None,
    (2, 10): 15,
}
"""Attributes together, and the risk that the text gives, per cent."""
PATH_RADIUS, INSIDER = 0.05, 8
LONG = 7
PATHS = {1: (2, 1), 2: (4, 0), 3: (5, 0), 4: (9, 0), 5: (15, 0), 6: (24, 0), LONG: (1648, 0)}
"""Length: paths, cracks; the last row has all paths that are longer than 6."""
WEAKER = ((INSIDER, 0.02), (INSIDER, 0.01), (4, PATH_RADIUS), (2, PATH_RADIUS))
"""Knowledge points and radius of adversaries that know less than the insider, or guess less coarsely."""
LEAVES, LONGEST = 1707, 40
_LEARNER = (
    "The paper does not say how C4.5 was set. Ours has its defaults, cuts at boundary points, and raises no branches."
)
_TEXT = "The paper's table has the cracked path at length 1, its text at length 2."


def _crack_values(attribute: Attribute, number: int, radius: float, chance: np.random.Generator) -> Any:
    """For each value of an attribute, whether it is cracked: attribute 2 by sorting, the others by a polyline."""
    column, order = attribute.encode(choose_max_mp(), chance)
    if number == 2:
        guesses = spread_evenly(len(column.codes), column.domain[0], column.domain[-1])
    else:
        points = KnowledgePoints.draw(column, 4, 0, radius, 1, chance)
        guesses = fit_curve(points, column.codes, "polyline")[0]
    return column.flag_cracks(guesses, radius)[order]


def figure_12(setting: Setting) -> Findings:
    """Subspace association risk, an expert adversary: values count for one attribute, rows for several."""
    many, columns = count_trials(setting), attributes(setting.folder)
    medians = {radius: _measure_subspaces(columns, many, radius) for radius in RADII}
    grid = [
        {
            "attributes": ", ".join(map(str, subspace)),
            "radius": write_radius(radius),
            "median": risk.median,
            "low": risk.low,
            "high": risk.high,
            "theirs": None if (paper_result := SUBSPACES[subspace]) is None else paper_result / 100,
        }
        for radius, risks in medians.items()
        for subspace, risk in risks.items()
    ]
    percent = {radius: {s: 100 * risk.median for s, risk in risks.items()} for radius, risks in medians.items()}
    return Findings(
        (*state_figure_12(percent), *_state_words(percent)),
        (Grid("subspaces", "Cracked in the median trial", frame_of(grid)),),
        remarks=("One attribute: the share of its values (Definition 1). Several: the share of rows (Definition 2).",),
    )


def _measure_subspaces(columns: Sequence[Attribute], many: int, radius: float) -> dict[Subspace, MedianRisk]:
    chance = np.random.Generator(np.random.PCG64DXSM(SEED))
    shares: dict[Subspace, list[float]] = {subspace: [] for subspace in SUBSPACES}
    for trial in range(many):
        report_progress(f"trials of subspaces, radius {write_radius(radius)}", trial, many)
        values = {n: _crack_values(columns[n - 1], n, radius, chance) for n in (2, 4, 7, 10)}
        rows = {n: crack_flags[columns[n - 1].value_index] for n, crack_flags in values.items()}
        for subspace, risks in shares.items():
            crack_flags = (
                values[subspace[0]] if len(subspace) == 1 else np.logical_and.reduce([rows[n] for n in subspace])
            )
            risks.append(float(crack_flags.mean()))
    return {subspace: MedianRisk.of(risks) for subspace, risks in shares.items()}


def state_figure_12(percent: Mapping[float, Mapping[Subspace, float]]) -> tuple[Statement, ...]:
    """What Section 6.3 says, at every radius."""
    return require_all_radii({radius: _state_subspaces(risks) for radius, risks in percent.items()})


def _state_subspaces(percent: Mapping[Subspace, float]) -> tuple[Statement, ...]:
    """The numbers of the text, each against ours, that larger subspaces are cracked less, and less than the product."""
    joint_percent = {s: share for s, share in percent.items() if len(s) > 1 and 2 not in s}
    falls = sum(
        all(share < percent[part] for part in percent if set(part) < set(s)) for s, share in joint_percent.items()
    )
    pairs = [subspace for subspace in percent if len(subspace) == 2]
    excess_pairs = [f"{a} and {b}" for a, b in pairs if percent[a, b] >= percent[a,] * percent[b,] / 100]
    return (
        *(
            compare(
                f"{'Attributes' if len(subspace) > 1 else 'Attribute'} {' and '.join(map(str, subspace))}",
                [Pair(paper_result, percent[subspace])],
                MEDIANS if subspace != SORTED_COLUMN else WHOLE_PER_CENT,
                unit=" %",
                assumes=(CLASSES,),
            )
            for subspace, paper_result in SUBSPACES.items()
            if paper_result is not None
        ),
        Statement(
            "As the subspace becomes larger, the risk drops.",
            f"{falls} of {len(joint_percent)} subspaces of 4, 7 and 10 are cracked less than each of their parts",
            falls == len(joint_percent),
            assumes=(CLASSES,),
            cases=len(joint_percent),
        ),
        Statement(
            "risk(A, B) < risk(A) · risk(B)",
            f"{len(pairs) - len(excess_pairs)} of {len(pairs)} pairs"
            + (f", not {'; '.join(excess_pairs)}" if excess_pairs else ""),
            not excess_pairs,
            "The paper's own numbers do not give it for 4 and 7: 16 % of 25 % are the 4 % that it prints.",
            assumes=(CLASSES,),
            cases=len(pairs),
        ),
    )


def _state_words(percent: Mapping[float, Mapping[Subspace, float]]) -> tuple[Statement, ...]:
    """What Section 6.3 says without a number."""

    def name(subspaces: Sequence[Subspace]) -> str:
        return "; ".join(
            f"{write_radius(radius)}: "
            + ", ".join(f"{' and '.join(map(str, subspace))} {risks[subspace]:.2g} %" for subspace in subspaces)
            for radius, risks in percent.items()
        )

    return (
        Statement(
            "As the subspace becomes larger, the risk drops significantly.",
            name([(4,), (4, 7), (4, 7, 10)]),
            None,
            'The paper gives no number for "significantly".',
        ),
        Statement(
            "The risks of attribute 2 together with others can be acceptable.",
            name([(2, 4), (2, 7), (2, 10)]),
            None,
            'The paper gives no number for "acceptable"; two of the three bars have none in the text.',
        ),
    )


def paths(setting: Setting) -> Findings:
    """Section 6.4: an insider guesses the thresholds of a tree on codes."""
    tree = _grow_tree(setting)
    risks = tree.guess(count_trials(setting), INSIDER, PATH_RADIUS)
    weaker = {
        adversary: int(
            np.median([int(trial_risk.cracks.sum()) for trial_risk in tree.guess(count_trials(setting), *adversary)])
        )
        for adversary in WEAKER
    }
    counts = [int(many) for many in risks[0].paths]
    medians = [
        float(np.median([_count_cracks(trial_risk, length) for trial_risk in risks])) for length in range(len(counts))
    ]
    table = [
        {
            "length": length,
            "paths": many,
            "median_cracks": medians[length],
            "most_cracks": max(_count_cracks(trial_risk, length) for trial_risk in risks),
            "paths_theirs": PATHS[length][0] if length < LONG else None,
            "cracks_theirs": PATHS[length][1] if length < LONG else 0,
        }
        for length, many in enumerate(counts)
        if many
    ]
    crack_median = float(np.median([int(trial_risk.cracks.sum()) for trial_risk in risks]))
    return Findings(
        (*state_paths(counts, medians), _state_weaker(weaker, crack_median)),
        (
            Grid(
                "paths",
                f"Paths by length, and how many are cracked, radius {write_radius(PATH_RADIUS)}",
                frame_of(table),
            ),
        ),
        remarks=(_LEARNER, _TEXT),
    )


C45_SETTINGS = Assumption("C4.5's settings", ("its defaults",))


def state_paths(counts: Sequence[int], cracks: Sequence[float]) -> tuple[Statement, ...]:
    """The table of Section 6.4, number by number: a tree is not drawn at random, so that nothing is tolerated."""
    lengths = f"lengths 1 to {LONG - 1} and above"

    def sum_by_length(values: Sequence[float]) -> list[float]:
        return [*(values[length] if length < len(values) else 0 for length in range(1, LONG)), sum(values[LONG:])]

    assumptions = (CLASSES, C45_SETTINGS)
    paper_result = list(PATHS.values())
    return (
        compare(
            "Paths, and the length of the longest",
            [Pair(LEAVES, sum(counts)), Pair(LONGEST, len(counts) - 1)],
            reason=_LEARNER,
            assumes=assumptions,
        ),
        compare(
            f"Paths of {lengths}",
            [
                Pair(printed_pair[0], own_result)
                for printed_pair, own_result in zip(paper_result, sum_by_length(counts), strict=True)
            ],
            reason=_LEARNER,
            assumes=assumptions,
        ),
        compare(
            f"Cracked by an insider, radius 5 %: paths of {lengths}",
            [
                Pair(printed_pair[1], own_result)
                for printed_pair, own_result in zip(paper_result, sum_by_length(cracks), strict=True)
            ],
            reason=f"{_LEARNER} {_TEXT}",
            assumes=assumptions,
        ),
    )


def _state_weaker(weaker: Mapping[tuple[int, float], int], insider: float) -> Statement:
    medians_text = ", ".join(
        f"{many} by {points} points at {write_radius(radius)}" for (points, radius), many in weaker.items()
    )
    return Statement(
        "For a less powerful hacker, or a smaller radius, all the paths are protected.",
        f"Cracked in the median trial: {medians_text}; by the insider {insider:g}.",
        None,
        "Ours is not the paper's tree: it does not say how C4.5 was set.",
        assumes=(CLASSES, C45_SETTINGS),
    )


def _count_cracks(risk: PathRisk, length: int) -> int:
    return int(risk.cracks[length]) if length < len(risk.cracks) else 0


@dataclass(frozen=True, eq=False)
class _CodedTree:
    """A tree on codes, the tree it stands for, and the columns whose codes an adversary guesses."""

    provider: Any
    plain_tree: Any
    columns: Sequence[CodedColumn]

    def guess(self, trials: int, points: int, radius: float) -> list[PathRisk]:
        """In each trial, the paths that new knowledge points crack."""
        chance = np.random.Generator(np.random.PCG64DXSM(SEED))
        widths, risks = [column.width for column in self.columns], []
        for trial in range(trials):
            report_progress(f"trials of paths, {points} points, radius {write_radius(radius)}", trial, trials)
            guess = [_reader(KnowledgePoints.draw(column, points, 0, radius, 1, chance)) for column in self.columns]
            risks.append(path_risk(self.provider, self.plain_tree, guess, widths, radius))
        return risks


def _grow_tree(setting: Setting) -> _CodedTree:
    """One tree on codes of one key."""
    from sfumato.mine.codes.c45 import MIN_ROWS, train_c45
    from sfumato.mine.codes.decoded_tree import decode_tree
    from sfumato.randomness import Randomness

    table = covertype(setting.folder)
    method = choose_max_mp()
    key = method.new_key(table, Randomness.seeded(SEED))
    release = method.protect(table, key)
    provider = train_c45(release.data, TARGET, min_rows=50 if setting.quick else MIN_ROWS)
    coded_table = release.data.replace_frame(release.data.frame.drop(TARGET))
    return _CodedTree(
        provider, decode_tree(provider, key, table), pair_coded_columns(coded_table, table, release.details)
    )


def _reader(points: KnowledgePoints) -> Callable[[Any], Any]:
    return lambda codes: fit_curve(points, codes, "polyline")[0]
