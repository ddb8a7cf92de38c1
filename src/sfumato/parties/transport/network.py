# SPDX-License-Identifier: MIT
"""What one site sees of the others: named peers to send messages to and receive messages from.

A protocol is an async function of a :class:`Network` and the site's private input, which every site runs alike::

    async def add_up(network: Network, own: int) -> int:
        shares = split(own, len(network.sites))
        ...
        received = await network.exchange("sum/total", {"total": total})
        return sum(int(message.array("total", np.uint64, 1)[0]) for message in received.values())

Rules for protocols:

- All sites send and expect the same kinds of messages in the same order; a kind is "step/round". Frames between two
  sites arrive in order. A frame of an unexpected kind, number, session or sender is an error.
- Check what arrives with `Message.array` and `Message.fact`: type and shape, then range.
- Whatever a site comes to know besides its input and the result is recorded with `Network.learn`, as a sentence.
- Randomness comes from `Randomness.secure()` or `secrets`, never from a seed.
- Long computations between rounds go through `compute`, so that a site notices in the meantime if another one stops.
- A failure is a `PartyError`. The site that runs the protocol tells the other sites (`Network.abort`) and returns
  nothing.

Two networks: :class:`LocalNetwork` joins sites in one process, for tests and study (`run_sites`); `TlsNetwork` in
`tls_network` joins processes by TCP with mutual TLS. Both exchange the same frames.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from threading import Thread
from typing import Any, TypeVar

from sfumato.errors import PartyError, SfumatoError
from sfumato.parties.statement import Statement, Transcript, sum_traffic
from sfumato.parties.transport.liveness import Activity, SignsOfLife, mark_computing
from sfumato.parties.transport.message import MOST_BYTES, Array, Envelope, Fact, Message, decode_frame, encode_frame

TIMEOUT = 60.0
"""The default timeout: seconds without a sign of life until a site is given up."""
ABORT = "abort"
FEWEST, MOST_SITES = 2, 64
_LOCAL_TIMEOUT = 3600.0
"""Sites of one process share its cores, so a silent one is most likely computing."""

Private = TypeVar("Private")
Result = TypeVar("Result")


class Network(ABC):
    """One site's connections to the others during one session."""

    def __init__(
        self,
        site: str,
        sites: Sequence[str],
        session: str,
        timeout: float = TIMEOUT,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """Name the site and all sites, in an order that they agree on."""
        check_sites(site, sites)
        self.site, self.sites = site, tuple(sites)
        self.session, self.timeout, self.most_bytes = session, timeout, most_bytes
        self.transcript = Transcript(hashlib.sha256(session.encode()).hexdigest())
        self.learnt_sentences: list[str] = []
        self.activity, self.signs = Activity(), SignsOfLife(self.other_sites)
        self._sent_counts = dict.fromkeys(self.other_sites, 0)
        self._received_counts = dict.fromkeys(self.other_sites, 0)

    @property
    def index(self) -> int:
        """The position of this site among all."""
        return self.sites.index(self.site)

    @property
    def other_sites(self) -> tuple[str, ...]:
        """All sites but this one, in order."""
        return tuple(site for site in self.sites if site != self.site)

    async def send(
        self,
        receiver: str,
        kind: str,
        arrays: Mapping[str, Array] | None = None,
        facts: Mapping[str, Fact] | None = None,
    ) -> None:
        """Send a message to one site."""
        envelope = Envelope(self.session, self.site, receiver, self._sent_counts[receiver])
        frame = encode_frame(envelope, Message(kind, arrays or {}, facts or {}))
        if len(frame) > self.most_bytes:
            raise PartyError(
                f'"{kind}" would be a message of {len(frame):,} bytes, above the limit of {self.most_bytes:,}; '
                "raise max_message_bytes at every site"
            )
        self._sent_counts[receiver] += 1
        self.transcript.add("sent", receiver, kind, frame)
        await self._deliver(receiver, frame)

    async def receive(self, sender: str, kind: str) -> Message:
        """The next message of a site, which must be of this kind."""
        frame = await self._wait_for_frame(sender, kind)
        try:
            envelope, message = decode_frame(frame, self.most_bytes)
            self._check_envelope(sender, envelope)
            if message.kind == ABORT:
                raise PartyError(f"it stopped: {message.facts.get('reason', 'no reason given')}")
            if message.kind != kind:
                raise PartyError(f'it sent something else in "{kind}"')
        except PartyError as error:
            raise PartyError(f'site "{sender}": {error}') from None
        self._received_counts[sender] += 1
        self.transcript.add("received", sender, kind, frame)
        return message

    async def _wait_for_frame(self, sender: str, kind: str) -> bytes:
        """The next frame of a site, which may take as long as there are signs of life."""
        start_time, fetch_task = time.monotonic(), asyncio.ensure_future(self._fetch(sender))
        self.activity.waiting_tasks += 1
        try:
            while (seconds := self.signs.count_seconds_left(sender, start_time, self.timeout)) > 0:
                await asyncio.wait([fetch_task], timeout=seconds)
                if fetch_task.done():
                    return fetch_task.result()
        finally:
            self.activity.waiting_tasks -= 1
            fetch_task.cancel()
        is_alive = self.signs.last[sender] > time.monotonic() - self.timeout
        raise PartyError(
            f'site "{sender}" sent nothing for {self.timeout:g} s in "{kind}"'
            + (", and no site is at work" if is_alive else "")
            + "; see whether it still runs, or raise timeout at every site"
        )

    async def broadcast(
        self, kind: str, arrays: Mapping[str, Array] | None = None, facts: Mapping[str, Fact] | None = None
    ) -> None:
        """Send one message to every other site."""
        for receiver in self.other_sites:
            await self.send(receiver, kind, arrays, facts)

    async def gather(self, kind: str) -> dict[str, Message]:
        """The next message of every other site."""
        return {sender: await self.receive(sender, kind) for sender in self.other_sites}

    async def exchange(
        self, kind: str, arrays: Mapping[str, Array] | None = None, facts: Mapping[str, Fact] | None = None
    ) -> dict[str, Message]:
        """Broadcast, then gather; the answer holds this site's own message too, and is in the order of the sites."""
        await self.broadcast(kind, arrays, facts)
        messages = await self.gather(kind)
        messages[self.site] = Message(kind, arrays or {}, facts or {})
        return {site: messages[site] for site in self.sites}

    async def abort(self, reason: str) -> None:
        """Tell the other sites that this one stops; failures are ignored, as the connection may be what failed."""
        for receiver in self.other_sites:
            try:
                await asyncio.wait_for(
                    self.send(receiver, ABORT, facts={"reason": reason[:300]}), min(self.timeout, 2.0)
                )
            except (SfumatoError, OSError, TimeoutError):
                continue

    def learn(self, sentence: str) -> None:
        """Record what this site came to know."""
        self.learnt_sentences.append(sentence)

    def state(self, protocol: str, adversary: str, from_result: Sequence[str]) -> Statement:
        """What this site learned so far."""
        return Statement(
            self.site,
            self.sites,
            protocol,
            adversary,
            tuple(self.learnt_sentences),
            tuple(from_result),
            sum_traffic(self.transcript),
        )

    def _check_envelope(self, sender: str, envelope: Envelope) -> None:
        if envelope.session != self.session:
            raise PartyError("it sent a message of another session; a message of an old run may have been replayed")
        if (envelope.sender, envelope.receiver) != (sender, self.site):
            raise PartyError("it sent a message between other sites")
        if envelope.number != self._received_counts[sender]:
            raise PartyError(
                f"it sent message {envelope.number} where message {self._received_counts[sender]} was due; a message "
                "was replayed or lost"
            )

    @abstractmethod
    async def _deliver(self, receiver: str, frame: bytes) -> None:
        """Hand a frame to the connection."""

    @abstractmethod
    async def _fetch(self, sender: str) -> bytes:
        """The next frame of a connection; a PartyError if it ended."""


def check_sites(site: str, sites: Sequence[str]) -> None:
    """Raise an error unless the sites are two or more distinct short names, with this one among them."""
    if not FEWEST <= len(sites) <= MOST_SITES:
        raise PartyError(f"{len(sites)} sites were given; {FEWEST} to {MOST_SITES} can work together")
    if len(set(sites)) != len(sites):
        raise PartyError("two sites have the same name; give each its own")
    if not all(isinstance(name, str) and 0 < len(name) <= 64 and name.isprintable() for name in sites):
        raise PartyError("the name of a site must be 1 to 64 printable characters")
    if site not in sites:
        raise PartyError(f'"{site}" is not among the sites')


async def compute(work: Callable[..., Result], *arguments: Any) -> Result:
    """Run a long computation in a thread, so that this site still notices what the others do, and they that it works.

    A computation of many steps asks `stop_if_failed` between them whether the run goes on.
    """
    with mark_computing():
        return await asyncio.to_thread(work, *arguments)


Tap = Callable[[bytes], None]


class LocalNetwork(Network):
    """Sites in one process, joined by queues."""

    def __init__(self, site: str, sites: Sequence[str], session: str, wires: Wires) -> None:
        """Join the wires of a session."""
        super().__init__(site, sites, session, _LOCAL_TIMEOUT)
        self._wires = wires

    async def _deliver(self, receiver: str, frame: bytes) -> None:
        if self._wires.tap is not None:
            self._wires.tap(frame)
        await self._wires.queues[self.site, receiver].put(frame)

    async def _fetch(self, sender: str) -> bytes:
        return await self._wires.queues[sender, self.site].get()


class Wires:
    """One queue for each ordered pair of sites, and a tap that sees every frame."""

    def __init__(self, sites: Sequence[str], tap: Tap | None = None) -> None:
        """Lay a wire between any two sites."""
        self.tap = tap
        self.queues: dict[tuple[str, str], asyncio.Queue[bytes]] = {
            (sender, receiver): asyncio.Queue() for sender in sites for receiver in sites if sender != receiver
        }


def run_sites(
    protocol: Callable[[Network, Private], Awaitable[Result]],
    inputs: Sequence[Private],
    names: Sequence[str] | None = None,
    tap: Tap | None = None,
) -> list[Result]:
    """Run a protocol among sites in this process, one for each private input; the results in the same order.

    The sites are called "site 1", "site 2" … unless named. The tap is called with every frame. The first error of a
    site ends all of them.
    """
    sites = tuple(names) if names is not None else tuple(f"site {number + 1}" for number in range(len(inputs)))
    if len(sites) != len(inputs):
        raise PartyError(f"{len(sites)} names were given for {len(inputs)} sites")
    return _run_anywhere(lambda: _run_local_sites(protocol, inputs, sites, tap))


async def _run_local_sites(
    protocol: Callable[[Network, Private], Awaitable[Result]],
    inputs: Sequence[Private],
    sites: tuple[str, ...],
    tap: Tap | None,
) -> list[Result]:
    wires, session = Wires(sites, tap), secrets.token_hex(16)

    async def run(site: str, site_input: Private) -> Result:
        return await protocol(LocalNetwork(site, sites, session, wires), site_input)

    tasks = [asyncio.create_task(run(site, site_input)) for site, site_input in zip(sites, inputs, strict=True)]
    done_tasks, open_tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    while open_tasks:
        for task in open_tasks:
            task.cancel()
        _, open_tasks = await asyncio.wait(open_tasks, timeout=1.0)
    errors = [error for task in tasks if task in done_tasks and (error := task.exception()) is not None]
    if errors:
        raise errors[0]
    return [task.result() for task in tasks]


def _run_anywhere(start: Callable[[], Awaitable[Result]]) -> Result:
    """Run a coroutine to its end; in a thread of its own where a loop runs already, as in a notebook."""

    async def await_start() -> Result:
        return await start()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(await_start())
    outcome: list[Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(await_start()))
        except BaseException as error:  # handed to the caller's thread
            failures.append(error)

    thread = Thread(target=copy_context().run, args=(run,))
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return outcome[0]
