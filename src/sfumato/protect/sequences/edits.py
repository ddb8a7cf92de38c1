# SPDX-License-Identifier: MIT
"""How far published sequences are from the originals: elements deleted and inserted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.protect.sequences.prefix_tree import LabelLists
from sfumato.release import Number
from sfumato.runtime.progress import report_progress

_CHUNK = 4096


@dataclass(frozen=True)
class SequenceEdits:
    """Elements by what happened to them; a longest common subsequence is what was kept."""

    kept_count: int
    deleted_count: int
    inserted_count: int
    changed_count: int
    """Sequences that differ."""

    @classmethod
    def of(cls, original: LabelLists, published_lists: LabelLists) -> SequenceEdits:
        """Compare sequences in order."""
        from sfumato.kernels.sequences.common_lengths import LabelPairs, measure_common_lengths

        original_lengths, published_lengths = np.diff(original.offsets), np.diff(published_lists.offsets)
        common = np.zeros(len(original_lengths), dtype=np.int64)
        labels = int(max(original.labels.max(initial=0), published_lists.labels.max(initial=0))) + 1
        masks = np.zeros((labels, (int(original_lengths.max(initial=1)) + 63) // 64), dtype=np.uint64)
        pairs = LabelPairs(original.labels, original.offsets, published_lists.labels, published_lists.offsets)
        for first in range(0, len(common), _CHUNK):
            report_progress("comparing sequences", first, len(common))
            measure_common_lengths(pairs, masks, first, min(first + _CHUNK, len(common)), common)
        differs = (common != original_lengths) | (common != published_lengths)
        kept_count = int(common.sum())
        return cls(
            kept_count,
            int(original_lengths.sum()) - kept_count,
            int(published_lengths.sum()) - kept_count,
            int(differs.sum()),
        )

    def compute_losses(self, dropped_elements: int = 0, dropped_rows: int = 0) -> dict[str, Number]:
        """What an analyst loses; sequences that were dropped lose every element."""
        deleted_count = self.deleted_count + dropped_elements
        edits, total = deleted_count + self.inserted_count, 2 * self.kept_count + deleted_count + self.inserted_count
        return {
            "loss": round(edits / total, 12) if total else 0.0,
            "deleted_elements": deleted_count,
            "inserted_elements": self.inserted_count,
            "changed_sequences": self.changed_count,
            "dropped_sequences": dropped_rows,
        }
