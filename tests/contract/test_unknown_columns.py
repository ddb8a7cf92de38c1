# SPDX-License-Identifier: MIT
"""A column that a method's field names and the table does not have is refused by its name, alone and beside others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.fields.field_docs import find_field_doc
from sfumato.protect.named_columns import list_published_columns
from sfumato.randomness import Randomness
from sfumato.workflow.chain import apply_methods
from tests.contract.examples import ATTACK_EXAMPLES, METHOD_EXAMPLES, Example
from tests.contract.releases import released
from tests.contract.runs import policy_of

FILES = {("SuppressEntries", "private")}
"""Fields in which a single text is a file."""


class WrongField(NamedTuple):
    """A method with a field that names a column which its example's table does not have."""

    example: Example
    field: str
    meant: str
    """The column of the table that the wrong name is nearest to."""

    @property
    def column(self) -> str:
        """The wrong name: the last letter twice."""
        return misspell(self.meant)

    def __str__(self) -> str:
        """The name of the test."""
        return f"{self.example.name}: {self.field}"


def list_wrong_fields() -> Iterator[WrongField]:
    """Every field of every method that can name a column, by its docstring, with one that is not there."""
    covered_fields = set()
    for example in METHOD_EXAMPLES:
        kind = type(example.subject)
        if example.subject.shape != "table":
            continue
        column = list_published_columns(load(example.data))[0]
        for field in kind.model_fields:
            doc = find_field_doc(kind, field) or ""
            if "column" in doc.lower() and (kind, field) not in covered_fields:
                for field_value in guess_values(misspell(column), (kind.__name__, field) in FILES):
                    try:
                        fields = {**example.subject.model_dump(mode="json"), field: field_value}
                        method = kind.model_validate(fields)
                    except (ValidationError, sf.SfumatoError):
                        continue  # the field takes another form
                    covered_fields.add((kind, field))
                    yield WrongField(replace(example, subject=method), field, column)
                    break


@cache
def load(data: Callable[[], sf.Table]) -> sf.Table:
    """The data of examples, which several share."""
    return data()


def misspell(name: str) -> str:
    """A name that no table has."""
    return name + name[-1]


def choose_partner(table: sf.Table) -> sf.Method:
    """A method that fits beside another: it treats the last column of words."""
    words = [name for name in list_published_columns(table) if table.frame[name].dtype == pl.String]
    return sf.RandomizeResponse(column=words[-1], p=0.9, categories="from_data")


def guess_values(name: str, is_file: bool) -> Iterator[Any]:
    """The ways in which fields name columns."""
    yield (name,)
    if not is_file:
        yield name
    yield {name: (1, 2)}
    yield {name: 3}


WRONG = tuple(list_wrong_fields())
CURE = (
    "refuse a column that the table does not have, before any work: `refuse_unpublished(data, self.{field})` of "
    "protect/named_columns.py, or a PolicyError that quotes the name and ends with `ask_published`"
)


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_column_that_is_not_there_is_refused_by_its_name(wrong: WrongField) -> None:
    cure = CURE.format(field=wrong.field)
    try:
        released(wrong.example, wrong.example.data())
    except sf.SfumatoError as refusal:
        assert f'"{wrong.column}"' in str(refusal), f"the refusal ({refusal}) does not name the column: {cure}"
        question = f'did you mean "{wrong.meant}"?'
        assert question in str(refusal), f"the refusal ({refusal}) does not ask which was meant: {cure}"
    except Exception as crash:
        pytest.fail(f"it crashes ({crash!r}): {cure}")
    else:
        pytest.fail(f"it releases something: {cure}")


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_it_is_refused_by_its_name_beside_another_method(wrong: WrongField, first: bool, tmp_path: Path) -> None:
    data = wrong.example.data()
    partner = choose_partner(data)
    order = (wrong.example.subject, partner) if first else (partner, wrong.example.subject)
    policy = policy_of(wrong.example, data, tmp_path).model_copy(update={"protect": order})
    try:
        apply_methods(policy, data, Randomness.seeded(1))
    except sf.SfumatoError as refusal:
        assert str(refusal)
    except Exception as crash:
        pytest.fail(
            f"it crashes beside another method ({crash!r}): {CURE.format(field=wrong.field)}, and let "
            "`footprint` name columns without looking them up"
        )
    else:
        pytest.fail(f"it releases something: {CURE.format(field=wrong.field)}")


def test_every_method_that_names_columns_is_tried() -> None:
    covered_kinds = {type(wrong.example.subject) for wrong in WRONG}
    column_kinds = {
        type(example.subject)
        for example in METHOD_EXAMPLES
        if {"column", "columns", "target"} & type(example.subject).model_fields.keys()
    }
    missing = sorted(kind.__name__ for kind in column_kinds - covered_kinds)
    assert not missing, f"{missing}: let the docstring of the field that names columns say so, with the word column"


def collect_texts(value: Any) -> Iterator[str]:
    """The texts in the value of a field; of a mapping its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        for part in value:
            yield from collect_texts(part)


@pytest.mark.parametrize("example", (*METHOD_EXAMPLES, *ATTACK_EXAMPLES), ids=lambda example: example.name)
def test_a_field_that_names_columns_says_so(example: Example) -> None:
    """Else a policy with a misspelled column is refused late, or by an error that does not say which field it is."""
    data = load(example.data)
    if not isinstance(data, sf.Table):
        return
    subject = example.subject
    parts = [subject, *(part for several in subject.list_parts().values() for part in several)]
    for part in parts:
        kind = type(part)
        assert set(kind.column_fields) <= set(kind.model_fields), f"{kind.__name__}: column_fields names no field"
        for field in kind.model_fields:
            texts = set(collect_texts(getattr(part, field)))
            if texts and texts <= set(data.frame.columns):
                assert field in kind.column_fields, f"{kind.__name__}: name {field} in column_fields"
        for field, names in part.list_named_columns().items():
            assert set(names) <= set(data.frame.columns), f"{kind.__name__}.{field} names no columns"


@pytest.mark.parametrize("field", ("knowledge", "known", "by", "evidence"))
def test_an_attack_with_a_misspelled_column_is_refused_before_it_runs(field: str, tmp_path: Path) -> None:
    """The message has the field and the column that was probably meant."""
    (tmp_path / "people.csv").write_text("age,town\n1,x\n2,y\n1,x\n2,y\n")
    attacks: dict[str, dict[str, Any]] = {
        "knowledge": {"attack": "linking", "knowledge": ["agee"]},
        "known": {"attack": "inference", "column": "town", "known": ["agee"]},
        "by": {"attack": "repeated_answers", "column": "town", "by": ["agee"], "other": "people.csv"},
        "evidence": {"attack": "bayes_estimate", "columns": ["age"], "evidence": ["agee"]},
    }
    policy = sf.Policy.model_validate(
        {
            "data": {"path": str(tmp_path / "people.csv")},
            "roles": {"quasi_identifying": ["age"], "sensitive": ["town"]},
            "protect": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}]}],
            "attack": [attacks[field]],
        }
    )
    with pytest.raises(sf.PolicyError, match=rf'attack\[0\]\.{field} names "agee".* "age"'):
        sf.run(policy)
