# SPDX-License-Identifier: MIT
"""How useful a release is for learning: models trained on it, tested on originals that they were not trained on.

An analyst trains on published rows and predicts for people as they are. So generalized and original rows need the same
features: a number is the mean of the leaves that its label covers; any other value has one feature per leaf, with the
leaf's share of the label. A tree learns from values drawn from the labels. The baselines are the same model trained on
the originals, and ZeroR, which always predicts the most frequent class (Witten & Frank). The accuracies are computed
from the originals: they are for the custodian, and high ones may also mean that the target can be inferred.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.hierarchies.label_cover import ColumnReading, LabelCover
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.measure.utility.distances import choose_compared_columns
from sfumato.randomness import Randomness
from sfumato.table import Missing, Table

MODELS = ("tree", "logistic", "naive_bayes")
"""A decision tree, a logistic regression, and naive Bayes over values and bins of numbers."""

_MOST_FEATURES = 50
"""How many values of a column get their own feature; the rarer ones share one."""
_BINS = 10
"""The number of bins of a number column for naive Bayes."""
_MOST_CLASSES = 100


@dataclass(frozen=True)
class Accuracy:
    """The share of held-out originals that were classified correctly."""

    release: float
    """Of the model trained on the release."""
    original: float
    """Of the same model trained on the originals."""
    zero_r: float
    """Of always predicting the most frequent class of the originals."""

    @property
    def kept_share(self) -> float | None:
        """The share of the model's gain over ZeroR that remains; None if the originals gain nothing either."""
        gain = self.original - self.zero_r
        return round((self.release - self.zero_r) / gain, 12) if gain > 0 else None


def classification_accuracy(
    original: Table,
    published_table: Table,
    target: str,
    models: Sequence[str] = MODELS,
    folds: int = 5,
    rows: Sequence[int] | Ints | None = None,
    randomness: Randomness | None = None,
    *,
    columns: Sequence[str] | None = None,
) -> Mapping[str, Accuracy]:
    """The accuracy of each model in cross-validation; a held-out person's published row is not trained on either.

    `rows` maps each published row to its original row (`release.details["rows"]`). `columns` are the features; by
    default every published column but the target. A published target that covers several classes counts as each of them
    in equal parts. Without `randomness` the folds are the same each time.
    """
    strange = [name for name in models if name not in MODELS]
    if strange or folds < 2:
        raise PolicyError(f"folds must be 2 or more, and models must be among {', '.join(MODELS)}")
    names = [name for name in choose_compared_columns(original, published_table, columns) if name != target]
    choose_compared_columns(original, published_table, [target])
    if not names:
        raise DataError(f'{original.source}: there is no column to learn "{target}" from')
    chance = randomness or Randomness.seeded(0)
    classes = _TargetClasses.of(original, published_table, target)
    fold_of = _assign_folds(classes.true, _flag_counted_people(original), folds, chance)
    spaces = [_FeatureSpace.of(original, name) for name in names]
    published_readings = [space.domain.read(published_table.frame[space.name], space.holes) for space in spaces]
    # A tree splits on one value at a time, so shares of values would mislead it: it learns from drawn values.
    drawn_readings = (
        [_draw_leaves(reading, chance.generator()) for reading in published_readings]
        if "tree" in models
        else published_readings
    )
    source = _check_row_origins(original, published_table, rows)
    released_examples = _TrainingExamples.of(spaces, published_readings, classes.published_rows, source)
    for_tree = _TrainingExamples.of(spaces, drawn_readings, classes.published_rows, source)
    original_readings = [space.domain.read_exactly(original.frame[space.name]) for space in spaces]
    true = _TrainingExamples.of(spaces, original_readings, classes.originals, np.arange(len(original)))
    seed = int(chance.generator().integers(2**31))
    tests = [(fold_of == fold, (fold_of >= 0) & (fold_of != fold)) for fold in range(folds)]
    tested_classes = classes.true[fold_of >= 0]
    zero_r = int(np.bincount(tested_classes).max())
    accuracies = {}
    for name in models:
        lessons = (for_tree if name == "tree" else released_examples, true)
        right = (
            sum(_count_right_answers(name, examples, true, fold, classes.true, seed) for fold in tests)
            for examples in lessons
        )
        accuracies[name] = Accuracy(*(round(right_count / len(tested_classes), 12) for right_count in (*right, zero_r)))
    return accuracies


def _count_right_answers(
    model: str, lessons: _TrainingExamples, true: _TrainingExamples, fold: tuple[Flags, Flags], answers: Ints, seed: int
) -> int:
    """How many held-out originals are classified correctly by a model trained on the others."""
    test, train = fold
    predictor = _train_model(model, lessons.select_training(train, model), seed)
    return int((predictor(true.get_features(model)[true.group[test]]) == answers[test]).sum())


@dataclass(frozen=True)
class _LabelledRows:
    """The class of each row, with a weight."""

    row: Ints
    label: Ints
    weight: Floats


