# SPDX-License-Identifier: MIT
"""Mining by a provider, from the command line: requests for filters, mining on filters, and decoding what came back.

The way of the work: `sfumato run` writes codes and a key; the provider runs `sfumato mine` on the codes; the custodian
runs `sfumato decode` with the key. For Bloom filters the provider also gets the file that `sfumato requests` writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli.messages import MOST_ROWS, print_rows
from sfumato.cli.option_needs import ALWAYS
from sfumato.cli.options import Json, Passphrase
from sfumato.cli.terminal import print_json, print_line, show_progress
from sfumato.cli.written_files import refuse_unsafe_outputs
from sfumato.errors import count_noun

if TYPE_CHECKING:
    import polars as pl

    from sfumato.baskets import Baskets
    from sfumato.key import Key
    from sfumato.mine.codes.decoded_itemsets import DecodedMining


class DecodeOptions(NamedTuple):
    """How itemsets are decoded, and what is derived from them."""

    support: int | float | None
    confidence: float
    max_length: int | None
    out: Path | None
    """Where the itemsets are written."""
    rules_out: Path | None
    """Where the rules are written."""
    as_json: bool


def requests_command(
    key: Annotated[Path, typer.Argument(help="The key of encode_bloom: private/encode_bloom.key.json of a run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file for the provider: long form, CSV."), ALWAYS],
    passphrase: Passphrase = None,
    as_json: Json = False,
) -> None:
    """Write requests for a provider who mines Bloom filters: each item's filter, with a number instead of its name."""
    from sfumato.key import Key
    from sfumato.mine import filter_requests

    refuse_unsafe_outputs([out], [key])
    with show_progress(as_json):
        requests = filter_requests(Key.load(key, passphrase))
        requests.write(out, "long", id="request", item="bit")
    if as_json:
        print_json({"requests": len(requests), "written": str(out)})
    else:
        print_line(
            f"{count_noun(len(requests), 'request')}, written to {out}. The provider gets them with the filters."
        )


def mine_released_filters(
    filters: Baskets, requests: Path, support: int | float, max_length: int | None, out: Path | None
) -> pl.DataFrame:
    """The provider's side: sets of requests that enough filters contain."""
    from sfumato.baskets import Baskets
    from sfumato.mine import mine_filters, save_itemsets

    itemsets = mine_filters(filters, Baskets.read(requests, "long", id="request", item="bit"), support, max_length)
    if out is not None:
        save_itemsets(itemsets, out)
    return itemsets


def decode_found_itemsets(file: Path, key: Key, originals: Baskets | None, options: DecodeOptions) -> None:
    """Decode a provider's file of itemsets, and print or write itemsets and rules."""
    from sfumato.mine import read_itemsets, save_itemsets, save_rules
    from sfumato.mine.codes.decoded_itemsets import decode_mining

    with show_progress(options.as_json):
        _refuse_rule_file(file)
        decoding = decode_mining(read_itemsets(file), key, originals, options.support, options.max_length)
        wants_rules = decoding.is_exact or options.rules_out is not None
        rules = decoding.find_rules(options.confidence) if wants_rules else None
        itemsets = decoding.frame.sort("support", "items", descending=[True, False])
        if options.out is not None:
            save_itemsets(itemsets, options.out)
        if options.rules_out is not None and rules is not None:
            save_rules(rules, options.rules_out)
    if options.as_json:
        print_json(_describe_decoding(decoding, itemsets, rules))
        return
    print_rows(itemsets, MOST_ROWS, options.out)
    if rules is not None:
        print_line()
        shown_rules = rules.select("antecedent", "consequent", "support", "confidence", "lift")
        order = ["confidence", "support", "antecedent", "consequent"]
        print_rows(shown_rules.sort(order, descending=[True, True, False, False]), MOST_ROWS, options.rules_out)
    print_line()
    for sentence in _explain_checks(decoding):
        print_line(sentence)


def _refuse_rule_file(file: Path) -> None:
    """Rules of codes cannot be decoded; say what to ask for instead."""
    from sfumato.data.items.basket_files import read_text
    from sfumato.errors import DataError

    if b"==>" in read_text(file):
        raise DataError(
            f"{file}: this file holds rules, and their supports count what was added to hide the items; ask the "
            "provider for all frequent itemsets, and the rules are derived from those"
        )


def _explain_checks(decoding: DecodedMining) -> list[str]:
    """What is known about the result, in sentences."""
    kept_count, rows = len(decoding.itemsets), decoding.itemsets.rows
    itemsets, baskets = count_noun(kept_count, "itemset"), count_noun(rows, "basket")
    result = f"{itemsets} with a support of {decoding.least:,} or more in {baskets}"
    removal_text = f"{decoding.returned_count - kept_count:,} of them false, too rare, or the same items in other codes"
    sentences = [f"{result}; the provider returned {decoding.returned_count:,}, {removal_text}."]
    if not decoding.is_exact:
        sentences.append(
            "Filters show too many itemsets and too large supports; give the original baskets to remove false ones "
            "and to derive rules."
        )
    if decoding.is_complete:
        sentences.append("Counted again in the originals: supports are true, and nothing was left out.")
    else:
        sentences.append(
            f"Checked with the key: codes, their supports, subsets, and "
            f"{count_noun(decoding.spot_checks, 'larger itemset')} of known support. To prove that nothing was left "
            "out, give the original baskets."
        )
    return sentences


def _describe_decoding(decoding: DecodedMining, itemsets: pl.DataFrame, rules: pl.DataFrame | None) -> dict[str, Any]:
    return {
        "itemsets": itemsets.to_dicts(),
        "rules": None if rules is None else rules.to_dicts(),
        "min_support": decoding.least,
        "baskets": decoding.itemsets.rows,
        "returned": decoding.returned_count,
        "spot_checks": decoding.spot_checks,
        "exact_supports": decoding.is_exact,
        "proved_complete": decoding.is_complete,
    }
