# SPDX-License-Identifier: MIT
"""The words of the report, for readers who are not statisticians."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sfumato.bound_words import format_against_limit, format_bound, format_limit, format_measured
from sfumato.runtime.lazy import find_tagged_class

ROLES = {
    "identifying": ("identifying", "names a person"),
    "quasi_identifying": (
        "quasi-identifying",
        "may be known to others, and can identify a person together with the rest",
    ),
    "sensitive": ("sensitive", "holds what must not be learned about a person"),
    "insensitive": ("insensitive", "is considered harmless"),
}

MISSING = {
    "own_value": "A missing value counts as a value of its own: it matches another missing value.",
    "matches_any": "A missing value could be anything, so it matches every value.",
    "never_matches": "A missing value matches nothing, not even another missing value: such a person is alone.",
    "drop": "Where classes are formed, people with a missing value in a quasi-identifying column are left out.",
}

PROPERTIES = {
    "k_anonymity": "Every class has enough rows (k-anonymity)",
    "l_diversity": "Different sensitive values in every class (l-diversity)",
    "t_closeness": "Every class resembles the whole table (t-closeness)",
    "suppressed_share": "No more rows suppressed than allowed",
    "shown_in_suppressed": "Suppressed rows show nothing sensitive",
    "identifying_columns": "No identifying column",
    "untrue_cells": "No cell is untrue",
    "adversarial_rules": "No rule of the stated length and strength predicts private entries",
    "private_entries_blanked": "Every private entry is blanked",
    "learner_success": "Learners predict no more private entries than allowed",
    "hidden_rules": "Nothing sensitive reaches the thresholds",
    "foreign_items": "No item that was not there before",
    "untrue_items": "What is published as certain is true",
    "unnamed_changes": "Only the items to be hidden were removed",
    "baskets": "The stated number of baskets",
    "sequence_anonymity": "Every published subsequence occurs in enough sequences",
    "original_support": "Every published subsequence occurs in enough originals",
    "unrecoverable_items": "Every item can be decoded",
    "named_items": "No item is published under its name",
    "shared_support": "Every code shares its support with others",
    "unfiltered_items": "Filters miss no frequent itemset",
    "strange_bits": "Only bit numbers are published",
    "trees_that_differ": "Trees on codes and originals agree",
    "rows_kept": "The stated number of rows",
    "wrong_midpoints": "Every number is the midpoint of its interval",
    "hidden_sequences": "No sensitive pattern exceeds its limit",
    "sequences": "The stated number of sequences",
    "added_elements": "Nothing was added to a sequence",
    "ghost_patterns": "No pattern became frequent",
    "changed_cells": "Entries were blanked, none was altered",
    "distinct_numbers": "A column of intervals has no more numbers than intervals",
    "changed_in_other_columns": "Outside columns of intervals, entries were blanked and none was altered",
    "search_ended": "The search for rules was complete",
    "inferable_patterns": "No group of fewer than k people can be derived from the supports",
    "derivable_patterns": "No group of fewer than k people can be derived from the supports one unknown at a time",
    "least_support": "Every published support is large enough",
    "lost_itemsets": "Every frequent itemset is published",
    "untrue_supports": "Every support is the true one",
    "weak_rules": "Every rule reaches the least confidence",
    "small_remainders": "No leaf leaves out a few people",
    "overlapping_rules": "Leaves do not overlap",
    "top_confidence": "No class exceeds the largest confidence allowed",
    "untrue_rules": "Every rule has its true figures",
    "noise_privacy": "Published numbers are as imprecise as promised",
    "cut_privacy": "Intervals between cuts are as wide as promised",
    "interval_privacy": "Published numbers are as imprecise as promised",
    "noise_centre": "The noise has mean zero",
    "noise_dependence": "The noise does not depend on the values",
    "noise_law": "The noise has the stated distribution",
    "unchanged_cells": "No more values are unchanged than expected by chance",
    "noise_shape": "The noise is correlated like the data",
    "outside_cuts": "Every value lies between its cuts",
    "outside_interval": "Every value lies in its interval",
    "changed_without_noise": "Values are changed by noise only",
    "epsilon": "One answer or item: no more than the stated ε",
    "epsilon_in_all": "All answers or items together: no more than the stated ε",
    "amplification": "No inference is amplified beyond the stated factor",
    "strange_items": "Every item is a possible one",
    "items_off_channel": "Items were kept and added as stated",
    "wrong_sizes": "The stated sizes are the true ones",
    "strange_answers": "Every answer is a valid one",
    "answers_off_channel": "Answers were randomized as stated",
    "answers_that_differ": "Repeated questions get the same answer",
    "changed_without_answers": "Only the answers were changed",
    "people_at_extremes": "No extreme number that was drawn belongs to a few people",
    "rare_words": "No rare word was drawn",
    "copied_uniques": "No unique person is copied",
    "kept_cells_changed": "Other columns are unchanged",
    "nearer_training": "No more rows are nearer to training people than allowed",
    "fitting_people": "Every row could belong to enough people",
    "fitting_values": "The model also holds among all people a row could belong to",
    "uniques_off_share": "The promised share of unique records is swapped",
    "groups_unbroken": "No group of records shares one value",
    "marginal_shift": "Values occur as often as before",
    "changed_elsewhere": "Only swapped values were changed",
}

KNOWS = {
    "dictionary": "which items there are",
    "supports": "how often each item occurs",
    "pairs": "how often items occur, alone and two together",
    "ignorant": "no values of single codes",
    "knowledgeable": "the approximate values of 2 codes",
    "expert": "the approximate values of 4 codes",
    "insider": "the approximate values of 8 codes",
}
"""What an attacker knows, where that is not columns."""

GATES = {
    "max_linking_risk": ("Linking risk", "The share of people found by linking, at the upper end of its interval."),
    "max_record_risk": ("Risk of one person", "The largest probability that linking finds one particular person."),
    "max_loss": ("Loss", "The largest acceptable loss."),
}

STEPS = {
    "read": "reading",
    "protect": "protecting",
    "write": "writing and reading back",
    "attack": "measuring and attacking",
    "compare": "comparing before and after",
}

NON_VALUES = ("(missing)", "*")
"""Labels that are not values: a missing cell and a suppressed one."""

_BOUNDS = {"at_least": "at least", "at_most": "at most", "below": "below", "exactly": "exactly"}
_SMALL = 1e-6
"""Below this, numbers are written with an exponent."""
_LEAST = 1e-4
"""Below this, nobody needs to know how small a measured number is."""
NBSP = "\N{NO-BREAK SPACE}"
_ELLIPSIS = "…"
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"  # parts of emoji and of Persian and Indian words


def spell_name(name: str) -> str:
    """A name from the code as words: `max_loss` → max loss, `k_anonymity` → k-anonymity."""
    return re.sub(r"(?:^|(?<=_))(k|l|t|alpha|beta|delta)_", r"\1-", name).replace("_", " ")


def spell_role(role: str) -> str:
    """A role as reports name it."""
    return ROLES.get(role, (spell_name(role), ""))[0]


def format_count(value: Any) -> str:
    """A number with thousands separators; a fraction with a few digits."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return str(value)
    if value == int(value) or abs(value) >= 100:
        return f"{round(value):,}"
    if abs(value) < _LEAST:
        return f"under {_LEAST:f}".rstrip("0") if value > 0 else "about 0"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def format_exactly(value: Any) -> str:
    """A number of the policy with all of its digits, and thousands separators."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return format_count(value)
    if value == int(value):
        return f"{int(value):,}"
    return f"{Decimal(repr(value)):,f}" if abs(value) >= _SMALL else repr(value)


def format_parameter(value: float) -> str:
    """A number that a method was given or has computed, with up to six digits."""
    return format_bound("exactly", value)


def format_gate_limit(limit: float) -> str:
    """A limit of the policy as a percentage, with all the digits that it needs."""
    return f"{format_limit(limit, percent=True)}{NBSP}%"


def format_gate_value(value: float, limit: float) -> str:
    """What was measured as a percentage, with enough digits to show on which side of its limit it is."""
    return f"{format_against_limit(value, limit, percent=True)}{NBSP}%"


def format_percent(share: float | None) -> str:
    """A share as a percentage, with an extra digit if it is small."""
    if share is None:
        return "–"
    if share < 0:
        return f"−{format_percent(-share)}"
    percentage = share * 100
    if percentage in (0, 100):
        return f"{percentage:.0f}{NBSP}%"
    if 0 < percentage < 0.01:
        return f"under{NBSP}0.01{NBSP}%"
    if 99.95 <= percentage < 100:
        return f"over{NBSP}99.9{NBSP}%"
    digits = 2 if percentage < 1 else 1 if percentage < 10 or percentage > 99 else 0
    percentage = round(percentage, 10)  # 37.499999999999986 and 37.5 are the same share
    return f"{percentage:.{digits}f}".removesuffix(".0").removesuffix(".00") + f"{NBSP}%"


def spell_percent(share: float) -> str:
    """The same with plain spaces, for sentences that are also printed or stored."""
    return format_percent(share).replace(NBSP, " ")


def format_span(low: float, high: float) -> str:
    """An interval of shares."""
    return f"{format_percent(low)} to {format_percent(high)}".replace(f"{NBSP}% to", " to")


def describe_proof(method: str) -> str:
    """What a method has proven about its choice, and among what."""
    kind = find_tagged_class("method", method)
    return f"proven: nothing costs less {'' if kind is None else kind.optimum_of}".strip()


def describe_promise(bound: str, threshold: float, *, share: bool) -> str:
    """The claimed bound in words."""
    number_text = format_bound(bound, threshold * 100 if share else threshold)
    return f"{_BOUNDS.get(bound, spell_name(bound))} {number_text}{f'{NBSP}%' if share else ''}"


def describe_measured_bound(bound: str, value: float, threshold: float, *, share: bool) -> str:
    """What was measured, to the digits of the promise: so a value within its bound never looks outside of it."""
    if share:
        return describe_measured_bound(bound, value * 100, threshold * 100, share=False) + f"{NBSP}%"
    return format_measured(bound, value, threshold)


def format_moment(stamp: str) -> str:
    """A timestamp as a readable date."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    zone = moment.tzname()
    return f"{moment.day} {moment:%B %Y, %H:%M}{' ' + zone if zone else ''}"


