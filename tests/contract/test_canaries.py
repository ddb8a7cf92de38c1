# SPDX-License-Identifier: MIT
"""Nothing leaks around the data: every byte of every format of every method is searched for what is not published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.writing.rebuild import rebuild_frame
from sfumato.errors import DataError
from sfumato.workflow.shapes.file_shapes import find_shape, get_shape
from sfumato.workflow.verification import read_release
from tests.contract.canaries import (
    bytes_in_python,
    bytes_of_arrow,
    bytes_of_file,
    cells_below_masks,
    leaked,
    plant_in_baskets,
    plant_in_sequences,
    plant_in_table,
    unpublished,
    write_policy,
)
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import released

LONG = {"partition"}
"""Examples that take longer than twenty seconds; others of their family are tried in each run."""
parametrize_examples = pytest.mark.parametrize(
    "example",
    [
        pytest.param(candidate, marks=[pytest.mark.slow] if candidate.name in LONG else [])
        for candidate in METHOD_EXAMPLES
    ],
    ids=lambda example: example.name,
)
NAMED = ("female", "nuts", "butter", "bread", "beer", "clinic", "home", "park", "school", "station")
"""Values that the methods of the examples name."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def planted(example: Example) -> tuple[Any, list[str]]:
    data = example.data()
    names_items = isinstance(getattr(example.subject, "keep", None), dict)
    keep = NAMED if example.secrets or names_items else ()
    if isinstance(data, sf.Sequences):
        return plant_in_sequences(data, keep)
    if not isinstance(data, sf.Table):
        return plant_in_baskets(data, keep)
    notes = getattr(example.subject, "kind", "") != "full"  # a synthesizer refuses words of one person
    return plant_in_table(data, keep, notes=notes)


@parametrize_examples
def test_no_format_and_no_pickle_holds_what_is_not_published(example: Example, tmp_path: Path) -> None:
    data, words = planted(example)
    release = released(example, data, 1)
    secret_words = unpublished(words, release)
    assert secret_words
    assert leaked(secret_words, bytes_in_python(release)) == [], (
        f"{type(example.subject).__name__}: a value of the originals that is not published stands in the release: take "
        "the meanings and arguments of claims, and `details.public`, from the policy and the published columns alone"
    )
    shape = find_shape(release.data)
    for form in shape.formats:
        if form == "spmf" and isinstance(release.data, sf.Baskets) and [] in release.data.to_lists():
            continue  # SPMF cannot say that a basket is empty
        path = tmp_path / shape.name_file(form)
        try:
            shape.write(release.data, path, form)
        except DataError as refusal:
            assert form == "excel" and "every cell is missing" in str(refusal)
            continue
        assert leaked(secret_words, bytes_of_file(path)) == [], form
        if form == "arrow":
            assert not any(any(cell) for cell in cells_below_masks(path))


def test_a_blanked_entry_leaves_nothing_below_its_mask(tmp_path: Path) -> None:
    """Every word of a blanked cell stands in other rows as well, so that only its own place tells."""
    example = next(candidate for candidate in METHOD_EXAMPLES if candidate.name == "suppress entries")
    release = released(example, planted(example)[0], 1)
    find_shape(release.data).write(release.data, tmp_path / "data.arrow", "arrow")
    cells = list(cells_below_masks(tmp_path / "data.arrow"))
    assert len(cells) == sum(release.data.frame.null_count().row(0)) > 0
    assert not any(any(cell) for cell in cells)


def run_planted(example: Example, folder: Path, form: str | None) -> tuple[list[str], sf.Release]:
    """Run the pipeline on planted data; the words, and the release as its recipient reads it."""
    data, words = planted(example)
    policy = sf.Policy.model_validate_json(write_policy(folder, example.subject, data, form).read_text())
    assert sf.run(policy).published
    return words, read_release(folder / "out")


def formats_of(example: Example) -> tuple[str, ...]:
    shape = get_shape(example.subject.gives)
    return tuple(form for form in shape.formats if form != "spmf" or example.subject.gives == "patterns")


RUNS = [(example, form) for example in METHOD_EXAMPLES for form in formats_of(example)]
FAST = {("generalize, rows left out", "arrow"), ("suppress entries", "arrow"), ("hide items", "long")}


@pytest.mark.parametrize(
    ("example", "form"),
    [
        pytest.param(
            example,
            form,
            id=f"{example.name}, {form}",
            marks=() if (example.name, form) in FAST else (pytest.mark.slow,),
        )
        for example, form in RUNS
    ],
)
def test_no_file_of_a_release_folder_holds_what_is_not_published(example: Example, form: str, tmp_path: Path) -> None:
    words, release = run_planted(example, tmp_path, form)
    secret_words = unpublished(words, release)
    assert secret_words
    for path in sorted((tmp_path / "out" / "release").iterdir()):
        assert leaked(secret_words, bytes_of_file(path)) == [], path.name


def test_the_search_finds_what_polars_leaves_behind() -> None:
    """A positive control: dropped rows and blanked cells of a frame that was not rebuilt."""
    frame = pl.DataFrame({"word": [f"a word that is long enough {n}" for n in range(20)], "n": range(20)})
    frame = frame.filter(pl.col("n") > 4).with_columns(
        pl.when(pl.col("n") > 9).then(pl.col("word")).otherwise(None).alias("word")
    )
    words = [f"a word that is long enough {n}" for n in (2, 3, 4, 5, 6, 7, 8, 9)]
    assert leaked(words, bytes_of_arrow(frame.to_arrow(compat_level=pl.CompatLevel.newest())))
    assert leaked(words, bytes_of_arrow(rebuild_frame(frame).to_arrow(compat_level=pl.CompatLevel.newest()))) == []


def test_the_search_looks_into_packed_pages(tmp_path: Path) -> None:
    """A positive control: words that a Parquet file holds in compressed pages only."""
    words = [f"a word that is long enough {n:05}" for n in range(2000)]
    pl.DataFrame({"word": words}).write_parquet(tmp_path / "data.parquet", statistics=False)
    raw, *pages = bytes_of_file(tmp_path / "data.parquet")
    assert len(leaked(words, [raw])) < 1000
    assert leaked(words, pages[:-3]) == words
