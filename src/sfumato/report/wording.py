# SPDX-License-Identifier: MIT
"""How numbers and names are put into words, for a reader who is no statistician."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

ROLES = {
    "identifying": ("identifying", "names a person"),
    "quasi_identifying": (
        "quasi-identifying",
        "is known to others, and can single a person out together with the rest",
    ),
    "sensitive": ("sensitive", "is what nobody should learn about a person"),
    "insensitive": ("insensitive", "is thought to be harmless"),
}

MISSING = {
    "own_value": '"Not known" counts as a value of its own: a missing cell matches another missing cell.',
    "matches_any": "A missing cell could be anything, so it matches every value.",
    "never_matches": "A missing cell matches nothing, not even another one: such a person stands alone.",
    "drop": "People with a missing cell in a quasi-identifying column are left out.",
}

PROPERTIES = {
    "k_anonymity": "Hidden in a crowd (k-anonymity)",
    "l_diversity": "Different sensitive values in every crowd (l-diversity)",
    "t_closeness": "Every crowd looks like everybody (t-closeness)",
    "suppressed_share": "Few rows suppressed",
    "identifying_columns": "No column that names a person",
    "untrue_cells": "No cell that is untrue",
    "adversarial_rules": "No rule tells a private entry",
    "private_entries_blanked": "Every private entry is blanked",
    "hidden_rules": "No sensitive rule can be mined",
    "foreign_items": "No item that was not there before",
    "baskets": "Every basket is still there",
    "changed_cells": "No entry was changed, only blanked",
    "search_ended": "The search for rules came to its end",
    "inferable_patterns": "No pattern tells of a few people",
    "least_support": "Every pattern is frequent",
    "lost_itemsets": "Every frequent itemset is there",
    "untrue_supports": "Every support is the true one",
    "noise_privacy": "Values are told no closer than promised",
    "interval_privacy": "Values are told no closer than promised",
    "noise_centre": "The noise is centred",
    "noise_dependence": "The noise does not follow the values",
    "noise_law": "The noise is the one told",
    "unchanged_cells": "No more values than chance leaves were published as they were",
    "noise_shape": "The noise is shaped like the data",
    "outside_interval": "Every value lies in its interval",
    "changed_beside_noise": "Nothing but the noise was changed",
    "epsilon": "No answer tells much (ε)",
    "epsilon_in_all": "All answers together do not tell much (ε)",
    "strange_answers": "Every answer is a possible one",
    "answers_off_channel": "Chance did what is said",
    "answers_that_differ": "Asked again, everybody answers the same",
    "changed_beside_answers": "Nothing but the answers was changed",
    "people_at_extremes": "Nobody stands out by a number",
    "rare_words": "No word that few people have",
    "copied_uniques": "Nobody unique is copied",
    "kept_cells_changed": "Nothing but the drawn columns was changed",
    "nearer_training": "No nearer to people than to strangers",
    "uniques_off_share": "As many records swapped as promised",
    "groups_unbroken": "No group of records agrees",
    "marginal_shift": "Values occur as often as before",
    "changed_elsewhere": "Nothing but swapped values was changed",
}

STORIES = {
    "linking": (
        "Linking",
        (
            "A neighbour knows that somebody is in the table, and their values in the columns that others may know. "
            "The neighbour looks for the published rows that fit, and guesses which one is theirs."
        ),
    ),
}

LOSSES = {
    "loss": ("Loss", 'How much detail the cells lost: 0 % is the original, 100 % is nothing but "*".'),
    "loss_geometric": ("Loss, geometric mean", "The same, averaged as ARX does it, to compare with ARX."),
    "discernibility": (
        "Discernibility",
        "Sum of the squared crowd sizes; a suppressed row counts as one crowd with everybody. Smaller is more precise.",
    ),
    "height": ("Height", "Sum of the levels chosen in all columns. Smaller is more precise."),
    "average_class_size": ("Average crowd", "How many people, on average, share the same published values."),
    "suppressed_rows": ("Suppressed rows", "Rows whose quasi-identifying values were taken out altogether."),
    "derived_entries": (
        "Entries blanked to protect",
        "Entries that were not private, blanked to keep rules from telling.",
    ),
    "private_entries": ("Private entries", "Entries that were to be hidden; all are blanked."),
    "derived_share": ("Share blanked to protect", "Of all entries that could have stayed visible."),
    "changes": ("Changes", "Items added to a basket, removed from it, or made unknown."),
    "removed": ("Removed", "Items taken out of a basket."),
    "added": ("Added", "Items put into a basket."),
    "unknown": ("Unknown", "Items of which a basket does not say whether they are there."),
    "changed_baskets": ("Changed baskets", "Baskets in which something was changed."),
    "lost_itemsets": ("Itemsets lost", "Frequent before, and not among what is published."),
    "ghost_itemsets": ("Ghost itemsets", "Published as frequent, and not so before."),
    "changed_supports": ("Supports changed", "Itemsets whose published support is not the true one."),
    "added_baskets": ("Baskets added", "Invented baskets that raised supports."),
    "dissimilarity": ("Dissimilarity", "How far item frequencies moved, of their sum."),
    "dropped_rows": ("Rows left out", "Rows with a missing cell, left out because missing = drop."),
    "largest_loss": ("Largest loss", "The same in the column that lost most."),
    "epsilon": (
        "Privacy budget ε",
        "All answers of a person together are at most e^ε times as likely for one truth as for another. Less is safer.",
    ),
    "redrawn_rows": ("Rows drawn again", "Rows that equalled somebody unique, and were drawn anew."),
    "rare_words": (
        "Rare words",
        "Of the drawn cells that hold words, the share whose word few people have: fewer than a leaf must hold.",
    ),
    "replaced_words": (
        "Words replaced",
        "Of people's words in drawn columns, the share that few people have: others were drawn in their place.",
    ),
    "changed_cells": ("Values swapped", "Cells that hold another value than before."),
    "joint_total_variation": (
        "Shift beside other columns",
        "How far the joint distribution of a swapped column and another one moved (total variation), in the mean.",
    ),
    "marginal_shift": (
        "Shift in counts",
        "By how much the numbers of people with each swapped value differ from before, added up.",
    ),
    "objective": (
        "Cost of swapping",
        "How much likelier the true values were than those in their place, added up. Smaller keeps more of the data.",
    ),
    "c_avg": ("Average crowd over k", "How many times larger the crowds are, on average, than was promised."),
    "precision": ("Precision", "How far below the top of their hierarchies cells stayed: 100 % is the original."),
    "non_uniform_entropy": (
        "Non-uniform entropy",
        "How hard originals are to guess from published cells, of what it would be were nothing published.",
    ),
    "total_variation": (
        "Shift of single columns",
        "How far the distribution of a column moved (total variation), in the mean: 0 % is the original.",
    ),
    "pair_total_variation": (
        "Shift of pairs of columns",
        "How far the joint distribution of two columns moved (total variation), in the mean: 0 % is the original.",
    ),
    "largest_mean_shift": (
        "Largest shift of a mean",
        "By how many standard deviations the mean of a column moved, where it moved most.",
    ),
    "largest_spread_change": (
        "Largest change of a spread",
        "How much wider or narrower a column's standard deviation became, where it changed most.",
    ),
    "largest_correlation_shift": (
        "Largest shift of a correlation",
        "By how much the correlation of two columns changed, where it changed most; it lies between −1 and 1.",
    ),
    "query_error": (
        "Error of queries",
        "Half of the random counting queries put to the published values were off by no more than this share.",
    ),
}

MEASURED = (
    "total_variation",
    "pair_total_variation",
    "largest_mean_shift",
    "largest_spread_change",
    "largest_correlation_shift",
    "query_error",
)
"""What is measured on the file where chance changed values, and no method tells."""

SHARES = frozenset(
    {
        "largest_loss",
        "precision",
        "non_uniform_entropy",
        "rare_words",
        "replaced_words",
        "joint_total_variation",
        "total_variation",
        "pair_total_variation",
        "largest_spread_change",
        "query_error",
        "derived_share",
        "dissimilarity",
    }
)
"""Losses that are told in per cent, beside every `loss…`."""

LOSS_OF = {
    "add_noise": "Of the spread (variance) of the published numbers, the share that is noise.",
    "discretize": "Of the spread (variance) of the numbers, the share that the intervals do not show.",
    "randomize_response": "The share of answers that chance alone gives, whatever the truth is.",
    "synthesize": "How far the joint distribution of two columns moved (total variation), in the mean over all pairs.",
    "swap_confidential": "Of the values in swapped columns, the share that is not the person's own.",
    "several": "The largest loss of all methods, each by its own measure.",
}
"""What is lost where it is not detail: by a method, by its kind where that says more, by several of them."""

KEPT_OF = {
    "add_noise": ("of the spread is data", "variance of noisy columns; the rest is noise"),
    "discretize": ("of the spread is shown", "variance of columns cut into intervals"),
    "randomize_response": ("of answers depend on the truth", "chance alone gives the rest"),
    "synthesize": ("alike, columns in pairs", "overlap of joint distributions, in the mean"),
    "swap_confidential": ("of values left as they were", "in the swapped columns"),
    "several": ("kept where most was lost", "each method by its own measure"),
}
"""The same turned round, for a tile: what is left, and of what."""

KEPT = {
    "table": "in the columns that were changed",
    "baskets": "of the items in baskets",
    "patterns": "of the frequent patterns",
}
"""Of what the detail was kept, by shape."""

SWAPPED = "some values swapped"
CHANCE = {
    "uniform": "noise added",
    "gaussian": "noise added",
    "correlated": "noise added",
    "discretize": "intervals",
    "warner": "answers by chance",
    "k_ary": "answers by chance",
    "unary": "answers by chance",
    "synthetic": "drawn",
}
"""What was done to a column that chance changed."""

KNOWS = {
    "dictionary": "which items there are",
    "supports": "how often each item occurs",
    "pairs": "how often items occur, alone and two together",
    "ignorant": "no values of single codes",
    "knowledgeable": "the values of 2 codes, nearly",
    "expert": "the values of 4 codes, nearly",
    "insider": "the values of 8 codes, nearly",
}
"""What an attacker knows who knows other things than columns."""

THINGS = {"table": ("people", "column"), "baskets": ("baskets", "item"), "patterns": ("patterns", "item")}
"""What a release of each shape is made of, and what that holds."""

GATES = {
    "max_linking_risk": ("Linking risk", "The share of people whom linking finds, at the upper end of its interval."),
    "max_record_risk": ("Risk of one person", "The largest chance that linking has with any one person."),
    "max_loss": ("Loss", "The loss beyond which a release is not worth it."),
}

STEPS = {
    "read": "reading",
    "protect": "protecting",
    "write": "writing and reading back",
    "attack": "measuring and attacking",
    "compare": "comparing before and after",
}

UNTOLD = ("(missing)", "*")
"""Labels that are no values: a cell that was never known, and one that is not told."""

_BOUNDS = {"at_least": "at least", "at_most": "at most", "below": "below", "exactly": "exactly"}
_NBSP = "\N{NO-BREAK SPACE}"
_ELLIPSIS = "…"
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"  # parts of emoji and of Persian and Indian words


def space_name(name: str) -> str:
    """A name from the code as words: `max_loss` → max loss."""
    return name.replace("_", " ")


def format_count(value: Any) -> str:
    """A number with thousands parted; a fraction with as many digits as one can use."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if not math.isfinite(value):
        return str(value)
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def format_percent(share: float | None) -> str:
    """A share as a percentage, with a digit more where it is small."""
    if share is None:
        return "–"
    hundred = share * 100
    if hundred in (0, 100):
        return f"{hundred:.0f}{_NBSP}%"
    if 0 < hundred < 0.01:
        return f"under{_NBSP}0.01{_NBSP}%"
    if 99.95 <= hundred < 100:
        return f"over{_NBSP}99.9{_NBSP}%"
    digits = 2 if hundred < 1 else 1 if hundred < 10 or hundred > 99 else 0
    return f"{hundred:.{digits}f}".removesuffix(".0").removesuffix(".00") + f"{_NBSP}%"


