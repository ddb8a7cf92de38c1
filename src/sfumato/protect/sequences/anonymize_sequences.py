# SPDX-License-Identifier: MIT
"""Anonymize sequences: publish only sequences that at least k of the published ones contain.

Against an adversary who knows some places or pages of a person's trace, in order, and looks for the sequences that
contain them. What leaks: what at least k people have in common, and how many sequences there are. Pensa, Monreale,
Pinelli, Pedreschi, *Pattern-preserving k-anonymization of sequences and its application to mobility data mining*
(2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from sfumato.arrays import Flags, Ints
from sfumato.details import SequenceDetails
from sfumato.errors import DataError, ImpossibleRelease
from sfumato.protect.method import Method
from sfumato.protect.sequences.closest_paths import find_closest
from sfumato.protect.sequences.edits import SequenceEdits
from sfumato.protect.sequences.element_labels import ElementLabels
from sfumato.protect.sequences.prefix_tree import LabelLists, PrefixTree, grow_prefix_tree
from sfumato.protect.sequences.rare_paths import flag_rare_paths
from sfumato.protect.sequences.sequence_claims import claim_crowds, claim_original_support
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.sequences import Sequences
from sfumato.suppression import Suppression


class AnonymizeSequences(Method):
    """Replace rare sequences by frequent ones that resemble them, so that nobody can be found by a part of theirs.

    Guarantee: every sequence of items that occurs in a published sequence, in order and with anything in between,
    occurs in at least k published sequences. And it occurs in at least k originals: no pattern becomes k-frequent. With
    `literal`, only the latter is guaranteed. Against: anyone who knows some elements of a person's sequence, in order,
    and looks for the sequences that contain them. Limits: a published sequence may have elements that its person never
    had, since the closest frequent sequence replaces a rare one; a sequence that has nothing in common with any
    frequent one is dropped; an element of several items is kept or lost as a whole; what all k have in common is
    revealed. Papers: Pensa, Monreale, Pinelli, Pedreschi 2008.
    """

    shape: ClassVar[str] = "sequences"
    gives: ClassVar[str] = "sequences"
    utility = "sequences"
    section = "sequences"
    iso_20889: ClassVar[str] = "local suppression"
    truthful: ClassVar[bool] = False
    loss_meaning: ClassVar[str] = (
        "Of the elements of all sequences before and after, the share that was deleted or inserted."
    )
    kept_meaning: ClassVar[tuple[str, str]] = ("of the elements kept", "of the sequences before and after")
    threshold_fields: ClassVar[Mapping[str, str]] = {"sequence_anonymity": "k", "original_support": "k"}
    file_claims: ClassVar[frozenset[str]] = frozenset({"sequence_anonymity"})
    public_fields: ClassVar[tuple[str, ...]] = ("k", "literal")

    method: Literal["anonymize_sequences"] = "anonymize_sequences"
    k: int = Field(ge=2, strict=True)
    """How many published sequences must contain what occurs in one of them; at least 2. With `literal`, some may be
    contained in fewer."""
    literal: bool = False
    """Whether to stop after one pass, as published: then some sequences may still be rare."""

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """After one pass, some sequences may still be rare."""
        return () if parameters["literal"] else super().list_certain_claims(parameters)

    @classmethod
    def explain_left_out(cls, parameters: Mapping[str, Any]) -> str:
        """Sequences that no frequent one could replace."""
        return (
            "Sequences that have nothing in common with a frequent one, if there are any, are not in the release; the "
            "number is not published."
        )

    @property
    def maturity(self) -> str:  # type: ignore[override]  # depends on the parameters
        """One pass is known to leave rare sequences."""
        return "for study" if self.literal else "stable"

    def protect(self, data: Sequences, randomness: Randomness | None = None) -> Release:
        """Grow the frequent part of the prefix tree, move what was cut to the closest paths, and spell them."""
        _refuse_small(data, self.k)
        labels = ElementLabels.of(data)
        paths = _anonymize(labels.rows, self.k, is_single_pass=self.literal)
        kept_rows = np.flatnonzero(paths.published_mask)
        published_lists = paths.tree.spell_paths(paths.nodes[kept_rows])
        if not len(published_lists.labels):
            cure = "lower k, or use larger regions or fewer different items"
            raise ImpossibleRelease(f"no element is first in {self.k} sequences, so nothing would be left; {cure}")
        lost_rows = np.flatnonzero(~paths.published_mask)
        edits = SequenceEdits.of(labels.rows.select(kept_rows), published_lists)
        return Release(
            data=labels.build_sequences(published_lists),
            method=self,
            claims=(*(() if self.literal else (claim_crowds(self.k),)), claim_original_support(self.k)),
            losses=edits.compute_losses(int(np.diff(data.offsets)[lost_rows].sum()), len(lost_rows)),
            details=SequenceDetails(
                rows=kept_rows,
                suppressed=lost_rows,
                passes=paths.passes,
                moved_sequences=edits.changed_count,
                crowd=self.k,
                is_single_pass=self.literal,
            ),
            suppression=Suppression(row_count=len(lost_rows)),
        )


def _refuse_small(data: Sequences, k: int) -> None:
    if not len(data):
        raise DataError("there are no sequences to anonymize")
    if not data.codes.size:
        raise ImpossibleRelease("all sequences are empty, so there is nothing to anonymize")
    if k > len(data):
        many = (
            "1 sequence cannot hide among others"
            if len(data) == 1
            else f"k = {k} is more than the {len(data)} sequences"
        )
        raise ImpossibleRelease(f"{many}; {'give more data' if len(data) < 2 else 'lower k'}")


class _PublishedPaths(NamedTuple):
    """Where each sequence ends in the tree."""

    tree: PrefixTree
    nodes: Ints
    published_mask: Flags
    """Whether each sequence is published: those that have nothing in common with any path are not."""
    passes: int


def _anonymize(sequences: LabelLists, k: int, *, is_single_pass: bool) -> _PublishedPaths:
    """BF-P2kA, repeated until at least k sequences contain each.

    A pass may move so many sequences away from a path that fewer than k are left. Each pass with something to cut
    removes nodes and adds none, so this ends.
    """
    tree, nodes = grow_prefix_tree(sequences, k)
    cut = tree.depths[nodes] < np.diff(sequences.offsets)
    published_mask = np.ones(len(nodes), dtype=np.bool_)
    passes = 1
    nodes = _reattach(tree, nodes, cut, sequences)
    while True:
        published_mask &= ~(cut & (nodes == 0))
        rare = flag_rare_paths(tree, tree.count_supports(np.bincount(nodes[published_mask], minlength=len(tree))), k)
        cut = rare[nodes] & published_mask
        if is_single_pass or not cut.any():
            return _PublishedPaths(tree, nodes, published_mask, passes)
        nodes, tree = _prune(tree, ~rare, nodes, cut)
        passes += 1


def _prune(tree: PrefixTree, kept_mask: Flags, nodes: Ints, cut: Flags) -> tuple[Ints, PrefixTree]:
    """Remove nodes, and move the sequences that end in them: each is what its path says."""
    number = np.cumsum(kept_mask) - 1
    ancestors = np.arange(len(tree))
    for level in tree.list_levels()[1:]:
        ancestors[level] = np.where(kept_mask[level], level, ancestors[tree.parents[level]])
    smaller = tree.restrict(kept_mask)
    cut_paths = tree.spell_paths(np.where(cut, nodes, 0))
    return _reattach(smaller, number[ancestors[nodes]], cut, cut_paths), smaller


def _reattach(tree: PrefixTree, nodes: Ints, cut: Flags, sequences: LabelLists) -> Ints:
    """The nodes where sequences end: those that were cut take the closest path, equal ones the same."""
    from sfumato.kernels.sequences.distinct_rows import find_distinct_rows

    supports = tree.count_supports(np.bincount(nodes[~cut], minlength=len(tree)))
    rows = np.flatnonzero(cut)
    cut_sequences = sequences.select(rows)
    distinct = find_distinct_rows(cut_sequences.labels, cut_sequences.offsets)
    closest = find_closest(tree, supports, cut_sequences.select(distinct.firsts), nodes[rows[distinct.firsts]])
    new_nodes = nodes.copy()
    new_nodes[rows] = closest[distinct.numbers]
    return new_nodes
