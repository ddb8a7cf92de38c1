# SPDX-License-Identifier: MIT
"""Whether the tables of all sites together are k-anonymous, without showing one to the others.

A class that is too small at one site may be large enough with the rows of others. Every site hashes the
quasi-identifying cells of each of its classes to a point and puts it into its list as often as the class has rows, k
times at most. The rest of the list, which has a common length, is random points, each k times at least. The lists are
mixed as in a private union (`union`), and the last site sees how often each encrypted point occurs: if none occurs
fewer than k times, all classes of the joined tables have k rows.

All sites learn the answer, and the length of the longest list up to a factor of two. The last site learns how many
classes have which size, up to k for each site; not which classes, nor whose. The same adversaries as for a union:
semi-honest sites. The answer is about the tables as they stand; a later release needs a check of its own.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.errors import PartyError, PolicyError, count_noun, quote_names
from sfumato.parties.arithmetic.group import Group, get_group
from sfumato.parties.protocols.agreement import agree_on_parameters, confirm_result
from sfumato.parties.protocols.threshold import agree_on_length, describe_threshold_adversary
from sfumato.parties.protocols.union import SiteSecrets, mix_lists
from sfumato.parties.result import SiteAnswer
from sfumato.parties.statement import Statement, Transcript
from sfumato.parties.transport.network import Network, Tap, run_sites
from sfumato.table import Table

if TYPE_CHECKING:
    import polars as pl

STEP = "classes"
DOMAIN = "sfumato classes"
MOST_POINTS = 1 << 20
"""The longest list of one site: some minutes of mixing."""
FROM_RESULT = (
    "if the answer is yes: of a class with fewer than k rows at this site, that the other sites have the rest",
    "if it is no: that some class is too small, and if none is at this site, that it is at other sites",
)


@dataclass(frozen=True, slots=True)
class JointAnonymity:
    """Whether the joined tables are k-anonymous."""

    k: int
    holds: bool
    """Whether every class of the joined tables has k rows; nobody knows which has fewer."""
    statements: tuple[Statement, ...]
    """What each site learned."""


def check_k_anonymity(
    tables: Sequence[Table], k: int, *, names: Sequence[str] | None = None, tap: Tap | None = None
) -> JointAnonymity:
    """Whether the tables of three or more sites, joined, are k-anonymous; all sites run in this process."""

    async def check(network: Network, site_table: Table) -> SiteAnonymity:
        return await check_site(network, site_table, k)

    answers = run_sites(check, list(tables), names, tap)
    return JointAnonymity(k, answers[0].holds, tuple(answer.statement for answer in answers))


@dataclass(frozen=True, slots=True)
class SiteAnonymity(SiteAnswer):
    """What one site has at the end."""

    k: int
    holds: bool
    statement: Statement
    transcript: Transcript

    def list_tables(self) -> dict[str, pl.DataFrame]:
        """The answer, as a table of one row."""
        import polars as pl

        return {"k_anonymity": pl.DataFrame({"k": [self.k], "holds": [self.holds]})}


def check_joint_k(k: int) -> None:
    """Raise an error unless k is one that can be checked."""
    if type(k) is not int or not 2 <= k <= 1000:
        raise PolicyError("k must be a whole number from 2 to 1000")


async def check_site(network: Network, table: Table, k: int) -> SiteAnonymity:
    """One site's part; the answer is the same at every site. A missing cell counts as a value of its own."""
    check_joint_k(k)
    if len(network.sites) < 3:
        raise PartyError("with two sites, each learns about the other's classes from the answer; use three or more")
    columns = sorted(table.quasi_identifying)
    if not columns:
        raise PolicyError(f"{table.source}: no column is quasi-identifying, so there are no classes")
    parameters = {"task": "k_anonymity", "k": str(k), "columns": quote_names(columns), "group": get_group().name}
    await agree_on_parameters(network, parameters)
    classes = count_classes(table, columns)
    room = await agree_on_length(network, "shamir", len(classes) + 1, STEP)
    if room * k > MOST_POINTS:
        raise PartyError(
            f"up to {room:,} classes of {k} rows are lists of {room * k:,} points, above {MOST_POINTS:,}; generalize "
            "the columns, or check a smaller k"
        )
    site_secrets = SiteSecrets(get_group().draw_scalar(), get_group().draw_scalar())
    points = list_points(get_group(), f"{DOMAIN} {network.session}", classes, k, room * k)
    mixed_points = await mix_lists(network, site_secrets, points, STEP, network.sites)
    holds = await _announce_answer(network, mixed_points, k)
    await confirm_result(network, str(holds))
    adversary = describe_threshold_adversary("shamir", len(network.sites))
    statement = network.state("k_anonymity", adversary, FROM_RESULT)
    return SiteAnonymity(k, holds, statement, network.transcript)


def count_classes(table: Table, columns: Sequence[str]) -> dict[bytes, int]:
    """How many rows have each combination of cells, spelled alike at every site."""
    import polars as pl

    cells = table.frame.select(pl.col(column).cast(pl.String) for column in columns)
    counts = Counter(cells.iter_rows())
    return {json.dumps(row, ensure_ascii=False).encode("utf-8"): count for row, count in counts.items()}


def list_points(group: Group, domain: str, classes: Mapping[bytes, int], k: int, length: int) -> list[bytes]:
    """Each class's point as often as it has rows, k times at most, then random points, each k times or more."""
    points = [group.hash_entry(domain, cells) for cells, count in classes.items() for _ in range(min(count, k))]
    while len(points) < length:
        remaining_length = length - len(points)
        points += [group.hash_to_point(secrets.token_bytes(64))] * (
            k if remaining_length >= 2 * k else remaining_length
        )
    return points


async def _announce_answer(network: Network, mixed_points: Sequence[bytes], k: int) -> bool:
    """The last site counts, and tells the others one bit."""
    last = network.sites[-1]
    if network.site != last:
        message = await network.receive(last, f"{STEP}/answer")
        answer: bool = message.get_fact("holds", bool)
        return answer
    sizes = Counter(Counter(mixed_points).values())
    small = sum(count for size, count in sizes.items() if size < k)
    classes = count_noun(small, "class has", "classes have")
    network.learn(f"{STEP}: {classes} fewer than {k} rows, and the sizes of all up to {k} a site; not which")
    await network.broadcast(f"{STEP}/answer", facts={"holds": small == 0})
    return small == 0
