# SPDX-License-Identifier: MIT
"""What methods have in common that publish supports of itemsets, repaired so that they disclose no small group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from sfumato.protect.method import Method
from sfumato.public.thresholds import CrowdThresholds


class RepairedSupports(Method):
    """A method with the parameters `k`, `min_support` and `repair`."""

    if TYPE_CHECKING:  # each method documents its own
        repair: Literal["additive", "suppressive", "none"]

    @classmethod
    def find_crowd_thresholds(cls, parameters: Mapping[str, Any]) -> CrowdThresholds | None:
        """Patterns describe at least k people, and have at least the minimum support."""
        return CrowdThresholds(parameters["k"], parameters["min_support"])

    @classmethod
    def find_repair(cls, parameters: Mapping[str, Any]) -> str | None:
        """The repair that the policy names, or the default."""
        return str(parameters.get("repair", cls.model_fields["repair"].default))

    @property
    def maturity(self) -> str:  # type: ignore[override]
        """Without a repair, patterns of fewer than k people may follow."""
        return "for study" if self.repair == "none" else "stable"
