# SPDX-License-Identifier: MIT
"""Curve fitting: draw a curve through a few known values, and read all others off it.

Against codes that follow one function, or one per piece. What leaks is the true value of a code, within a radius. Bu,
Lakshmanan, Ng and Ramesh, *Preservation of patterns and input-output privacy* (ICDE 2007), Definition 5.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.attack.codes.code_guesses import CrackPlan, Cracks, DrawnCodeAttack, split_trials
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import Fit, KnowledgePoints, fit_curve
from sfumato.release import Release

Knowledge = Literal["ignorant", "knowledgeable", "expert", "insider"]
POINTS: dict[Knowledge, int] = {"ignorant": 0, "knowledgeable": 2, "expert": 4, "insider": 8}
"""How many good knowledge points each kind of adversary has (Sections 6.1 and 6.4)."""


class CurveAttack(DrawnCodeAttack):
    """An adversary who draws curves through a few known points; see the subclasses."""

    knowledge: Knowledge = "expert"
    """How many good points the adversary has: ignorant 0, knowledgeable 2, expert 4, insider 8."""
    bad: int = Field(default=0, ge=0, strict=True)
    """How many additional points of the adversary are far off."""

    def draw_points(self, column: CodedColumn, trials: int, chance: np.random.Generator) -> KnowledgePoints:
        """The adversary's points, at random codes, for each trial."""
        return KnowledgePoints.draw(column, POINTS[self.knowledge], self.bad, self.radius, trials, chance)


class CurveFitting(CurveAttack):
    """A miner knows that the oldest patient is about 90 and the median about 40, and draws a line through the codes.

    The adversary has a few knowledge points: codes with values that are right within the radius (good) or more than
    five radii off (bad). It fits a regression line, a polyline or a cubic spline, and reads the value of every code off
    it. Without points it takes codes as values. The risk is the share of people whose value is read within the
    radius, in the median of many trials with points at random codes and in the column where most are. Bu et al. 2007.
    """

    story: ClassVar[str] = (
        "A miner guesses what some codes of {target} stand for, and draws a line through these points."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "fit", "knowledge", "bad", "radius", "trials")
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["curve_fitting"] = "curve_fitting"
    fit: Fit = "polyline"
    """The curve: a regression line, a polyline through all points, or a cubic spline through them."""

    def plan_cracking(self, release: Release, chance: np.random.Generator) -> CrackPlan:
        """Draw points, fit a curve, and read every code off it."""

        def crack_column(column: CodedColumn, judge: CodedColumn, trials: int) -> dict[str, Cracks]:
            guesses = (
                fit_curve(self.draw_points(column, n, chance), column.codes, self.fit)
                for n in split_trials(trials, column)
            )
            return {self.fit: Cracks.join([Cracks.of(judge, guess, self.radius) for guess in guesses])}

        facts = {"fit": self.fit, "good_points": POINTS[self.knowledge], "bad_points": self.bad}
        return CrackPlan(crack_column, self.trials, facts)
