# SPDX-License-Identifier: MIT
"""The support as a scalar product, the algebraic protocol step by step, and the algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.arrays import Flags, Ints
from sfumato.baskets import Baskets
from sfumato.mine.baskets.association_rules import association_rules
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.parties.protocols.algebraic_product import disguise, draw_coefficients, reply, resolve
from sfumato.parties.protocols.scalar_product import PackedProducts, Pair, open_products
from sfumato.parties.result import JointResult
from sfumato.parties.transport.network import Network, run_sites
from sfumato.parties.vertical import VerticalProtocol, mine_vertical

SEED = 2002
B1 = (0, 1, 0, 1, 1)
A1 = (1, 1, 0, 1, 0)
"""Ours: A's column is a picture in our copy."""
SUPPORT, CONFIDENCE = 0.3, 0.6
PROTOCOLS: tuple[VerticalProtocol, ...] = ("textbook", "packed")


def support(setting: Setting) -> Findings:
    """The support of {A1, B1}, three ways, for every column that A1 can be."""
    del setting  # 32 products fit in one encryption
    columns = list(product((0, 1), repeat=len(B1)))
    private = multiply_privately([np.array(column, dtype=np.bool_) for column in columns], np.array(B1, dtype=np.bool_))
    rows = [
        {
            "A1": " ".join(map(str, column)),
            "B1": " ".join(map(str, B1)),
            "counted": sum(bool(left and right) for left, right in zip(column, B1, strict=True)),
            "multiplied": int(np.dot(column, B1)),
            "private": total,
        }
        for column, total in zip(columns, private, strict=True)
    ]
    same_count = sum(row["counted"] == row["multiplied"] == row["private"] for row in rows)
    return Findings(
        statements=(
            Statement(
                "Support = |A1 ∧ B1| = the sum of A1 × B1.",
                f"The three numbers are the same for {same_count} of {len(rows)} columns A1.",
                same_count == len(rows),
                cases=len(rows),
            ),
        ),
        grids=(Grid("supports", "The support of {A1, B1} by A's column", frame_of(rows)),),
        remarks=("A's column is a picture in our copy of the slides, so all columns that it can be are shown.",),
    )


def multiply_privately(lefts: Sequence[Flags], right: Flags) -> list[int]:
    """Scalar products of two sites by packed encryption, the shares put together here only."""

    async def share(network: Network, columns: Sequence[Flags]) -> tuple[list[int], int]:
        products: PackedProducts[int] = await open_products(network, right.size, right.size)
        pairs = [Pair(index, 0) for index in range(len(lefts))]
        return await products.share(pairs, lambda index: columns[index], "papers"), products.modulus

    (first, modulus), (last, _) = run_sites(share, [list(lefts), [right]])
    return [(first_share + other) % modulus for first_share, other in zip(first, last, strict=True)]


def protocol(setting: Setting) -> Findings:
    """Each message of the algebraic product."""
    del setting  # six rows are quick enough
    coefficients = draw_coefficients(SEED, len(A1))
    left, right = pad(A1), pad(B1)
    rows = left.size
    randoms = np.random.default_rng(SEED).integers(0, 1 << 24, rows // 2)
    masked_values = disguise(left, coefficients, randoms)
    answer = reply(right, coefficients, masked_values)
    baggage = int(answer.values @ randoms)
    dot_product = resolve(answer, randoms)
    messages = [
        *({"from": "A", "what": f"value {row + 1}", "number": int(value)} for row, value in enumerate(masked_values)),
        {"from": "B", "what": "S", "number": answer.total},
        *(
            {"from": "B", "what": f"value {row + 1} of n/2", "number": int(value)}
            for row, value in enumerate(answer.values)
        ),
        {"from": "kept by A", "what": "baggage", "number": baggage},
        {"from": "kept by A", "what": "S - baggage", "number": dot_product},
    ]
    return Findings(
        statements=(
            Statement("A sends n values.", f"{masked_values.size} values for n = {rows}.", masked_values.size == rows),
            Statement(
                "B sends S and n/2 values.", f"S and {answer.values.size} values.", answer.values.size == rows // 2
            ),
            Statement(
                "S is the scalar product plus R_1 … R_n/2 times the n/2 values.",
                f"{answer.total:,} = {int(left @ right)} + {baggage:,}.",
                answer.total == int(left @ right) + baggage,
            ),
            Statement(
                "A can remove the baggage and get the scalar product.",
                f"{dot_product}; by hand 2 (rows 2 and 4).",
                dot_product == 2,
            ),
        ),
        grids=(Grid("messages", "What is sent", frame_of(messages)),),
        remarks=("n must be even, so a row of zeros is added. A's column is ours; it is a picture in our copy.",),
    )


def pad(column: Sequence[int]) -> Ints:
    """A column with an even number of rows."""
    return np.array([*column, *[0] * (len(column) % 2)], dtype=np.int64)


def algorithm(setting: Setting) -> Findings:
    """Both protocols beside pooled mining."""
    del setting  # sixty rows are quick enough
    sites = draw_sites(60, 3)
    pooled_baskets = Baskets.of([left + right for left, right in zip(*sites, strict=True)])
    itemsets = sorted(frequent_itemsets(pooled_baskets, SUPPORT)["items"].to_list())
    rules = sorted(association_rules(pooled_baskets, SUPPORT, CONFIDENCE).select("antecedent", "consequent").rows())
    cross_rules = sum(len({item[0] for item in left + right}) == 2 for left, right in rules)
    is_same = True
    rows: list[dict[str, Any]] = []
    for name, result in [(name, _mine(sites, name)) for name in PROTOCOLS]:
        run_lists = sorted(result.itemsets["items"].to_list()), sorted(result.rules.rows())
        is_same &= run_lists == (itemsets, rules)
        statement = result.statements[0]
        rows.append(
            {
                "protocol": name,
                "itemsets": len(run_lists[0]),
                "rules": len(run_lists[1]),
                "messages": statement.messages_sent,
                "bytes": statement.bytes_sent,
            }
        )
    rows.append({"protocol": "pooled", "itemsets": len(itemsets), "rules": len(rules), "messages": None, "bytes": None})
    return Findings(
        statements=(
            Statement(
                "The answer is the union of all L_k: what pooled mining finds.",
                f"{len(itemsets)} itemsets and {len(rules)} rules, {cross_rules} of them between the sites; the same "
                f"in {'both protocols' if is_same else 'not all protocols'}.",
                is_same and cross_rules > 0,
            ),
        ),
        grids=(Grid("runs", "Runs of both protocols; messages and bytes that A sends", frame_of(rows)),),
        remarks=(
            (
                "The slides compare supports only. Confidences are, likewise: the denominator times the support "
                "of both sides, less the numerator times that of the left one, is at least zero or not."
            ),
        ),
    )


def _mine(sites: Sequence[Sequence[Sequence[str]]], protocol_name: VerticalProtocol) -> JointResult:
    return mine_vertical([Baskets.of(rows) for rows in sites], SUPPORT, CONFIDENCE, protocol=protocol_name)


def draw_sites(rows: int, items: int) -> list[list[list[str]]]:
    """Two sites' items of the same people, correlated."""
    chance = np.random.default_rng(SEED)
    row_levels = chance.random(rows)
    return [
        [[f"{site}{item + 1}" for item in range(items) if chance.random() < 0.1 + 0.8 * lean] for lean in row_levels]
        for site in "AB"
    ]
