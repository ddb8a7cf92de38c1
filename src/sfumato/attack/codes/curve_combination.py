# SPDX-License-Identifier: MIT
"""Curve combination: draw three curves through a few known values, and believe what two of them agree on.

Against codes that follow one function, or one per piece. What leaks is the true value of a code, within a radius. Bu,
Lakshmanan, Ng and Ramesh, *Preservation of patterns and input-output privacy* (ICDE 2007), Section 6.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Floats
from sfumato.attack.codes.code_guesses import CrackPlan, Cracks, split_trials
from sfumato.attack.codes.curve_fitting import POINTS, CurveAttack
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import FITS, Fit, fit_curve
from sfumato.release import Release


class CurveCombination(CurveAttack):
    """A miner draws three curves through the known points, and believes a value if two of them agree.

    Regression line, polyline and spline through the same knowledge points. A value counts as read if at least two of
    the three guesses are within the radius of the truth: then they agree, and the adversary knows which to believe. Or
    it trusts one of the curves throughout; the best of the four counts. The facts state what share of distinct codes at
    least one of the three cracks (`any`), what trusting each equally gives (`expected`), and the parts of the Venn
    diagram. Bu et al. 2007, Section 6.2.2 and Figure 10.
    """

    story: ClassVar[str] = (
        "A miner guesses what some codes of {target} stand for, draws three curves through these points, and "
        "believes a value if two of them agree."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "knowledge", "bad", "radius", "trials")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["curve_combination"] = "curve_combination"

    def plan_cracking(self, release: Release, chance: np.random.Generator) -> CrackPlan:
        """Draw points, fit three curves, and count the codes that several of them crack."""
        venns: dict[str, dict[str, float]] = {}

        def crack_column(column: CodedColumn, judge: CodedColumn, trials: int) -> dict[str, Cracks]:
            parts = [
                self._try_curves(column, judge, trial_count, chance) for trial_count in split_trials(trials, column)
            ]
            venn = np.concatenate([part.venn for part in parts], axis=1) / len(column.codes)
            venns.setdefault(column.name, _summarize_agreement(venn))
            return {way: Cracks.join([part.ways[way] for part in parts]) for way in parts[0].ways}

        facts = {"good_points": POINTS[self.knowledge], "bad_points": self.bad, "venn": venns}
        return CrackPlan(crack_column, self.trials, facts)

    def _try_curves(
        self, column: CodedColumn, judge: CodedColumn, trials: int, chance: np.random.Generator
    ) -> _CurveTrials:
        points = self.draw_points(column, trials, chance)
        crack_sets = np.zeros((trials, len(column.codes)), dtype=np.int64)
        guesses = {fit: fit_curve(points, column.codes, fit) for fit in FITS}
        for number, guess in enumerate(guesses.values()):
            crack_sets += judge.flag_cracks(guess, self.radius) << number
        venn = np.array([(crack_sets == part).sum(axis=1) for part in range(2 ** len(FITS))], dtype=np.float64)
        agreement_mask = (
            sum(judge.flag_read(guess, self.radius).astype(np.int64) for guess in guesses.values()) >= _LEAST_VOTES
        )
        several = Cracks(
            venn[[_number_curve_set(curves) for curves in _SEVERAL]].sum(axis=0),
            np.asarray(agreement_mask @ judge.pairs.rows, dtype=np.float64),
        )
        single = {str(fit): Cracks.of(judge, guess, self.radius) for fit, guess in guesses.items()}
        return _CurveTrials(venn, {"two agree": several} | single)


@dataclass(frozen=True)
class _CurveTrials:
    venn: Floats
    """The number of codes in each part of the Venn diagram, by trial."""
    ways: dict[str, Cracks]


_LEAST_VOTES = 2
_SEVERAL: tuple[tuple[Fit, ...], ...] = (
    ("regression", "polyline"),
    ("regression", "spline"),
    ("polyline", "spline"),
    FITS,
)


def _number_curve_set(curves: tuple[Fit, ...]) -> int:
    return sum(1 << FITS.index(fit) for fit in curves)


def _summarize_agreement(parts: Floats) -> dict[str, float]:
    """Mean shares of the parts, by curve names, and the sums that the paper states."""
    means = parts.mean(axis=1)
    shares = {
        " and ".join(fit for index, fit in enumerate(FITS) if part >> index & 1): float(means[part])
        for part in range(1, 2 ** len(FITS))
    }
    weights = [part.bit_count() / len(FITS) for part in range(2 ** len(FITS))]
    return {**shares, "any": float(means[1:].sum()), "expected": float((means * weights).sum())}
