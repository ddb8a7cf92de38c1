# SPDX-License-Identifier: MIT
"""The secret that decides what one run draws by chance: anyone who knows it can undo the noise."""

from __future__ import annotations

from typing import NoReturn


class RunSecret(bytes):
    """Bytes that are not shown, and not pickled along with what holds them."""

    def __repr__(self) -> str:
        """No byte of it."""
        return "RunSecret(…)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """It is sent separately (`engine.sent_task`)."""
        raise TypeError("the secret of a run is not pickled with other things")
