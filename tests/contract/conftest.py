# SPDX-License-Identifier: MIT
"""Of methods with several examples, the first is tried in each run; further modes are among the slow tests."""

from __future__ import annotations

import pytest

from tests.contract.examples import METHOD_EXAMPLES

FURTHER = {example.name for example in METHOD_EXAMPLES if ", " in example.name}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of further modes as slow, before slow ones are left out."""
    for item in items:
        call = getattr(item, "callspec", None)
        example = call.params.get("example") if call is not None else None
        if getattr(example, "name", "") in FURTHER:
            item.add_marker(pytest.mark.slow)
