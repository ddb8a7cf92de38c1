# SPDX-License-Identifier: MIT
"""Additive noise (Agrawal and Srikant 2000): the table of privacy levels, and reconstructed distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from papers.plots import Axis, Curve, draw_curves
from papers.study import Findings, Grid, Pair, Plot, Setting, Statement, Tolerance, compare, frame_of
from sfumato.arrays import Floats, Ints
from sfumato.mine.noise.reconstruction_channel import build_channel, build_noisy_edges, count_in_bins
from sfumato.mine.noise.reconstruction_em import run_em
from sfumato.public.noise_law import Noise
from sfumato.runtime.progress import report_progress

CONFIDENCES = (0.5, 0.95, 0.999)
PRINTED_WIDTHS: Mapping[Literal["discretize", "uniform", "gaussian"], tuple[float, float, float]] = {
    "discretize": (0.5, 0.95, 0.999),
    "uniform": (1.0, 1.9, 1.998),
    "gaussian": (1.34, 3.92, 6.8),
}
"""Widths of intervals in units of W, α and σ; the uniform ones are printed as shares of 2α."""
PRINTED_DIGITS = {
    "discretize": Tolerance(0.0005, "printed to a thousandth"),
    "uniform": Tolerance(0.001, "printed to a thousandth of 2α"),
    "gaussian": Tolerance(0.005, "printed to a hundredth"),
}
BINS, COUNT, SEED = 50, 10_000, 2000
SIGMA = Noise.of_privacy("gaussian", 1.0, 0.95).scale
"""100 % privacy at 95 % confidence, of values between 0 and 1."""
EDGES = np.linspace(0.0, 1.0, BINS + 1)
STEP_ERRORS = {20: 0.421, 100: 0.277, 200: 0.209, 1000: 0.231, 3000: 0.331}
"""Steps → L1 distance by an independent count, whose setting is not recorded."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 3000)


def privacy_table(setting: Setting) -> Findings:
    """The slides' Table 1."""
    del setting  # drawing noise is quick enough
    chance, count = np.random.default_rng(SEED), 2_000_000
    own_result = {(kind, c): Noise(kind=kind, scale=1.0).interval(c) for kind in PRINTED_WIDTHS for c in CONFIDENCES}
    rows = []
    for kind, printed_row in PRINTED_WIDTHS.items():
        noise = Noise(kind=kind, scale=1.0)
        draws = chance.uniform(-0.5, 0.5, count) if kind == "discretize" else noise.draw(chance, count)
        for confidence, paper_result in zip(CONFIDENCES, printed_row, strict=True):
            low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
            measures = {"ours": round(own_result[kind, confidence], 4), "simulated": round(float(high - low), 4)}
            rows.append({"noise": kind, "confidence": f"{confidence:.1%}", "theirs": paper_result, **measures})
    paper_values = {
        (kind, c): p for kind, three in PRINTED_WIDTHS.items() for c, p in zip(CONFIDENCES, three, strict=True)
    }
    # Equal widths at 50 %: 2α = W, and σ so that 1.349 σ = W / 2.
    at_high = 0.999, own_result["gaussian", 0.999] * 0.5 / own_result["gaussian", 0.5]
    return Findings(
        (
            *(
                compare(
                    f"{kind.capitalize()}: widths at 50, 95 and 99.9 %",
                    [Pair(paper_values[kind, c], own_result[kind, c]) for c in CONFIDENCES],
                    PRINTED_DIGITS[kind],
                    reason="By formula and by simulation alike; the printed numbers are cut off or misprinted.",
                )
                for kind in PRINTED_WIDTHS
            ),
            Statement(
                "value distortion gives more privacy than discretization at higher confidence",
                f"of equal width at 50 %, at 99.9 %: Gaussian {at_high[1]:.2f} W, intervals {at_high[0]:.3f} W",
                at_high[1] > at_high[0],
            ),
        ),
        (Grid("widths", f"Widths in units of W, α, σ; simulated with {count:,} draws", frame_of(rows)),),
    )  # fmt: skip


def _plateau(chance: np.random.Generator, count: int) -> Floats:
    return chance.uniform(0.25, 0.75, count)


def _triangles(chance: np.random.Generator, count: int) -> Floats:
    return np.asarray(chance.triangular(0.0, 0.25, 0.5, count) + 0.5 * (chance.random(count) < 0.5))


SHAPES = {"plateau": _plateau, "triangles": _triangles}


