# SPDX-License-Identifier: MIT
"""What sites send each other: a kind, small facts and arrays, as one frame of bytes that is parsed strictly.

A frame is a fixed head (a mark, the version, two lengths), a JSON header, and the raw bytes of the arrays. Nothing in
it is ever executed or unpickled. The parser checks every length against a limit before it allocates, and refuses
anything that it does not expect: a site that sends garbage gets an error, and costs at most twice the limit in memory:
one frame that is being read, and those that wait to be used.

The header names the session, the sender, the receiver and a number that counts up from 0 on each way, so that a frame
of another session, of another pair of sites, or a repeated frame is refused.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Bytes, Ints, Words
from sfumato.errors import PartyError

VERSION = 2
"""The version of frames and protocols; sites of different versions refuse each other."""
MOST_BYTES = 1 << 28
"""The largest frame that is accepted unless a site says otherwise."""
MOST_HEADER_BYTES = 1 << 16
HEAD = struct.Struct(">4sHIQ")
_MARK = b"sfpt"
_TYPES = {"u1": np.uint8, "i8": np.int64, "u8": np.uint64}
_HEADER_KEYS = {"session", "sender", "receiver", "number", "kind", "facts", "arrays"}

Array = Bytes | Ints | Words
Fact = str | int | bool


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a protocol."""

    kind: str
    """The round that it belongs to, such as "union/mix"; a receiver says which kind it expects."""
    arrays: Mapping[str, Array] = field(default_factory=dict)
    """Arrays of uint8, int64 or uint64 with one or two dimensions."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """Small values."""

    def get_array(self, name: str, dtype: type[np.generic], *shape: int | None) -> Any:
        """An array of the message if it has this type and shape (None fits any length), else an error."""
        array = self.arrays.get(name)
        fits = (
            array is not None
            and array.dtype == np.dtype(dtype)
            and array.ndim == len(shape)
            and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
        )
        if array is None or not fits:
            raise PartyError(f'a message of "{self.kind}" does not hold the array "{name}" in the agreed form')
        return array

    def get_fact(self, name: str, kind: type[Fact]) -> Any:
        """A fact of the message if it has this type, else an error."""
        value = self.facts.get(name)
        if type(value) is not kind:
            raise PartyError(f'a message of "{self.kind}" does not hold the fact "{name}"')
        return value


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where a message belongs."""

    session: str
    sender: str
    receiver: str
    number: int


@dataclass(frozen=True, slots=True)
class FrameHead:
    """The lengths that a frame announces."""

    header_bytes: int
    body_bytes: int


def encode_frame(envelope: Envelope, message: Message) -> bytes:
    """The bytes of a message."""
    bodies, forms = [], []
    for name, array in message.arrays.items():
        kind = array.dtype.newbyteorder("=").str[1:]
        if kind not in _TYPES or array.ndim not in (1, 2):
            raise TypeError(f'the array "{name}" has no type or shape that can be sent')
        bodies.append(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
        forms.append([name, kind, list(array.shape)])
    header = json.dumps(
        {
            "session": envelope.session,
            "sender": envelope.sender,
            "receiver": envelope.receiver,
            "number": envelope.number,
            "kind": message.kind,
            "facts": dict(message.facts),
            "arrays": forms,
        },
        separators=(",", ":"),
    ).encode("utf-8")
    body = b"".join(bodies)
    return HEAD.pack(_MARK, VERSION, len(header), len(body)) + header + body


def decode_head(head: bytes, most_bytes: int = MOST_BYTES) -> FrameHead:
    """The lengths in the head of a frame; an error if it is no frame, of another version, or too large."""
    mark, version, header_bytes, body_bytes = HEAD.unpack(head)
    if mark != _MARK:
        raise PartyError("what arrived is not a message of sfumato")
    if version != VERSION:
        raise PartyError(
            f"a message has version {version} and this site version {VERSION}; install the same sfumato at every site"
        )
    if header_bytes > MOST_HEADER_BYTES or header_bytes + body_bytes > most_bytes:
        raise PartyError(
            f"a message of {header_bytes + body_bytes:,} bytes is above the limit of {most_bytes:,}; if the data is "
            "that large, raise max_message_bytes at every site"
        )
    return FrameHead(header_bytes, body_bytes)


class DecodedFrame(NamedTuple):
    """A message, and who sent it to whom."""

    envelope: Envelope
    message: Message


def decode_frame(frame: bytes, most_bytes: int = MOST_BYTES) -> DecodedFrame:
    """The message in a frame; a PartyError if anything in it is not as it must be."""
    if len(frame) < HEAD.size:
        raise PartyError("a message is cut off")
    head = decode_head(frame[: HEAD.size], most_bytes)
    if len(frame) != HEAD.size + head.header_bytes + head.body_bytes:
        raise PartyError("a message is cut off")
    header = _parse_header(frame[HEAD.size : HEAD.size + head.header_bytes])
    arrays = _parse_arrays(header["arrays"], memoryview(frame)[HEAD.size + head.header_bytes :])
    envelope = Envelope(header["session"], header["sender"], header["receiver"], header["number"])
    return DecodedFrame(envelope, Message(header["kind"], arrays, header["facts"]))


def _parse_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise PartyError("the header of a message cannot be read") from None
    if not isinstance(header, dict) or set(header) != _HEADER_KEYS:
        raise PartyError("the header of a message lacks parts or has unknown ones")
    texts = all(isinstance(header[key], str) for key in ("session", "sender", "receiver", "kind"))
    facts = header["facts"]
    if (
        not texts
        or type(header["number"]) is not int
        or header["number"] < 0
        or not isinstance(facts, dict)
        or not all(type(value) in (str, int, bool) for value in facts.values())
        or not isinstance(header["arrays"], list)
    ):
        raise PartyError("the header of a message has parts of a wrong type")
    return header


def _parse_arrays(forms: list[Any], body: memoryview) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    start = 0
    for form in forms:
        name, kind, shape = _parse_form(form)
        if name in arrays:
            raise PartyError("a message holds two arrays of one name")
        dtype = np.dtype(_TYPES[kind]).newbyteorder("<")
        count = int(np.prod(shape, dtype=object))
        stop = start + count * dtype.itemsize
        if stop > len(body):
            raise PartyError("a message announces longer arrays than it holds")
        flat = np.frombuffer(body[start:stop], dtype=dtype)
        arrays[name] = flat.reshape(shape).astype(_TYPES[kind], copy=False)
        start = stop
    if start != len(body):
        raise PartyError("a message holds more than it announces")
    return arrays


class _ArrayForm(NamedTuple):
    """What a message says about an array in it."""

    name: str
    kind: str
    shape: tuple[int, ...]


def _parse_form(form: Any) -> _ArrayForm:
    if not isinstance(form, list) or len(form) != 3 or not isinstance(form[0], str) or not isinstance(form[2], list):
        raise PartyError("a message describes an array in a form that is not known")
    name, kind, shape = form
    lengths_fit = len(shape) in (1, 2) and all(type(length) is int and 0 <= length <= MOST_BYTES for length in shape)
    if kind not in _TYPES or not lengths_fit:
        raise PartyError("a message holds an array of a type or shape that is not allowed")
    return _ArrayForm(name, kind, tuple(shape))
