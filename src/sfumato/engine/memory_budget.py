# SPDX-License-Identifier: MIT
"""How much memory there is to work with: `SFUMATO_MEMORY`, or half of what the machine or the container has left."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from sfumato.errors import PolicyError

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)
LEAST = 256 << 20


def find_memory_budget() -> int:
    """Bytes that a run may use."""
    size_text = os.environ.get("SFUMATO_MEMORY")
    if size_text:
        return parse_size(size_text)
    free_sizes = [_read_available(), *_list_container_rests()]
    return max(min(free_sizes) // 2, LEAST)


def parse_size(text: str) -> int:
    """Bytes from a text such as `2GB` or `512 MiB`."""
    size = _SIZE.fullmatch(text)
    if size is None:
        raise PolicyError('SFUMATO_MEMORY is not a size; write it as in "2GB" or "512MB"')
    return max(int(float(size[1]) * _UNITS[size[2].lower()]), LEAST)


def format_size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"


def _read_available() -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _list_container_rests() -> list[int]:
    """What the control groups of a container leave, new and old kind."""
    rests = []
    for limit, usage in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):  # "max" is no limit
            rests.append(int(Path(limit).read_text()) - int(Path(usage).read_text()))
    return [rest for rest in rests if rest > 0]
