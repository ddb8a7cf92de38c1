# SPDX-License-Identifier: MIT
"""Both engines release the same, or refuse in the same words, whatever the table and the policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.engine_fuzz import find_basket_difference, find_difference

QUICK = 4


@pytest.mark.parametrize("seed", [s if s < QUICK else pytest.param(s, marks=pytest.mark.slow) for s in range(24)])
def test_random_tables_and_policies(tmp_path: Path, plain_report: None, seed: int) -> None:
    assert find_difference(seed, tmp_path) is None


@pytest.mark.parametrize("seed", [s if s < QUICK else pytest.param(s, marks=pytest.mark.slow) for s in range(12)])
def test_random_baskets(tmp_path: Path, plain_report: None, seed: int) -> None:
    assert find_basket_difference(seed, tmp_path) is None
