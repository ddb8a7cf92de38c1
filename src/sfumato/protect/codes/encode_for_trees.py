# SPDX-License-Identifier: MIT
"""Encode a table so that someone else can grow a decision tree on it, and learns neither the data nor the tree.

Against a provider who mines the encoded table and wants to know values, links between rows, or the rules found. What
leaks: how many rows share a value, the order of mixed pieces, which ranges are pure, and which cells are missing. Bu,
Lakshmanan, Ng and Ramesh, *Preservation of patterns and input-output privacy* (ICDE 2007); where its text errs we do
what preserves the tree: mixed pieces follow the layout's direction, decoding is by location.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats, Ints, Singles
from sfumato.change import ChangeKind, state_changes
from sfumato.data.cells.cell_types import describe_words
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.roles.role import Role
from sfumato.details import CodeDetails
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun, quote_names
from sfumato.key import Key
from sfumato.mine.codes.c45 import MOST_CLASSES
from sfumato.protect.claims import claim_count, claim_nobody_named, claim_others_kept
from sfumato.protect.codes.column_pieces import choose_bp, choose_max_mp, find_value_classes
from sfumato.protect.codes.tree_codes import CURVES, Curve, draw_value_codes
from sfumato.protect.method import KeyedMethod
from sfumato.public.codes.learner_columns import (
    TOO_CLOSE,
    convert_for_learners,
    flag_indistinct_values,
    is_learnable_type,
    map_in_threads,
    rank_cells,
)
from sfumato.public.codes.tree_key import ColumnKey, TreeKey
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.protect.codes.tree_transformer import TreeTransformer

_MOST_VALUES = 2**21
"""The most distinct values of a column that the grid of codes can hold."""


class EncodeForTrees(KeyedMethod):
    """Replace every value by a code, so that a decision tree grown on the codes decodes to the tree of the originals.

    Guarantee: a tree or forest trained on the release and decoded with the key is, node by node, the one trained on the
    originals. Against: a provider who mines the codes and wants values, relations between rows, or the rules found.
    This risk is measured, not bounded. Limits: it holds for scikit-learn's `DecisionTreeClassifier` (gini, entropy,
    log_loss; any max_depth, max_leaf_nodes, ccp_alpha, min_samples_split, min_impurity_decrease, max_features with the
    same random_state; no weights) and `RandomForestClassifier`, and for `train_c45`. With `permute=False` also under
    min_samples_leaf and class_weight, and for XGBoost's boosted trees; for LightGBM's if all columns are above 0. Not
    under splitter="random". With direction="random": equal up to ties between equally good splits, and neither forests
    nor max_features nor boosting. It is for columns of numbers; others are renamed by a keyed bijection, with a
    guarantee for C4.5 only. Papers: Bu, Lakshmanan, Ng, Ramesh 2007.
    """

    utility = "codes"
    section = "codes"
    iso_20889: ClassVar[str] = "cryptographic tools (order-preserving in part)"
    decodes: ClassVar[Literal["trees", "itemsets", "candidates"]] = "trees"
    file_claims: ClassVar[frozenset[str]] = frozenset({"rows_kept"})
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset({ChangeKind.CODED})
    public_fields: ClassVar[tuple[str, ...]] = (
        "target",
        "columns",
        "breakpoints",
        "pieces",
        "min_width",
        "direction",
        "permute",
        "curves",
    )
    column_fields: ClassVar[tuple[str, ...]] = ("target", "columns")

    method: Literal["encode_for_trees"] = "encode_for_trees"
    target: str
    """The column of classes that the tree predicts."""
    columns: tuple[str, ...] | None = None
    """The columns of numbers to encode; by default all that are published."""
    breakpoints: Literal["max_monochromatic", "random"] = "max_monochromatic"
    """Where columns are broken: `max_monochromatic` makes pure pieces as long as possible (ChooseMaxMP), `random`
    breaks anywhere (ChooseBP)."""
    pieces: int = Field(default=20, ge=1, strict=True)
    """The smallest number of pieces, if the column has that many values."""
    min_width: int = Field(default=5, ge=1, strict=True)
    """The smallest number of distinct values in a pure piece."""
    direction: Literal["monotone", "random"] = "monotone"
    """`monotone`: codes rise with values; `random`: each column rises or falls at random (then trees are equal up to
    ties only)."""
    permute: bool = True
    """Whether values of pure pieces are permuted: stronger, but neither min_samples_leaf nor boosting is exact then."""
    curves: tuple[Curve, ...] = Field(default=CURVES, min_length=1)
    """The functions that transform mixed pieces, alone or composed."""

    def new_key(self, data: Table, randomness: Randomness | None = None) -> Key:
        """Draw breakpoints, functions and codes for a table; a new key gives new codes."""
        if not len(data):
            raise DataError(f"{data.source}: the table has no rows, so no tree can be grown")
        chance = (randomness or Randomness.secure()).generator()
        classes = self._number_classes(data)
        report_progress("sorting values", 0, len(self._list_number_columns(data)))
        ranked_columns = map_in_threads(
            lambda name: RankedColumn.of(data, name, classes), self._list_number_columns(data)
        )
        columns: dict[str, Any] = {}
        for done_count, column in enumerate(ranked_columns):
            report_progress("drawing codes", done_count, len(ranked_columns))
            columns[column.name] = self.draw_key(column, chance).dump_secret()
        category_names = {
            name: _draw_value_names(data.frame[name], chance) for name in self._list_category_columns(data)
        }
        secret = {
            "target": self.target,
            "columns": columns,
            "categories": category_names,
            "labels": _draw_class_names(data.frame[self.target], chance),
            "permuted": self.permute,
        }
        return TreeKey.seal(secret)

    def protect(  # type: ignore[override]  # see KeyedMethod
        self, data: Table, key: Key | None = None, randomness: Randomness | None = None
    ) -> Release:
        """Replace every cell by its code."""
        if not isinstance(key, Key):
            raise PolicyError(
                "encode_for_trees needs a key: create one with new_key(table), keep it, and pass it to protect"
            )
        tree_key = TreeKey.open(key, data)
        places = tree_key.locate_cells(data)
        _refuse_torn_pieces(data, tree_key, places, self._number_classes(data))
        encoded_frame = tree_key.encode(data, places).drop(data.identifying if data.roles else [])
        published_table = data.replace_frame(encoded_frame)
        return Release(
            data=published_table,
            method=self,
            claims=self._list_claims(data),
            losses={"loss": 0.0, "suppressed_rows": 0},
            details=CodeDetails(
                rows=np.arange(len(data), dtype=np.int64),
                pieces={column_key.name: len(column_key.starts) for column_key in tree_key.columns.values()},
            ),
            changes=state_changes(
                self, data, published_table, dict.fromkeys(self._list_coded_columns(data), ChangeKind.CODED)
            ),
        )

    def build_transformer(self, random_state: Any = None) -> TreeTransformer:
        """The same encoding as a scikit-learn transformer, for all columns of an array."""
        from sfumato.protect.codes.tree_transformer import TreeTransformer

        fields = ("breakpoints", "pieces", "min_width", "direction", "permute", "curves")
        return TreeTransformer(random_state=random_state, **{name: getattr(self, name) for name in fields})

    def _list_claims(self, data: Table) -> tuple[Claim, ...]:
        ties = self.direction == "random"
        claims = [claim_nobody_named(data)] if data.roles else []
        claims.append(self._claim_same_trees(data, ties))
        if self.columns is not None and data.roles:
            claims.append(claim_others_kept(data, self._list_coded_columns(data)))
        claims.append(claim_count("rows_kept", "rows", len(data), "row"))
        return tuple(claims)

    def _claim_same_trees(self, data: Table, ties: bool) -> Claim:
        """Claim it of those learners that are tried: C4.5 predicts so many classes, and resolves ties by the order."""
        with_c45 = not ties and data.frame[self.target].n_unique() <= MOST_CLASSES
        alike = ", up to ties between equally good splits" if ties else ""
        c45 = " C4.5 trees (full and pruned), words included, split them exactly so." if with_c45 else ""
        return Claim(
            property="trees_that_differ",
            threshold=0,
            bound="exactly",
            measure="trees_that_differ",
            arguments={
                "target": self.target,
                "columns": self._list_number_columns(data),
                "words": self._list_category_columns(data),
                "up_to_ties": int(ties),
                "learners": ("scikit_learn", "c45") if with_c45 else ("scikit_learn",),
            },
            needs_original=True,
            meaning=(
                "Decision trees (scikit-learn; gini, entropy; full, limited) grown on the codes split the rows at "
                f"every node exactly as those grown on the originals{alike}.{c45}"
            ),
        )

    def _list_number_columns(self, table: Table) -> tuple[str, ...]:
        """The columns of numbers that are encoded."""
        published_names = self._list_published(table)
        fit = tuple(name for name in published_names if is_learnable_type(table.frame[name].dtype))
        if self.columns is None:
            return fit
        unfit = [name for name in self.columns if name not in fit]
        if unfit:
            words = describe_words(table.frame[unfit[0]]) if unfit[0] in published_names else ""
            problem = f"{table.source}: {quote_names(unfit)} is not a published column of numbers"
            problem += f': "{unfit[0]}" is text, since {words}' if words else ""
            remedy = "name only such columns, or leave `columns` out to code every column"
            raise PolicyError(f"{problem}; {remedy}{ask_meant(unfit, fit)}")
        return tuple(dict.fromkeys(self.columns))

    def _list_category_columns(self, table: Table) -> tuple[str, ...]:
        """The columns that are renamed; if `columns` is given, the others stay unchanged."""
        if self.columns is not None:
            return ()
        return tuple(name for name in self._list_published(table) if not is_learnable_type(table.frame[name].dtype))

    def _list_coded_columns(self, table: Table) -> tuple[str, ...]:
        """All columns whose cells become codes: the target, whose classes are renamed, is one of them."""
        return (*self._list_number_columns(table), *self._list_category_columns(table), self.target)

    def _list_published(self, table: Table) -> tuple[str, ...]:
        if self.target not in table.frame.columns:
            suggestion = ask_meant((self.target,), table.frame.columns)
            raise PolicyError(f'{table.source}: the target "{self.target}" is not a column of the table{suggestion}')
        identifying_names = [name for name in table.frame.columns if table.roles.get(name) is Role.IDENTIFYING]
        return tuple(name for name in table.frame.columns if name != self.target and name not in identifying_names)

    def _number_classes(self, table: Table) -> Ints:
        self._list_published(table)
        missing = table.frame[self.target].null_count()
        if missing:
            raise DataError(
                f'{table.source}: the target "{self.target}" is missing in {count_noun(missing, "row")}; a tree cannot '
                "learn from them, so remove them"
            )
        return _rank_classes(table.frame[self.target])

    def draw_key(self, column: RankedColumn, chance: np.random.Generator) -> ColumnKey:
        """Break a column into pieces, and draw the codes of its values."""
        is_rising = self.direction == "monotone" or bool(chance.integers(2))
        if not len(column.labels):
            return ColumnKey(column.name, column.values, np.zeros(0), is_rising, 0, *_NO_PIECES)
        pieces = (
            choose_bp(column.labels, self.pieces, chance)
            if self.breakpoints == "random"
            else choose_max_mp(column.labels, self.pieces, self.min_width, chance)
        )
        first = np.searchsorted(column.group, np.arange(len(column.labels)))
        codes = draw_value_codes(
            column.values[first], pieces, is_rising=is_rising, permute=self.permute, curves=self.curves, chance=chance
        )
        return ColumnKey(
            column.name,
            column.values,
            codes.numbers[column.group],
            is_rising,
            codes.decimals,
            first[pieces.starts].astype(np.int64),
            pieces.pure,
        )


@dataclass(frozen=True)
class RankedColumn:
    """A column of numbers as the encoding sees it: its values in order, and which have a single class."""

    name: str
    values: Floats
    """Distinct as 32-bit floats."""
    group: Ints
    """For each value, its number among those that trees distinguish."""
    labels: Ints
    """The class of each group, or `MIXED_CLASS`."""

    @classmethod
    def of(cls, table: Table, name: str, classes: Ints) -> RankedColumn:
        """Sort a column's values and determine their classes."""
        cells = convert_for_learners(table.frame[name], table.source)
        distinct_values, places = rank_cells(cells)
        group = np.cumsum(np.append(False, ~flag_indistinct_values(distinct_values)))[: len(distinct_values)]
        _refuse_unfit_values(distinct_values, group, name, table.source)
        labels = find_value_classes(
            _group_cells_by_value(group, places), classes, int(group[-1]) + 1 if len(group) else 0
        )
        return cls(name, _restore_given_values(table.frame[name], distinct_values, places), group, labels)