def format_span(low: float, high: float) -> str:
    """An interval of shares."""
    return f"{format_percent(low)} to {format_percent(high)}".replace(f"{_NBSP}% to", " to")


def count_noun(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun."""
    return f"{format_count(count)} {one if count == 1 else many or one + 's'}"


def describe_promise(bound: str, threshold: float, *, share: bool) -> str:
    """What was claimed, as words."""
    return f"{_BOUNDS.get(bound, space_name(bound))} {format_percent(threshold) if share else format_count(threshold)}"


def format_moment(stamp: str) -> str:
    """A time stamp as a date people read."""
    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    zone = when.tzname()
    return f"{when.day} {when:%B %Y, %H:%M}{' ' + zone if zone else ''}"


def clean_label(text: str) -> str:
    """A label without control and direction signs, which could hide or turn round what stands beside it."""
    cleaned = "".join(_replace_sign(sign) for sign in text)
    return cleaned if cleaned.strip() else "(blank)"


def _replace_sign(sign: str) -> str:
    kind = unicodedata.category(sign)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    return "\N{REPLACEMENT CHARACTER}" if kind in ("Cf", "Cs") and sign not in _JOINERS else sign


def shorten_label(text: str, most: int = 40) -> str:
    """A label cut to a length that a table or picture can hold."""
    cleaned = clean_label(text[: most * 4])
    return cleaned if len(cleaned) <= most and len(text) <= most * 4 else cleaned[: most - 1].rstrip() + _ELLIPSIS


def shorten_distinctly(labels: Sequence[str], most: int) -> list[str]:
    """Short labels, numbered where cutting made two of them alike."""
    seen: dict[str, int] = {}
    given: set[str] = set()
    labels_so_far = []
    for label in labels:
        shortened = shorten_label(label, most)
        while shortened in given:
            seen[shortened] = seen.get(shortened, 1) + 1
            mark = f" ({seen[shortened]})"
            shortened = shorten_label(label, most)[: most - len(mark)] + mark
        given.add(shortened)
        labels_so_far.append(shortened)
    return labels_so_far


def list_names(names: Iterable[str], most: int = 12) -> str:
    """Names in a row, the first few of them."""
    shown_names = [f'"{shorten_label(name)}"' for name in names]
    rest = len(shown_names) - most
    return ", ".join(shown_names[:most]) + (f" and {format_count(rest)} more" if rest > 0 else "")


def have_natural_order(labels: Iterable[str]) -> bool:
    """Whether labels have an order of their own: most of them hold a number."""
    known_labels = [label for label in labels if label not in UNTOLD]
    return 2 * sum(any(sign.isdecimal() for sign in label) for label in known_labels) > len(known_labels)


def make_sort_key(label: str) -> tuple[Any, ...]:
    """A sorting key that puts 9 before 10 and 5-9 before 10-14; what was not told comes last."""
    if label in UNTOLD:
        return (1, label)
    try:
        return (0, 0, float(label), label)
    except ValueError:
        parts = re.split(r"(\d{1,18})", label[:200])
        keys = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)
        return (0, 1, keys, label)
