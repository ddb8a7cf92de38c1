# SPDX-License-Identifier: MIT
"""Protection methods, one module each, and the privacy models that equivalence classes must satisfy.

Every class with a tag (`method: Literal["…"]`, `model: Literal["…"]`) in this package is discovered and needs no line
here; its typed name is at the root, `sfumato.Generalize`. Other public names are in the typing block.
"""

from __future__ import annotations

from sfumato.runtime.lazy import make_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sfumato.protect.anonymity.explain import Why as Why
    from sfumato.protect.anonymity.explain import explain as explain
    from sfumato.protect.anonymity.generalize import minimal_nodes as minimal_nodes
    from sfumato.protect.anonymity.models.model import PrivacyModel as PrivacyModel
    from sfumato.protect.method import Method as Method

    METHODS: tuple[type[Method], ...]
    """Every method a policy can name."""
    MODELS: tuple[type[PrivacyModel], ...]
    """Every privacy model."""

    def __getattr__(name: str) -> Any: ...


make_lazy(__name__, METHODS="method", MODELS="model")
