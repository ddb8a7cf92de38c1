# SPDX-License-Identifier: MIT
"""The encoding for trees as a scikit-learn transformer, for pipelines and arrays.

It encodes the columns; classes stay unchanged, since a transformer does not touch them. Its key is a secret: it is not
pickled; save it with `key_.save`. Values that were absent at `fit` are refused, as in `EncodeForTrees.protect`, because
their codes could change the tree; so it suits `fit_transform` and decoding, not scoring new data on codes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from sfumato.arrays import Floats
from sfumato.errors import PolicyError
from sfumato.key import Key
from sfumato.protect.codes.encode_for_trees import EncodeForTrees
from sfumato.protect.codes.tree_codes import CURVES
from sfumato.public.codes.tree_key import TreeKey
from sfumato.randomness import Randomness
from sfumato.table import Table

_TARGET = "target of the tree"


class TreeTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Codes for numbers, so that a decision tree grown on them is the true tree in disguise; see `EncodeForTrees`."""

    key_: Key
    n_features_in_: int

    def __init__(
        self,
        *,
        breakpoints: str = "max_monochromatic",
        pieces: int = 20,
        min_width: int = 5,
        direction: str = "monotone",
        permute: bool = True,
        curves: tuple[str, ...] = CURVES,
        random_state: Any = None,
    ) -> None:
        """Store the parameters; see the fields of `EncodeForTrees`."""
        self.breakpoints = breakpoints
        self.pieces = pieces
        self.min_width = min_width
        self.direction = direction
        self.permute = permute
        self.curves = curves
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> TreeTransformer:  # noqa: N803  # scikit-learn's name
        """Draw a key for these values and classes; without `random_state`, from the operating system's entropy."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} requires y to be passed, but the target y is None; pieces depend on it"
            )
        cells = self._check_cells(X, reset=True)
        classes = column_or_1d(y, warn=True)
        check_consistent_length(cells, classes)
        table = _build_training_table(cells, classes)
        method = EncodeForTrees(target=_TARGET, **self._get_settings())
        self.key_ = _keep_class_names(method.new_key(table, self._make_randomness()), table)
        return self

    def transform(self, X: Any) -> Floats:  # noqa: N803  # scikit-learn's name
        """The codes; missing stays missing, and a value that `fit` did not see is refused."""
        check_is_fitted(self)
        cells = self._check_cells(X, reset=False)
        key = self._open_key()
        columns = [
            column_key.encode(column_key.locate_cells(pl.Series(column_key.name, cells[:, index]).fill_nan(None), "X"))
            for index, column_key in enumerate(key.columns.values())
        ]
        return np.column_stack(columns)

    def inverse_transform(self, X: Any) -> Floats:  # noqa: N803  # scikit-learn's name
        """The values of codes; of several that trees do not distinguish, the smallest."""
        check_is_fitted(self)
        cells = self._check_cells(X, reset=False)
        key = self._open_key()
        return np.column_stack(
            [column_key.decode(cells[:, index], "X") for index, column_key in enumerate(key.columns.values())]
        )

    def decode(self, model: Any, X: Any, y: Any) -> Any:  # noqa: N803  # scikit-learn's name
        """The tree or forest that the originals would have given, from one grown on `transform(X)` and `y`."""
        from sfumato.mine.codes.decoded_tree import decode_tree

        check_is_fitted(self)
        names = getattr(model, "feature_names_in_", None)
        if names is not None:
            raise PolicyError("the model was grown on named columns; grow it on the array that transform returns")
        return decode_tree(model, self.key_, _build_training_table(self._check_cells(X, reset=False), column_or_1d(y)))

    def _check_cells(self, raw_cells: Any, *, reset: bool) -> Floats:
        cells: Floats = validate_data(self, raw_cells, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        return cells

    def _get_settings(self) -> dict[str, Any]:
        names = ("breakpoints", "pieces", "min_width", "direction", "permute", "curves")
        return {name: getattr(self, name) for name in names}

    def _make_randomness(self) -> Randomness:
        if self.random_state is None:
            return Randomness.secure()
        return Randomness.seeded(int(check_random_state(self.random_state).randint(2**31 - 1)))

    def _open_key(self) -> TreeKey:
        columns = {f"x{index}": [0.0] for index in range(self.n_features_in_)}
        return TreeKey.open(self.key_, Table.of({**columns, _TARGET: [0]}))

    def __sklearn_tags__(self) -> Any:
        """Require classes and accept missing cells."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags


def _build_training_table(cells: Floats, classes: npt.NDArray[Any]) -> Table:
    columns = {f"x{index}": pl.Series(cells[:, index]).fill_nan(None) for index in range(cells.shape[1])}
    kinds = pl.Series(classes.tolist())
    return Table.of(pl.DataFrame({**columns, _TARGET: kinds}))


def _keep_class_names(key: Key, table: Table) -> Key:
    """The same key with the classes' own names: a pipeline's learner sees them unchanged."""
    secret = {name: part for name, part in key.secret.items() if name != "seal"}
    class_values = table.frame[_TARGET].unique().sort()
    values = class_values.to_list()
    # Spelled like scikit-learn's classes_, which a model's classes are compared with.
    secret["labels"] = {"values": values, "codes": [str(value) for value in np.array(values)]}
    return TreeKey.seal(secret)
