# SPDX-License-Identifier: MIT
"""Pictures of published rules and trees, made from the published file alone, and narrow enough for a phone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from sfumato.data.items.rule_set_files import RuleCount
from sfumato.mine.patterns.classifier_tree import TreeNode
from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.pictures.svg import Drawing, cut_words, estimate_width
from sfumato.report.pictures.ticks import choose_ticks, format_share, format_tick, round_up_end
from sfumato.report.words import wording

_INK, _SOFT, _LINE = (PALETTE[name][0] for name in ("ink", "soft", "line"))
CLASS_COLOURS = tuple(PALETTE[name][0] for name in ("accent", "before", "warn", "soft"))
"""The colours of the most common classes; all others share the last one."""
MOST_NODES = 80
"""How many nodes of a tree are drawn; deeper ones are drawn together."""
_WIDTH = 320
_GRID = 4
"""Spots closer than this many pixels are one larger spot."""


def draw_rule_spots(rules: Sequence[RuleCount]) -> str:
    """Rules by support and confidence; a larger spot stands for more rules."""
    drawing = Drawing(262, 170)
    shares = [rule.support / rule.left_support for rule in rules]
    lowest = min((int(share * 10) / 10 for share in shares), default=0.0)
    first = min(lowest, 0.9)
    top = round_up_end(max([1, *(rule.support for rule in rules)]), 5)
    for tick in choose_ticks(first, 1, 5):
        x = drawing.width * (tick - first) / (1 - first)
        drawing.add_words(x, drawing.height + 15, format_share(tick), _SOFT, anchor="middle")
    for tick in choose_ticks(0, top, 4):
        y = drawing.height * (1 - tick / top)
        drawing.add_line((0, y), (drawing.width, y), _LINE)
        drawing.add_words(-6, y + 4, format_tick(tick, top), _SOFT, anchor="end")
    places = Counter(
        (
            round(drawing.width * (share - first) / (1 - first) / _GRID) * _GRID,
            round(drawing.height * (1 - rule.support / top) / _GRID) * _GRID,
        )
        for rule, share in zip(rules, shares, strict=True)
    )
    most = max(places.values(), default=1)
    for (x, y), count in sorted(places.items()):
        drawing.add_circle(x, y, 3.5 + 5 * sqrt((count - 1) / max(most - 1, 1)), CLASS_COLOURS[0])
    drawing.add_words(drawing.width / 2, drawing.height + 31, "confidence", _SOFT, anchor="middle")
    drawing.add_words(-44, drawing.height / 2, "support", _SOFT, anchor="middle", upright=True)
    return drawing.render(left=58, right=18, top=10, bottom=38)


@dataclass(frozen=True)
class NamedShare:
    """A share with a line of words above its bar, and what is written behind it."""

    words: str
    share: float
    text: str
    colour: str = CLASS_COLOURS[0]


def draw_named_shares(bars: Iterable[NamedShare]) -> str:
    """Bars of shares, each under its own line of words: rules are too long to stand next to them."""
    shown_bars, step = list(bars), 38
    drawing = Drawing(_WIDTH, step * max(len(shown_bars), 1))
    room = max((estimate_width(bar.text, 12) for bar in shown_bars), default=0.0) + 8
    length = drawing.width - room
    for number, bar in enumerate(shown_bars):
        y = number * step
        drawing.add_words(0, y + 13, cut_words(bar.words, 12, drawing.width), _INK)
        drawing.add_box(0, y + 19, length, 10, _LINE)
        drawing.add_lying_bar(y + 19, length * bar.share, 10, bar.colour, bend=2)
        drawing.add_words(length + 8, y + 28, bar.text, _SOFT)
    return drawing.render(left=0, right=2, top=0, bottom=0)


def choose_class_colours(tree: TreeNode) -> dict[str, str]:
    """A colour for each class, most common first."""
    names = sorted(tree.counts, key=lambda name: (-tree.counts[name], name))
    last = len(CLASS_COLOURS) - 1
    return {name: CLASS_COLOURS[min(number, last)] for number, name in enumerate(names)}


def draw_tree(tree: TreeNode) -> str:
    """A tree as an outline: conditions below each other, and at its leaves the share of each class."""
    lines = _list_lines(tree, _choose_depth(tree))
    colours = choose_class_colours(tree)
    deepest = max(line.depth for line in lines)
    indent = min(14.0, 110 / max(deepest, 1))
    legend = _place_legend(colours)
    top = 20.0 * (legend[-1].row + 1) + 6
    drawing = Drawing(_WIDTH, top + sum(line.height for line in lines))
    for entry in legend:
        drawing.add_box(entry.x, entry.row * 20, 11, 11, entry.colour)
        words = cut_words(wording.clean_label(entry.name), 12, _WIDTH - 30)
        drawing.add_words(entry.x + 16, entry.row * 20 + 10, words, _SOFT)
    bar = _LeafBar(deepest * indent + 12, colours)
    trunks: dict[int, float] = {}
    y = top
    for line in lines:
        x = line.depth * indent
        if line.depth:
            trunk = x - indent + 4
            drawing.add_line((trunk, trunks[line.depth - 1]), (trunk, y + 9), _LINE)
            drawing.add_line((trunk, y + 9), (x - 2, y + 9), _LINE)
        trunks[line.depth] = y + 17
        drawing.add_words(x + 1, y + 13, cut_words(line.words, 12, _WIDTH - x), _INK, bold=not line.depth)
        if line.is_end:
            bar.draw(drawing, y + 19, line.node)
        y += line.height
    return drawing.render(left=0, right=4, top=2, bottom=2)


@dataclass(frozen=True)
class _OutlineLine:
    """A node as a line of an outline."""

    node: TreeNode
    depth: int
    is_end: bool
    """Whether nothing is drawn below it."""

    @property
    def words(self) -> str:
        """Its condition; at the root, everybody."""
        root_text = f"all {wording.format_count(self.node.people)} people"
        leaf_count = sum(1 for _ in self.node.list_leaves())
        more = f" ({wording.format_count(leaf_count)} leaves)" if self.is_end and leaf_count > 1 else ""
        result = f" → {self.node.predicted_class}" if self.is_end else ""
        return wording.clean_label((self.node.condition or root_text) + more + result)

    @property
    def height(self) -> float:
        """A leaf has a bar under its words."""
        return 42 if self.is_end else 22


def _list_lines(node: TreeNode, deepest: int, depth: int = 0) -> list[_OutlineLine]:
    is_end = not node.children or depth == deepest
    child_nodes = () if is_end else node.children
    return [
        _OutlineLine(node, depth, is_end),
        *(line for part in child_nodes for line in _list_lines(part, deepest, depth + 1)),
    ]


def _choose_depth(tree: TreeNode) -> int:
    """The depth to which the whole tree can be drawn."""
    depth, nodes, level = 0, 1, [tree]
    while level := [child for node in level for child in node.children]:
        nodes += len(level)
        if nodes > MOST_NODES:
            break
        depth += 1
    return depth


class _LegendEntry(NamedTuple):
    """A class in the legend of a tree."""

    name: str
    colour: str
    x: float
    row: int


def _place_legend(colours: Mapping[str, str]) -> list[_LegendEntry]:
    """The classes, as many side by side as fit; those that share a colour are one entry."""
    has_own_colours = len(colours) <= len(CLASS_COLOURS)
    names = list(colours) if has_own_colours else [*list(colours)[: len(CLASS_COLOURS) - 1], "other classes"]
    legend_entries: list[_LegendEntry] = []
    x, row = 0.0, 0
    for name, colour in zip(names, CLASS_COLOURS, strict=False):
        wide = min(estimate_width(name, 12) + 34, _WIDTH)
        if x and x + wide > _WIDTH:
            x, row = 0.0, row + 1
        legend_entries.append(_LegendEntry(name, colour, x, row))
        x += wide
    return legend_entries


@dataclass(frozen=True)
class _LeafBar:
    """Where the bars of all leaves begin, and the colours of their classes."""

    start: float
    colours: Mapping[str, str]

    def draw(self, drawing: Drawing, y: float, leaf: TreeNode) -> None:
        """The share of each class, and the most common in words."""
        share = wording.format_percent(leaf.counts[leaf.predicted_class] / leaf.people)
        text = f"{share} of {wording.format_count(leaf.people)}"
        room = 92
        width, x = drawing.width - self.start - room, self.start
        for name, colour in self.colours.items():
            part = width * leaf.counts.get(name, 0) / leaf.people
            if part:
                drawing.add_box(x, y, part, 12, colour)
                x += part
        drawing.add_words(self.start + width + 6, y + 10, text, _SOFT)
