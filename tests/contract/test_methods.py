# SPDX-License-Identifier: MIT
"""What every method must do."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Collection, Iterable, Set
from dataclasses import replace
from math import log
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.fields.field_docs import find_field_doc
from sfumato.losses import LOSSES
from sfumato.measure.checks import CHECKS, Evidence, has_known_form
from sfumato.protect import METHODS, MODELS
from sfumato.protect.claim_sentences import COMMON_PROPERTIES
from sfumato.protect.method import KeyedMethod
from sfumato.workflow.outgoing import select_outgoing_parameters
from sfumato.workflow.shapes.file_shapes import find_shape
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import make_all, make_once, released
from tests.contract.runs import explain_failed_check
from tests.contract.test_attacks import noise

ROWS_CURE = (
    "details has no `rows`, or not as many as are published: say in details=…Details(rows=…) which original row, "
    "counted from 0, each published row is; np.arange(len(data)) if all stay"
)
parametrize_examples = pytest.mark.parametrize("example", METHOD_EXAMPLES, ids=lambda example: example.name)


@parametrize_examples
def test_json_round_trip(example: Example) -> None:
    kind = type(example.subject)
    assert kind.model_validate_json(example.subject.model_dump_json()) == example.subject


def cells_of(data: Any) -> Any:
    """Everything that data holds, as plain lists."""
    return data.frame.to_dict(as_series=False) if isinstance(data, sf.Table) else data.to_lists()


def tables(examples: tuple[Example, ...]) -> pytest.MarkDecorator:
    """Those of the examples that protect a table, and give one."""
    table_examples = [example for example in examples if example.subject.shape == example.subject.gives == "table"]
    return pytest.mark.parametrize("example", table_examples, ids=lambda example: example.name)


@parametrize_examples
def test_the_input_is_not_changed(example: Example) -> None:
    data = example.data()
    original_cells = copy.deepcopy(cells_of(data))
    released(example, data)
    assert cells_of(data) == original_cells, (
        f"{type(example.subject).__name__} changes the data that it is given: make new frames (`with_columns`) and "
        "arrays, and change nothing in place"
    )


@parametrize_examples
def test_same_chance_same_release(example: Example) -> None:
    release, two = released(example, example.data()), released(example, example.data())
    name = type(example.subject).__name__
    assert release.data == two.data, (
        f"{name} gives two releases for one seed: draw from the `randomness` that is given, alone"
    )
    assert release.losses == two.losses, f"{name} has two losses for one seed: count in integers, in a fixed order"


@parametrize_examples
def test_it_gives_the_shape_it_says(example: Example) -> None:
    assert find_shape(make_once(example).release.data).name == example.subject.gives


@tables(METHOD_EXAMPLES)
def test_no_column_or_index_is_added(example: Example) -> None:
    data = replace(example.data(), source="people of a test")
    release = released(example, data, None)
    expected = [name for name in data.frame.columns if name not in data.identifying]
    assert release.data.frame.columns == expected, (
        f"{type(example.subject).__name__} publishes the columns {release.data.frame.columns}, not {expected}: drop "
        "those that name people (`data.identifying`), and neither add nor move any"
    )
    assert len(release.data) <= len(data), "there are more rows than in the originals"
    assert release.data.source == data.source, (
        f"{type(example.subject).__name__} makes a table anew, and what is known of its columns is lost (hierarchies, "
        "spellings of dates, labels): make it by `data.replace_frame(frame)`"
    )
    kept_columns = [change.column for change in release.changes if change.kind is ChangeKind.KEPT]
    turned = [
        f'"{name}" was {data.frame.schema[name]} and is {release.data.frame.schema[name]}'
        for name in expected
        if name in kept_columns and name not in example.subject.footprint(data).changes
        if data.frame.schema[name] != release.data.frame.schema[name]
    ]
    assert not turned, (
        f"{type(example.subject).__name__} says that it keeps columns, and publishes them as another type: "
        f"{', '.join(turned)}: publish them as they are, by `data.replace_frame`"
    )
    assert dict(release.data.roles) == {name: data.roles[name] for name in expected}, (
        f"{type(example.subject).__name__} gives columns other roles than the policy: keep them by `data.replace_frame`"
    )


@parametrize_examples
def test_every_claim_has_a_check_that_takes_it(example: Example) -> None:
    for claim in make_once(example).release.claims:
        arguments = {} if claim.needs_original else dict(claim.arguments)
        assert claim.measure in CHECKS, (
            f'"{claim.property}" is claimed, and nothing checks it: write a measure in src/sfumato/measure under '
            f'@checks_claim("{claim.measure}", "{claim.bound}")'
        )
        assert has_known_form({**claim.model_dump(), "arguments": arguments}), (
            f'"{claim.property}" is claimed otherwise than its check says: let @checks_claim("{claim.measure}", …) '
            f'name the bound "{claim.bound}", the property, needs_original={claim.needs_original} and '
            f"arguments={tuple(arguments)}"
        )


@parametrize_examples
def test_losses_and_details_are_named(example: Example) -> None:
    release = make_once(example).release
    assert "loss" in release.losses, 'give Release(losses={"loss": …}): what was lost, as a share from 0 to 1'
    loss = release.losses["loss"]
    assert 0 <= loss <= 1, f"its loss is {loss}: divide what was lost by what there was, to get a share from 0 to 1"
    if example.subject.hides_in_crowds:
        loss_names = {"discernibility", "height", "average_class_size", "suppressed_rows"}
        assert loss_names <= set(release.losses), (
            f"it says hides_in_crowds, of classes of people who look alike: name in `losses` also "
            f"{loss_names - set(release.losses)}, or leave hides_in_crowds out if it makes no classes"
        )
        assert any(claim.measure in CROWDS for claim in release.claims), (
            f"{type(example.subject).__name__} says hides_in_crowds, by which figures leave, and claims no crowd: "
            "claim k-anonymity or another privacy model, or leave hides_in_crowds False"
        )
    if example.subject.gives == example.subject.shape:
        rows = release.details.get("rows")
        assert rows is not None and len(rows) == len(release.data), ROWS_CURE


@tables(METHOD_EXAMPLES)
def test_every_column_has_a_statement(example: Example) -> None:
    _, data, release = make_once(example)
    unsaid = set(data.frame.columns) - {change.column for change in release.changes}
    assert not unsaid, (
        f"nothing is stated about {unsaid}: give Release(changes=state_changes(self, data, published, …))"
    )


@parametrize_examples
def test_claims_hold_by_independent_measures(example: Example) -> None:
    data, name = example.data(), type(example.subject).__name__
    release = released(example, data, None)
    try:
        findings = sf.check(release, data)
    except sf.PolicyError as error:
        pytest.fail(explain_failed_check(name, error))
    assert findings, f"{name} claims nothing: give Release(claims=…), and a measure of each in src/sfumato/measure"
    failures = [
        f"{finding.title()} ({finding.bound} {finding.threshold}, measured {finding.measured})"
        for finding in findings
        if not finding.holds
    ]
    assert not failures, (
        f"{name}: {'; '.join(failures)}: repair `protect`, the claim or its check; if a check compares with the "
        "originals, let details.rows be the original row of each published row"
    )


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_check_takes_no_bound_that_nobody_claims(kind: type[sf.Method]) -> None:
    """A certificate with another bound would be valid, and say nothing."""
    claimed = list_claimed_bounds([kind])
    suspects = {name for name, bounds in claimed.items() if CHECKS[name].bounds - bounds}
    everywhere = list_claimed_bounds(METHODS) if suspects else {}
    for name in sorted(suspects):
        idle = sorted(CHECKS[name].bounds - everywhere[name])
        assert not idle, (
            f'{kind.__name__}: the check "{name}" may be claimed {", ".join(idle)} as well, which no example claims: '
            f'leave {idle} out of @checks_claim("{name}", …), or add an example that claims it'
        )


def list_claimed_bounds(methods: Iterable[type[sf.Method]]) -> dict[str, set[str]]:
    """Check → the bounds with which examples of some methods claim it."""
    bounds: dict[str, set[str]] = {}
    for result in [result for method in methods for result in make_all(method)]:
        for claim in result.release.claims:
            bounds.setdefault(claim.measure, set()).add(claim.bound)
    return bounds


@parametrize_examples
def test_no_claim_publishes_a_private_field(example: Example) -> None:
    """The arguments of a claim that anyone can check are in the certificate."""
    subject = example.subject
    for claim in [claim for claim in make_once(example).release.claims if not claim.needs_original]:
        private_arguments = sorted(set(claim.arguments) & set(subject.private_fields))
        assert not private_arguments, (
            f'{type(subject).__name__}: its claim "{claim.property}" shows {private_arguments}, which '
            "private_fields hides: name it "
            "in public_fields, or let a check that needs no such argument, or needs_original, judge the claim"
        )


@tables(METHOD_EXAMPLES)
def test_it_claims_that_nobody_is_named(example: Example) -> None:
    claimed = {claim.measure for claim in make_once(example).release.claims}
    assert "named_columns" in claimed, (
        f"{type(example.subject).__name__}: an auditor refuses a release whose identifying columns were dropped "
        "without a claim: add claim_nobody_named(data) of protect/claims.py to its claims"
    )


@parametrize_examples
def test_claims_can_break(example: Example) -> None:
    """A release that was not made by the method does not keep its claims."""
    assert broken_by(example, [example.forged]), (
        f"{example.name}: the originals keep every claim: let the checks count what is wrong in them; only if they do "
        "keep the claims, let `forged` of the example (tests/contract/examples.py) give data that does not"
    )


CROWDS = {
    "k_anonymity", "alpha", "beta", "delta_disclosure", "distinct_l", "enhanced_beta", "entropy_l", "recursive_c",
    "t_equal", "t_hierarchical", "t_ordered",
}  # fmt: skip
"""Measures of classes of people."""
BROKEN_BY_THEIR_OWN_TESTS = {
    "answer_epsilon", "answers_that_differ", "basket_amplification", "basket_count", "basket_epsilon",
    "basket_epsilon_in_all", "foreign_items", "groups_unbroken", "least_support", "left_out_share", "lost_itemsets",
    "nearer_training", "noise_centre", "overlapping_rules", "rows", "small_remainders", "strange_items",
    "suppressed_share", "top_confidence", "untrue_rules", "untrue_supports",
}  # fmt: skip
"""Checks that the forgeries happen to pass; the next test, `tests/measure` and `tests/protect` break each of them."""


def test_checks_that_count_see_what_is_not_there() -> None:
    people = sf.Table.of({"age": ["31", "32", "33", "34"]}, {"age": "quasi_identifying"})
    stars = people.replace_frame(pl.DataFrame({"age": ["*"]}))
    evidence = Evidence(stars, people)
    assert CHECKS["suppressed_share"](evidence, {"starred_rows": "suppressed"}) == 1.0
    assert CHECKS["left_out_share"](evidence, {}) == 0.75
    assert CHECKS["rows"](evidence, {}) == 1
    assert CHECKS["basket_count"](Evidence(sf.Baskets.of([["a"], ["b"]])), {}) == 2
    assert CHECKS["answer_epsilon"](evidence, {"kind": "k_ary", "p": 0.75, "q": 0.25}) == pytest.approx(log(3))


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_every_check_can_fail(kind: type[sf.Method]) -> None:
    kind_examples = [example for example in METHOD_EXAMPLES if type(example.subject) is kind]
    remaining_checks = {
        claim.measure for example in kind_examples for claim in make_once(example).release.claims
    } - BROKEN_BY_THEIR_OWN_TESTS
    other_examples = [
        example for example in METHOD_EXAMPLES if ", " not in example.name and example.subject.shape == kind.shape
    ]
    for example in (
        *kind_examples,
        *other_examples,
    ):  # a check of several methods may be broken by the forgery of another
        remaining_checks -= broken_by(example, forgeries_of(example), remaining_checks) if remaining_checks else set()
    assert remaining_checks == set(), (
        f"no forged release breaks {remaining_checks}, not even the originals themselves: repair the check, if it "
        "counts none of what is wrong there; only if the originals keep the claim, let `forged` of an example "
        "(tests/contract/examples.py) give data that does not"
    )


def forgeries_of(example: Example) -> list[Callable[[Any], Any]]:
    """Ways to make a release that the method did not make."""
    of_the_shape = example.subject.gives == example.subject.shape
    return [example.forged, *([lambda data: noise(data).data] if of_the_shape else [])]


def broken_by(
    example: Example, forgeries: Iterable[Callable[[Any], Any]], measures: Collection[str] = CHECKS
) -> set[str]:
    """The measures, of those tried, that refuse a claim of the method, of releases that it did not make."""
    _, data, release = make_once(example)
    claims = [claim for claim in release.claims if claim.measure in measures]
    details = replace(release.details, rows=np.arange(len(data)))
    broken_checks = set()
    for forge in forgeries:
        forged = sf.Release(forge(data), release.method, release.claims, release.losses, details)
        for claim in claims:
            try:
                if not sf.check(replace(forged, claims=(claim,)), data)[0].holds:
                    broken_checks.add(claim.measure)
            except (sf.SfumatoError, ValueError):  # it cannot be measured on this forgery
                continue
    return broken_checks


@tables(tuple(e for e in METHOD_EXAMPLES if not e.subject.by_chance and not isinstance(e.subject, KeyedMethod)))
def test_it_is_truthful_if_it_says_so(example: Example) -> None:
    _, data, release = make_once(example)
    assert release.details.rows is not None, ROWS_CURE
    names, rows = list(data.quasi_identifying), release.details["rows"]
    originals, published_frame = data.frame.select(names), release.data.frame.select(names)
    blanks = [pl.coalesce(published_frame[name].cast(pl.String), spell_cells(originals[name][rows])) for name in names]
    published = release.data.replace_frame(published_frame.with_columns(blanks))  # what is blank says nothing
    untrue = sf.measure.untrue_cells(published, data.replace_frame(originals), rows)
    assert example.subject.truthful is (untrue == 0), (
        f"{untrue} quasi-identifying cells are neither their original nor a label of it: if that is meant, say "
        "truthful = False; else repair the cells, or details.rows"
        if untrue
        else "every quasi-identifying cell is its original or a label of it: say truthful = True, or leave it out"
    )


@parametrize_examples
def test_claims_and_loss_are_in_words(example: Example) -> None:
    release = make_once(example).release
    wordless = {claim.property for claim in release.claims if not claim.meaning}
    assert not wordless, f"give these claims a `meaning`, a sentence for the report: {wordless}"
    kinds = {change.kind for change in release.changes}
    wrong = explain_loss_words(type(example.subject), kinds) or explain_row_words(release, kinds)
    assert not wrong, f"{type(example.subject).__name__}: {wrong}"


def explain_row_words(release: sf.Release, kinds: Set[ChangeKind]) -> str:
    """What is wrong with the words for the loss of a method that changes no cell, and the cure; empty if nothing is."""
    method = type(release.method)
    words = (method.loss_meaning, method.kept_meaning[0])
    if not release.changes or kinds - {ChangeKind.KEPT, ChangeKind.DROPPED} or all("rows" in text for text in words):
        return ""
    return (
        f"it changes no cell, so that its loss is the share of rows that it leaves out, and its words are {words}: let "
        'loss_meaning be "Of the rows, the share that …." and kept_meaning ("of rows kept", …)'
    )


@parametrize_examples
def test_it_states_the_claims_of_models_that_it_makes(example: Example) -> None:
    """From its public parameters alone: `verify` refuses a certificate that claims more or less."""
    method, model_properties = example.subject, {name for model in MODELS for name in model.claim_properties}
    claims = {(claim.property, claim.threshold) for claim in make_once(example).release.claims}
    promises = {(claim.property, claim.threshold) for claim in method.list_promises(method.describe())}
    made_claims = {claim for claim in claims if claim[0] in model_properties}
    assert promises == made_claims, (
        f"list_promises has {sorted(promises - made_claims)}, which it does not claim: list what its models promise"
        if promises - made_claims
        else f"it claims {sorted(made_claims - promises)}: override list_promises, so that it lists what the models of "
        "the method promise"
    )


@parametrize_examples
def test_every_loss_has_an_entry(example: Example) -> None:
    """What it is called, whether it is a share, and whether those of several methods add up."""
    losses = set(make_once(example).release.losses)
    assert not losses - set(LOSSES), (
        f"add {sorted(losses - set(LOSSES))} to LOSSES in losses.py: a title, a sentence, whether it is a share, and "
        "whether those of two methods add up, as privacy budgets do"
    )


def explain_loss_words(method: type[sf.Method], stated_kinds: Set[ChangeKind]) -> str:
    """What is wrong with the words of a method for its loss, and the cure; empty if nothing is."""
    kinds = {kind for kind in stated_kinds if kind.meaning.loss_words is not None}
    has_words = method.loses_detail or (
        len(kinds) == 1 and stated_kinds - kinds <= {ChangeKind.KEPT, ChangeKind.DROPPED}
    )
    has_own_words = method.loss_meaning != "" or method.kept_meaning != sf.Method.kept_meaning
    if has_words and has_own_words:
        line = "loses_detail" if method.loses_detail else f"the line of {next(iter(kinds)).name} in change_kinds.py"
        return (
            f"if what it states of its columns is right, remove loss_meaning and kept_meaning, which may be untrue: "
            f"{line} has the words for its loss; if it changes no cell, state no kind of change"
        )
    if has_words or (method.loss_meaning and method.kept_meaning != sf.Method.kept_meaning):
        return ""
    return (
        "no kind of change that it states has words for its loss: state one that has, or add a line with a loss and "
        "its words to change_kinds.py, if a rule makes the cells; only if neither fits, write loss_meaning: "
        'ClassVar[str] = "Of …, the share that …." and kept_meaning: ClassVar[tuple[str, str]] = ("of … kept", '
        '"in …"), and have someone else read them'
    )


def test_words_for_a_loss_that_are_there_already_are_noticed() -> None:
    class Told(sf.RoundNumbers):
        loss_meaning: ClassVar[str] = "Of all people, the share that was harmed."

    class Silent(sf.SuppressEntries):
        kept_meaning: ClassVar[tuple[str, str]] = sf.Method.kept_meaning

    assert explain_loss_words(sf.RoundNumbers, {ChangeKind.KEPT, ChangeKind.ROUNDED}) == ""
    assert "the line of ROUNDED" in explain_loss_words(Told, {ChangeKind.KEPT, ChangeKind.ROUNDED})
    assert "write loss_meaning" in explain_loss_words(sf.RoundNumbers, {ChangeKind.OTHER})
    assert "write loss_meaning" in explain_loss_words(Silent, {ChangeKind.BLANKED})


@tables(tuple(e for e in METHOD_EXAMPLES if not isinstance(e.subject, KeyedMethod)))
def test_its_footprint_is_true(example: Example) -> None:
    """A policy decides by footprints which methods fit together; one that says too little lets a claim break."""
    _, data, release = make_once(example)
    footprint = example.subject.footprint(data)
    frame = release.data.frame
    cure = "say so in its `footprint` (`trace_columns` and others in protect/footprint.py)"
    unchanged_columns = [name for name in frame.columns if name not in footprint.changes]
    assert footprint.changes <= footprint.needs, (
        f"it says that it changes {sorted(footprint.changes - footprint.needs)}, and needs it not: if it does not "
        f"change it, leave it out of `changes`; what it changes it needs as in the originals: {cure}"
    )
    assert footprint.changes <= footprint.reads, f"the cells that it changes decide what it publishes, reads: {cure}"
    assert len(frame) == len(data) or footprint.drops_rows or not unchanged_columns, (
        f"it leaves rows out, drops_rows=True: {cure}"
    )


@parametrize_examples
def test_nothing_to_protect_is_refused(example: Example) -> None:
    data = example.data()
    empty_data = data.replace_frame(data.frame.clear()) if isinstance(data, sf.Table) else type(data).of([])
    cure = "refuse data without a row in `protect`, before any work, with a DataError that says so"
    try:
        released(example, empty_data)
    except sf.SfumatoError:
        return
    except Exception as crash:
        pytest.fail(f"it crashes on data without a row ({crash!r}): {cure}")
    pytest.fail(f"it releases data without a row: {cure}")


@pytest.mark.parametrize("rows", [1, 2, 3])
@parametrize_examples
def test_few_rows_are_protected_or_refused(example: Example, rows: int) -> None:
    data = example.data()
    few = data.replace_frame(data.frame.head(rows)) if isinstance(data, sf.Table) else None
    few = type(data).of(data.to_lists()[:rows]) if few is None and hasattr(data, "to_lists") else few
    if few is None:
        return  # patterns have no rows
    try:
        release = released(example, few)
        failures = [finding.title() for finding in sf.check(release, few) if not finding.holds]
    except sf.SfumatoError:
        return
    except Exception as crash:
        pytest.fail(
            f"it crashes on {rows} rows ({crash!r}): protect them, or refuse them with a DataError that says why"
        )
    assert not failures, f"of {rows} rows, {failures} does not hold: protect them, or refuse them with a DataError"


@tables(tuple(example for example in METHOD_EXAMPLES if not isinstance(example.subject, KeyedMethod)))
def test_a_table_without_roles_is_refused(example: Example) -> None:
    """Where every cell becomes a code, nobody can be published by oversight; elsewhere roles must be given."""
    with pytest.raises(sf.DataError, match="no roles are given"):
        released(example, sf.Table.of(example.data().frame))


@tables(METHOD_EXAMPLES)
def test_the_release_can_be_pickled_and_shows_no_cell(example: Example) -> None:
    """Notebooks and process pools pickle; logs print."""
    _, data, release = make_once(example)
    assert pickle.loads(pickle.dumps(release.data.frame)).equals(release.data.frame)
    representation = repr(data)
    assert not any(str(name) in representation for name in data.frame[data.frame.columns[0]].to_list())


@parametrize_examples
def test_what_a_certificate_says_of_it_names_nothing_private(example: Example) -> None:
    description = json.dumps(example.subject.describe())
    assert not any(secret in description for secret in example.secrets)


@pytest.mark.parametrize("kind", METHODS)
def test_every_field_is_documented(kind: type[sf.Method]) -> None:
    undocumented = [name for name in kind.model_fields if not find_field_doc(kind, name) and name != "method"]
    assert not undocumented, f'{kind.__name__}: write a docstring, """…""", on the line below {", ".join(undocumented)}'
    absent = [word for word in ("Guarantee:", "Against:", "Limits:", "Papers:") if word not in (kind.__doc__ or "")]
    assert not absent, f"{kind.__name__}: let its docstring say {' '.join(absent)}"


@pytest.mark.parametrize("kind", METHODS)
def test_no_field_that_is_called_secret_leaves(kind: type[sf.Method]) -> None:
    telling = [name for name in kind.public_fields if {"secret", "secrets", "private", "hidden"} & {*name.split("_")}]
    assert not telling, (
        f"{kind.__name__}: certificates tell every value of {', '.join(telling)}: name it in private_fields, or, if it "
        "is no secret, call it by what it is"
    )


@parametrize_examples
def test_unknown_fields_are_refused_and_values_not_echoed(example: Example) -> None:
    described = example.subject.model_dump(mode="json") | {"zzsecret": "zzvaluezz"}
    with pytest.raises(ValidationError) as error:
        type(example.subject).model_validate(described)
    assert "zzvaluezz" not in str(error.value)


@parametrize_examples
def test_it_cannot_be_changed(example: Example) -> None:
    field = next(iter(type(example.subject).model_fields))
    with pytest.raises(ValidationError):
        setattr(example.subject, field, None)


@parametrize_examples
def test_a_method_that_hides_secrets_counts_what_it_changed(example: Example) -> None:
    release = make_once(example).release
    if not release.details.get("sensitive"):
        return
    count = type(example.subject).headline_count
    assert count is not None, "set headline_count, so that a run can say that nothing was changed"
    assert set(count.losses) <= set(release.losses), f"state the losses {count.losses} of headline_count"


@parametrize_examples
def test_claims_that_anyone_can_check_are_listed_with_its_own_arguments(example: Example) -> None:
    """So that `verify` can compare their arguments with the parameters of a certificate, and their sentences."""
    subject, release = example.subject, make_once(example).release
    known_properties = {name for model in MODELS for name in model.claim_properties} | {*COMMON_PROPERTIES}
    parameters = json.loads(json.dumps(select_outgoing_parameters(subject.describe())))
    private_properties = {claim.property for claim in release.claims if claim.needs_original}
    for name in private_properties & subject.file_claims - {c.property for c in release.claims if not c.needs_original}:
        pytest.fail(
            f'leave "{name}" out of `file_claims` of {type(subject).__name__}: its check needs the originals, which '
            "nobody else has"
        )
    for claim in release.claims:
        if claim.needs_original or claim.property in known_properties:
            continue
        assert claim.property in subject.file_claims, (
            f'add "{claim.property}" to `file_claims` of {type(subject).__name__}: anyone can check it on the file'
        )
        arguments = claim.model_dump(mode="json")["arguments"]
        assert subject.may_claim(parameters, arguments), (
            f'the claim "{claim.property}" has other arguments ({arguments}) than the public fields of the same names: '
            "give the check these, as the sentence says; only if they follow otherwise from the fields, override "
            "`may_claim`"
        )


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_claims_that_a_release_always_makes_are_listed(kind: type[sf.Method]) -> None:
    """So that `verify` notices if a certificate leaves one out."""
    for result in make_all(kind):
        subject = result.example.subject
        parameters = json.loads(json.dumps(select_outgoing_parameters(subject.describe())))
        claimed_names = {claim.property for claim in result.release.claims if not claim.needs_original}
        certain_claims = subject.list_certain_claims(parameters)
        assert all(names & claimed_names for names in certain_claims), (
            f'{kind.__name__}, example "{result.example.name}": `list_certain_claims` lists {certain_claims}, and the '
            f"release claims {claimed_names}: override it, so that it lists what is claimed with these parameters"
        )
        unlisted_names = (claimed_names & subject.file_claims) - {name for names in certain_claims for name in names}
        assert not unlisted_names, (
            f'{kind.__name__}, example "{result.example.name}": a certificate could leave out {unlisted_names}: let '
            "`list_certain_claims` list it for these parameters"
        )


@parametrize_examples
def test_the_kinds_of_change_are_listed(example: Example) -> None:
    subject = example.subject
    kinds = {change.kind for change in make_once(example).release.changes if not change.kind.meaning.is_of_any_method}
    if subject.list_change_kinds(subject.describe()) is None:
        names = sorted(kind.name for kind in kinds - subject.change_kinds)
        assert not names, f"add ChangeKind.{', ChangeKind.'.join(names)} to `change_kinds` of {type(subject).__name__}"


@parametrize_examples
def test_it_is_made_again_from_its_public_parameters(example: Example) -> None:
    """Unless it says that it hides some of them (`hides_parameters`)."""
    subject = example.subject
    parameters = select_outgoing_parameters(subject.describe())
    if not subject.hides_parameters:
        public_fields = {name: value for name, value in parameters.items() if name != "iso_20889"}
        assert type(subject).model_validate(public_fields).describe().items() >= public_fields.items()


@parametrize_examples
def test_thresholds_come_from_the_fields_that_it_names(example: Example) -> None:
    """So that `verify` can compare a claim with the parameters of a certificate."""
    subject, parameters = example.subject, example.subject.describe()
    assert set(subject.threshold_fields.values()) <= set(subject.public_fields)
    model_properties = {name for model in MODELS for name in model.claim_properties} | {"suppressed_share"}
    for claim in make_once(example).release.claims:
        field = subject.threshold_fields.get(claim.property)
        if field is not None and isinstance(parameters[field], type(claim.threshold)):
            assert claim.threshold == pytest.approx(parameters[field], rel=1e-6), (
                f"{claim.property} is not {field}: correct threshold_fields"
            )
        same_fields = [
            name for name in subject.public_fields if claim.threshold > 1 and parameters.get(name) == claim.threshold
        ]
        if same_fields and field is None and claim.property not in model_properties and claim.bound != "exactly":
            pytest.fail(f'say that "{claim.property}" is the field {same_fields}: add it to threshold_fields')
