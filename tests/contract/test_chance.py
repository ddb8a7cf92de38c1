# SPDX-License-Identifier: MIT
"""Chance comes from the randomness that is given, else from a secure one, and follows the law that is published."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from math import erf, log, sqrt
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.protect.method import KeyedMethod
from sfumato.randomness import Randomness
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.releases import make_once, released

CHANCE = tuple(candidate for candidate in (*METHOD_EXAMPLES, *MODE_EXAMPLES) if candidate.subject.by_chance)
parametrize_examples = pytest.mark.parametrize("example", CHANCE, ids=lambda example: example.name)
DRAWING = {
    kind: [candidate for candidate in (*METHOD_EXAMPLES, *MODE_EXAMPLES) if type(candidate.subject) is kind]
    for kind in dict.fromkeys(type(candidate.subject) for candidate in METHOD_EXAMPLES)
    if ".generator()" in inspect.getsource(inspect.getmodule(kind) or kind)
    and not (kind.by_chance or issubclass(kind, KeyedMethod))
}
"""Methods that draw which cells, rows or ties they choose, and publish no law → their examples."""
SELDOM = ("suppress_entries",)
"""Methods that draw in options alone that no example has (what learners are trained on): their own tests draw."""
WITHOUT_CHANCE = ("discretize", "intervals")
"""Kinds of laws by which the same cell is always published alike."""
DRAW = "draw with `(randomness or Randomness.secure()).generator()`, and with nothing else"


def list_drawn(release: sf.Release) -> list[str]:
    """The published columns whose law says that they were drawn; without laws, all of a table."""
    laws = release.public
    columns = release.data.frame.columns if isinstance(release.data, sf.Table) else []
    return [name for name in columns if (name in laws and laws[name].kind not in WITHOUT_CHANCE) or not laws]


def explain_same_draws(example: Example, first: sf.Release, second: sf.Release) -> str:
    """What is the same in releases of two seeds, with the cure; empty if all that is drawn differs."""
    if not isinstance(first.data, sf.Table):
        same = ["everything"] if first.data == second.data and not isinstance(example.subject, KeyedMethod) else []
    elif not first.public:
        same = ["everything"] if first.data.frame.equals(second.data.frame) else []
    else:
        same = [name for name in list_drawn(first) if first.data.frame[name].equals(second.data.frame[name])]
    return f"two seeds give the same {', '.join(same)}: {DRAW}" if same else ""


def explain_wrong_laws(method: sf.Method, release: sf.Release) -> str:
    """Where the laws of a release differ from what its method says before it runs, with the cure; empty if nowhere."""
    laws = {name: law.kind for name, law in release.public.items() if not law.is_synthetic}
    if set(laws) != set(method.list_law_columns()):
        return (
            f"it publishes laws of {sorted(laws)}, and `list_law_columns` gives {sorted(method.list_law_columns())}: "
            "let it name them, or a gate may select among draws, which breaks the law"
        )
    is_random = any(kind not in WITHOUT_CHANCE for kind in laws.values())
    if method.draws_by_law != is_random:
        return f"`draws_by_law` is {method.draws_by_law}, and the published laws are {sorted(set(laws.values()))}"
    return ""


@pytest.mark.parametrize("example", (*METHOD_EXAMPLES, *MODE_EXAMPLES), ids=lambda example: example.name)
def test_a_method_says_which_laws_it_publishes(example: Example) -> None:
    result = make_once(example)
    wrong = explain_wrong_laws(result.example.subject, result.release)
    assert not wrong, f'{type(example.subject).__name__}, example "{example.name}": {wrong}'


def explain_wrong_hides(method: sf.Method, release: sf.Release, data: Any) -> str:
    """Where the footprint says that true cells are hidden otherwise than an epsilon is claimed; empty if nowhere."""
    bounded = {name for claim in release.claims if claim.property == "epsilon" for name in _list_quoted(claim.meaning)}
    hides = set(method.footprint(data).hides) if isinstance(data, sf.Table) else bounded
    if hides == bounded:
        return ""
    return (
        f"its footprint hides {sorted(hides)}, and an epsilon is claimed of {sorted(bounded)}: only what holds "
        "whatever else is known is hidden; leave `hides` out, or claim the epsilon"
    )


def _list_quoted(meaning: str) -> list[str]:
    return re.findall(r'"([^"]*)"', meaning)


@pytest.mark.parametrize("example", METHOD_EXAMPLES, ids=lambda example: example.name)
def test_a_footprint_hides_what_has_an_epsilon(example: Example) -> None:
    result = make_once(example)
    wrong = explain_wrong_hides(example.subject, result.release, result.data)
    assert not wrong, f'{type(example.subject).__name__}, example "{example.name}": {wrong}'


def test_hidden_cells_without_an_epsilon_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(next(candidate for candidate in METHOD_EXAMPLES if candidate.name == "round numbers"))
    trace = result.example.subject.footprint(result.data)
    assert explain_wrong_hides(result.example.subject, result.release, result.data) == ""
    monkeypatch.setattr(sf.RoundNumbers, "footprint", lambda self, data: replace(trace, hides=trace.changes))
    assert "leave `hides` out" in explain_wrong_hides(result.example.subject, result.release, result.data)


def test_laws_that_a_method_does_not_announce_are_noticed() -> None:
    noise, rounding = (
        make_once(next(candidate for candidate in METHOD_EXAMPLES if candidate.name == name))
        for name in ("add noise", "round numbers")
    )
    assert "select among draws" in explain_wrong_laws(rounding.example.subject, noise.release)
    kindless: Any = {"age": {"scale": 3.0}}
    with pytest.raises(sf.DataError, match="needs a `kind`"):
        replace(noise.release.details, public=kindless)
    intervals = make_once(
        next(candidate for candidate in CHANCE if getattr(candidate.subject, "kind", "") == "discretize")
    )
    announced = noise.example.subject.model_copy(update={"columns": tuple(intervals.release.public)})
    assert "draws_by_law" in explain_wrong_laws(announced, intervals.release)


@parametrize_examples
def test_another_seed_is_another_release(example: Example) -> None:
    result = make_once(example)
    wrong = explain_same_draws(example, result.release, released(example, example.data(), 2))
    assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def release_by_default(example: Example, data: Any) -> sf.Release:
    """A release for which nobody gives a randomness, where the secure one is that of the first seed."""
    with mock.patch.object(Randomness, "secure", lambda: Randomness.seeded(1)):
        if isinstance(example.subject, KeyedMethod):
            return example.subject.protect(data, example.subject.new_key(data))
        release: sf.Release = example.subject.protect(data)
        return release


@parametrize_examples
def test_chance_is_secure_unless_it_is_given(example: Example) -> None:
    result = make_once(example)
    assert release_by_default(example, example.data()).data == result.release.data, (
        f"{type(example.subject).__name__}: if nobody gives a randomness, it does not draw from `Randomness.secure()`, "
        f"and whoever guesses its draws undoes them: {DRAW}"
    )


def has_same_outcome(first: sf.Release, second: sf.Release) -> bool:
    """Whether two releases have the same cells, of the same people."""
    first_rows, second_rows = (np.asarray(release.details.rows) for release in (first, second))
    return bool(first.data == second.data) and np.array_equal(first_rows, second_rows)


@pytest.mark.parametrize("kind", DRAWING, ids=lambda kind: kind.__name__)
def test_what_a_method_chooses_by_lot_is_secure(kind: type[sf.Method]) -> None:
    """Whoever guesses the lots knows which cells are as they were, or who was left out."""
    for example in DRAWING[kind]:
        result = make_once(example)
        assert has_same_outcome(release_by_default(example, result.data), result.release), (
            f'{kind.__name__}, example "{example.name}": if nobody gives a randomness, it does not draw from '
            f"`Randomness.secure()`, and whoever guesses its draws undoes them: {DRAW}"
        )
    results = [make_once(example) for example in DRAWING[kind]]
    seeded = [result for result in results if has_same_outcome(result.release, released(*result[:2], 2))]
    assert len(seeded) < len(results) or results[0].example.subject.method in SELDOM, (
        f"{kind.__name__} draws, and two seeds give the same in all of its examples: {DRAW}; or choose data for an "
        "example in which the draws make a difference"
    )


FEW_ROWS = 12
"""So few that the largest of their draws is not the largest that could have been drawn."""


def list_few_row_limits(example: Example) -> list[list[tuple[str, str]]]:
    """The limits of releases of a few rows, for some seeds; none if there are too few to protect."""
    data = example.data()
    few = data.replace_frame(data.frame.head(FEW_ROWS))
    try:
        releases = [released(example, few, seed) for seed in (1, 2, 3)]
    except sf.SfumatoError:
        return []
    return [[(claim.property, f"{claim.threshold:g}") for claim in release.claims] for release in releases]


@pytest.mark.parametrize(
    "example",
    [candidate for candidate in CHANCE if candidate.subject.shape == "table"],
    ids=lambda example: example.name,
)
def test_limits_do_not_depend_on_the_draws(example: Example) -> None:
    limits = list_few_row_limits(example)
    assert all(limit == limits[0] for limit in limits), (
        f"{type(example.subject).__name__}: a claim of {FEW_ROWS} rows promises another limit for another seed "
        f"({limits}): take it from the fields, never from what was drawn, which it would tell"
    )


ROWS = 60_000
"""How many rows a law is compared with: they show a scale of 10 where it is 10.5."""
MOST = sqrt(log(2 / 1e-9) / 2)
"""A distance of distributions, times the root of the number of draws: chance exceeds it once in 10⁹ times (Massart)."""


def repeat_rows(table: sf.Table) -> sf.Table:
    """The table again and again, each time with other people."""
    times = ROWS // len(table) + 1
    copies = [
        table.frame.with_columns(pl.col(table.identifying).cast(pl.String) + f" {number}") for number in range(times)
    ]
    return table.replace_frame(pl.concat(copies))


def measure_noise(law: Mapping[str, Any], before: pl.Series, after: pl.Series) -> float:
    """How far what was added is from the law, by its distribution function at every difference, rounded to the step."""
    cell_pairs = pl.DataFrame(
        {"was": before.to_physical().cast(pl.Float64), "now": after.to_physical().cast(pl.Float64)}
    )
    cell_pairs = cell_pairs.drop_nulls()
    added, counts = np.unique((cell_pairs["now"] - cell_pairs["was"]).to_numpy(), return_counts=True)
    edges = (added + law["step"] / 2) / law["scale"]
    if law["kind"] == "uniform":
        expected = np.clip((edges + 1) / 2, 0, 1)
    else:
        expected = np.array([(1 + erf(edge / sqrt(2))) / 2 for edge in edges])
    return float(np.abs(np.cumsum(counts) / len(cell_pairs) - expected).max()) * sqrt(len(cell_pairs))


def measure_answers(law: Mapping[str, Any], before: pl.Series, after: pl.Series) -> float:
    """How far the share of true answers is from the law; that there is none may be an answer."""
    true = before.cast(pl.String).eq_missing(after.cast(pl.String))
    true = true if None in law["categories"] else true.filter(before.is_not_null())
    return abs(int(true.sum()) / len(true) - float(law["p"])) * sqrt(len(true))


COMPARED = {"uniform": measure_noise, "gaussian": measure_noise, "warner": measure_answers, "k_ary": measure_answers}
"""How cells are compared with each kind of law; claims and tests of their own compare the others."""
WITHOUT_LAWS = ("synthesize",)
"""What is drawn from a model has no original."""


def explain_wrong_law(release: sf.Release, table: sf.Table) -> str:
    """Which published law is not that of the cells, with the cure; empty if none."""
    for name in list_drawn(release):
        law, columns = release.public.get(name), (table.frame[name], release.data.frame[name])
        compare = None if law is None else COMPARED.get(law.kind)
        far = 0.0 if law is None or compare is None else compare(law, *columns)
        if far > MOST:
            return (
                f'the law that it publishes for "{name}" ({law}) is not that of its cells: in {len(table)} rows, their '
                f"distributions are {far:.1f} / √n apart, where chance allows {MOST:.1f}. Let `details.public` say "
                "what is drawn (a whole number from −d to d is uniform noise of scale d + ½ and step 1), or repair the "
                "draws"
            )
    return ""


def has_compared_law(example: Example) -> bool:
    """Whether the test below knows what some law of its release says."""
    result = make_once(example)
    return result.is_table and any(law.kind in COMPARED for law in result.release.public.values())


LAWFUL = [
    candidate
    for candidate in CHANCE
    if candidate.subject.shape == "table" and candidate.subject.method not in WITHOUT_LAWS
]


@pytest.mark.parametrize("example", LAWFUL, ids=lambda example: example.name)
def test_the_published_law_is_that_of_the_cells(example: Example) -> None:
    if not has_compared_law(example):
        return
    table = repeat_rows(example.data())
    wrong = explain_wrong_law(released(example, table), table)
    assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def take_example(name: str) -> Example:
    return next(candidate for candidate in METHOD_EXAMPLES if candidate.name == name)


@pytest.mark.parametrize(("name", "part"), [("add noise", "scale"), ("randomize response", "p")])
def test_a_wrong_law_is_noticed(name: str, part: str) -> None:
    example = take_example(name)
    table = repeat_rows(example.data())
    release = released(example, table)
    assert explain_wrong_law(release, table) == ""
    wrong = {column: law.model_copy(update={part: law[part] * 0.9}) for column, law in release.public.items()}
    forged = replace(release, details=replace(release.details, public=wrong))
    assert "is not that of its cells" in explain_wrong_law(forged, table)


def test_a_limit_that_was_drawn_is_noticed() -> None:
    class Telling(sf.AddNoise):
        """Promises what came out."""

        def protect(self, data: sf.Table, randomness: Randomness | None = None) -> sf.Release:
            release = super().protect(data, randomness)
            largest = float(max(release.data.frame["age"].to_list()))
            claim = release.claims[0].model_copy(update={"threshold": largest})
            return replace(release, claims=(claim, *release.claims[1:]))

    example = take_example("add noise")
    telling = replace(example, subject=Telling.model_construct(**dict(example.subject)))
    honest, leaky_limits = list_few_row_limits(example), list_few_row_limits(telling)
    assert honest and honest[0] == honest[1] and leaky_limits[0] != leaky_limits[1]


def test_chance_of_ones_own_is_noticed() -> None:
    class Predictable(sf.AddNoise):
        """Noise that anybody can draw again."""

        def protect(self, data: sf.Table, randomness: Randomness | None = None) -> sf.Release:
            return super().protect(data, Randomness.seeded(7))

    example = take_example("add noise")
    data = example.data()
    predictable = replace(example, subject=Predictable.model_construct(**dict(example.subject)))
    first_release, two = (released(predictable, data, seed) for seed in (1, 2))
    assert "two seeds give the same age" in explain_same_draws(predictable, first_release, two)
    assert release_by_default(predictable, data).data != make_once(example).release.data
