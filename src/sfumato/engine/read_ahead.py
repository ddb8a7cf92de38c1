# SPDX-License-Identifier: MIT
"""Prepare the next of some items while the last one is used: readers and writers of files leave Python to others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

ReadItem = TypeVar("ReadItem")


def read_ahead(items: Iterable[ReadItem]) -> Iterator[ReadItem]:
    """The items in their order, each asked for in another thread as soon as the one before is taken."""
    end = object()
    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="sfumato-read-ahead") as reader:
        next_item = reader.submit(next, source, end)
        while (item := next_item.result()) is not end:
            next_item = reader.submit(next, source, end)
            yield item  # type: ignore[misc]  # an item, since the end was seen above