def clean_label(text: str) -> str:
    """A label without control and direction characters, which could hide or reverse the text next to it."""
    label = text if text.isascii() and text.isprintable() else "".join(_replace_sign(sign) for sign in text)
    return label if label.strip() else "(blank)"


def _replace_sign(sign: str) -> str:
    kind = unicodedata.category(sign)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    return "\N{REPLACEMENT CHARACTER}" if kind in ("Cf", "Cs") and sign not in _JOINERS else sign


def shorten_label(text: str, most: int = 40) -> str:
    """A label cut to a length that fits a table or picture."""
    label = clean_label(text[: most * 4])
    return label if len(label) <= most and len(text) <= most * 4 else label[: most - 1].rstrip() + _ELLIPSIS


def shorten_distinctly(labels: Sequence[str], most: int) -> list[str]:
    """Short labels, numbered where two become equal."""
    repeat_counts: dict[str, int] = {}
    used_labels: set[str] = set()
    labels_so_far = []
    for label in labels:
        short_label = shorten_label(label, most)
        while short_label in used_labels:
            repeat_counts[short_label] = repeat_counts.get(short_label, 1) + 1
            mark = f" ({repeat_counts[short_label]})"
            short_label = shorten_label(label, most)[: most - len(mark)] + mark
        used_labels.add(short_label)
        labels_so_far.append(short_label)
    return labels_so_far


def quote_first_names(names: Iterable[str], most: int = 12) -> str:
    """The first few names, quoted and comma-separated."""
    shown_names = [f'"{shorten_label(name)}"' for name in names]
    rest = len(shown_names) - most
    return ", ".join(shown_names[:most]) + (f" and {format_count(rest)} more" if rest > 0 else "")


def have_natural_order(labels: Iterable[str]) -> bool:
    """Whether labels have a natural order: most contain a number."""
    known_labels = [label for label in labels if label not in NON_VALUES]
    return 2 * sum(any(sign.isdecimal() for sign in label) for label in known_labels) > len(known_labels)


def make_sort_key(label: str) -> tuple[Any, ...]:
    """A sort key that puts 9 before 10 and 5-9 before 10-14, and suppressed or missing values last."""
    if label in NON_VALUES:
        return (1, label)
    try:
        return (0, 0, float(label), label)
    except ValueError:
        parts = re.split(r"(\d{1,18})", label[:200])
        keys = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)
        return (0, 1, keys, label)
