# SPDX-License-Identifier: MIT
"""Figure 12 and Section 6.4: who goes with whom, and the paths of the tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from papers.bu_2007.curves import TOLERANCE
from papers.bu_2007.data import (
    RADIUS,
    SEED,
    TARGET,
    Attribute,
    MedianRisk,
    attributes,
    choose_max_mp,
    count_trials,
    covertype,
)
from papers.study import Findings, Grid, Pair, Setting, Statement, compare, frame_of
from sfumato.measure.codes.tree_risk import PathRisk, path_risk
from sfumato.mine.codes.crack_functions import KnowledgePoints, fit_curve, spread_evenly
from sfumato.progress import report_progress

SUBSPACES: dict[tuple[int, ...], float | None] = {
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
PATHS = {1: (2, 1), 2: (4, 0), 3: (5, 0), 4: (9, 0), 5: (15, 0), 6: (24, 0)}
"""Length: paths, cracks. 1,648 longer ones, none cracked."""
LEAVES, LONGEST = 1707, 40
_LEARNER = (
    "The paper does not say how C4.5 was set. Ours has its defaults, cuts at boundary points, and raises no branches."
)
_TEXT = "The paper's table has the cracked path at length 1, its text at length 2."


def _crack_values(attribute: Attribute, number: int, chance: np.random.Generator) -> Any:
    """For each value of an attribute, whether it is cracked: attribute 2 by sorting, the others by a polyline."""
    column, order = attribute.encoded(choose_max_mp(), chance)
    if number == 2:
        guesses = spread_evenly(len(column.codes), column.domain[0], column.domain[-1])
    else:
        points = KnowledgePoints.draw(column, 4, 0, RADIUS, 1, chance)
        guesses = fit_curve(points, column.codes, "polyline")[0]
    return column.flag_cracks(guesses, RADIUS)[order]


def figure_12(setting: Setting) -> Findings:
    """Subspace association risk, an expert adversary: values count for one attribute, rows for several."""
    many, columns = count_trials(setting), attributes(setting.folder)
    chance = np.random.Generator(np.random.PCG64DXSM(SEED))
    shares: dict[tuple[int, ...], list[float]] = {subspace: [] for subspace in SUBSPACES}
    for trial in range(many):
        report_progress("trials of subspaces", trial, many)
        values = {n: _crack_values(columns[n - 1], n, chance) for n in (2, 4, 7, 10)}
        rows = {n: cracked[columns[n - 1].place] for n, cracked in values.items()}
        for subspace, risks in shares.items():
            cracked = values[subspace[0]] if len(subspace) == 1 else np.logical_and.reduce([rows[n] for n in subspace])
            risks.append(float(cracked.mean()))
    medians = {subspace: MedianRisk.of(risks) for subspace, risks in shares.items()}
    grid = [
        {
            "attributes": ", ".join(map(str, subspace)),
            "median": risk.median,
            "low": risk.low,
            "high": risk.high,
            "theirs": None if (theirs := SUBSPACES[subspace]) is None else theirs / 100,
        }
        for subspace, risk in medians.items()
    ]
    return Findings(
        state_figure_12({subspace: 100 * risk.median for subspace, risk in medians.items()}),
        (Grid("subspaces", f"Cracked in the median trial, radius {RADIUS:.0%}", frame_of(grid)),),
        remarks=("One attribute: the share of its values (Definition 1). Several: the share of rows (Definition 2).",),
    )


def state_figure_12(percent: dict[tuple[int, ...], float]) -> tuple[Statement, ...]:
    """The numbers of the text, each against ours, and that more attributes together are cracked less."""
    together = {s: one for s, one in percent.items() if len(s) > 1 and 2 not in s}
    falls = sum(all(one < percent[part] for part in percent if set(part) < set(s)) for s, one in together.items())
    return (
        *(
            compare(
                f"{'Attributes' if len(subspace) > 1 else 'Attribute'} {' and '.join(map(str, subspace))}",
                [Pair(theirs, percent[subspace])],
                TOLERANCE,
                relative=True,
                unit=" %",
                reason="The paper does not name the radius.",
            )
            for subspace, theirs in SUBSPACES.items()
            if theirs is not None
        ),
        Statement(
            "As the subspace becomes larger, the risk drops.",
            f"{falls} of {len(together)} subspaces of 4, 7 and 10 are cracked less than each of their parts.",
            falls == len(together),
        ),
    )


def paths(setting: Setting) -> Findings:
    """Section 6.4: an insider guesses the thresholds of a tree on codes."""
    risks = _guess_paths(setting)
    longest = max(len(one.paths) for one in risks)
    table = [
        {
            "length": length,
            "paths": int(risks[0].paths[length]) if length < len(risks[0].paths) else 0,
            "median_cracks": float(np.median([_at(one, length) for one in risks])),
            "most_cracks": max(_at(one, length) for one in risks),
            "paths_theirs": PATHS.get(length, (None, None))[0],
            "cracks_theirs": PATHS.get(length, (None, 0))[1],
        }
        for length in range(1, longest)
        if risks[0].paths[length]
    ]
    totals = [sum(_at(one, length) for length in range(1, longest)) for one in risks]
    long = [sum(_at(one, length) for length in range(7, longest)) for one in risks]
    return Findings(
        (
            compare(
                "Paths, and the length of the longest",
                [Pair(LEAVES, int(risks[0].paths.sum())), Pair(LONGEST, longest - 1)],
                TOLERANCE,
                relative=True,
                reason=_LEARNER,
            ),
            compare("Paths cracked by an insider", [Pair(1, float(np.median(totals)))], 0, reason=_LEARNER),
            compare("Of them longer than 6", [Pair(0, float(np.median(long)))], 0, reason=_LEARNER),
        ),
        (Grid("paths", f"Paths by length, and how many are cracked, radius {PATH_RADIUS:.0%}", frame_of(table)),),
        remarks=(_LEARNER, _TEXT),
    )


def _at(risk: PathRisk, length: int) -> int:
    return int(risk.cracks[length]) if length < len(risk.cracks) else 0


def _guess_paths(setting: Setting) -> list[PathRisk]:
    """One tree on codes, and in each trial the paths that new knowledge points crack."""
    from sfumato.mine.codes.c45 import MIN_ROWS, train_c45
    from sfumato.mine.codes.coded_columns import list_coded_columns
    from sfumato.mine.codes.decoded_tree import decode_tree
    from sfumato.randomness import Randomness

    table = covertype(setting.folder)
    method = choose_max_mp()
    key = method.new_key(table, Randomness.seeded(SEED))
    release = method.protect(table, key)
    frame = release.data.frame
    provider = train_c45(release.data, TARGET, min_rows=50 if setting.quick else MIN_ROWS)
    decoded = decode_tree(provider, key, table)
    columns = list_coded_columns(release.data.with_frame(frame.drop(TARGET)), table, release.details)
    chance = np.random.Generator(np.random.PCG64DXSM(SEED))
    risks = []
    for trial in range(count_trials(setting)):
        report_progress("trials of paths", trial, count_trials(setting))
        guess = [_reader(KnowledgePoints.draw(one, INSIDER, 0, PATH_RADIUS, 1, chance)) for one in columns]
        risks.append(path_risk(provider, decoded, guess, [one.width for one in columns], PATH_RADIUS))
    return risks


def _reader(points: KnowledgePoints) -> Callable[[Any], Any]:
    return lambda codes: fit_curve(points, codes, "polyline")[0]
