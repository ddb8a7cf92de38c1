# SPDX-License-Identifier: MIT
"""Elements as labels: one number for each distinct element, so that a sequence of itemsets is a row of numbers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.protect.sequences.prefix_tree import LabelLists
from sfumato.sequences import Sequences


@dataclass(frozen=True, eq=False)
class ElementLabels:
    """The distinct elements of some sequences, numbered in order of their items."""

    data: Sequences
    rows: LabelLists
    """The sequences as labels."""
    offsets: Ints
    """Label l stands for the items ``codes[offsets[l]:offsets[l + 1]]``."""
    codes: Codes

    @classmethod
    def of(cls, data: Sequences) -> ElementLabels:
        """Number the elements; those of one item each have the number of their item."""
        sizes = np.diff(data.element_offsets)
        if (sizes == 1).all():
            every = np.arange(len(data.items) + 1, dtype=np.int64)
            return cls(data, LabelLists(data.codes, data.offsets), every, every[:-1].astype(np.int32))
        bounds = data.element_offsets.tolist()
        codes = data.codes.tolist()
        elements = [tuple(codes[start:stop]) for start, stop in itertools.pairwise(bounds)]
        distinct = sorted(set(elements))
        number = {element: label for label, element in enumerate(distinct)}
        labels = np.fromiter((number[element] for element in elements), dtype=np.int32, count=len(elements))
        offsets = np.cumsum([0, *map(len, distinct)]).astype(np.int64)
        flat = np.array([code for element in distinct for code in element], dtype=np.int32)
        return cls(data, LabelLists(labels, data.offsets), offsets, flat)

    def build_sequences(self, rows: LabelLists) -> Sequences:
        """Sequences of labels as sequences of items, without owners."""
        if len(self.codes) == len(self.offsets) - 1:  # each label is one item, and its number
            every = np.arange(len(rows.labels) + 1, dtype=np.int64)
            return Sequences(self.data.items, rows.offsets, every, rows.labels, None, self.data.flat)
        elements = LabelLists(self.codes, self.offsets).select(rows.labels.astype(np.int64))
        return Sequences(self.data.items, rows.offsets, elements.offsets, elements.labels, None, self.data.flat)
