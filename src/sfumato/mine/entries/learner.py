# SPDX-License-Identifier: MIT
"""Learners that predict blank entries of a table from everything visible, column by column.

What an adversary may do beyond rules: gradient boosting, naive Bayes, nearest neighbours. The learner is the one that
does best on held-out visible entries (cross-validation), or the most common value if none does better: nothing depends
on the truth. That an entry is blank is a value of its own, since it may be informative. A column of many numbers is
learned in intervals of about equally many rows; in other columns, values too rare to be held out are not learned, and
never predicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.runtime.progress import report_progress

LEARNERS = ("boosting", "bayes", "neighbours")
"""Gradient boosting, naive Bayes over values and bins of numbers, and nearest rows by the number of differing entries.
"""
PRIOR = "prior"
"""No learner: the most common value."""

FOLDS = 3
CHOOSING_ROWS = 3000
"""The learners are compared on this many random visible entries."""
TRAINING_ROWS = 10_000
INTERVALS = 20
_BINS = 10
_MOST_VALUES = 250
"""How many values of a column are distinguished as features; the rarer ones are merged."""
_TREES = 150
_NEIGHBOURS = 15
_BLOCK = 4096


@dataclass(frozen=True)
class LearningBudget:
    """How many rows are used for training, and how finely."""

    training_rows: int = TRAINING_ROWS
    """The most rows to train a learner on; a random sample if there are more."""
    intervals: int = INTERVALS
    """A column with more distinct numbers is learned in this many intervals."""


@dataclass(frozen=True, eq=False)
class GuessedClasses:
    """The classes predicted for a column: its values, or intervals of its numbers."""

    values: pl.Series | None
    """The values as text; None for intervals."""
    edges: Floats
    """The boundaries between intervals."""

    @classmethod
    def of(cls, visible: pl.Series, intervals: int) -> GuessedClasses:
        """Derive them from visible entries; values too rare to be held out are left out."""
        known_values = visible.drop_nulls()
        if known_values.dtype.is_numeric() and known_values.n_unique() > intervals:
            numbers = known_values.cast(pl.Float64).to_numpy()
            edges = np.quantile(numbers, np.arange(1, intervals) / intervals, method="higher")
            return cls(None, np.unique(edges))
        counts = spell_cells(known_values).alias("value").value_counts().sort("value")
        return cls(counts.filter(pl.col("count") >= FOLDS)["value"], np.zeros(0))

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.edges) + 1 if self.values is None else len(self.values)

    def number(self, texts: pl.Series) -> Ints:
        """The class of each value, given as text or number; −1 for a missing one or one that is not learned."""
        if self.values is None:
            numbers = texts.cast(pl.Float64, strict=False)
            codes = np.searchsorted(self.edges, numbers.fill_null(0.0).to_numpy(), side="right")
            return np.where(numbers.is_null().to_numpy(), -1, codes).astype(np.int64)
        value_codes = spell_cells(texts).replace_strict(
            self.values, range(len(self.values)), default=-1, return_dtype=pl.Int64
        )
        return value_codes.fill_null(-1).to_numpy().astype(np.int64)


@dataclass(frozen=True, eq=False)
class LearnerFeatures:
    """A table as learners read it: as numbers and as bins; a blank entry is a value of its own."""

    names: tuple[str, ...]
    numbers: Floats
    """Numbers, and codes of other values; NaN where blank."""
    bins: Ints
    """Bins of numbers, codes of other values; `widths` where blank."""
    widths: Ints
    coded_mask: Flags
    """Which columns are unordered codes."""

    @classmethod
    def of(cls, frame: pl.DataFrame) -> LearnerFeatures:
        """Read a table."""
        read = [_build_feature(column) for column in frame.get_columns()]
        shape = (frame.height, frame.width)
        numbers, bins = np.empty(shape), np.empty(shape, dtype=np.int64)
        for index, feature in enumerate(read):
            numbers[:, index], bins[:, index] = feature.numbers, feature.bins
        widths = np.array([feature.width for feature in read], dtype=np.int64)
        coded_mask = np.array([feature.is_coded for feature in read], dtype=np.bool_)
        return cls(tuple(frame.columns), numbers, bins, widths, coded_mask)

    def take_rows(self, rows: Ints) -> LearnerFeatures:
        """Some of the rows."""
        return LearnerFeatures(self.names, self.numbers[rows], self.bins[rows], self.widths, self.coded_mask)

    def drop_column(self, column: int) -> LearnerFeatures:
        """The other columns."""
        column_mask = np.arange(len(self.names)) != column
        names = tuple(name for index, name in enumerate(self.names) if index != column)
        return LearnerFeatures(
            names,
            self.numbers[:, column_mask],
            self.bins[:, column_mask],
            self.widths[column_mask],
            self.coded_mask[column_mask],
        )

    def blank(self, column: int) -> LearnerFeatures:
        """The same rows with one column blank."""
        numbers, bins = self.numbers.copy(), self.bins.copy()
        numbers[:, column], bins[:, column] = np.nan, self.widths[column]
        return LearnerFeatures(self.names, numbers, bins, self.widths, self.coded_mask)

    def build_empty_row(self) -> LearnerFeatures:
        """A row with nothing visible."""
        return LearnerFeatures(
            self.names, np.full((1, len(self.names)), np.nan), self.widths[None, :], self.widths, self.coded_mask
        )

    @property
    def visible(self) -> Flags:
        """Which entries are not blank."""
        return np.asarray(self.bins < self.widths)


@dataclass(frozen=True)
class _ColumnFeature:
    numbers: Floats
    bins: Ints
    width: int
    is_coded: bool


def _build_feature(column: pl.Series) -> _ColumnFeature:
    blank = column.is_null().to_numpy()
    if column.dtype.is_numeric():
        numbers = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        known_numbers = numbers[~blank]
        edges = (
            np.unique(np.quantile(known_numbers, np.arange(1, _BINS) / _BINS)) if len(known_numbers) else np.zeros(0)
        )
        width = len(edges) + 1
        bins = np.where(blank, width, np.searchsorted(edges, numbers, side="right"))
        return _ColumnFeature(numbers, bins.astype(np.int64), width, is_coded=False)
    texts = spell_cells(column).alias("value")
    counts = texts.drop_nulls().value_counts().sort(["count", "value"], descending=[True, False])
    values = counts["value"].head(_MOST_VALUES)
    width = len(values) + 1
    codes = texts.replace_strict(values, range(len(values)), default=len(values), return_dtype=pl.Int64).to_numpy()
    bins = np.where(blank, width, codes).astype(np.int64)
    return _ColumnFeature(np.where(blank, np.nan, codes), bins, width, is_coded=True)


@dataclass(frozen=True, eq=False)
class TrainedLearner:
    """A trained learner: rows in, the probability of every class out."""

    learner: str
    model: Any
    present: Ints
    """The classes that it has seen."""
    shares: Floats
    """How often each class was seen."""

    def predict_probabilities(self, rows: LearnerFeatures) -> Floats:
        """Rows × classes."""
        if self.model is None:
            return np.broadcast_to(self.shares, (len(rows.bins), len(self.shares))).copy()
        from threadpoolctl import threadpool_limits

        inputs = _select_inputs(self.learner, rows)
        probabilities = np.zeros((len(inputs), len(self.shares)))
        with threadpool_limits(1):
            for start in range(0, len(inputs), _BLOCK):
                part = slice(start, start + _BLOCK)
                probabilities[part, self.present] = self.model.predict_proba(inputs[part])
        return probabilities


def train_learner(learner: str, rows: LearnerFeatures, classes: Ints, count: int, seed: int) -> TrainedLearner:
    """Train a learner on rows and their classes, out of `count`."""
    class_counts = np.bincount(classes, minlength=count).astype(np.float64)
    shares = class_counts / max(class_counts.sum(), 1.0)
    present = np.flatnonzero(class_counts)
    if learner == PRIOR or len(present) < 2 or not len(rows.names):
        return TrainedLearner(PRIOR, None, present, shares)
    from threadpoolctl import threadpool_limits

    model = _make_untrained_learner(learner, rows, len(present), seed)
    # One thread adds up in a fixed order, so that the same seed gives the same predictions; and cores are shared.
    with threadpool_limits(1):
        model.fit(_select_inputs(learner, rows), classes)
    return TrainedLearner(learner, model, present, shares)


def _select_inputs(learner: str, rows: LearnerFeatures) -> npt.NDArray[Any]:
    return rows.numbers if learner == "boosting" else rows.bins


def _make_untrained_learner(learner: str, rows: LearnerFeatures, classes: int, seed: int) -> Any:
    if learner == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        # One tree per class and round: many classes get fewer rounds. With rare classes, large steps diverge.
        rounds = int(np.clip(_TREES // (classes if classes > 2 else 1), 10, 60))
        return HistGradientBoostingClassifier(
            max_iter=rounds,
            learning_rate=0.15,
            l2_regularization=5.0,
            max_leaf_nodes=8,
            early_stopping=False,
            categorical_features=rows.coded_mask,
            random_state=seed,
        )
    if learner == "bayes":
        from sklearn.naive_bayes import CategoricalNB

        return CategoricalNB(min_categories=rows.widths + 1)
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(min(_NEIGHBOURS, len(rows.bins)), metric="hamming", algorithm="brute")


@dataclass(frozen=True, eq=False)
class ColumnGuesses:
    """The predictions for one column."""

    column: str
    learner: str
    """The learner that did best on visible entries, or `prior`."""
    classes: GuessedClasses
    rows: Ints
    """The requested rows."""
    guess: Ints
    """The class predicted for each; −1 if nothing is visible in the column."""
    confidence: Floats
    """The probability that the learner gives it."""
    prior: int
    """The most common class."""
    held_out: Flags
    """For visible entries outside the training set, whether the learner predicted them."""
    scores: Mapping[str, float]
    """The share of held-out entries that each learner predicted."""
    visible: int
    trained_on: int
    rare: int
    """Visible entries whose value is too rare to be learned."""
    model: TrainedLearner
    features: LearnerFeatures
    """The other columns, all rows."""


def predict_hidden(
    frame: pl.DataFrame,
    cells: pl.DataFrame,
    learners: Sequence[str],
    chance: np.random.Generator,
    budget: LearningBudget | None = None,
    training_mask: Flags | None = None,
) -> tuple[ColumnGuesses, ...]:
    """Predict entries of a table (`row`, `column`) from what is visible in it, column by column.

    A requested entry is not used for training, visible or not. `training_mask` flags the rows that may be used for
    training.
    """
    strange = [name for name in learners if name not in LEARNERS]
    if strange or not learners:
        raise PolicyError(f"learners must be one or more of {', '.join(LEARNERS)}")
    columns = cells["column"].unique(maintain_order=True).to_list()
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise DataError(f"there is no column {quote_names(absent)} to predict entries of")
    features = LearnerFeatures.of(frame)
    guesses = []
    for column_index, name in enumerate(columns):
        report_progress("learning", column_index, len(columns))
        rows = cells.filter(pl.col("column") == name)["row"].to_numpy().astype(np.int64)
        guesses.append(
            _guess_column(frame, features, name, rows, learners, chance, budget or LearningBudget(), training_mask)
        )
    return tuple(guesses)


def _guess_column(
    frame: pl.DataFrame,
    features: LearnerFeatures,
    name: str,
    rows: Ints,
    learners: Sequence[str],
    chance: np.random.Generator,
    budget: LearningBudget,
    training_mask: Flags | None,
) -> ColumnGuesses:
    column = frame[name]
    may = column.is_not_null().to_numpy() if training_mask is None else column.is_not_null().to_numpy() & training_mask
    may[rows] = False
    classes = GuessedClasses.of(column.filter(pl.Series(may)), budget.intervals)
    number = classes.number(column)
    lesson = np.flatnonzero(may & (number >= 0))
    other_features = features.drop_column(frame.columns.index(name))
    seed = int(chance.integers(2**31))
    choice = _choose_learner(other_features, number, np.flatnonzero(may), classes.count, learners, chance, seed)
    taught = _draw_training_rows(lesson, budget.training_rows, chance)
    model = train_learner(choice.learner, other_features.take_rows(taught), number[taught], classes.count, seed)
    odds = model.predict_probabilities(other_features.take_rows(rows)) if classes.count else np.zeros((len(rows), 1))
    guess = odds.argmax(axis=1) if len(lesson) else np.full(len(rows), -1, dtype=np.int64)
    prior = int(np.bincount(number[lesson]).argmax()) if len(lesson) else -1
    return ColumnGuesses(
        name, choice.learner, classes, rows, guess, odds.max(axis=1, initial=0.0), prior, choice.held_out,
        choice.scores, int(may.sum()), len(taught), int(may.sum()) - len(lesson), model, other_features,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _LearnerChoice:
    learner: str
    held_out: Flags
    scores: Mapping[str, float]


def _choose_learner(
    other_features: LearnerFeatures,
    number: Ints,
    visible: Ints,
    count: int,
    learners: Sequence[str],
    chance: np.random.Generator,
    seed: int,
) -> _LearnerChoice:
    """The learner that predicts most of the visible entries outside its training set; the prior if none beats it."""
    tried_rows = _draw_training_rows(visible, CHOOSING_ROWS, chance)
    fold = chance.permutation(len(tried_rows)) % FOLDS
    right: dict[str, Flags] = {}
    for name in (PRIOR, *learners):
        right[name] = np.zeros(len(tried_rows), dtype=np.bool_)
        for part in range(FOLDS) if len(tried_rows) >= 2 * FOLDS and count else ():
            report_progress("learning")
            test, train = tried_rows[fold == part], tried_rows[(fold != part) & (number[tried_rows] >= 0)]
            model = train_learner(name, other_features.take_rows(train), number[train], count, seed)
            right[name][fold == part] = (
                model.predict_probabilities(other_features.take_rows(test)).argmax(axis=1) == number[test]
            )
    # Ties go to the first: without a gain, no learner.
    best = max(right, key=lambda name: int(right[name].sum()))
    scores = {name: round(float(flags.mean()), 12) if len(flags) else 0.0 for name, flags in right.items()}
    return _LearnerChoice(best, right[best], scores)


def _draw_training_rows(rows: Ints, most: int, chance: np.random.Generator) -> Ints:
    """At most this many rows, drawn at random."""
    return rows if len(rows) <= most else np.sort(chance.choice(rows, most, replace=False))


def measure_leaning(guesses: ColumnGuesses, guess_indices: Ints, features: LearnerFeatures) -> Floats:
    """How much each entry of some rows contributes to the prediction: the loss of its probability if the entry is
    blank.

    `guess_indices` are indices of the requested rows, `features` the same rows; −∞ for an entry that is blank already.
    """
    picked_classes = guesses.guess[guess_indices]
    positions = np.arange(len(guess_indices))
    full_probabilities = guesses.model.predict_probabilities(features)[positions, picked_classes]
    losses = np.full(features.bins.shape, -np.inf)
    for column in range(len(features.names)):
        visible_mask = features.visible[:, column]
        if visible_mask.any():
            probabilities_without = guesses.model.predict_probabilities(
                features.take_rows(np.flatnonzero(visible_mask)).blank(column)
            )
            losses[visible_mask, column] = (
                full_probabilities[visible_mask]
                - probabilities_without[np.arange(int(visible_mask.sum())), picked_classes[visible_mask]]
            )
    return losses