def _group_cells_by_value(group: Ints, places: Ints) -> Ints:
    """The group of each cell; missing stays missing."""
    if not len(group) or group[-1] + 1 == len(group):
        return places
    return np.asarray(np.append(group, -1)[places])


def _restore_given_values(column: pl.Series, distinct_values: Singles, places: Ints) -> Floats:
    """The values as they are in the table: of several with the same 32-bit float, the smallest."""
    wide = column.cast(pl.Float64).to_numpy()
    known_mask = places >= 0
    table_values = np.full(len(distinct_values), np.inf)
    np.minimum.at(table_values, places[known_mask], wide[known_mask])
    return table_values + 0.0


def _refuse_torn_pieces(table: Table, key: TreeKey, places: Mapping[str, Ints], classes: Ints) -> None:
    """New rows under an old key: a piece that is no longer pure would change the tree."""
    if not key.is_permuted:
        return
    for name, column_key in key.columns.items():
        torn_count = column_key.count_torn_pieces(places[name], classes)
        if torn_count:
            raise DataError(
                f'{table.source}: {torn_count} pure pieces of "{name}" hold several classes in this table; the tree '
                "would change, so draw a new key for it"
            )


_NO_PIECES = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))


def _rank_classes(column: pl.Series) -> Ints:
    """Each cell's number among the ordered distinct ones; looking up a few classes is faster than sorting all rows."""
    distinct = column.unique().sort()
    first = pl.DataFrame({"cell": distinct, "number": pl.Series(range(len(distinct)), dtype=pl.Int64)})
    numbers: Ints = (
        pl.DataFrame({"cell": column}).join(first, on="cell", how="left", maintain_order="left")["number"].to_numpy()
    )
    return numbers