@dataclass(frozen=True)
class _TargetClasses:
    """The target: classes are the values that occur, −1 is a missing value."""

    true: Ints
    published_rows: _LabelledRows

    @classmethod
    def of(cls, original: Table, published_table: Table, target: str) -> _TargetClasses:
        column = original.frame[target]
        domain = Domain.of(column, original.hierarchies.get(target))
        codes = domain.code_originals(column)
        seen_codes = np.unique(codes[codes < len(domain.leaves)])
        if not 2 <= len(seen_codes) <= _MOST_CLASSES:
            raise DataError(
                f'{original.source}: "{target}" has {count_noun(len(seen_codes), "value")}, but a target needs 2 to '
                f"{_MOST_CLASSES}; choose another column, or group its values first"
            )
        number = np.full(len(domain.leaves) + 1, -1, dtype=np.int64)
        number[seen_codes] = np.arange(len(seen_codes))
        reading = domain.read(published_table.frame[target], column.null_count() > 0)
        cover_matrix = reading.cover.build_matrix()[:, seen_codes].astype(np.float64)
        parts = cover_matrix / np.maximum(cover_matrix.sum(axis=1, keepdims=True), 1)
        row, label = np.nonzero(parts[reading.codes])
        return cls(number[codes], _LabelledRows(row, label, parts[reading.codes[row], label]))

    @property
    def originals(self) -> _LabelledRows:
        row = np.flatnonzero(self.true >= 0)
        return _LabelledRows(row, self.true[row], np.ones(len(row)))


class _TrainingSet(NamedTuple):
    """What a model is trained on."""

    features: Floats
    classes: Ints
    weights: Floats


