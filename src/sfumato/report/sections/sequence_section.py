# SPDX-License-Identifier: MIT
"""The section about sequences: lengths, items, steps and distances before and after, and what was hidden.

The public page gets the same pictures of the release alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.details import SequenceDetails
from sfumato.errors import count_noun
from sfumato.losses import LOSSES, is_share
from sfumato.measure.sequences.sequence_checks import sequence_anonymity
from sfumato.measure.sequences.support_counts import count_pattern_supports
from sfumato.measure.sequences.visits import count_holders, edit_distances, flow_counts
from sfumato.public.marked_items import MARK, find_mark, remove_marks
from sfumato.public.thresholds import find_gap_limits
from sfumato.release import Release
from sfumato.report.pictures.grid_pictures import draw_grid_figures
from sfumato.report.pictures.rendering import LABEL, PALETTE
from sfumato.report.pictures.svg import Drawing, cut_words, estimate_width
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.words import wording
from sfumato.sequences import Sequences

_MOST = 10
_SECRETS = 12
"""How many items are drawn, and how many patterns are named."""
_MOST_PAIRS = 2_000_000_000
"""Pairs of elements that are compared for distances, at most."""
_EDIT_WORDS = {"deleted": "deleted", "replaced": "replaced or deleted", "marked": f"replaced by the mark {MARK}"}
_SIDES = ("before", "after")
_COLOURS = {"before": PALETTE["before"][0], "after": PALETTE["accent"][0]}
_WIDEST = 220
"""The width of the longest label, in pixels."""


class _BeforeAndAfter(NamedTuple):
    """One quantity before and after; `original` is None on the public page."""

    label: str
    original: float | None
    published_value: float


def build_sequence_section(
    release: Release, original: Sequences, published_sequences: Sequences, utility: Mapping[str, float]
) -> ReportSection:
    """What became of the sequences; for the custodian."""
    step, mark = release.find_step(SequenceDetails) or release, find_mark(release, original)
    details = step.details.get_family(SequenceDetails) or SequenceDetails()
    figures = [
        _draw_lengths(published_sequences, mark, original),
        _draw_items(published_sequences, mark, original),
        *_draw_patterns(utility, details.crowd, hides=details.sensitive is not None),
    ]
    figures += _draw_distances(published_sequences, original, release.details.rows)
    figures += draw_grid_figures(published_sequences, original, mark) or [
        _draw_steps(published_sequences, mark, original)
    ]
    notes = _describe_search_end(details, published_sequences if details.is_single_pass else None)
    if details.sensitive is not None:
        figures.insert(0, _draw_secrets(step, original, published_sequences, details.sensitive))
        marks = count_noun(int(release.losses["changes"]), "item")
        count = count_noun(len(details.sensitive), "pattern was", "patterns were")
        return ReportSection(
            "sequences",
            "What was hidden",
            f"{count} to be hidden, with {marks} {_EDIT_WORDS.get(details.edit or '', 'changed')}.",
            tuple(figures),
            notes,
        )
    intro = _describe_fates(details.moved_sequences or 0, int(release.losses["dropped_sequences"]))
    return ReportSection("sequences", "What became of the sequences", intro, tuple(figures), notes)


def _describe_fates(moved_count: int, dropped_count: int) -> str:
    """How many sequences were replaced by a frequent one, and how many have none to replace them."""
    singular, plural = "sequence was too rare and is", "sequences were too rare and are"
    replaced_text = f"{count_noun(moved_count, singular, plural)} published as the frequent one with most in common."
    if not dropped_count:
        return f"{replaced_text} None was dropped."
    singular, plural = (
        "sequence had nothing in common with any and was",
        "sequences had nothing in common with any and were",
    )
    return f"{replaced_text} {count_noun(dropped_count, singular, plural)} dropped."


def build_outgoing_sequence_section(published_sequences: Sequences, mark: str = "") -> ReportSection:
    """The same from the release alone; `mark` stands for hidden items, if the methods state one."""
    intro = "Counted in the released file."
    return ReportSection(
        "sequences",
        "What is published",
        intro,
        (
            _draw_lengths(published_sequences, mark),
            _draw_items(published_sequences, mark),
            *(draw_grid_figures(published_sequences, mark=mark) or [_draw_steps(published_sequences, mark)]),
        ),
    )


def _describe_search_end(details: SequenceDetails, literal: Sequences | None) -> tuple[str, ...]:
    """How the method ended; of one that stopped after one pass, what it left."""
    if details.proven:
        return ("Proven: no fewer changes are enough.",)
    if details.bound is not None:
        bound, objective = wording.format_count(details.bound), wording.format_count(details.objective)
        return (f"At least {bound} changes are needed; this release has {objective}.",)
    if not details.passes:
        return ()
    if literal is not None:
        least = count_noun(sequence_anonymity(literal), "published sequence")
        return (f"It stopped after one pass, as published: what is rarest now occurs in {least}.",)
    rounds = count_noun(details.passes, "round")
    explanation = ", since replacing some can leave others rare" if details.passes > 1 else ""
    return (f"Rare sequences were replaced in {rounds}{explanation}.",)


def _draw_secrets(
    step: Release, original: Sequences, published_sequences: Sequences, secrets: Sequence[Any]
) -> ReportFigure:
    """The supports of the hidden patterns before and after, and what is allowed."""
    limits = find_gap_limits(step)._asdict()
    shown_secrets = list(secrets)[:_SECRETS]
    patterns = [tuple(tuple(sorted(map(str, element))) for element in pattern) for pattern, _ in shown_secrets]
    counts = [count_pattern_supports(data, patterns, **limits) for data in (original, published_sequences)]
    pairs = [
        _BeforeAndAfter(_name_pattern(pattern), *(float(side[name]) for side in counts))
        for name, (pattern, _) in zip(patterns, shown_secrets, strict=True)
    ]
    caption = "How many sequences contain each hidden pattern, before and after; the table says how many may."
    limit_texts = [f"{name} = {limit}" for name, limit in limits.items() if limit is not None]
    if limit_texts:
        caption += f" Only matches that {' and '.join(limit_texts)} allow{'s' if len(limit_texts) == 1 else ''} count."
    if len(secrets) > len(shown_secrets):
        caption += f" {count_noun(len(secrets) - len(shown_secrets), 'more is', 'more are')} not drawn."
    rows = tuple(
        (
            pair.label,
            wording.format_count(pair.original),
            wording.format_count(pair.published_value),
            wording.format_count(most),
        )
        for pair, (_, most) in zip(pairs, shown_secrets, strict=True)
    )
    return ReportFigure(
        "Hidden patterns", _draw_pairs(pairs), caption, caption, ("Pattern", "Before", "After", "Allowed"), rows
    )


def _draw_patterns(utility: Mapping[str, float], crowd: int | None, *, hides: bool) -> list[ReportFigure]:
    """Frequent patterns before and after; nothing if there were too many to compare."""
    if "frequent_before" not in utility:
        return []
    pairs = [
        _BeforeAndAfter("frequent", utility["frequent_before"], utility["frequent_after"]),
        _BeforeAndAfter("on one side only", utility["lost_patterns"], utility["ghost_patterns"]),
    ]
    caption = (
        "How many patterns are frequent before and after, and how many on one side only: lost ones and ghosts. "
        "A pattern is frequent if its support reaches min_support of the policy's section measure; unless set, that of "
        "the method, or else a tenth of the originals."
    )
    if hides:
        caption += " Patterns to be hidden, and all that contain one, do not count."
    if crowd is not None:
        caption += f" The promise is about patterns in {crowd} sequences: above that, they may well become frequent."
    names = ("support_similarity", "f_measure", "support_distance", "pattern_distortion", "support_distortion")
    rows = tuple((LOSSES[name].title, _format_measure(name, utility.get(name))) for name in names)
    return [ReportFigure("Frequent patterns", _draw_pairs(pairs), caption, caption, ("Measure", "Value"), rows)]


def _format_measure(name: str, value: float | None) -> str:
    if value is None:
        return "undefined"
    return wording.format_percent(value) if is_share(name) else wording.format_count(value)


def _name_pattern(pattern: Sequence[Sequence[str]]) -> str:
    return " → ".join("+".join(map(str, element)) for element in pattern)


def _draw_lengths(published_sequences: Sequences, mark: str, original: Sequences | None = None) -> ReportFigure:
    """How many sequences are how long; a mark is no element."""
    unmarked_sequences = remove_marks(published_sequences, mark)
    several = [np.diff(data.offsets) for data in (original, unmarked_sequences) if data is not None]
    names, counts = _count_in_bins(several)
    return _build_pair_figure("Lengths", "Distribution of sequence lengths.", names, counts, "Elements")


def _count_in_bins(several: Sequence[Ints]) -> tuple[list[str], list[list[int]]]:
    """Numbers in bins that double, without the empty ones at both ends."""
    longest = max(int(numbers.max(initial=0)) for numbers in several)
    bounds = [0, 1, 2, 3]
    while bounds[-1] <= longest:
        bounds.append(2 * bounds[-1] - 1)
    bins = list(pairwise(bounds))
    names = [str(low) if high - low == 1 else f"{low} to {high - 1}" for low, high in bins]
    counts = [[int(((numbers >= low) & (numbers < high)).sum()) for low, high in bins] for numbers in several]
    filled_bins = [index for index in range(len(bins)) if any(side[index] for side in counts)] or [0]
    shown_slice = slice(filled_bins[0], filled_bins[-1] + 1)
    return names[shown_slice], [side[shown_slice] for side in counts]


def _draw_distances(published_sequences: Sequences, original: Sequences, owners: Ints | None) -> list[ReportFigure]:
    """How far sequences are from their originals; nothing if that takes too long or nobody says whose they are."""
    rows = np.arange(len(published_sequences)) if owners is None else np.asarray(owners)
    if len(rows) != len(published_sequences) or not len(rows) or rows.max() >= len(original):
        return []
    if int((np.diff(original.offsets)[rows] * np.diff(published_sequences.offsets)).sum()) > _MOST_PAIRS:
        return []
    distances = edit_distances(original, published_sequences, rows)
    names, counts = _count_in_bins([distances])
    caption = (
        f"How many published sequences differ from their originals by how many elements inserted, deleted or replaced: "
        f"{distances.mean():.3g} on average."
    )
    return [_build_pair_figure("Distances", caption, names, counts, "Elements")]


def _draw_steps(published_sequences: Sequences, mark: str, original: Sequences | None = None) -> ReportFigure:
    """The most frequent steps from one item to the next."""
    sides = _SIDES if original is not None else _SIDES[1:]
    flows = flow_counts(published_sequences if original is None else original, published_sequences, mark)
    flows = flows.sort([*sides, "start", "goal"], descending=[True] * len(sides) + [False, False]).head(_MOST)
    names = [
        wording.shorten_label(f"{start} → {goal}", 2 * LABEL) for start, goal in flows.select("start", "goal").rows()
    ]
    counts = [flows[side].to_list() for side in sides]
    caption = f"How often an item directly follows another: the {count_noun(len(names), 'most frequent step')}."
    if not names:
        caption = "No item directly follows another."
    return _build_pair_figure("Steps", caption, names, counts, "Step", "Times")


def _draw_items(published_sequences: Sequences, mark: str, original: Sequences | None = None) -> ReportFigure:
    several = [count_holders(data) for data in (original, published_sequences) if data is not None]
    mark_count = several[0].pop(mark, 0) if mark and original is None else 0
    common = sorted(several[0], key=lambda item: (-several[0][item], item))[:_MOST]
    counts = [[owners.get(item, 0) for item in common] for owners in several]
    caption = f"How many sequences hold each item, of the {len(common)} most frequent."
    if mark_count:
        caption += f" The mark {mark} is in {count_noun(mark_count, 'sequence')}."
    return _build_pair_figure("Items", caption, [wording.shorten_label(item) for item in common], counts, "Item")


def _build_pair_figure(
    title: str,
    caption: str,
    names: Sequence[str],
    counts: Sequence[Sequence[int]],
    first: str,
    unit: str = "Sequences",
) -> ReportFigure:
    sides = _SIDES[-len(counts) :]
    values = list(zip(names, *counts, strict=True))
    pairs = [
        _BeforeAndAfter(name, side_counts[0] if len(side_counts) == 2 else None, side_counts[-1])
        for name, *side_counts in values
    ]
    rows = tuple((name, *map(wording.format_count, side_counts)) for name, *side_counts in values)
    head = (first, *(side.capitalize() for side in sides)) if len(sides) == 2 else (first, unit)
    return ReportFigure(title, _draw_pairs(pairs), caption, caption, head, rows)


def _draw_pairs(pairs: Sequence[_BeforeAndAfter]) -> str:
    """Bars before and after, one group for each quantity."""
    has_originals = any(pair.original is not None for pair in pairs)
    sides = _SIDES if has_originals else _SIDES[1:]
    step = 34 if has_originals else 22
    thick = 0.84 * step / len(sides)
    drawing = Drawing(290, max(1, len(pairs)) * step)
    most = 1.2 * max(
        [1.0, *(value for pair in pairs for value in (pair.original, pair.published_value) if value is not None)]
    )
    labels = [cut_words(pair.label, 12, _WIDEST) for pair in pairs]
    for number, (label, pair) in enumerate(zip(labels, pairs, strict=True)):
        drawing.add_words(-6, (number + 0.5) * step + 4, label, PALETTE["soft"][0], anchor="end")
        for slot, value in enumerate(
            (pair.original, pair.published_value) if has_originals else (pair.published_value,)
        ):
            if value is None:
                continue
            y, length = (number + 0.08) * step + slot * thick, drawing.width * value / most
            drawing.add_lying_bar(y, length, thick, _COLOURS[sides[slot]], bend=2)
            drawing.add_words(length + 4, y + thick / 2 + 4, wording.format_count(value), PALETTE["ink"][0])
    for slot, side in enumerate(sides if has_originals else ()):
        drawing.add_box(70 * slot, -16, 10, 10, _COLOURS[side])
        drawing.add_words(70 * slot + 15, -7, side, PALETTE["ink"][0])
    left_margin = max([16.0, *(estimate_width(label, 12) for label in labels)]) + 10
    return drawing.render(left=left_margin, right=2, top=22 if has_originals else 2, bottom=2)
