# SPDX-License-Identifier: MIT
"""Of methods with several examples, the first is tried in each run; further modes are among the slow tests.

What says the most of a new method comes first: a mistake that many tests meet is named by the one that is about it.
"""

from __future__ import annotations

import pytest

from tests.contract.examples import METHOD_EXAMPLES

FIRST = ("test_registration.py", "test_suppression.py", "test_methods.py", "test_modes.py", "test_statements.py")
"""Files whose messages name the cause, where those of later ones name what follows from it."""
FURTHER = {example.name for example in METHOD_EXAMPLES if ", " in example.name}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of further modes as slow, before slow ones are left out."""
    for item in items:
        call = getattr(item, "callspec", None)
        example = call.params.get("example") if call is not None else None
        if getattr(example, "name", "") in FURTHER:
            item.add_marker(pytest.mark.slow)
    own = [place for place, item in enumerate(items) if item.path.parent.name == "contract"]
    contract = sorted((items[place] for place in own), key=rank_file)
    for place, item in zip(own, contract, strict=True):
        items[place] = item


def rank_file(item: pytest.Item) -> int:
    """The place of a test's file; those that are not named follow in their order."""
    return FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST)