def reconstruction(_: Setting) -> Findings:
    """Original, randomized and reconstructed, and how the error goes with the number of steps."""
    noises: dict[str, Noise] = {
        "Gaussian": Noise(kind="gaussian", scale=SIGMA),
        "uniform": Noise(kind="uniform", scale=0.5),
    }
    rows, errors, pictures, verdicts = [], [], [], []
    golden: dict[int, float] = {}
    for shape_index, (shape, draw) in enumerate(SHAPES.items()):
        report_progress("shapes", shape_index, len(SHAPES))
        chance = np.random.default_rng(SEED)
        true = draw(chance, COUNT)
        lines: list[Curve] = []
        for name, noise in noises.items():
            case = _Reconstruction.of(true, true + noise.draw(chance, COUNT), noise)
            rows += [{"shape": shape, "noise": name, **row} for row in case.table()]
            errors_by_step = {steps: case.error(case.run_steps(steps)) for steps in STEPS}
            stop_error, stop_step = case.find_stop()
            errors += [
                {"shape": shape, "noise": name, "steps": steps, "l1": round(l1, 4)}
                for steps, l1 in errors_by_step.items()
            ]
            errors.append({"shape": shape, "noise": name, "steps": stop_step, "l1": round(stop_error, 4), "by": "χ²"})
            lines += [Curve(name, list(errors_by_step.items())), Curve(f"{name}: χ² stops", [(stop_step, stop_error)])]
            verdicts.append(
                (stop_error, min(errors_by_step.values()), errors_by_step[STEPS[-1]], case.error(case.bin_noisy()))
            )
            if name == "Gaussian":
                pictures.append(case.picture(shape))
                golden = {steps: errors_by_step[steps] for steps in STEP_ERRORS}
        pictures.append(
            draw_curves(
                f"{shape.capitalize()}: error by number of steps",
                Axis("steps", log=True), Axis("L1 distance to the originals"), lines,
            )
        )  # fmt: skip
    return Findings(
        (*_state_errors(verdicts), _over_iterates(golden)),
        (
            Grid("errors", "L1 distance of reconstruction and originals", frame_of(errors)),
            Grid("shapes", f"Shares of {COUNT:,} values by bin", frame_of(rows)),
        ),
        tuple(pictures),
        (
            (
                "The slides show the shapes without sizes; ours lie in [0, 1], "
                f"in {BINS} bins, under Gaussian noise of σ = {SIGMA:.3f} or uniform noise of α = 0.5."
            ),
        ),
    )


def _over_iterates(errors_by_step: Mapping[int, float]) -> Statement:
    """The triangles under Gaussian noise."""
    pairs = [Pair(paper_result, errors_by_step[steps]) for steps, paper_result in STEP_ERRORS.items()]
    quantity = f"L1 at {', '.join(map(str, STEP_ERRORS))} steps (triangles, Gaussian)"
    reason = "The setting of the independent count is not recorded."
    chance = Tolerance(0.02, "other values are drawn")
    return compare(quantity, pairs, chance, reason=reason, source="independent count")


def _state_errors(verdicts: list[tuple[float, float, float, float]]) -> tuple[Statement, ...]:
    stop_errors, best, last, noisy_errors = (np.array(part) for part in zip(*verdicts, strict=True))
    picture = "The slides show pictures without numbers; the shapes are drawn after them."
    return (
        Statement(
            "The original shape is reconstructed, even when the randomized one looks nothing like it.",
            f"L1 to the originals: randomized {noisy_errors.min():.2f} to {noisy_errors.max():.2f}, "
            f"reconstructed {stop_errors.min():.2f} to {stop_errors.max():.2f}.",
            None,
            picture,
        ),
        Statement(
            "Stop when successive estimates hardly differ.",
            f"At {STEPS[-1]:,} steps L1 is {last.max():.2f} at worst; where χ² stops {stop_errors.max():.2f}; "
            f"at best {best.max():.2f}.",
            None,
            picture,
        ),
        Statement(
            "Reconstruction over-iterates, so stop by a χ² test.",
            f"χ² is at most {(stop_errors - best).max():.2f} above the best, going on {(last - best).max():.2f}.",
            bool((stop_errors - best).max() < (last - best).max()),
            source="independent count",
        ),
    )


@dataclass(frozen=True, eq=False)
class _Reconstruction:
    """One shape under one noise."""

    noisy: Floats
    original: Floats
    counts: Ints
    channel: Floats

    @classmethod
    def of(cls, true: Floats, noisy: Floats, noise: Noise) -> _Reconstruction:
        noisy_edges = build_noisy_edges(noise, EDGES)
        channel = build_channel(noise, EDGES, noisy_edges)
        return cls(noisy, count_in_bins(true, EDGES) / len(true), count_in_bins(noisy, noisy_edges), channel)

    def run_steps(self, steps: int) -> Floats:
        return run_em(self.counts, self.channel, stop=steps).probabilities

    def bin_noisy(self) -> Floats:
        """Noisy values in the same bins; what lies beyond is lost."""
        return np.asarray(np.histogram(self.noisy, EDGES)[0] / len(self.noisy))

    def error(self, shares: Floats) -> float:
        return float(np.abs(shares - self.original).sum())

    def find_stop(self) -> tuple[float, int]:
        """The error where the χ² test stops, and after how many steps."""
        estimate = run_em(self.counts, self.channel)
        return self.error(estimate.probabilities), estimate.iterations

    def table(self) -> list[dict[str, float]]:
        estimate = run_em(self.counts, self.channel).probabilities
        parts = (EDGES[:-1], self.original, self.bin_noisy(), estimate)
        return [
            {"from": round(float(low), 3), "original": a, "randomized": b, "reconstructed": round(float(c), 6)}
            for low, a, b, c in zip(*parts, strict=True)
        ]

    def picture(self, shape: str) -> Plot:
        rows, middles = self.table(), (EDGES[:-1] + EDGES[1:]) / 2
        names = ("original", "randomized", "reconstructed")
        return draw_curves(
            f"{shape.capitalize()}, Gaussian noise",
            Axis("value"),
            Axis("share of values", percent=True),
            [
                Curve(name, [(float(middle), row[name]) for middle, row in zip(middles, rows, strict=True)])
                for name in names
            ],
        )
