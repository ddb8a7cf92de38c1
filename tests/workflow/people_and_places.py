# SPDX-License-Identifier: MIT
"""People of many ages and few places, for policies of several kinds."""

from __future__ import annotations

import polars as pl

import sfumato as sf

ROLES = {"age": "quasi_identifying", "zip": "quasi_identifying", "ill": "sensitive"}


def make_people(count: int) -> sf.Table:
    """People of many ages and few places."""
    frame = pl.DataFrame(
        {
            "age": [20 + row * 7 % 45 for row in range(count)],
            "zip": [f"{row * 3 % 8}" for row in range(count)],
            "ill": [["flu", "cold", "ache"][row % 3] for row in range(count)],
        }
    )
    ages = [[str(age), f"{age // 10 * 10}s", "*"] for age in sorted(set(frame["age"]))]
    places = [[zip_code, "*"] for zip_code in sorted(set(frame["zip"]))]
    return sf.Table.of(frame, ROLES, {"age": ages, "zip": places})
