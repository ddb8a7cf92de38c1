# SPDX-License-Identifier: MIT
"""Breaking the algebraic scalar product: vectors of 0 and 1 from half as many linear equations.

Vaidya and Clifton (2002) compute x y for two sites. The site with x gets y a for a public matrix a of n rows and n/2
columns; the site with y gets x + aR with n/2 unknown numbers R, and can cancel them with any combination of rows of a
that is zero. So each has n/2 equations in n unknowns, which "have infinitely many solutions". But entries between 0 and
1 are few: among those, linear programming finds the solution with the smallest sum, and if the vector is sparse (or,
mirrored, dense), that is the vector itself (Candès and Tao 2005; for vectors in a box, Mangasarian and Recht 2011).
A solution that is 0 or 1 everywhere and satisfies all equations exactly is marked as proven.

These are functions, not `Attack` models, because there is no release to run on: the adversary is a site, and what it
has are the messages of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import Outcome
from sfumato.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class RecoveredVector:
    """The best guess of a vector of 0 and 1."""

    vector: Flags
    """The guess, one flag for each row."""
    is_proven: bool
    """Whether it satisfies all equations exactly; then another vector that does is very unlikely to exist."""
    equations: int
    """How many equations were known."""

    def score(self, truth: Flags) -> Outcome:
        """How many entries are right, compared with guessing all to be 0 or all to be 1."""
        one_count = int(truth.sum())
        right = int((self.vector == truth).sum())
        return Outcome(truth.size, right, max(one_count, truth.size - one_count), facts={"proven": self.is_proven})


def recover_vector(coefficients: Ints, values: Ints) -> RecoveredVector:
    """The vector y of the site that sent ``values = y @ coefficients``, one value for each column."""
    if coefficients.ndim != 2 or values.shape != (coefficients.shape[1],):
        raise DataError("the equations need a matrix with a row for each entry and a column for each value")

    def satisfies(guess: Flags) -> bool:
        return bool((guess.astype(np.int64) @ coefficients == values).all())

    return _search_vectors(coefficients.T.astype(np.float64), values.astype(np.float64), satisfies)


def recover_disguised_vector(coefficients: Ints, disguised_values: Ints) -> RecoveredVector:
    """The vector x of the site that sent ``disguised = x + coefficients @ randoms``, with unknown whole randoms."""
    if coefficients.ndim != 2 or disguised_values.shape != (coefficients.shape[0],):
        raise DataError("the equations need a matrix with a row for each entry, and a value for each")
    from scipy.linalg import null_space

    small = disguised_values - coefficients @ _fit_randoms(
        coefficients, disguised_values
    )  # exact, and small enough for floats
    null_vectors: Floats = null_space(coefficients.T.astype(np.float64))

    def satisfies(guess: Flags) -> bool:
        rest = disguised_values - guess
        return bool((rest == coefficients @ _fit_randoms(coefficients, rest)).all())

    return _search_vectors(null_vectors.T, null_vectors.T @ small, satisfies)


def _search_vectors(matrix: Floats, values: Floats, satisfies: Callable[[Flags], bool]) -> RecoveredVector:
    """The vectors between 0 and 1 with the smallest sum, then with the largest, rounded; the first that satisfies."""
    from scipy.optimize import linprog

    guesses = []
    for sign in (1.0, -1.0):
        objective = np.full(matrix.shape[1], sign)
        solution = linprog(objective, A_eq=matrix, b_eq=values, bounds=(0, 1), method="highs")
        if solution.x is None:
            continue
        guesses.append(np.asarray(solution.x) > 0.5)
        if satisfies(guesses[-1]):
            return RecoveredVector(guesses[-1], True, values.size)
    zero_vector = np.zeros(matrix.shape[1], dtype=np.bool_)
    return RecoveredVector(guesses[0] if guesses else zero_vector, False, values.size)


def _fit_randoms(coefficients: Ints, values: Ints) -> Ints:
    """The whole numbers by which the columns come closest to the values."""
    solution, *_ = np.linalg.lstsq(coefficients.astype(np.float64), values.astype(np.float64), rcond=None)
    return np.rint(solution).astype(np.int64)
