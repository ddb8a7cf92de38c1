# SPDX-License-Identifier: MIT
"""Cells that were drawn from a model of the data: no cell is anybody's, and there is nothing to reconstruct."""

from __future__ import annotations

from typing import ClassVar, Literal

from sfumato.published_law import PublishedLaw


class SyntheticLaw(PublishedLaw):
    """A column of drawn cells; its distribution can be counted as published."""

    is_synthetic: ClassVar[bool] = True
    can_be_estimated: ClassVar[bool] = False
    public_fields: ClassVar[tuple[str, ...]] = ("kind",)

    kind: Literal["synthetic"] = "synthetic"
