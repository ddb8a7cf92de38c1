# SPDX-License-Identifier: MIT
"""What `sfumato mine` does with a release of randomized baskets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl


class EstimateOptions(NamedTuple):
    """What is estimated."""

    support: int | float
    confidence: float | None
    """The minimum confidence of rules; None for itemsets."""
    kind: str
    max_length: int | None


def holds_randomized_baskets(folder: Path) -> bool:
    """Whether a release folder says that its baskets were randomized; `read_release` checks that it may be believed."""
    from sfumato.public.basket_distortion import ITEMS, DistortionLaw
    from sfumato.published_law import read_laws
    from sfumato.workflow.certificate import Certificate, find_release_folder, refuse_hostile

    if not folder.is_dir():
        return False
    with refuse_hostile(f"{folder}: the certificate cannot be read"):
        body = Certificate.read(find_release_folder(folder)).body
        laws = read_laws(body.get("public", {})) if body["data"]["shape"] == "baskets" else {}
        return isinstance(laws.get(ITEMS), DistortionLaw)


def warn_of_distortion(path: Path) -> None:
    """Say that the baskets in a file were randomized, if the certificate next to it says so."""
    from sfumato.cli.terminal import print_line
    from sfumato.errors import SfumatoError

    try:
        is_distorted = path.is_file() and holds_randomized_baskets(path.parent)
    except SfumatoError:
        return  # no release, or none that could be read
    if is_distorted:
        print_line(
            f"sfumato: the items of these baskets were randomized, so these supports are not the true ones; to "
            f"estimate those, name the folder: sfumato mine {path.parent}",
            error=True,
        )


def estimate_released_baskets(folder: Path, options: EstimateOptions, out: Path | None) -> pl.DataFrame:
    """The itemsets or rules behind a release, also written to a CSV file if asked for."""
    from sfumato import mine
    from sfumato.errors import PolicyError
    from sfumato.workflow.certificate import refuse_hostile
    from sfumato.workflow.verification import read_release

    if options.kind != "all":
        raise PolicyError("--kind needs exact supports, and those of randomized baskets are estimates; leave it out")
    release = read_release(folder)
    with refuse_hostile(f"{folder}: the randomness that the certificate describes does not fit the baskets"):
        if options.confidence is None:
            patterns = mine.estimate_itemsets(release, options.support, options.max_length)
        else:
            patterns = mine.estimate_rules(release, options.support, options.confidence, options.max_length)
    if out is not None:
        spell_lists(patterns).write_csv(out)
    return patterns


def spell_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists of items as JSON, which a cell of a CSV file can hold."""
    import polars as pl

    def spell(column: pl.Series) -> list[Any]:
        return [json.dumps(items, ensure_ascii=False) for items in column.to_list()]

    lists = [column for column in frame.get_columns() if column.dtype == pl.List]
    return frame.with_columns(pl.Series(column.name, spell(column), dtype=pl.String) for column in lists)