def _refuse_unfit_values(values: Singles, group: Ints, name: str, source: str) -> None:
    if len(values) > _MOST_VALUES:
        raise DataError(
            f'{source}: "{name}" has {len(values)} distinct values, but codes stay distinct for {_MOST_VALUES} at '
            "most; "
            "round it"
        )
    if not len(values):
        return
    first = values[np.searchsorted(group, np.arange(group[-1] + 1))]
    astray = int((values > first[group] + TOO_CLOSE).sum())
    if astray:
        raise DataError(
            f'{source}: {astray} values of "{name}" are within 1e-7 of neighbours that are further apart, and '
            "scikit-learn treats them as equal in some nodes and not in others; multiply the column by a power of ten"
        )


def _draw_value_names(column: pl.Series, chance: np.random.Generator) -> dict[str, list[Any]]:
    values = spell_cells(column).drop_nulls().unique().sort().to_list()
    return {"values": values, "codes": _draw_code_names(len(values), "v", chance, is_ordered=False)}


def _draw_class_names(column: pl.Series, chance: np.random.Generator) -> dict[str, list[Any]]:
    """New names for the classes: two in any order; more than two keep their order, because sums of entropies depend on
    it."""
    class_values = column.unique().sort()
    values = (spell_cells(class_values) if class_values.dtype.is_temporal() else class_values).to_list()
    return {"values": values, "codes": _draw_code_names(len(values), "class ", chance, is_ordered=len(values) > 2)}


def _draw_code_names(count: int, word: str, chance: np.random.Generator, *, is_ordered: bool) -> list[str]:
    digits = max(3, len(str(count * 9)))
    numbers = chance.choice(10**digits, size=count, replace=False)
    return [f"{word}{number:0{digits}d}" for number in (np.sort(numbers) if is_ordered else numbers)]
