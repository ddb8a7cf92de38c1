# SPDX-License-Identifier: MIT
"""Methods that protect, one module each."""

from sfumato.protect.generalize import Generalize
from sfumato.protect.method import Method
from sfumato.protect.models import KAnonymity

METHODS: tuple[type[Method], ...] = (Generalize,)
"""Every method a policy can name."""

__all__ = ["METHODS", "Generalize", "KAnonymity", "Method"]
