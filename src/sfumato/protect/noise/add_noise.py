# SPDX-License-Identifier: MIT
"""Add noise to numbers: single values stay uncertain, and their distribution can be reconstructed.

Against an adversary who reads a person's number from the release. Every value is published with noise of a known
distribution, or as the midpoint of an interval, so that with a given confidence it is known only to within a width that
is a share of the column's range: Agrawal and Srikant's privacy level (*Privacy-preserving data mining*, SIGMOD 2000).
What leaks: if the custodian gives no range, the scale of the noise discloses the width of the data's range, on a coarse
grid; with correlated noise, the shape of the data's covariance; and to an adversary who exploits correlations between
values, more than the level says (Kargupta et al. 2003; Huang, Du, Chen 2005). The last bits of the sum of two
floating-point numbers disclose something about them (Mironov, *On significance of the least significant bits for
differential privacy*, CCS 2012), so values and noise are counted in steps of a public grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from sfumato.change import ChangeKind, state_changes
from sfumato.details import NoiseDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, ask_meant, quote_names
from sfumato.protect.claims import claim_nobody_named
from sfumato.protect.footprint import Footprint, trace_columns
from sfumato.protect.method import Method
from sfumato.protect.named_columns import ask_published, list_names
from sfumato.protect.noise.cut_columns import CutColumn, Cuts
from sfumato.protect.noise.disturbed_column import DisturbedColumn, ShownNumbers, compute_noise_losses, publish_cells
from sfumato.protect.noise.noise_claims import list_noise_claims
from sfumato.protect.noise.noise_columns import (
    NumberColumn,
    compute_column_covariance,
    read_number_column,
    says_decimals,
)
from sfumato.protect.noise.noise_scales import (
    choose_intervals,
    choose_noise,
    choose_width,
    draw_correlated_noise,
    estimate_shape,
    fill_digits,
    require_room,
    round_up_to_digits,
    scale_like_data,
)
from sfumato.protect.noise.row_draws import RowDraws
from sfumato.public.noise_law import Noise
from sfumato.public.sealed_key import draw_bytes
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

End = int | float | date
FromData = Literal["from_data"]


class GivenRange(NamedTuple):
    """The range that the custodian gave for a column."""

    low: End
    high: End


class AddNoise(Method):
    """Publish numbers with noise, or as intervals, so that one published number gives the value only to within a stated
    interval.

    Guarantee: the noise is random, has mean 0 and is independent of all values. With the given confidence, a value is
    not known to within less than `privacy` times the column's range. No other cell changes; what was missing is
    missing. Against: an adversary who sees one published number and knows the noise, but nothing about the person.
    Limits: with `discretize` the midpoint of its interval is published instead of the value; the range is public, so a
    level above the confidence is impossible, and is not claimed; between cuts, it is what the narrowest interval gives.
    Whole numbers get at least the noise that rounding leaves: half of them change. An adversary who knows the
    distribution of values, reconstructed or from elsewhere, can narrow single values down. Correlated columns disclose
    each other's values: a spectral filter or a Bayes estimate removes independent noise from them (`uniform`,
    `gaussian`); noise shaped like the data (`correlated`) gives a filter nothing to separate. Bounded noise (`uniform`)
    reveals values near the ends of the range. A person published twice is known twice as precisely. The scale is a
    share of the range: unless `ranges` gives it, the range is that of the data, widened to multiples of a 1-2-5 number
    that is a tenth of it or more, and the scale discloses its width; `exact_range` discloses the minimum and the
    maximum. If a few values are outliers, noise is large for all others. Noise on a column that is known from elsewhere
    hides nobody. Numbers are published on a grid, `grid` in the public parameters, a millionth of the noise's scale or
    less if their digits allow it: which grid points can occur does not depend on an original's digits. Papers: Agrawal,
    Srikant 2000; Huang, Du, Chen 2005 for correlated noise; Mironov 2012 for the grid.
    """

    by_chance: ClassVar[bool] = True
    truthful: ClassVar[bool] = False
    utility = "chance"
    section = "noise"

    @property
    def iso_20889(self) -> str:  # type: ignore[override]  # depends on the parameters
        """Intervals are coarser, and nothing of them is random."""
        return "generalization (intervals)" if self.kind == "discretize" else "randomization (noise addition)"

    @property
    def draws_columns_together(self) -> bool:  # type: ignore[override]  # depends on the parameters
        """Noise that is shaped like the data depends on other columns as the data do."""
        return self.kind == "correlated"

    @property
    def maturity(self) -> str:  # type: ignore[override]  # depends on the parameters
        """`for study` if the literature can remove the noise: independent in several columns, or bounded."""
        is_removable = self.kind == "uniform" or (self.kind == "gaussian" and len(self._list_names()) > 1)
        return "for study" if is_removable else "stable"

    public_fields: ClassVar[tuple[str, ...]] = (
        "columns",
        "kind",
        "privacy",
        "confidence",
        "ranges",
        "exact_range",
        "times",
        "discretize",
    )
    column_fields: ClassVar[tuple[str, ...]] = ("columns", "discretize", "ranges")

    method: Literal["add_noise"] = "add_noise"
    columns: str | tuple[str, ...]
    """The columns of numbers or dates that noise is added to."""
    kind: Literal["uniform", "gaussian", "correlated", "discretize"] = "gaussian"
    """`uniform` on [−α, α]; `gaussian` with deviation σ; `correlated`: Gaussian, shaped like the data's covariance;
    `discretize`: replaces the value by the midpoint of its interval of width W."""
    privacy: float = Field(default=1.0, gt=0.0)
    """The width of the interval that a value is known to, as a share of the column's range: 1 is 100 %."""
    confidence: float = Field(default=0.95, gt=0.0, lt=1.0)
    """How sure an adversary is of that interval."""
    ranges: Mapping[str, tuple[End, End] | FromData] | FromData | None = None
    """The smallest and largest possible value of a column, which may be public. Ends with a decimal point (0.0) mean
    that numbers have decimals, ends without one that they are whole. A column without a range gets that of the data,
    widened to a coarse grid: the release then discloses its width and whether its numbers are whole, and a policy must
    state this: "from_data" for one column or for all."""
    exact_range: bool = False
    """Whether columns without `ranges` are scaled to the minimum and the maximum of the data, and both published: they
    are someone's values."""
    times: float | FromData | None = Field(default=None)
    """`correlated`: the ratio of the noise's covariance to the data's. By default the smallest number of two digits
    that gives every column its level; it is published, depends on everybody, and a policy must state "from_data" for
    it."""
    discretize: Mapping[str, Cuts] = Field(default_factory=dict)
    """`discretize`: where to cut columns, in ascending order, instead of equal widths; or into how many intervals with
    about equally many people. The latter cuts depend on the data, and are published on a coarse grid. The cuts, and not
    `privacy`, then decide the level."""

    @model_validator(mode="after")
    def _check_fields(self) -> AddNoise:
        if self.times is not None and self.kind != "correlated":
            raise ValueError("times needs noise shaped like the data: kind = correlated")
        if isinstance(self.times, float) and self.times <= 0:
            raise ValueError("times must be above 0")
        if self.discretize and self.kind != "discretize":
            raise ValueError("cuts need intervals: kind = discretize")
        if any(isinstance(cuts, int) and cuts < 2 for cuts in self.discretize.values()):
            raise ValueError("discretize needs two intervals or more in each column, or a list of cuts")
        return self

    def refuse_undeclared(self, data: Table) -> None:
        """Require ranges, whether numbers are whole, and the size of correlated noise: given, or declared as from the
        data."""
        if self.exact_range or self.ranges == "from_data":
            return
        ranges = self.ranges or {}
        if rangeless_names := [name for name in self._list_names() if name not in ranges]:
            raise PolicyError(
                f"{data.source}: no range is given for {quote_names(rangeless_names)}, and the size of the noise would "
                "disclose the width of the data's range, which one person can change. Give a range that may be "
                f'public, as in ranges = {{ "{rangeless_names[0]}" = [0, 120] }}, with a point (0.0) if there are '
                'decimals. If the data\'s range may be public, set ranges = "from_data"'
            )
        if self.kind == "correlated" and self.times is None:
            raise PolicyError(
                f"{data.source}: the covariance of noise shaped like {quote_names(self._list_names())} is a multiple "
                "of the data's, "
                'and the multiple is published. Set it, as in times = 2.0; or set times = "from_data" to use the '
                "smallest "
                "sufficient one, which one person can change"
            )
        for name in self._list_names():
            given_range = self.get_range(name)
            if given_range and not says_decimals(given_range) and data.frame[name].dtype.is_float():
                raise PolicyError(
                    f'{data.source}: "{name}" holds decimals, but its range is given in whole numbers; whether '
                    "published numbers have decimals must not depend on the data. Write the ends with a point, as in "
                    "[0.0, 120.0], or round the column"
                )

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Each column gets noise, or midpoints."""
        kind = ChangeKind.INTERVALS if parameters["kind"] == "discretize" else ChangeKind.NOISE
        return dict.fromkeys(list_names(parameters["columns"]), kind)

    def list_law_columns(self) -> tuple[str, ...]:
        """The noisy columns, or those of intervals."""
        return self._list_names()

    @property
    def draws_by_law(self) -> bool:
        """Midpoints of intervals are not drawn."""
        return self.kind != "discretize"

    def footprint(self, data: Table) -> Footprint:
        """The noisy columns."""
        return trace_columns(self._list_names())

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Read the columns, scale the noise to their ranges, draw it and add it."""
        chance = randomness or Randomness.secure()
        columns = self._read_columns(data)
        report_progress("drawing noise", 0, len(columns))
        noisy = (
            self._add_correlated_noise(columns, data.source, chance.generator()) if self.kind == "correlated" else []
        )
        noisy = noisy or self._add_noise(columns, RowDraws(draw_bytes(chance)))
        cut = [
            CutColumn.of(column, self.discretize[column.name]) for column in columns if column.name in self.discretize
        ]
        cells = [*(column.published_cells for column in noisy), *(column.published_cells for column in cut)]
        frame = data.frame.drop(data.identifying).with_columns(cells)
        release = self.describe_release(data, data.replace_frame(frame), noisy, cut)
        return replace(release, details=replace(release.details, rows=np.arange(len(data), dtype=np.int64)))

    def describe_release(
        self, data: Table, published_table: Table, noisy: Sequence[DisturbedColumn], cut: Sequence[CutColumn]
    ) -> Release:
        """What is claimed, stated and lost, from the columns alone: tables may lack their rows."""
        changed_columns: list[DisturbedColumn | CutColumn] = [*noisy, *cut]
        kind = ChangeKind.INTERVALS if self.kind == "discretize" else ChangeKind.NOISE
        return Release(
            data=published_table,
            method=self,
            claims=(
                *(claim for column in cut for claim in column.list_claims(self.confidence)),
                *list_noise_claims(
                    [(o.column, o.least or o.noise) for o in noisy],
                    self.kind,
                    self.privacy,
                    self.confidence,
                    noisy[0].times if noisy else None,
                    tuple(column.column.name for column in cut),
                ),
                claim_nobody_named(data),
            ),
            losses=compute_noise_losses([column.loss for column in changed_columns]),
            details=NoiseDetails(
                public={
                    column.column.name: column.state_law(self.privacy, self.confidence, exact_range=self.exact_range)
                    for column in noisy
                }
                | {column.column.name: column.state_law(self.confidence) for column in cut},
                loss={column.column.name: column.loss for column in changed_columns},
            ),
            changes=state_changes(self, data, published_table, dict.fromkeys(self._list_names(), kind)),
        )

    def _list_names(self) -> tuple[str, ...]:
        return (self.columns,) if isinstance(self.columns, str) else self.columns

    def _read_columns(self, table: Table) -> list[NumberColumn]:
        self.refuse_unfit_columns(table)
        if not len(table):
            raise DataError(f"{table.source}: the table has no rows")
        exact = self.exact_range
        return [read_number_column(table, name, self.get_range(name), exact=exact) for name in self._list_names()]

    def refuse_unfit_columns(self, table: Table) -> None:
        """Stop if the named columns are not published ones, or a parameter is about others."""
        requested_names, table_columns = self._list_names(), table.frame.columns
        strange = [name for name in requested_names if name not in table_columns or name in table.identifying]
        if strange or not requested_names or len(set(requested_names)) < len(requested_names):
            raise PolicyError(
                f"{table.source}: `columns` names {quote_names(strange or requested_names) or 'nothing'}; it must "
                f"name one or more different columns that are published{ask_published(table, strange)}"
            )
        for word, option in (("ranges", self.ranges), ("discretize", self.discretize)):
            unused_names = [
                name for name in (option if isinstance(option, Mapping) else ()) if name not in requested_names
            ]
            if unused_names:
                suggestion = ask_meant(unused_names, requested_names)
                raise PolicyError(f"`{word}` lists {quote_names(unused_names)}, to which no noise is added{suggestion}")
        if self.confidence < 1e-6:
            raise PolicyError("a confidence below one in a million is meaningless; choose a greater `confidence`")

    def get_range(self, name: str) -> GivenRange | None:
        """The range that the custodian gave for a column, if any."""
        given_range = self.ranges.get(name) if isinstance(self.ranges, Mapping) else None
        return None if given_range is None or isinstance(given_range, str) else GivenRange(*given_range)

    def _add_noise(self, columns: Sequence[NumberColumn], draws: RowDraws) -> list[DisturbedColumn]:
        """Each column on its own."""
        disturbed_columns = []
        for column in columns:
            if column.name not in self.discretize:
                noise = self.choose_law(column)
                published_cells = publish_cells(column, noise, draws)
                disturbed_columns.append(
                    DisturbedColumn(column, noise, published_cells, ShownNumbers.of(published_cells))
                )
        return disturbed_columns

    def choose_law(self, column: NumberColumn) -> Noise:
        """Noise of the scale that the level of one column requires, or intervals."""
        width = choose_width(column, self.privacy)
        if self.kind == "discretize":
            return choose_intervals(column, width, self.confidence)
        return choose_noise(column, "uniform" if self.kind == "uniform" else "gaussian", width, self.confidence)

    def _add_correlated_noise(
        self, columns: Sequence[NumberColumn], source: str, chance: np.random.Generator
    ) -> list[DisturbedColumn]:
        """All columns at once: covariance c² times the data's, c² the smallest number of two digits that gives all
        their level.

        The data's exact covariance would disclose something about people. So c² is public, and the stated covariance is
        what anybody can estimate: that of the published columns, times c² / (1 + c²).
        """
        spread = compute_column_covariance(columns, source)
        times = self._choose_times(scale_like_data(spread, columns, self.privacy, self.confidence) ** 2, source)
        noise_values = draw_correlated_noise(times * spread, len(columns[0].known_mask), chance)
        scales = np.sqrt(times * np.diag(spread)).tolist()
        requests = [
            choose_noise(column, "gaussian", choose_width(column, self.privacy), self.confidence) for column in columns
        ]
        # If everything else is given, the grid follows from the parameters: the drawn noise depends on everybody.
        grids = [request.grid if isinstance(self.times, float) else None for request in requests]
        noises = [
            require_room(column, Noise(kind="gaussian", scale=scale, step=column.step), grid)
            for column, scale, grid in zip(columns, scales, grids, strict=True)
        ]
        published_columns = [
            column.move(
                fill_digits(noise_values[index][column.known_mask], noise.scale, noise.step, chance), noise.grid
            )
            for index, (column, noise) in enumerate(zip(columns, noises, strict=True))
        ]
        least = [
            request.model_copy(update={"grid": noise.grid}) for request, noise in zip(requests, noises, strict=True)
        ]
        shape = estimate_shape(published_columns, times, [noise.scale for noise in least])
        disturbed_columns = []
        for index, column in enumerate(columns):
            covariances = {other.name: float(shape[index, other_index]) for other_index, other in enumerate(columns)}
            column_noise = noises[index].model_copy(update={"scale": float(np.sqrt(shape[index, index]))})
            shown_numbers = ShownNumbers.of(published_columns[index])
            disturbed_columns.append(
                DisturbedColumn(
                    column, column_noise, published_columns[index], shown_numbers, covariances, least[index], times
                )
            )
        return disturbed_columns

    def _choose_times(self, needed_times: float, source: str) -> float:
        """The ratio of the noise's covariance to the data's: the given one, if sufficient."""
        if not isinstance(self.times, float):
            return round_up_to_digits(needed_times)
        if self.times < needed_times * (1 - 1e-9):
            raise ImpossibleRelease(
                f"{source}: times = {self.times:g} is too little noise for privacy = {self.privacy:g} in every column; "
                f"{round_up_to_digits(needed_times):g} is enough. Increase times, or lower privacy"
            )
        return self.times
