# SPDX-License-Identifier: MIT
"""Whoever mistypes the name of a file is told which one may have been meant, whatever it holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.data.items.rule_files import read_rule_file
from sfumato.data.places.regions import Polygons
from sfumato.engine.duckdb_rows import explain_damaged
from sfumato.errors import SfumatoError
from sfumato.key import Key
from sfumato.mine.codes.tree_files import read_tree
from sfumato.parties.site_config import SiteConfig
from sfumato.parties.transport.certificates import make_context, read_site_certificate
from sfumato.workflow.signing.commitment import does_opening_match

PEOPLE = sf.Table.of({"age": [30, 40]}, roles={"age": "sensitive"})
READERS: dict[str, Callable[[Path], Any]] = {
    "shoping.csv": sf.Table.read,
    "shoping.parquet": sf.Table.read,
    "shoping.xlsx": sf.Table.read,
    "shoping*.csv": sf.Table.read,
    "shoping.db": lambda path: sf.Table.read(f"sqlite:///{path}?table=people"),
    "shoping.dat": sf.Baskets.read,
    "shoping.txt": sf.Baskets.read,
    "shoping.baskets.csv": sf.Baskets.read,
    "shoping.spmf": sf.Sequences.read,
    "shoping.sequences.csv": sf.Sequences.read,
    "shoping.patterns": sf.Patterns.read,
    "shoping.rules": read_rule_file,
    "shoping.entries.csv": lambda path: sf.SuppressEntries(
        private=[{"file": str(path)}], confidence=0.8, min_support=1
    ).protect(PEOPLE),
    "shoping.hierarchy.csv": sf.Hierarchy.read,
    "shoping.geojson": Polygons.read,
    "shoping.key": Key.load,
    "shoping.tree": read_tree,
    "shoping.opening": lambda path: does_opening_match("", path, []),
    "shoping.toml": sf.Policy.read,
    "shoping.site.toml": SiteConfig.read,
    "shoping.crt": lambda path: read_site_certificate("north", path),
    "shoping.pem": lambda path: make_context(path.with_suffix(".crt"), path, [], is_server=True),
    "shoping.pq": lambda path: (_ for _ in ()).throw(explain_damaged(path)),
    "shoping.points.csv": lambda path: sf.Sequences.from_points(path, sf.Grid()),
    "shoping.drafted.csv": sf.draft_policy,
    "shoping.audited.csv": sf.audit,
    "shoping": sf.verify,
}


@pytest.mark.parametrize("name", READERS)
def test_a_mistyped_file_gets_the_one_that_was_meant(name: str, tmp_path: Path) -> None:
    true_name = name.replace("shoping", "shopping").replace("*", "1")
    if "." in name:
        (tmp_path / true_name).write_text("")
    else:
        (tmp_path / true_name).mkdir()
    with pytest.raises(SfumatoError) as refusal:
        READERS[name](tmp_path / name)
    assert str(refusal.value).endswith(f'did you mean "{true_name}"?')


@pytest.mark.parametrize("name", READERS)
def test_no_folder_is_offered_for_a_file_no_file_for_a_folder_and_no_single_letter(name: str, tmp_path: Path) -> None:
    true_name = name.replace("shoping", "shopping").replace("*", "1")
    if "." in name:
        (tmp_path / true_name).mkdir()
        (tmp_path / "s").write_text("")
    else:
        (tmp_path / true_name).write_text("")
        (tmp_path / "s").mkdir()
    with pytest.raises(SfumatoError) as refusal:
        READERS[name](tmp_path / name)
    assert "did you mean" not in str(refusal.value)
