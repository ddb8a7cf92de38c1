# SPDX-License-Identifier: MIT
"""The encoding as a scikit-learn transformer: estimator checks, pipelines, and back again."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.measure.codes.tree_equality import same_tree
from sfumato.protect.codes.encode_for_trees import EncodeForTrees
from sfumato.protect.codes.tree_transformer import TreeTransformer

CANNOT = {
    "check_estimators_pickle": "the key is a secret, and a pickle would be a copy that nobody asked for",
    "check_fit_idempotent": "transforms values that fit did not see: their codes could change the tree",
}


def data(seed: int = 0) -> tuple[Any, Any]:
    lot = np.random.default_rng(seed)
    cells = np.column_stack([lot.integers(0, 50, 200), np.round(lot.normal(size=200), 2)])
    return cells, np.where(cells[:, 0] + 10 * cells[:, 1] > 25, "u", "w")


@pytest.mark.filterwarnings("ignore")  # the checks warn of what they try on purpose
def test_estimator_checks() -> None:
    results = check_estimator(EncodeForTrees(target="y").build_transformer(), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(CANNOT)
    assert sum(result["status"] == "passed" for result in results) > 35


def test_settings_are_those_of_the_method() -> None:
    transformer = EncodeForTrees(target="y", pieces=7, permute=False, curves=("log",)).build_transformer(random_state=3)
    assert isinstance(transformer, TreeTransformer)
    assert transformer.get_params() == {
        "breakpoints": "max_monochromatic", "pieces": 7, "min_width": 5, "direction": "monotone", "permute": False,
        "curves": ("log",), "random_state": 3,
    }  # fmt: skip


def test_there_and_back() -> None:
    cells, classes = data()
    cells[3, 1] = np.nan
    transformer = TreeTransformer(random_state=1).fit(cells, classes)
    codes = transformer.transform(cells)
    assert np.isnan(codes[3, 1]) and not np.array_equal(codes[:, 0], cells[:, 0])
    assert np.array_equal(transformer.inverse_transform(codes), cells, equal_nan=True)
    second_codes = TreeTransformer(random_state=1).fit(cells, classes).transform(cells)
    assert np.array_equal(codes, second_codes, equal_nan=True)
    assert not np.array_equal(codes, TreeTransformer(random_state=2).fit_transform(cells, classes), equal_nan=True)
    assert not np.array_equal(TreeTransformer().fit_transform(cells, classes), codes, equal_nan=True)


def test_in_a_pipeline_and_decoded() -> None:
    cells, classes = data(1)
    for kinds in (classes, (classes == "u").astype(int), classes == "u"):
        line = Pipeline([("encode", TreeTransformer()), ("tree", DecisionTreeClassifier(random_state=0))])
        line.fit(cells, kinds)
        direct = DecisionTreeClassifier(random_state=0).fit(cells, kinds)
        assert (line.predict(cells) == direct.predict(cells)).all()
        decoded = line["encode"].decode(line["tree"], cells, kinds)
        assert same_tree(decoded, direct)
        assert (decoded.predict(cells + 0.001) == direct.predict(cells + 0.001)).all()


def test_what_is_not_known_is_refused_and_the_key_is_not_pickled() -> None:
    cells, classes = data(2)
    transformer = TreeTransformer().fit(cells, classes)
    with pytest.raises(sf.DataError, match='"x0": the key has no code for 1 cell, and another'):
        transformer.transform([[999.0, cells[0, 1]]])
    with pytest.raises(sf.DataError, match="1 cell is not a code of this key"):
        transformer.inverse_transform([[-999.5, 0.001]])
    with pytest.raises(TypeError, match="Key is saved by"):
        pickle.dumps(transformer)
    with pytest.raises(ValueError, match="requires y"):
        TreeTransformer().fit(cells)
