# SPDX-License-Identifier: MIT
"""Private set union: all sites learn which entries some site has, not which site or how many.

Commutative encryption (Kantarcioglu and Clifton 2002), on a group where it is fast, and with their leaks closed as far
as that is cheap:

1. Every site hashes its entries to points, fills up to an agreed length with copies of one point that all sites know,
   and encrypts the list so that only all sites together can open it (ElGamal under the sum of their keys), and nobody
   sees which points are equal. All lists go to the first of the sites that mix: all but the first by name, as it takes
   the collusion of all others to follow an entry anyway, and mixing is what takes long.
2. In turn, every site that mixes multiplies all points by its secret scalar, takes off its share of the encryption,
   blinds anew and sorts by the blinded bytes, which shuffles. The last one sees points under all these scalars: equal
   entries have become equal points, which it keeps once, the filling too. It knows neither an entry nor whose it was.
3. In turn, every one takes off its scalar and sorts. All sites get the points of the union and recognise their own.
4. The entries themselves: each site that has one adds, in a secure sum, a random number r and r times the entry, block
   by block. The quotient of the totals is the entry, and the total of the random numbers hides how many took part.

What is learned besides the union: the last site, how many entries are at one, two, three … sites, and so the total
length of all lists; the others nothing but the agreed length. While sites follow the protocol, linking an entry with
its owner takes the collusion of all the others: entries that only the remaining site has follow from the union anyway;
of those that a colluder has too, they would also see whether it has them. Dishonest sites could add, drop or mark
entries.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Words
from sfumato.errors import PartyError, count_noun
from sfumato.parties.arithmetic.field import draw_uniform, invert, multiply
from sfumato.parties.arithmetic.group import Group, get_group, map_over_points, multiply_all, pack_points, unpack_points
from sfumato.parties.protocols.point_lists import open_in_turn
from sfumato.parties.protocols.sums import add_residues
from sfumato.parties.transport.network import Network, compute
from sfumato.randomness import Randomness

DOMAIN = "sfumato union"
BLOCK_BYTES = 7
"""How many bytes of an entry fit in a number below 2^61 - 1."""
LENGTH_BYTES = 2
FILLER_LENGTH = (1 << 8 * LENGTH_BYTES) - 1
"""The length that marks filling."""


class Cipher(NamedTuple):
    """Encrypted points: multiples of the generator, and the points plus the same multiples of the joint key."""

    bases: list[bytes]
    masked_points: list[bytes]


@dataclass(frozen=True, slots=True)
class SiteSecrets:
    """What a site keeps to itself during a union."""

    share: bytes
    """Its share of the key that opens the lists."""
    scalar: bytes
    """What it multiplies all points by."""


async def unite_privately(
    network: Network, entries: Sequence[bytes], length: int, width: int, step: str = "union"
) -> list[bytes]:
    """The sorted union of all sites' entries.

    All sites give the same length, which no list exceeds, and the same width, which no entry exceeds in bytes.
    """
    check_entries(entries, length, width)
    group = get_group()
    site_secrets = SiteSecrets(group.draw_scalar(), group.draw_scalar())
    domain = f"{DOMAIN} {network.session}"  # points of different runs have nothing in common
    points: dict[bytes, bytes | None] = {group.hash_entry(domain, entry): entry for entry in entries}
    filler_point = group.hash_entry(f"filling of {domain}", b"")
    padded_list = [
        *points,
        *[filler_point] * (length + 1 - len(points)),
    ]  # one at least, so that the union always holds it
    mixers = network.sites if len(network.sites) == 2 else network.sites[1:]
    mixed_points = await mix_lists(network, site_secrets, padded_list, step, mixers)
    union = await open_in_turn(
        network, group, site_secrets.scalar, sorted(set(mixed_points)), mixers[::-1], step, "union"
    )
    if filler_point not in union:
        raise PartyError("the union lacks the filling of this site's list; a site did not follow the protocol")
    union.remove(filler_point)
    all_entries = await reveal_entries(network, points, union, width, step)
    entries_text = count_noun(len(all_entries), "entry", "entries")
    if network.site == network.sites[-1]:
        network.learn(f"{step}: {entries_text} that some site has, and {describe_repeats(mixed_points)}")
    else:
        network.learn(
            f"{step}: {entries_text} that some site has; not whose they are or "
            "at how many sites, unless the lengths leave only one way"
        )
    return all_entries


async def mix_lists(
    network: Network, site_secrets: SiteSecrets, points: Sequence[bytes], step: str, mixers: Sequence[str]
) -> list[bytes]:
    """At the last site, all sites' points under all mixers' scalars; equal points are still equal. Else nothing.

    All lists have the same length. Nobody can tell whose a point was, unless all mixers collude. The mixers are some or
    all sites in their order, two at least, with the last one.
    """
    group = get_group()
    keys = await _exchange_keys(network, group, site_secrets, step, mixers)
    cipher = await compute(encrypt_points, group, keys[0], points)
    if network.site == mixers[0]:
        cipher = await _join_lists(network, group, cipher, f"{step}/list")
    else:
        await _send_cipher(network, mixers[0], f"{step}/list", cipher)
    if network.site not in mixers:
        return []
    kind, position, last = f"{step}/mix", mixers.index(network.site), len(mixers) - 1
    if position > 0:
        cipher = await _receive_cipher(network, group, mixers[position - 1], kind, len(points) * len(network.sites))
    mixed_cipher = await compute(
        mix_points, group, site_secrets, keys[position + 1] if position < last else None, cipher
    )
    if position == last:
        return mixed_cipher.masked_points
    await _send_cipher(network, mixers[position + 1], kind, mixed_cipher)
    return []


async def _join_lists(network: Network, group: Group, own_cipher: Cipher, kind: str) -> Cipher:
    count = len(own_cipher.bases)
    lists = [own_cipher, *[await _receive_cipher(network, group, site, kind, count) for site in network.other_sites]]
    return Cipher([point for part in lists for point in part.bases], [p for part in lists for p in part.masked_points])


def describe_repeats(points: Sequence[bytes]) -> str:
    """How many entries are at one site, at two and so on; the most common point is the filling that all lists hold."""
    sizes = sorted(Counter(points).values())[:-1]
    repeats = ", ".join(f"{count} at {times}" for times, count in sorted(Counter(sizes).items()))
    knowledge_text = "so at how many each is" if len(set(sizes)) == 1 else "not which or whose"
    return f"how many of them are at how many sites ({repeats or 'none'}), {knowledge_text}"


async def _exchange_keys(
    network: Network, group: Group, site_secrets: SiteSecrets, step: str, mixers: Sequence[str]
) -> list[bytes]:
    """The joint keys: the first of all mixers, the next of all but the first, and so on."""
    kind, public = f"{step}/key", group.multiply_base(site_secrets.share)
    if network.site in mixers:
        await network.broadcast(kind, {"key": pack_points([public])})
    keys = []
    for site in mixers:
        if site == network.site:
            keys.append(public)
        else:
            message = await network.receive(site, kind)
            keys += unpack_points(group, message.get_array("key", np.uint8, 1, 32))
    for position in reversed(range(len(keys) - 1)):
        keys[position] = group.add(keys[position], keys[position + 1])
    return keys


def check_entries(entries: Sequence[bytes], length: int, width: int) -> None:
    """Raise an error, before anything is sent, if a list does not have the agreed form."""
    if len(set(entries)) != len(entries) or len(entries) > length or max(map(len, entries), default=0) > width:
        raise PartyError(f"{len(entries)} entries do not fit a list of {length} distinct ones of {width} bytes")


def fill_list(group: Group, session: str, entries: Sequence[bytes], length: int) -> dict[bytes, bytes | None]:
    """The point of each entry, and random points without one."""
    domain = f"{DOMAIN} {session}"  # points of different runs have nothing in common
    points: dict[bytes, bytes | None] = {group.hash_entry(domain, entry): entry for entry in entries}
    while len(points) < length:
        points[group.hash_to_point(secrets.token_bytes(64))] = None
    return points


def encrypt_points(group: Group, key: bytes, points: Sequence[bytes]) -> Cipher:
    """Encrypt points under a joint key."""
    randoms = [group.draw_scalar() for _ in points]
    bases = map_over_points(group.multiply_base, randoms)
    masks = multiply_by_each(group, randoms, key)
    return Cipher(bases, map_over_points(group.add, list(points), masks))


def mix_points(group: Group, site_secrets: SiteSecrets, next_key: bytes | None, cipher: Cipher) -> Cipher:
    """Take off a share of the key, multiply by the scalar, blind under the rest of the key, and shuffle.

    The last site has no rest of a key to blind under: its points are open, but for the scalars.
    """
    key_scalar = group.negate(group.multiply_scalars(site_secrets.share, site_secrets.scalar))
    open_points = map_over_points(
        group.add,
        multiply_all(group, site_secrets.scalar, cipher.masked_points),
        multiply_all(group, key_scalar, cipher.bases),
    )
    if next_key is None:
        return Cipher([], sorted(open_points))
    blinding_cipher = encrypt_points(group, next_key, open_points)
    bases = map_over_points(group.add, multiply_all(group, site_secrets.scalar, cipher.bases), blinding_cipher.bases)
    order = sorted(range(len(bases)), key=bases.__getitem__)  # by bytes that are random to everyone else
    return Cipher(
        [bases[position] for position in order], [blinding_cipher.masked_points[position] for position in order]
    )


async def reveal_entries(
    network: Network, point_entries: Mapping[bytes, bytes | None], union: list[bytes], width: int, step: str
) -> list[bytes]:
    """The entries of the union's points, from quotients of secure sums."""
    union_points = set(union)
    missing = sum(point not in union_points for point in point_entries)
    if missing:
        raise PartyError(f"{missing} of this site's points are not in the union; a site did not follow the protocol")
    rows = [row for row, point in enumerate(union) if point in point_entries]
    blocks = _write_blocks([point_entries[union[row]] for row in rows], width)
    randoms = draw_uniform(Randomness.secure(), len(rows))
    contribution = np.zeros((len(union), 1 + blocks.shape[1]), dtype=np.uint64)
    contribution[rows, 0] = randoms
    contribution[rows, 1:] = multiply(np.broadcast_to(randoms[:, None], blocks.shape), blocks)
    total = await add_residues(network, contribution, f"{step}/entries")
    quotients = invert(total[:, 0])
    return _read_blocks(multiply(np.broadcast_to(quotients[:, None], total[:, 1:].shape), total[:, 1:]), width)


