# SPDX-License-Identifier: MIT
"""Published laws are typed: each classifies its fields, reads back as it was, and no code infers anything from keys."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

import sfumato as sf
from sfumato.details import Details
from sfumato.public.answer_channel import AnswerLaw, design_channel
from sfumato.public.basket_distortion import BasketDistortion, DistortionLaw
from sfumato.public.noise_law import Noise
from sfumato.published_law import PublishedLaw, find_law_classes, read_law, read_laws

SOURCE = Path(sf.__file__).parent
LAW_CLASSES = sorted(set(find_law_classes().values()), key=lambda law: law.__name__)
NOISE = {"scale": 2.5, "step": 1, "origin": 0.0, "grid": 1, "privacy": 0.5, "confidence": 0.95, "achieved": 0.5}
LAWS: dict[str, dict[str, Any]] = {
    "uniform": {"kind": "uniform", **NOISE, "domain": "given", "range": [0, 120]},
    "gaussian": {"kind": "gaussian", **NOISE, "domain": "data"},
    "discretize": {"kind": "discretize", **NOISE, "domain": "given", "range": [0.5, 1.0]},
    "correlated": {"kind": "correlated", **NOISE, "domain": "data", "times": 2.0, "covariance": {"a": 1.0, "b": 0.5}},
    "intervals": {"kind": "intervals", "edges": [0, 5, 10], "step": 1, "confidence": 0.95, "domain": "data"},
    "warner": {"kind": "warner", "p": 0.7, "q": 0.3, "categories": ["no", None], "memoized": True, "epsilon": 0.8},
    "k_ary": {"kind": "k_ary", "p": 0.8, "q": 0.1, "categories": ["a", "b", "c"], "memoized": False, "repeats": 4.0},
    "unary": {"kind": "unary", "p": 0.5, "q": 0.2, "categories": ["a", "b"], "memoized": False, "missing": "kept"},
    "mask": {"kind": "mask", "categories": ["a", "b"], "keep": 0.9, "add": [0.1, 0.2], "epsilon": 2.0},
    "cut_and_paste": {"kind": "cut_and_paste", "categories": ["a"], "cutoff": 3, "level": 0.1, "sizes": [[1, 5]]},
    "synthetic": {"kind": "synthetic"},
}
"""A law of each kind, as it stands in a certificate."""


def list_unclassified(law: type[PublishedLaw]) -> set[str]:
    """The fields of a law that it does not say to be published, and the published names that it does not have."""
    return set(law.model_fields) ^ set(law.public_fields)


@pytest.mark.parametrize("law", LAW_CLASSES, ids=lambda law: law.__name__)
def test_every_field_of_a_law_is_public(law: type[PublishedLaw]) -> None:
    assert not list_unclassified(law), (
        f"{law.__name__}: name {sorted(list_unclassified(law))} in its `public_fields`, so that it leaves with the "
        "certificate, or take it out of the law: what is not published belongs to the details of the method"
    )
    assert not law.private_fields and law.__name__.endswith("Law")


def test_a_field_that_nobody_called_public_is_noticed() -> None:
    class SecretLaw(PublishedLaw):
        """Has a field too many."""

        public_fields: ClassVar[tuple[str, ...]] = ("kind",)
        kind: Literal["secret"] = "secret"
        seed: int = 0

    assert list_unclassified(SecretLaw) == {"seed"}
    assert SecretLaw(seed=3).describe() == {"kind": "secret"}, "what nobody called public stays"


def test_a_kind_belongs_to_one_law() -> None:
    kinds = Counter(kind for law in LAW_CLASSES for kind in law.list_kinds())
    assert [kind for kind, count in kinds.items() if count > 1] == []
    assert set(LAWS) == set(kinds) - {"secret"}, "add a law of each kind to LAWS"


@pytest.mark.parametrize("kind", LAWS)
def test_a_law_reads_back_as_it_was_written(kind: str) -> None:
    law = read_law(LAWS[kind])
    assert json.dumps(law.describe(), sort_keys=True) == json.dumps(LAWS[kind], sort_keys=True)
    assert law == LAWS[kind] == dict(law) and read_law(law) is law and read_law(law.describe()) == law
    assert (law["kind"] == law.get("kind") == law.kind and "times" not in law) or kind == "correlated"
    assert law.get("no such field") is None and list(law) == [name for name in law.public_fields if name in LAWS[kind]]
    assert law.privacy_budget == LAWS[kind].get("epsilon")


def test_what_methods_publish_is_what_their_types_say() -> None:
    channel = design_channel("k_ary", ["a", "b", None], None, 1.0)
    answers = AnswerLaw.of_channel(channel, "given", "answer")
    assert list(answers) == ["kind", "p", "q", "categories", "memoized", "epsilon", "domain", "missing"]
    assert answers.privacy_budget == pytest.approx(1.0) and answers["categories"] == ["a", "b", None]
    baskets = DistortionLaw.of_distortion(BasketDistortion(kind="mask", categories=("a",), keep=0.9, add=0.1), "data")
    assert list(baskets) == ["kind", "categories", "keep", "add", "epsilon", "domain"]
    assert Noise.of(read_law(LAWS["correlated"])) == Noise(kind="gaussian", scale=2.5, step=1.0, grid=1.0)


@pytest.mark.parametrize(
    "facts",
    [
        {"scale": 2.0},
        {"kind": "laplace", "scale": 2.0},
        {"kind": ["uniform"]},
        {"kind": "uniform"},
        {"kind": "uniform", "scale": 2.0, "colour": "red"},
        {"kind": "warner", "p": 0.9, "q": 0.9, "categories": ["a", "b"]},
        "uniform",
        None,
    ],
    ids=str,
)
def test_what_is_no_law_is_refused(facts: Any) -> None:
    with pytest.raises(sf.DataError, match="how a column was randomized") as refusal:
        Details(public=read_laws({"age": facts}))
    assert "laplace" not in str(refusal.value) and "red" not in str(refusal.value), "it may be an attacker's text"


BY_KEY = re.compile(
    r'\b(law|laws\[\w+\]|public\[\w+\]|public\.get\([^)]*\))(\[|\.get\()[frb]?"|"\w+" (not )?in (law|public\[\w+\])\b'
)
"""How code reads a part of a law by its name."""


def test_no_code_infers_from_the_keys_of_a_law() -> None:
    for path in sorted(path for path in SOURCE.rglob("*.py") if path.stem != "published_law"):
        reading = BY_KEY.search(path.read_text(encoding="utf-8"))
        assert reading is None, (
            f"{path.relative_to(SOURCE)} reads `{reading[0]}`: ask the typed law, as in law.privacy_budget, or "
            "isinstance(law, NoiseLaw)"
        )
    for code in ('law["kind"]', 'release.public[name]["p"]', 'public.get(name, {}).get("kind")', '"epsilon" in law'):
        assert BY_KEY.search(code), code
