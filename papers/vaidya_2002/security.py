# SPDX-License-Identifier: MIT
"""The security analysis of the algebraic product: counts of equations, and what they give away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.arrays import Ints
from sfumato.attack.parties.product_equations import recover_disguised_vector, recover_vector
from sfumato.parties.protocols.algebraic_product import RANDOM_BITS, disguise, draw_coefficients, reply

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
        masked_values = disguise(left, coefficients, randoms)
        answer = reply(right, coefficients, masked_values)
        rows.append(
            {
                "n": size,
                "A sends": masked_values.size,
                "unknowns of A": left.size + randoms.size,
                "B sends": answer.values.size + 1,
                "unknowns of B": right.size,
                "vectors of A": count_disguised(coefficients, masked_values),
                "vectors of B": count_vectors(coefficients, answer.values),
            }
        )
    single = sum(row["vectors of A"] == row["vectors of B"] == 1 for row in rows)
    return Findings(
        statements=(
            Statement(
                "A sends n linear equations in 3n/2 unknowns.",
                _write_equations(rows, "A"),
                all((row["A sends"], 2 * row["unknowns of A"]) == (row["n"], 3 * row["n"]) for row in rows),
                cases=len(rows),
            ),
            Statement(
                "B sends one and n/2 linear equations in n unknowns.",
                _write_equations(rows, "B"),
                all((2 * row["B sends"], row["unknowns of B"]) == (row["n"] + 2, row["n"]) for row in rows),
                cases=len(rows),
            ),
            Statement(
                "Fewer equations than unknowns: possible solutions infinite.",
                f"For {single} of {len(rows)} sizes, exactly one vector of 0 and 1 satisfies them, for A and for B.",
                single == 0,
                "The argument holds for vectors of any numbers; the protocol is used for vectors of 0 and 1.",
            ),
            Statement(
                "Security of both is symmetrical.",
                "Vectors of 0 and 1 that satisfy the equations, of A and of B: "
                + ", ".join(f"{row['vectors of A']} and {row['vectors of B']} (n = {row['n']})" for row in rows)
                + ".",
                all(row["vectors of A"] == row["vectors of B"] for row in rows),
                cases=len(rows),
            ),
        ),
        grids=(Grid("equations", "Equations, unknowns, and vectors of 0 and 1 that satisfy them", frame_of(rows)),),
    )


def _write_equations(rows: Sequence[Mapping[str, int]], side: str) -> str:
    """How many equations in how many unknowns, by n."""
    texts = (f"{row[f'{side} sends']} in {row[f'unknowns of {side}']} (n = {row['n']})" for row in rows)
    return f"Equations and unknowns: {', '.join(texts)}."


def list_vectors(size: int) -> Ints:
    """All vectors of 0 and 1."""
    return np.arange(1 << size)[:, None] >> np.arange(size) & 1


def count_vectors(coefficients: Ints, values: Ints) -> int:
    """How many vectors of 0 and 1 give B's n/2 values."""
    return int((list_vectors(len(coefficients)) @ coefficients == values).all(axis=1).sum())


def count_disguised(coefficients: Ints, masked_values: Ints) -> int:
    """How many vectors of 0 and 1 leave A's values to be whole multiples of the columns."""
    rest = (masked_values - list_vectors(len(coefficients))).astype(np.float64)
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
        masked_values = disguise(truth, coefficients, randoms)
        first += bool((recover_disguised_vector(coefficients, masked_values).vector == truth).all())
        last += bool((recover_vector(coefficients, truth @ coefficients).vector == truth).all())
    return _Rates(first / runs, last / runs)


def _write_share(rates: list[_Rates]) -> str:
    return f"{100 * sum(map(sum, rates)) / (2 * len(rates)):.0f} %"