def _write_blocks(entries: Sequence[bytes | None], width: int) -> Words:
    """Entries with their lengths as rows of numbers, all equally long."""
    columns = -(-(LENGTH_BYTES + width) // BLOCK_BYTES)
    padded_entries = np.zeros((len(entries), columns * BLOCK_BYTES), dtype=np.uint8)
    for row, entry in enumerate(entries):
        length = FILLER_LENGTH if entry is None else len(entry)
        text = length.to_bytes(LENGTH_BYTES, "big") + (entry or b"")
        padded_entries[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
    blocks = np.zeros((len(entries), columns, 8), dtype=np.uint8)
    blocks[:, :, 1:] = padded_entries.reshape(len(entries), columns, BLOCK_BYTES)
    return blocks.view(">u8").reshape(len(entries), columns).astype(np.uint64)


def _read_blocks(blocks: Words, width: int) -> list[bytes]:
    """The entries, sorted, without filling."""
    if blocks.size and int(blocks.max()) >> (8 * BLOCK_BYTES):
        raise PartyError("the entries of the union cannot be read; a site did not follow the protocol")
    parts = blocks.astype(">u8").view(np.uint8).reshape(*blocks.shape, 8)[:, :, 1:]
    rows = parts.reshape(len(blocks), blocks.shape[1] * BLOCK_BYTES)
    entries = []
    for row in rows:
        text = row.tobytes()
        length = int.from_bytes(text[:LENGTH_BYTES], "big")
        if length == FILLER_LENGTH:
            continue
        if length > width or any(text[LENGTH_BYTES + length :]):
            raise PartyError("the entries of the union cannot be read; a site did not follow the protocol")
        entries.append(text[LENGTH_BYTES : LENGTH_BYTES + length])
    return sorted(entries)


def multiply_by_each(group: Group, scalars: Sequence[bytes], point: bytes) -> list[bytes]:
    """Multiples of one point."""
    return map_over_points(lambda scalar: group.multiply(scalar, point), scalars)


async def _send_cipher(network: Network, receiver: str, kind: str, cipher: Cipher) -> None:
    await network.send(
        receiver, kind, {"bases": pack_points(cipher.bases), "masked": pack_points(cipher.masked_points)}
    )


async def _receive_cipher(network: Network, group: Group, sender: str, kind: str, count: int) -> Cipher:
    message = await network.receive(sender, kind)
    bases = message.get_array("bases", np.uint8, count, 32)
    masked_points = message.get_array("masked", np.uint8, count, 32)
    return Cipher(await compute(unpack_points, group, bases), await compute(unpack_points, group, masked_points))
