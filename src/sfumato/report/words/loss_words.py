# SPDX-License-Identifier: MIT
"""What each loss means, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.change_kinds import ChangeKind, LossWords
from sfumato.losses import BUDGET, LOSSES, LossEntry, adds_up
from sfumato.public.answer_channel import AnswerLaw
from sfumato.published_law import read_laws
from sfumato.report.words.wording import quote_first_names, spell_name
from sfumato.runtime.lazy import find_tagged_class

_LARGEST = " Of several methods, the largest counts."

_LEFT_OUT = (
    " People left out because of a missing value count as 100 % on the file; by the method they do not count, nor do "
    "values that nobody else has."
)
_DETAIL = LossWords(LOSSES["loss"].meaning, "detail kept", "mean over the quasi-identifying columns")
_UNKNOWN = LossWords("The method's own measure: 0 % means no loss.", "kept", "by the method's own measure")
_SEVERAL = LossWords(
    "By the methods: the largest of their losses, each by its own measure. On the file: {}.",
    "kept in the part with the largest loss",
    "each method by its own measure",
)
_SEVERAL_METHODS = "By the methods: the largest of theirs. On the file: of all their columns together."
_MIXED_LOSSES = LossWords(
    "On the file: the largest loss of all kinds of change, each by its own measure.",
    "kept in the part with the largest loss",
    "each kind of change by its own measure",
)


def describe_loss(body: Mapping[str, Any]) -> LossWords:
    """What the loss of a run means: by the kinds of change of its method, or by several methods together."""
    tags = [str(method["method"]) for method in body["methods"]]
    if len(set(tags)) > 1 and not all(map(_loses_detail, tags)):
        is_table = body["data"]["shape"] == "table"
        on_file = "the largest by any kind of change" if is_table else "the share that all methods together changed"
        return _SEVERAL._replace(meaning=_SEVERAL.meaning.format(on_file))
    if len(tags) > 1 and not _loses_detail(tags[0]):
        words = describe_method_loss(tags[0], body.get("changes", ()))
        return words._replace(meaning=f"{words.meaning} {_SEVERAL_METHODS}")
    return describe_method_loss(tags[-1], body.get("changes", ())) if tags else _UNKNOWN


def find_loss_entry(name: str) -> LossEntry:
    """What a loss is called and means; one without an entry has only its name."""
    return LOSSES.get(name, LossEntry(spell_name(name).capitalize(), ""))


def find_loss_words(name: str, body: Mapping[str, Any]) -> LossEntry:
    """What a loss is called, and what it means in this run."""
    entry = find_loss_entry(name)
    if name == "loss":
        left_out_words = _LEFT_OUT if body["losses"].get("dropped_rows") and describe_loss(body) == _DETAIL else ""
        return entry._replace(meaning=describe_loss(body).meaning + left_out_words)
    if name == "epsilon":
        return entry._replace(meaning=_describe_budget(body))
    is_largest = len(body["methods"]) > 1 and name in body["losses"] and not adds_up(name)
    return entry._replace(meaning=f"{entry.meaning}{_LARGEST * is_largest}".strip())


def _describe_budget(body: Mapping[str, Any]) -> str:
    """What a privacy budget bounds: of a table whose columns are not all randomized, the answers and nothing else."""
    laws = read_laws(body["public"])
    answers = [name for name, law in laws.items() if law.privacy_budget is not None]
    published_columns = {change["column"] for change in body["changes"] if change["kind"] != ChangeKind.DROPPED}
    if body["data"]["shape"] != "table":
        return LOSSES["epsilon"].meaning
    shows_missing = any(isinstance(law, AnswerLaw) and law.missing == "kept" for law in laws.values())
    missing_words = " It is not hidden whose answer is missing." if shows_missing else ""
    if published_columns <= set(answers):
        return LOSSES["epsilon"].meaning + missing_words
    subject = f"What is published of a person in {quote_first_names(answers)}"
    verb = " is" if len(answers) == 1 else ", taken together, is"
    return f"{subject}{verb}{BUDGET} It says nothing about what other columns disclose.{missing_words}"


def describe_method_loss(tag: str, changes: Iterable[Mapping[str, Any]]) -> LossWords:
    """What the loss of one method means: as its kind of change says, or the method itself (`Method.loss_meaning`)."""
    method = find_tagged_class("method", tag)
    stated_kinds = dict.fromkeys(ChangeKind(change["kind"]) for change in changes if change["method"] == tag)
    kinds = [kind.meaning.loss_words for kind in stated_kinds if kind.meaning.loss_words is not None]
    if _loses_detail(tag):
        return _DETAIL
    own_meaning = str(getattr(method, "loss_meaning", ""))
    if own_meaning and kinds:
        # The file is measured by the largest.
        return _MIXED_LOSSES._replace(meaning=f"{own_meaning} {_MIXED_LOSSES.meaning}")
    if own_meaning and method is not None:
        return LossWords(own_meaning, *method.kept_meaning)
    return _MIXED_LOSSES if len(kinds) > 1 else kinds[0] if kinds else _UNKNOWN


def _loses_detail(tag: str) -> bool:
    """Whether a method's loss is detail."""
    return bool(getattr(find_tagged_class("method", tag), "loses_detail", False))
