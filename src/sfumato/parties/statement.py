# SPDX-License-Identifier: MIT
"""What a site learns in a run: a statement of leakage, and a transcript of hashes.

Protocols record what a site comes to know beyond its own data and the result, as sentences with numbers; the network
counts messages and bytes by kind. The transcript holds a hash of every frame sent and received, so that two sites can
compare afterwards what they exchanged. A frame holds the session id, which only the sites know, so a stranger cannot
guess a frame and confirm it by its hash. Neither holds data, keys or random numbers.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

FrameDirection = Literal["sent", "received"]


@dataclass(frozen=True, slots=True)
class FrameRecord:
    """One frame in the transcript."""

    way: FrameDirection
    peer: str
    kind: str
    size: int
    """In bytes, framing included."""
    sha256: str


@dataclass(slots=True)
class Transcript:
    """Every frame of a run as one site saw it, in order."""

    session_sha256: str
    """A hash of the session id: sites of one session have the same."""
    frames: list[FrameRecord] = field(default_factory=list)

    def add(self, way: FrameDirection, peer: str, kind: str, frame: bytes) -> None:
        """Record a frame."""
        self.frames.append(FrameRecord(way, peer, kind, len(frame), hashlib.sha256(frame).hexdigest()))

    def as_json(self) -> dict[str, Any]:
        """The transcript as plain values."""
        return {"session_sha256": self.session_sha256, "frames": [asdict(frame) for frame in self.frames]}


@dataclass(frozen=True, slots=True)
class Traffic:
    """How much of one kind of message a site sent or received."""

    way: FrameDirection
    kind: str
    messages: int
    size: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one site learned in one run, against whom the others are protected, and how much was exchanged."""

    site: str
    sites: tuple[str, ...]
    protocol: str
    adversary: str
    """Against whom it holds: semi-honest or not, how many sites may collude."""
    knowledge: tuple[str, ...]
    """What this site came to know besides its own data and the result."""
    from_result: tuple[str, ...]
    """What follows from the result itself, whatever the protocol."""
    traffic: tuple[Traffic, ...]

    @property
    def bytes_sent(self) -> int:
        """How many bytes this site sent."""
        return sum(part.size for part in self.traffic if part.way == "sent")

    @property
    def messages_sent(self) -> int:
        """How many messages this site sent."""
        return sum(part.messages for part in self.traffic if part.way == "sent")

    def as_json(self) -> dict[str, Any]:
        """The statement as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        """The statement as text for people."""
        lines = [f'Site "{self.site}" of {len(self.sites)}, protocol "{self.protocol}".', self.adversary]
        lines += [
            "Besides its own data and the result, this site learned:",
            *(f"- {sentence}" for sentence in self.knowledge),
        ]
        lines += ["From the result itself follows:", *(f"- {sentence}" for sentence in self.from_result)]
        received_bytes = sum(part.size for part in self.traffic if part.way == "received")
        lines.append(
            f"It sent {self.messages_sent:,} messages, {self.bytes_sent:,} bytes; it received {received_bytes:,} bytes."
        )
        return "\n".join(lines)


def sum_traffic(transcript: Transcript) -> tuple[Traffic, ...]:
    """Messages and bytes by way and kind, in order of first appearance."""
    totals: dict[tuple[FrameDirection, str], tuple[int, int]] = {}
    for frame in transcript.frames:
        messages, size = totals.get((frame.way, frame.kind), (0, 0))
        totals[frame.way, frame.kind] = messages + 1, size + frame.size
    return tuple(Traffic(way, kind, *counts) for (way, kind), counts in totals.items())
