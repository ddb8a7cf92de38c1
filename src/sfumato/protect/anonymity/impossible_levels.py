# SPDX-License-Identifier: MIT
"""Why no combination of levels satisfies the models, and what would."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.bound_words import spell_at_most
from sfumato.errors import ImpossibleRelease, count_noun
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.search.grouping import Grouping

_COARSER = 'give every hierarchy a level with one label (such as "*"), or relax the models'
"""What helps while some rows differ at the top."""


def explain_impossible(grouping: Grouping, judge: ModelJudge, most: int) -> ImpossibleRelease:
    """Why no levels satisfy the models, and what would."""
    top = grouping.decide(tuple(size - 1 for size in grouping.shape), judge)
    cures = []
    if grouping.rows and top.classes and not grouping.judge(top.levels, judge).forbidden:
        cures.append(f"raise suppression_limit to {spell_at_most(top.suppressed_count / grouping.rows)} or more")
    k = _find_largest_k(judge.models, grouping, top.levels, most)
    if k and k > 1:
        cures.append(f"choose k = {k} at most")
    is_one_class = len(grouping.judge(top.levels, judge).refused_mask) == 1
    cures.append("relax the models, or add rows" if is_one_class else _COARSER)
    return ImpossibleRelease(
        f"no combination of levels satisfies {', '.join(model.model for model in judge.models)} with at most {most} "
        f"of {count_noun(grouping.rows, 'row')} suppressed (at the top, "
        f"{count_noun(top.suppressed_count, 'is', 'are')}); {'; or '.join(cures)}"
    )


def _find_largest_k(models: Sequence[PrivacyModel], grouping: Grouping, top: tuple[int, ...], most: int) -> int | None:
    """The largest k that works with the other models unchanged; None if k is not the obstacle."""
    required_k = max((model.k for model in models if isinstance(model, KAnonymity)), default=0)
    other_models = tuple(model for model in models if not isinstance(model, KAnonymity))

    def does(k: int) -> bool:
        judged_node = grouping.judge(top, ModelJudge((*other_models, KAnonymity(k=k))))
        return judged_node.suppressed_count <= most and not judged_node.forbidden and not judged_node.refused_mask.all()

    low, high = 1, required_k
    if not required_k or not does(1):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if does(middle) else (low, middle)
    return low