@dataclass(frozen=True)
class _TrainingExamples:
    """Rows to train on; identical rows are one weighted example."""

    group: Ints
    """The distinct row of each row."""
    numbers: Floats
    """The features of the distinct rows for trees and regressions."""
    bins: Floats
    """The features of the distinct rows for naive Bayes: how much of each value, or bin, a cell may be."""
    labelled_rows: _LabelledRows
    person: Ints
    """The original row of each row."""

    @classmethod
    def of(
        cls,
        spaces: Sequence[_FeatureSpace],
        readings: Sequence[ColumnReading],
        labelled_rows: _LabelledRows,
        person: Ints,
    ) -> _TrainingExamples:
        group, first_rows = _group_alike_rows([reading.codes for reading in readings])
        pairs = list(zip(spaces, readings, strict=True))
        numbers = [reading.average_values(space.numbers)[reading.codes[first_rows]] for space, reading in pairs]
        bins = [reading.average_values(space.bins)[reading.codes[first_rows]] for space, reading in pairs]
        return cls(group, np.hstack(numbers), np.hstack(bins), labelled_rows, person)

    def get_features(self, model: str) -> Floats:
        return self.bins if model == "naive_bayes" else self.numbers

    def select_training(self, train: Flags, model: str) -> _TrainingSet:
        """Features, classes and weights of the examples made from people in the training set."""
        labelled_rows = self.labelled_rows
        row_mask = train[self.person[labelled_rows.row]]
        classes = int(labelled_rows.label.max(initial=0)) + 1
        joint_keys = self.group[labelled_rows.row[row_mask]] * classes + labelled_rows.label[row_mask]
        kind, kind_index = np.unique(joint_keys, return_inverse=True)
        weights = np.bincount(kind_index, labelled_rows.weight[row_mask], len(kind)).astype(np.float64)
        return _TrainingSet(self.get_features(model)[kind // classes], kind % classes, weights)


@dataclass(frozen=True)
class _FeatureSpace:
    """The features of one column by leaf, with the missing value last."""

    name: str
    domain: Domain
    holes: bool
    numbers: Floats
    bins: Floats

    @classmethod
    def of(cls, original: Table, name: str) -> _FeatureSpace:
        column = original.frame[name]
        domain = Domain.of(column, original.hierarchies.get(name))
        people = domain.read_exactly(column).rows
        if column.dtype.is_numeric() and domain.numbers is not None and people[:-1].any():
            numbers, bins = _scale_numbers(domain.numbers, people), _bin_numbers(domain.numbers, people)
        else:
            numbers = bins = _build_indicators(people)
        return cls(name, domain, column.null_count() > 0, numbers, bins)


def _draw_leaves(reading: ColumnReading, generator: np.random.Generator) -> ColumnReading:
    """One leaf per row, drawn uniformly from those that its label covers."""
    cover, leaves = reading.cover, len(reading.cover.order)
    ends = np.cumsum(cover.stop - cover.start)
    label_starts = np.cumsum(cover.counts) - cover.counts
    leaf_places = label_starts[reading.codes] + generator.integers(0, cover.counts[reading.codes])
    run = np.searchsorted(ends, leaf_places, side="right")
    every = np.arange(leaves, dtype=np.int64)
    return ColumnReading(
        cover.order[cover.stop[run] - (ends[run] - leaf_places)], LabelCover(leaves, every, every, every, every + 1)
    )


def _scale_numbers(numbers: Floats, people: Ints) -> Floats:
    """Numbers in standard deviations from their mean; a missing number is at the mean, with its own indicator."""
    mean = np.average(numbers, weights=people[:-1])
    spread = np.sqrt(np.average((numbers - mean) ** 2, weights=people[:-1]))
    scaled_numbers = np.append((numbers - mean) / (spread or 1.0), 0.0)
    missing = np.zeros(len(people))
    missing[-1] = 1.0
    return np.column_stack([scaled_numbers, missing])


def _bin_numbers(numbers: Floats, people: Ints) -> Floats:
    """One feature per bin, with about equally many people in each; the last is for missing values."""
    order = np.argsort(numbers, kind="stable")
    people_before = np.cumsum(people[:-1][order]) - people[:-1][order]
    part = np.empty(len(people), dtype=np.int64)
    part[order] = people_before * _BINS // max(int(people[:-1].sum()), 1)
    part[part >= _BINS] = _BINS - 1
    part[-1] = _BINS
    return np.eye(_BINS + 1)[part]


def _build_indicators(people: Ints) -> Floats:
    """One feature for each of the most frequent values, and one for all others."""
    frequent = np.argsort(-people, kind="stable")[:_MOST_FEATURES]
    feature = np.full(len(people), len(frequent))
    feature[frequent] = np.arange(len(frequent))
    indicators: Floats = np.eye(len(frequent) + 1)[feature]
    return indicators


def _group_alike_rows(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The group of each row, identical rows together, and one row of each group."""
    kind = np.zeros(len(columns[0]), dtype=np.int64)
    first_rows = np.zeros(0, dtype=np.int64)
    for codes in columns:
        _, first_rows, kind = np.unique(
            kind * (int(codes.max(initial=0)) + 1) + codes, return_index=True, return_inverse=True
        )
    return kind, first_rows


def _check_row_origins(original: Table, published_table: Table, rows: Sequence[int] | Ints | None) -> Ints:
    origins = np.arange(len(original)) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(origins) != len(published_table) or (len(origins) and (origins.min() < 0 or origins.max() >= len(original))):
        raise DataError(
            f"{published_table.source}: {len(published_table)} rows are published from {len(original)}, "
            f'{len(origins)} accounted for; give the original row of each: rows=release.details["rows"]'
        )
    return origins


def _flag_counted_people(original: Table) -> Flags:
    if original.missing is not Missing.DROP:
        return np.ones(len(original), dtype=np.bool_)
    whole = pl.all_horizontal(pl.col(name).is_not_null() for name in original.quasi_identifying)
    return original.frame.select(whole).to_series().to_numpy()


def _assign_folds(true: Ints, is_counted: Flags, folds: int, chance: Randomness) -> Ints:
    """The fold of each person, stratified by class; −1 for people who are excluded."""
    order = chance.generator().permutation(np.flatnonzero((true >= 0) & is_counted))
    if len(order) < folds:
        raise DataError(f"{len(order)} rows have a target, too few for {folds} folds; take fewer folds")
    order = order[np.argsort(true[order], kind="stable")]
    fold = np.full(len(true), -1, dtype=np.int64)
    fold[order] = np.arange(len(order)) % folds
    return fold


def _train_model(model: str, lesson: _TrainingSet, seed: int) -> Callable[[Floats], Ints]:
    """A trained model as a function; with a single class it always predicts that one, and without rows nothing."""
    features, classes, weights = lesson
    known_classes = np.unique(classes)
    if len(known_classes) < 2:
        return lambda rows: np.full(len(rows), known_classes[0] if len(known_classes) else -1)
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    classifier = _make_untrained_model(model, float(weights.sum()), seed)
    # On so little data threads cost more than they save; a single thread also adds up in a fixed order.
    with threadpool_limits(1), warnings.catch_warnings():
        # A regression that stops early is still the analyst's regression.
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(_make_sparse(features) if model == "logistic" else features, classes, sample_weight=weights)
    return lambda rows: np.asarray(classifier.predict(rows), dtype=np.int64)


def _make_sparse(features: Floats) -> Any:
    """Most features of a row are 0, so a sparse matrix saves work."""
    from scipy.sparse import csr_matrix

    return csr_matrix(features)


def _make_untrained_model(model: str, weight: float, seed: int) -> Any:
    if model == "tree":
        from sklearn.tree import DecisionTreeClassifier

        # A leaf has at least five rows and a five-hundredth of them, by weight, since identical examples are merged.
        least = min(max(5 / weight, 1 / 500), 0.5)
        return DecisionTreeClassifier(min_weight_fraction_leaf=least, random_state=seed)
    if model == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB()
