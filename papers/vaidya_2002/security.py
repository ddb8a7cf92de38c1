# SPDX-License-Identifier: MIT
"""The security analysis of the algebraic product: counts of equations, and what they give away."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.arrays import Ints
from sfumato.attack.parties.product_equations import recover_disguised_vector, recover_vector
from sfumato.parties.protocols.algebraic_product import RANDOM_BITS, disguise, draw_coefficients

SEED = 2002
SIZES = (6, 8, 10, 12, 14, 16)
DENSITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def equations(setting: Setting) -> Findings:
    """Equations and unknowns of both sides, and every vector of 0 and 1 that satisfies them."""
    del setting  # 2^16 vectors are quick enough
    rows = []
    for size in SIZES:
        coefficients, chance = draw_coefficients(SEED, size), np.random.default_rng(SEED + size)
        left, right = ((chance.random(size) < 1 / 3).astype(np.int64) for _ in range(2))
        randoms = chance.integers(0, 1 << RANDOM_BITS, size // 2)
        rows.append(
            {
                "n": size,
                "A sends": size,
                "unknowns of A": size + size // 2,
                "B sends": size // 2 + 1,
                "unknowns of B": size,
                "vectors of A": count_disguised(coefficients, disguise(left, coefficients, randoms)),
                "vectors of B": count_vectors(coefficients, right @ coefficients),
            }
        )
    single = sum(row["vectors of A"] == row["vectors of B"] == 1 for row in rows)
    return Findings(
        statements=(
            Statement(
                "A sends n linear equations in 3n/2 unknowns.",
                "n values in n + n/2 unknowns for every n.",
                all(2 * row["unknowns of A"] == 3 * row["A sends"] for row in rows),
            ),
            Statement(
                "B sends one and n/2 linear equations in n unknowns.",
                "n/2 + 1 values in n unknowns for every n.",
                all(2 * row["B sends"] == row["unknowns of B"] + 2 for row in rows),
            ),
            Statement(
                "Fewer equations than unknowns: possible solutions infinite.",
                f"For {single} of {len(rows)} sizes, exactly one vector of 0 and 1 satisfies them, for A and for B.",
                single == 0,
                "The argument holds for vectors of any numbers; the protocol is used for vectors of 0 and 1.",
            ),
            Statement("Security of both is symmetrical.", "Neither has any, in the same sizes.", single == len(rows)),
        ),
        grids=(Grid("equations", "Equations, unknowns, and vectors of 0 and 1 that satisfy them", frame_of(rows)),),
    )


def list_vectors(size: int) -> Ints:
    """All vectors of 0 and 1."""
    return np.arange(1 << size)[:, None] >> np.arange(size) & 1


def count_vectors(coefficients: Ints, values: Ints) -> int:
    """How many vectors of 0 and 1 give B's n/2 values."""
    return int((list_vectors(len(coefficients)) @ coefficients == values).all(axis=1).sum())


def count_disguised(coefficients: Ints, disguised: Ints) -> int:
    """How many vectors of 0 and 1 leave A's values to be whole multiples of the columns."""
    rest = (disguised - list_vectors(len(coefficients))).astype(np.float64)
    randoms = np.rint(rest @ np.linalg.pinv(coefficients.astype(np.float64)).T).astype(np.int64)
    return int((randoms @ coefficients.T == rest.astype(np.int64)).all(axis=1).sum())


class _Rates(NamedTuple):
    """The share of vectors recovered completely."""

    first: float
    last: float


def recovery(setting: Setting) -> Findings:
    """How often linear programming gives the whole vector, by its density."""
    size, runs = (80, 1) if setting.quick else (400, 3)
    rates = {density: _measure(size, density, runs) for density in DENSITIES}
    rows = [
        {"density": density, "n": size, "A recovered": rate.first, "B recovered": rate.last}
        for density, rate in rates.items()
    ]
    sparse = [rates[density] for density in (0.05, 0.1)]
    complete = all(rate == _Rates(1, 1) for rate in sparse)
    return Findings(
        statements=(
            Statement(
                "Everything is revealed only when about half the values are revealed.",
                f"With none revealed, {_write_share(sparse)} of the vectors of density 5 and 10 % are recovered.",
                None if setting.quick else not complete,
                "Linear programming needs no known values: a sparse vector is the one with the smallest sum.",
            ),
            Statement(
                "Linear programming recovers the other side's vector exactly at n = 400, density 5 to 10 %.",
                f"{_write_share(sparse)} of the vectors, at n = {size}.",
                None if setting.quick else complete,
                "A quick run has another n.",
                source="independent count",
            ),
        ),
        grids=(Grid("recovery", "Share of vectors recovered completely", frame_of(rows)),),
        plots=(
            draw_curves(
                "Vectors recovered by linear programming",
                Axis("density", percent=True),
                Axis("share of vectors recovered", percent=True),
                [
                    Curve("A's, by B", [(density, rate.first) for density, rate in rates.items()]),
                    Curve("B's, by A", [(density, rate.last) for density, rate in rates.items()]),
                ],
            ),
        ),
        remarks=(
            "Above half, the vector of zeros is the sparse one, so the curves are mirrored.",
            "Our default sends no equations: what the site with the key opens is uniform, whatever the other one has.",
        ),
    )


def _measure(size: int, density: float, runs: int) -> _Rates:
    coefficients = draw_coefficients(SEED, size)
    first = last = 0
    for seed in range(1, runs + 1):
        chance = np.random.default_rng(seed)
        truth = (chance.random(size) < density).astype(np.int64)
        randoms = chance.integers(0, 1 << RANDOM_BITS, size // 2)
        disguised = disguise(truth, coefficients, randoms)
        first += bool((recover_disguised_vector(coefficients, disguised).vector == truth).all())
        last += bool((recover_vector(coefficients, truth @ coefficients).vector == truth).all())
    return _Rates(first / runs, last / runs)


def _write_share(rates: list[_Rates]) -> str:
    return f"{100 * sum(map(sum, rates)) / (2 * len(rates)):.0f} %"
