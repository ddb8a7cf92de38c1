# SPDX-License-Identifier: MIT
"""What methods have in common that publish supports of itemsets, repaired so that they disclose no small group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sfumato.protect.method import Method, require_each
from sfumato.public.thresholds import CrowdThresholds


class RepairedSupports(Method):
    """A method with the parameters `k`, `min_support` and `repair`."""

    least_threshold_fields: ClassVar[Mapping[str, str]] = {"least_support": "k"}

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

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """With a repair, that nothing follows about few people: how surely depends on the number of items."""
        safety = frozenset({"inferable_patterns", "derivable_patterns"})
        other_claims = require_each(cls.file_claims - safety)
        return other_claims if cls.find_repair(parameters) == "none" else (*other_claims, safety)

    @property
    def maturity(self) -> str:  # type: ignore[override]  # depends on the parameters
        """Without a repair, patterns of fewer than k people may follow."""
        return "for study" if self.repair == "none" else "stable"
