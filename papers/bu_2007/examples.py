# SPDX-License-Identifier: MIT
"""Figures 1, 3, 4 and 7: what can be checked by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from papers.study import Findings, Grid, Setting, Statement, frame_of, require_all
from sfumato.protect.codes.column_pieces import choose_max_mp, find_value_classes
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import bound_by_rank
from sfumato.public.codes.learner_columns import find_class_ranges

AGES, RISKS = (17, 20, 23, 32, 43, 68), "HHHLHL"
OLDEST = (68, 50)
"""Figure 1 as far as its text describes it, which does not give the oldest age: two choices of ours."""
VALUES = (1, 2, 15, 15, 27, 28, 29, 29, 29, 29, 42, 43, 44)
CLASSES = "HHHHLLLLHHHHH"
FIGURE_3 = (20, 17, 16, 16, 2, 4, 5, 5, 5, 5, 12, 13, 14)
FIGURE_4 = (20, 17, 16, 16, 23, 24, 25, 25, 25, 25, 102, 101, 100)
FIGURE_7 = (6, 10, 8, 8, 19, 18, 27, 27, 27, 27, 35, 31, 33)


def class_string(values: tuple[int, ...], classes: str) -> str:
    """The classes in the order of the values; those of one value in the order of their names (Definition 6)."""
    return "".join(label for _, label in sorted(zip(values, classes, strict=True)))


def runs(string: str) -> list[str]:
    """The label runs of a class string (Definition 7)."""
    pieces: list[str] = []
    for label in string:
        if pieces and pieces[-1][0] == label:
            pieces[-1] += label
        else:
            pieces.append(label)
    return pieces


def figure_1(_: Setting) -> Findings:
    """Class strings, and the tree on codes decoded by location, for every oldest age that is tried."""
    several = {str(oldest): _state_tree((*AGES[:-1], oldest)) for oldest in OLDEST}
    return Findings(
        tuple(
            require_all("the oldest age", dict(zip(several, column, strict=True)))
            for column in zip(*several.values(), strict=True)
        )
    )


def _state_tree(ages: tuple[int, ...]) -> tuple[Statement, ...]:
    """What is said of Figure 1, for these ages."""
    from sklearn.tree import DecisionTreeClassifier

    from sfumato.measure.codes.tree_equality import same_tree
    from sfumato.mine.codes.decoded_tree import decode_tree
    from sfumato.protect.codes.encode_for_trees import EncodeForTrees
    from sfumato.randomness import Randomness
    from sfumato.table import Table

    table = Table.of({"age": ages, "risk": list(RISKS)})
    code_ages = tuple(round(0.9 * age + 10) for age in ages)
    method = EncodeForTrees(target="risk", min_width=1)
    key = method.new_key(table, Randomness.seeded(1))
    direct, provider = (
        DecisionTreeClassifier(random_state=0).fit(frame.select("age").to_numpy(), frame["risk"].to_numpy())
        for frame in (table.frame, method.protect(table, key).data.frame)
    )
    plain_tree = decode_tree(provider, key, table)
    inverse = (35 - 10) / 0.9
    string = class_string(ages, RISKS)
    return (
        Statement("σ_age = HHHLHL", string, string == "HHHLHL"),
        Statement("four label runs HHH, L, H, L", ", ".join(runs(string)), runs(string) == ["HHH", "L", "H", "L"]),
        Statement(
            "the class string of the codes is the same",
            class_string(code_ages, RISKS),
            class_string(code_ages, RISKS) == string,
        ),
        Statement("the first split is (23 + 32) / 2 = 27.5, and (31 + 39) / 2 = 35 on codes",
            f"{direct.tree_.threshold[0]:g} at the root, and {(code_ages[2] + code_ages[3]) / 2:g}",
            direct.tree_.threshold[0] == 27.5 and (code_ages[2] + code_ages[3]) / 2 == 35),
        Statement("decoding by the inverse function gives the same tree (Theorem 2)",
            f"f⁻¹(35) = {inverse:.2f}", round(inverse, 2) == direct.tree_.threshold[0],
            "Codes are rounded, and a curve does not keep a midpoint."),
        Statement("the decoded tree is the tree of the originals",
            f"decoded by location: {'the same' if same_tree(plain_tree, direct) else 'another'}",
            same_tree(plain_tree, direct)),
    )  # fmt: skip


def keeps_order(codes: tuple[int, ...]) -> bool:
    """Whether the pieces {1, 2, 15}, {27, 28, 29}, {42 …} follow one another in the codes (Definition 8)."""
    pieces = [[c for v, c in zip(VALUES, codes, strict=True) if low <= v < high] for low, high in _BOUNDS]
    return all(max(a) < min(b) for a, b in pairwise(pieces))


_BOUNDS = ((0, 20), (20, 40), (40, 60))
_REMARK = (
    "Both figures cut between the label runs at 29, which is a value of both classes and cannot be cut: pieces here "
    "end at 29. The order of the four rows with 29 is not given; the classes of one value go by name."
)


def figures_3_and_4(_: Setting) -> Findings:
    """The invariant that pieces follow one another, broken and kept."""
    rows = [
        {
            "figure": name,
            "codes": " ".join(map(str, codes)),
            "class_string": class_string(codes, CLASSES),
            "in_order": keeps_order(codes),
        }
        for name, codes in (("3", FIGURE_3), ("4", FIGURE_4), ("7", FIGURE_7))
    ]
    return Findings(
        statements=(
            Statement(
                "Figure 3 fails the global-monotone invariant", _describe_order(FIGURE_3), not keeps_order(FIGURE_3)
            ),
            Statement("Figure 4 satisfies it", _describe_order(FIGURE_4), keeps_order(FIGURE_4)),
        ),
        grids=(Grid("strings", "Codes of Figures 3, 4 and 7, and their class strings", frame_of(rows)),),
        remarks=(_REMARK,),
    )


def _describe_order(codes: tuple[int, ...]) -> str:
    return "pieces follow one another" if keeps_order(codes) else "pieces do not follow one another"


def figure_7(_: Setting) -> Findings:
    """ChooseMaxMP, and the probability of sorting."""
    values, value_index = np.unique(np.array(VALUES), return_inverse=True)
    classes = np.array([ord(letter) for letter in CLASSES], dtype=np.int64)
    labels = find_value_classes(value_index.astype(np.int64), classes, len(values))
    pieces = choose_max_mp(labels, 1, 2, np.random.default_rng(0))
    starts = values[pieces.starts].tolist()
    low, high = find_class_ranges(value_index.astype(np.int64), classes, len(values))
    wide = values.astype(np.float64)
    column = CodedColumn(
        "A", wide, wide, wide, np.bincount(value_index), value_index.astype(np.int64), wide, np.bincount(value_index)
    )
    ranges = bound_by_rank(len(wide), 1, 44, 1)
    index = int(np.flatnonzero(values == 29)[0])
    chance = float(ranges.compute_crack_chance(column, 2 / column.width)[index])
    rows = [
        {"values": ", ".join(str(v) for v in values[a:b]), "pure": bool(p)}
        for a, b, p in zip(pieces.starts, pieces.ends, pieces.pure, strict=True)
    ]
    return Findings(
        statements=(
            Statement("breakpoints 1, 27, 29, 42", ", ".join(map(str, starts)), starts == [1, 27, 29, 42]),
            Statement(
                "29 is the only value of several classes",
                ", ".join(str(v) for v in values[low != high]),
                values[low != high].tolist() == [29],
            ),
            Statement(
                "sorting places the code 27 in [6, 41] and cracks it with probability 5/36",
                f"[{ranges.low[index]:g}, {ranges.high[index]:g}], {chance:.6f}",
                abs(chance - 5 / 36) < 1e-12,
            ),
        ),
        grids=(Grid("pieces", "The pieces of Figure 7", pl.DataFrame(rows)),),
    )
