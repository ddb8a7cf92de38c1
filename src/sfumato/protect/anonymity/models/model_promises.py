# SPDX-License-Identifier: MIT
"""What models promise, from the parameters that a certificate states: anyone can compare its claims with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.release import Claim
from sfumato.runtime.lazy import find_tagged_class


def list_model_promises(models: Iterable[Mapping[str, Any]]) -> tuple[Claim, ...]:
    """The claims of models with these public parameters; nothing is known of a model of another version."""
    kinds = [(find_tagged_class("model", str(model["model"])), model) for model in models]
    return tuple(
        claim for kind, model in kinds if kind is not None for claim in kind.model_construct(**model).state_claims({})
    )
