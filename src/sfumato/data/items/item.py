# SPDX-License-Identifier: MIT
"""What baskets, sequences and rules are made of."""

from __future__ import annotations

Item = int | str
Items = tuple[Item, ...]
