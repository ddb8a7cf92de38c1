# SPDX-License-Identifier: MIT
"""The section of the report about randomized baskets: what can be estimated, made from the release alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sfumato.baskets import Baskets
from sfumato.details import Details
from sfumato.errors import count_noun
from sfumato.mine.baskets.estimated_itemsets import estimate_itemsets
from sfumato.public.basket_distortion import BasketDistortion, get_distortion
from sfumato.published_law import PublishedLaw
from sfumato.release import Release
from sfumato.report.pictures.noise_pictures import AnswerShare, draw_answer_shares
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.words import wording

ITEMS = 12
"""How many items are drawn, most frequent first."""


def build_basket_estimates_section(
    public: Mapping[str, PublishedLaw], published_baskets: Baskets
) -> ReportSection | None:
    """The estimated supports of the most common items; None if nothing can be estimated."""
    release = Release(published_baskets, None, (), {}, Details(public=public))
    distortion = get_distortion(release)
    if not distortion.informative:
        return None
    estimates = estimate_itemsets(release, 1, max_length=1)
    published_shares = dict(zip(map(str, published_baskets.items), _count_shares(published_baskets), strict=True))
    shares, rows = [], []
    for row in estimates.head(ITEMS).iter_rows(named=True):
        name = str(row["items"][0])
        estimate = min(row["support"], 1.0)
        shares.append(AnswerShare(name, "release", published_shares.get(name, 0.0)))
        shares.append(AnswerShare(name, "estimate", estimate, row["low"], row["high"]))
        span = wording.format_span(row["low"], row["high"])
        rows.append((wording.shorten_label(name, 60), wording.format_percent(estimate), span))
    figure = ReportFigure(
        f"The most common items: {_describe_how(distortion)}",
        draw_answer_shares(shares),
        "The share of baskets with each item: in the release, and as estimated before items were randomized.",
        "The line over an estimate is its 95 % interval. Itemsets and rules are estimated in the same way.",
        ("item", "estimate", "95 % interval"),
        tuple(rows),
    )
    return ReportSection(
        "estimates",
        "What can be estimated",
        "Single items were randomized. Supports of items, itemsets and rules can still be estimated, because it is "
        "published how.",
        (figure,) if rows else (),
        () if rows else ("No item is frequent enough for an estimate.",),
    )


def _count_shares(published_baskets: Baskets) -> list[float]:
    counts = np.bincount(published_baskets.codes, minlength=len(published_baskets.items))
    return (counts / max(len(published_baskets), 1)).tolist()  # type: ignore[no-any-return]  # a list of floats


def _describe_how(distortion: BasketDistortion) -> str:
    if distortion.kind == "cut_and_paste":
        items = count_noun(distortion.cutoff or 0, "item")
        return (
            f"up to {items} of a basket pasted among random ones, which have probability "
            f"{wording.format_parameter(distortion.level or 0.0)}"
        )
    if isinstance(distortion.keep, tuple) or isinstance(distortion.add, tuple):
        return "each kept or added with its own probability"
    keep, add = (wording.format_parameter(chance or 0.0) for chance in (distortion.keep, distortion.add))
    return f"kept with probability {keep}, added with {add}"
