# SPDX-License-Identifier: MIT
"""The sentence of a claim says the number and the columns that are checked, and none that the method calls private."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Literal, get_args, get_origin

import pytest

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.release import Claim
from tests.contract.claim_words import (
    find_rounded_promise,
    find_strange_numbers,
    find_vague_words,
    find_wrong_side,
    is_spelled,
    list_words,
    read_numbers,
    says_of_all,
    tells_threshold,
)
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once

COUNTS = ("noise_dependence",)
"""Claims whose sentences count the comparisons, which follow from the columns."""


def find_reversed_argument(result: Made, claim: Claim) -> str:
    """Words such as "at least 2" about an argument of which the check takes any larger number; empty if there are none.

    A check that nothing has fewer than two breaks if the argument is ten times as large.
    """
    if claim.bound != "exactly" or claim.threshold or not result.is_table:
        return ""
    for name, value in claim.arguments.items():
        words = re.search(rf"\bat least {re.escape(str(value))}(?![\w.])", claim.meaning, re.IGNORECASE)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1 or words is None:
            continue
        verdicts = []
        for larger in (value + 1, value + 2, 2 * value + 1, 10 * value):
            with suppress(sf.SfumatoError):
                other = claim.model_copy(update={"arguments": {**claim.arguments, name: larger}})
                verdicts.append(sf.check(replace(result.release, claims=(other,)), result.data)[0].holds)
        if verdicts and all(verdicts):
            return words[0]
    return ""


def explain_wrong_numbers(result: Made, claim: Claim) -> Iterator[str]:
    """What the sentence of a claim says otherwise than the claim, with the cure."""
    names = (
        result.data.frame.columns if isinstance(result.data, sf.Table) else [str(item) for item in result.data.items]
    )
    sizes = (len(result.data), len(result.release.data))
    fields = [getattr(result.example.subject, field) for field in result.example.subject.public_fields]
    strange = find_strange_numbers(claim, fields, sizes, names)
    if strange and claim.property not in COUNTS:
        yield (
            f"says {', '.join(strange)}, which is neither its threshold ({claim.threshold:g}) nor one of its arguments "
            "or of the method's public fields: write the number that is checked"
        )
    side = find_wrong_side(claim)
    if side:
        yield (
            f'says "{side}", and what is checked is {claim.bound.replace("_", " ")} {claim.threshold:g}: write that, '
            "or check what it says"
        )
    reversed_words = find_reversed_argument(result, claim)
    if reversed_words:
        yield (
            f'says "{reversed_words}", and its check finds nothing wrong with a larger number, either, so that '
            'it checks "at most": write that, or check what it says'
        )
    rounded = find_rounded_promise(claim, names)
    if rounded:
        yield (
            f"says {rounded}, which promises more than the threshold that is checked, {claim.threshold!r}: spell it by "
            "`spell_at_least` or `spell_at_most` (bound_words.py)"
        )
    vague = find_vague_words(claim)
    if vague:
        yield f'says "{vague}": nobody can check that; write what holds, of which cells, and to what number'
    if not says_of_all(claim):
        yield "promises 0, so it holds for all: begin it with Every or No, and say of what"
    if not tells_threshold(claim, sizes, names):
        yield (
            f"does not say {claim.threshold:g}, the threshold that is checked: write it in the sentence, from the same "
            "variable, and check that the threshold is the one that the policy asks for"
        )


def find_bare_columns(claim: Claim, names: Iterable[str]) -> list[str]:
    """The columns that a sentence names without quotes, or that it should name and does not."""
    arguments = claim.arguments
    checked_names = [str(arguments["column"])] if "column" in arguments else []
    sentence = re.sub(r'"[^"]*"', '""', claim.meaning)
    bare = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sentence)]
    return bare + [name for name in checked_names if f'"{name}"' not in claim.meaning]


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_sentence_quotes_the_columns_that_it_names(kind: type[sf.Method]) -> None:
    """ "Every published number of no is a multiple of 5" was said of a column called no."""
    for result in make_all(kind):
        for claim in result.release.claims if isinstance(result.data, sf.Table) else ():
            bare = find_bare_columns(claim, result.data.frame.columns)
            assert not bare, (
                f'{kind.__name__}, example "{result.example.name}": the meaning of the claim "{claim.property}", '
                f'"{claim.meaning}", names {", ".join(bare)} without quotes: use `quote_names` (errors.py)'
            )


MODELS: tuple[Any, ...] = (
    sf.AlphaKAnonymity(k=2, alpha=0.9, column="no"),
    sf.LDiversity(l=1, column="no"),
    sf.LDiversity(l=2, column="no", kind="recursive", c=9),
    sf.TCloseness(t=1, column="no"),
    sf.BetaLikeness(beta=99, column="no"),
    sf.DeltaDisclosure(delta=99, column="no"),
)
ODD = {
    **{f"{type(model).__name__} {number}": sf.Partition(models=(model,)) for number, model in enumerate(MODELS)},
    "numbers": sf.TopCode(columns=("all rows",), k=2),
    "steps": sf.RoundNumbers(columns=("all rows",), step=5),
    "groups": sf.GroupRareValues(columns=("no",), min_count=2),
    "draws": sf.Synthesize(kind="partial", columns=("no", "all rows")),
    "noise": sf.AddNoise(columns=("all rows",), ranges={"all rows": (0, 100)}),
    "answers": sf.RandomizeResponse(column="no", p=0.5, categories=("a", "b")),
    "swaps": sf.SwapConfidential(column="no", share=0.5, search="random"),
}


@pytest.mark.parametrize("name", ODD)
def test_columns_called_like_words_of_a_sentence_are_not_misread(name: str) -> None:
    columns = {"no": ["a", "b"] * 60, "all rows": list(range(40, 60)) * 6, "age": [30, 40, 50] * 40}
    roles = {"no": "sensitive", "all rows": "insensitive", "age": "quasi_identifying"}
    release = ODD[name].protect(sf.Table.of(columns, roles), sf.Randomness.seeded(1))
    named_columns = set()
    for claim in release.claims:
        quoted_names = set(re.findall(r'"([^"]*)"', claim.meaning))
        named_columns |= quoted_names
        if "column" in claim.arguments:
            assert claim.arguments["column"] in quoted_names, claim.meaning
        sentence = re.sub(r'"[^"]*"', '""', claim.meaning)
        assert "all rows" not in sentence and not re.search(r"\bno\b", sentence), claim.meaning
    assert named_columns & {"no", "all rows"}


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_sentence_says_the_number_that_is_checked(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in result.release.claims:
            for wrong in explain_wrong_numbers(result, claim):
                pytest.fail(
                    f'{kind.__name__}, example "{result.example.name}": the meaning of the claim "{claim.property}", '
                    f'"{claim.meaning}", {wrong}'
                )


@pytest.mark.parametrize("factor", [8, 0.125])
def test_a_limit_that_is_not_the_one_in_words_is_noticed(factor: float) -> None:
    noticed = 0
    for result in [make_once(example) for example in METHOD_EXAMPLES if ", " not in example.name]:
        for claim in result.release.claims:
            if claim.threshold not in (0, len(result.data), len(result.release.data)):
                lax = claim.model_copy(update={"threshold": claim.threshold * factor})
                assert list(explain_wrong_numbers(result, lax)), (result.example.name, claim.property)
                noticed += 1
    assert noticed > 20


def test_a_number_that_nothing_checks_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    claim = result.release.claims[0]
    assert "multiple of 5" in claim.meaning and not list(explain_wrong_numbers(result, claim))
    false = claim.model_copy(update={"meaning": claim.meaning.replace("5", "7")})
    assert "says 7" in next(explain_wrong_numbers(result, false))


def test_a_bound_that_is_rounded_to_promise_more_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "add noise"))
    claim = next(claim for claim in result.release.claims if claim.bound == "at_least")
    for bound, number in (("at_least", "0.02975"), ("at_most", "0.02974")):
        rounded = claim.model_copy(
            update={"threshold": 0.029746875, "bound": bound, "meaning": f"Known to within {number} of the range."}
        )
        assert find_rounded_promise(rounded, ()) == number
        assert "promises more" in " ".join(explain_wrong_numbers(result, rounded))
    true = claim.model_copy(update={"threshold": 0.029746875, "meaning": "Known to within 0.02974 of the range."})
    assert not find_rounded_promise(true, ())


def test_one_less_is_right_of_others_only() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "generalize"))
    claim = result.release.claims[0]
    assert "at least 2 others" in claim.meaning and not list(explain_wrong_numbers(result, claim))
    false = claim.model_copy(update={"meaning": "Every published person is in a class of 2."})
    assert "says 2" in next(explain_wrong_numbers(result, false))


def test_a_vague_sentence_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    claim = result.release.claims[0]
    assert not list(explain_wrong_numbers(result, claim))
    for meaning, wrong in (
        ("Every published number of age is nearly a multiple of 5.", 'says "nearly"'),
        ("The age is safe at 5.", 'says "safe"'),
        ("Numbers of age are multiples of 5.", "begin it with Every or No"),
    ):
        vague = claim.model_copy(update={"meaning": meaning})
        assert wrong in " ".join(explain_wrong_numbers(result, vague))


def test_how_many_columns_there_are_is_no_limit() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers, by decimals"))
    claim = result.release.claims[0]
    assert len(claim.arguments["columns"]) == 2 and not list(explain_wrong_numbers(result, claim))  # type: ignore[arg-type]
    false = claim.model_copy(update={"meaning": claim.meaning.replace("2.5", "2")})
    assert "says 2" in next(explain_wrong_numbers(result, false))


def test_words_of_another_bound_are_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "group rare values"))
    claim = result.release.claims[0]
    assert "at least 20" in claim.meaning and not list(explain_wrong_numbers(result, claim))
    for words in ("more than 20", "at most 20", "fewer than 20"):
        false = claim.model_copy(update={"meaning": claim.meaning.replace("at least 20", words)})
        assert f'says "{words}", and what is checked is at least 20' in next(explain_wrong_numbers(result, false))
    first = claim.model_copy(update={"meaning": "At most 20 people share each value of occupation."})
    assert 'says "At most 20"' in next(explain_wrong_numbers(result, first))


NAMELESS = {
    "shown_in_suppressed", "kept_cells_changed", "changed_without_answers", "trees_that_differ",
    "changed_without_noise", "noise_shape", "people_at_extremes", "rare_words",
}  # fmt: skip
"""Whose sentences say by other words of which columns they are true: all others, the sensitive or the noisy ones."""


def find_unnamed_columns(result: Made, claim: Claim) -> list[str]:
    """The columns that a claim is about and its sentence does not name."""
    words = re.compile(r"\w+").findall(claim.meaning)
    columns = claim.arguments.get("columns") if result.is_table else None
    names = [name for name in columns if name.isidentifier()] if isinstance(columns, tuple) else []
    unnamed = [name for name in names if name not in words]
    return [] if claim.property in NAMELESS and len(unnamed) == len(names) else unnamed


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_sentence_names_every_column_that_is_checked(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in result.release.claims:
            unnamed = find_unnamed_columns(result, claim)
            assert not unnamed, (
                f'{kind.__name__}, example "{result.example.name}": the meaning of the claim "{claim.property}", '
                f'"{claim.meaning}", does not name {unnamed}, of which it is checked, too: name all, or leave those '
                "out of which it is not true"
            )


def test_a_sentence_about_one_of_two_columns_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "group rare values"))
    claim = result.release.claims[0]
    assert '"occupation", "disease"' in claim.meaning and find_unnamed_columns(result, claim) == []
    short = claim.model_copy(update={"meaning": claim.meaning.replace(', "disease"', "")})
    assert find_unnamed_columns(result, short) == ["disease"]
    of_all = claim.model_copy(update={"meaning": "At least 20 rows hold whatever a published cell holds."})
    assert find_unnamed_columns(result, of_all) == ["occupation", "disease"]


COUNTS_TOLD = ("publish_patterns", "publish_rules")
"""Their support is private as a share of the baskets; the claim tells it as a count."""


def list_private_words(result: Made) -> Iterator[str]:
    """What the private fields of a method hold and no public one does, as it would be spelled; no names of columns."""
    dumped = result.example.subject.model_dump(mode="json")
    private = {name: dumped[name] for name in result.example.subject.private_fields if name in dumped}
    public = set(list_words({name: value for name, value in dumped.items() if name not in private}))
    names = set(result.data.frame.columns) if isinstance(result.data, sf.Table) else set()
    yield from sorted({*list_words(private)} - public - names - {"0", "1"})


def find_private_words(result: Made, claim: Claim) -> list[str]:
    """Words and numbers of private fields that leave with a claim; arguments that compare with originals stay."""
    claim_words = {*list_words(claim.threshold), *list_words({} if claim.needs_original else dict(claim.arguments))}
    words = re.compile(r"[\w.-]*\w").findall(claim.meaning)
    return [word for word in list_private_words(result) if word in claim_words or word in words]


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_no_claim_tells_a_private_field(kind: type[sf.Method]) -> None:
    for result in make_all(kind) if kind.model_fields["method"].default not in COUNTS_TOLD else ():
        for claim in result.release.claims:
            private_words = find_private_words(result, claim)
            assert not private_words, (
                f'{kind.__name__}, example "{result.example.name}": the claim "{claim.property}" tells '
                f"{private_words}, which "
                "only `private_fields` have: a certificate would tell it; leave it out of the claim, or name the field "
                "in `public_fields` if everybody may know it"
            )


def test_a_private_field_in_a_claim_is_noticed() -> None:
    class Secretive(sf.GroupRareValues):
        public_fields: ClassVar[tuple[str, ...]] = ("columns", "label")
        private_fields: ClassVar[tuple[str, ...]] = ("min_count",)

    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "group rare values"))
    assert not any(find_private_words(result, claim) for claim in result.release.claims)
    secretive = Secretive.model_construct(**dict(result.example.subject))
    changed = result._replace(example=replace(result.example, subject=secretive))
    assert find_private_words(changed, result.release.claims[0]) == ["20"]


def test_numbers_are_read_as_they_are_spelled() -> None:
    read = read_numbers('At least 1,200 of "m3" lie below e^1.386, 7/10 or 2.5e-07; w2 is 4.', ["m3"])
    assert read == ["1,200", "1.386", "7/10", "2.5e-07", "4"]
    assert is_spelled(1.3862943, "1.386") and not is_spelled(1.3877, "1.386")
    assert is_spelled(0.7, "7/10") and is_spelled(1200, "1,200") and not is_spelled(24, "3")


OTHER_MEANINGS = {("randomize_response", "missing"), ("add_noise", "kind")}
"""Fields whose options are also words of sentences that say something else."""


def find_other_options(method: sf.Method, claim: Claim) -> list[str]:
    """Words of a sentence that are options which were not chosen, where the chosen one is not said."""
    words, other_words = set(re.findall(r"\w+", claim.meaning)), list[str]()
    for name, field in type(method).model_fields.items():
        options = (
            {str(option) for option in get_args(field.annotation)} if get_origin(field.annotation) is Literal else set()
        )
        method_option = str(getattr(method, name))
        if method_option not in words and (type(method).model_fields["method"].default, name) not in OTHER_MEANINGS:
            other_words += sorted((options - {method_option}) & words)
    return other_words


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_sentence_says_no_option_that_was_not_chosen(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in result.release.claims:
            other_options = find_other_options(result.example.subject, claim)
            assert not other_options, (
                f'{kind.__name__}, example "{result.example.name}": the meaning of "{claim.property}", '
                f'"{claim.meaning}" '
                f"says {other_options}, and another option was chosen: say that one, or use another word"
            )


def test_a_sentence_of_another_option_is_noticed() -> None:
    method = sf.TopCode(columns="age", k=5, ends="bottom")
    claim = Claim(
        property="beyond_caps", threshold=0, bound="exactly", measure="beyond_caps", meaning="No top is left."
    )
    assert find_other_options(method, claim) == ["top"]
    assert find_other_options(method, claim.model_copy(update={"meaning": "No bottom is left."})) == []
