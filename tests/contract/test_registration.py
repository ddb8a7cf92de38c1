# SPDX-License-Identifier: MIT
"""Nothing is registered by hand; what a new method, model, attack or check still lacks is said here, with the cure."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from types import new_class
from typing import Any, TypeVar, get_args, get_origin

import pytest

import sfumato as sf
from sfumato.attack import ATTACKS
from sfumato.attack.stored_attack import StoredAttack, list_stored_attacks
from sfumato.measure.checks import CHECKS
from sfumato.measure.stored_checks import StoredShape, find_stored_measure
from sfumato.protect import METHODS, MODELS
from sfumato.protect.anonymity.stored_top_code import StoredTopCode
from sfumato.protect.method import KeyedMethod
from sfumato.protect.stored_method import StoredBasketMethod, StoredMethod, StoredTableMethod, list_stored_methods
from sfumato.report.sections.chosen_sections import list_section_names
from sfumato.runtime.lazy import (
    _CHECKS,
    _CLAIM_CHECK,
    _PACKAGE_OF,
    _STORED_CLAIM_CHECK,
    _read_sources,
    find_checks,
    find_stored_checks,
    find_stored_class,
    find_tagged,
)
from sfumato.workflow.second_process import early_start
from tests.contract.examples import ATTACK_EXAMPLES, METHOD_EXAMPLES

DOCS = Path(__file__).parents[2] / "docs"
KINDS = {"method": (sf.Method, METHODS), "model": (sf.protect.PrivacyModel, MODELS), "attack": (sf.Attack, ATTACKS)}
BOUNDS = {"at_least", "at_most", "below", "exactly"}


def subclasses(kind: Any) -> Iterator[Any]:
    """All that can be made of a kind, of this package."""
    for subclass in kind.__subclasses__():
        yield from subclasses(subclass)
        if (
            not inspect.isabstract(subclass)
            and subclass.__module__.startswith("sfumato.")
            and not subclass.__name__.startswith("_")
        ):
            yield subclass


def import_all() -> None:
    """Import every module of the methods and attacks."""
    for package in (sf.protect, sf.attack):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


@pytest.mark.parametrize("tag", KINDS)
def test_every_subclass_is_found(tag: str) -> None:
    import_all()
    kind, registry = KINDS[tag]
    for missing_class in {subclass for subclass in subclasses(kind) if tag in subclass.__annotations__} - set(registry):
        name = missing_class.__annotations__[tag]
        pytest.fail(
            f"{missing_class.__module__}.{missing_class.__name__}: write its tag on one line, {tag}: {name} = "
            '"…", used once'
        )
    assert len({subclass.__name__ for subclass in registry}) == len(find_tagged(tag)) == len(registry)


@pytest.mark.parametrize("kind", (*METHODS, *MODELS, *ATTACKS), ids=lambda kind: kind.__name__)
def test_what_is_found_is_public_and_typed(kind: type) -> None:
    package: Any = sf.attack if kind in ATTACKS else sf
    assert kind.__name__ in dir(package)
    line = f"    from {kind.__module__} import {kind.__name__} as {kind.__name__}\n"
    block = Path(package.__file__ or "").read_text(encoding="utf-8")
    assert line in block, f"type checkers do not know {kind.__name__}: run `python docs/generate.py`"


@pytest.mark.parametrize("kind", (*METHODS, *ATTACKS), ids=lambda kind: kind.__name__)
def test_everything_is_in_a_module_named_after_its_tag(kind: Any) -> None:
    tag = kind.model_fields["method" if kind in METHODS else "attack"].default
    assert kind.__module__.endswith(f".{tag}"), f"move {kind.__name__} from {kind.__module__} to a module {tag}"


@pytest.mark.parametrize("kind", (*METHODS, *ATTACKS), ids=lambda kind: kind.__name__)
def test_everything_has_an_example(kind: type) -> None:
    example_kinds = {type(example.subject) for example in (*METHOD_EXAMPLES, *ATTACK_EXAMPLES)}
    assert kind in example_kinds, f"add an Example of {kind.__name__} to tests/contract/examples.py"


@pytest.mark.parametrize("kind", (*METHODS, *ATTACKS), ids=lambda kind: kind.__name__)
def test_everything_has_a_page_that_the_index_links(kind: Any) -> None:
    tag = "method" if kind in METHODS else "attack"
    page = f"{tag}s/{kind.model_fields[tag].default}"
    assert (DOCS / f"{page}.md").is_file(), f"write docs/{page}.md"
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", (DOCS / "index.md").read_text(encoding="utf-8"), re.M | re.S)
    entries = [entry for tree in trees for entry in tree.split()]
    assert any(fnmatch(page, entry) for entry in entries), f"link {page} from a toctree of docs/index.md"


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_the_section_of_a_method_is_drawn(kind: type[sf.Method]) -> None:
    assert kind.section in ("", *list_section_names()), (
        f"{kind.__name__}: let a function of report/sections/chosen_sections.py draw it, below "
        f'@_makes_section("{kind.section}")'
    )


def test_every_section_belongs_to_a_method() -> None:
    assert set(list_section_names()) <= {kind.section for kind in METHODS}


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_every_method_has_tests_of_its_own(kind: Any) -> None:
    family, name = kind.__module__.split(".")[-2:]
    path = Path("tests") / "protect" / family / f"test_{name}.py"
    assert (DOCS.parent / path).is_file(), f"write {path}: numbers by hand or of a paper, properties, what it refuses"


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_every_method_on_tables_says_what_it_touches(kind: Any) -> None:
    if kind.shape == kind.gives == "table" and not issubclass(kind, KeyedMethod):
        assert kind.footprint is not sf.Method.footprint, (
            f"{kind.__name__} is refused beside every other method of a policy: let `footprint` say which columns it "
            "changes, needs and reads (`trace_columns` and others in protect/footprint.py)"
        )


LOADS_KERNELS = {"partition"}
"""Methods with alternatives whose run loads its kernels anyway: another process would not save time."""


def test_the_second_process_starts_early_for_every_method_with_alternatives() -> None:
    kinds = [kind for kind in METHODS if kind.list_alternatives is not sf.Method.list_alternatives]
    tags = {kind.model_fields["method"].default for kind in kinds}
    assert set(early_start.METHODS) == tags - LOADS_KERNELS, (
        "METHODS in workflow/second_process/early_start.py names the methods with `list_alternatives`, except those "
        "whose run loads its kernels anyway: LOADS_KERNELS here"
    )


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_every_method_is_in_the_changelog(kind: Any) -> None:
    words = set(re.findall(r"\w+", (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")))
    mentions = words & {kind.__name__, kind.model_fields["method"].default}
    assert mentions, f"run docs/generate.py, which adds a line about {kind.__name__} under Added in CHANGELOG.md"


def list_families(names: set[str]) -> set[str]:
    """The families of methods whose modules name one of some checks."""
    modules = [(module, text) for module, text in _read_sources("sfumato.protect") if module.count(".") > 2]
    return {module.split(".")[2] for module, text in modules if any(f'"{name}"' in text for name in names)}


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_checks_lie_in_the_family_of_a_method_that_claims_them(kind: type[sf.Method]) -> None:
    source = inspect.getsource(inspect.getmodule(kind) or kind)
    for module in {home for name, home in find_checks().items() if f'"{name}"' in source and home.count(".") > 2}:
        families = list_families({name for name, home in find_checks().items() if home == module})
        assert module.split(".")[2] in families, (
            f"{module} checks claims of {sorted(families)} alone: move it to src/sfumato/measure/{min(families)}"
        )


@pytest.mark.parametrize("pattern", [_CLAIM_CHECK, _STORED_CLAIM_CHECK], ids=["in memory", "in files"])
def test_checks_have_names_of_their_own(pattern: str) -> None:
    names = Counter(name for _, text in _read_sources(_CHECKS) for name in re.findall(pattern, text, re.MULTILINE))
    shared = [name for name, times in names.items() if times > 1]
    assert not shared, (
        f"two checks in src/sfumato/measure share a name: {', '.join(shared)}; rename the new one, and the `measure` "
        "of the claims that it checks"
    )


@pytest.mark.parametrize("name", find_checks())
def test_a_check_says_what_it_checks(name: str) -> None:
    check = CHECKS[name]
    assert check.bounds and check.bounds <= BOUNDS, f'say how {name} is claimed: @checks_claim("{name}", "at_least")'
    assert not (check.needs_original and check.arguments), (
        f"{name}: of what needs the originals no argument leaves: leave `arguments` out of checks_claim; the check "
        "gets the arguments of the claim all the same"
    )


@pytest.mark.parametrize("name", find_stored_checks())
def test_what_is_measured_in_files_is_a_check_in_memory_too(name: str) -> None:
    assert name in CHECKS, f"no claim names {name}; give @checks_stored_claim the name of a check in memory"
    shapes = [shape for shape in get_args(StoredShape) if find_stored_measure(name, shape) is not None]
    assert len(shapes) == 1


STORED_KINDS: dict[str, tuple[Any, Any]] = {"method": (StoredMethod, METHODS), "attack": (StoredAttack, ATTACKS)}


def get_subject(stored_class: Any) -> Any:
    """The method or attack that a class names in brackets after its base; None if it names none."""
    bases = [base for base in vars(stored_class).get("__orig_bases__", ()) if get_origin(base) is not None]
    return get_args(bases[0])[0] if bases else None


def list_stored_classes(tag: str) -> list[Any]:
    """Whatever runs methods or attacks on data that stay in files, found or not, but the classes they are made of."""
    import_all()
    classes = [STORED_KINDS[tag][0]]
    for kind in classes:
        classes += kind.__subclasses__()
    own_classes = [kind for kind in classes if kind.__module__.startswith("sfumato.")]
    return [kind for kind in own_classes if not isinstance(get_subject(kind), TypeVar)]


def check_stored_class(stored_class: Any, tag: str, stored_classes: Sequence[Any]) -> None:
    """Stop if a class is not what runs the method or attack that it names; `stored_classes` are all there are."""
    name, subject = stored_class.__name__, get_subject(stored_class)
    subject_name = getattr(subject, "__name__", "nothing")
    assert subject in STORED_KINDS[tag][1], (
        f"{name} names {subject_name}, no {tag} that a policy can name: write the class of the {tag} in brackets after "
        "the base, as in class StoredTopCode(StoredTableMethod[TopCode])"
    )
    rivals = [other.__name__ for other in stored_classes if get_subject(other) is subject]
    assert rivals == [name], f"{' and '.join(rivals)} both name {subject_name}: keep one, since one is found"
    assert stored_class.shape == subject.shape, (
        f"{name} takes data of the shape {stored_class.shape}, and {subject_name} of the shape {subject.shape}: use "
        f"the other base of {STORED_KINDS[tag][0].__module__}"
    )
    missing = sorted(stored_class.__abstractmethods__)
    assert not missing, f"{name} lacks {', '.join(missing)}"
    value = subject.model_fields[tag].default
    assert find_stored_class(tag, value) is stored_class, (
        f"{name} is not found in the source of {_PACKAGE_OF[tag]}: begin it there, not indented, by class "
        f"{name}({stored_class.__base__.__name__}[{subject_name}]), under these very names, and without other spaces"
    )
    words = getattr(stored_class, "runs", "")
    assert words.split()[:1] == [value], f'let {name}.runs say what runs, in words that begin with "{value}"'


@pytest.mark.parametrize("tag", STORED_KINDS)
def test_what_runs_on_stored_data_is_found(tag: str) -> None:
    stored_classes = list_stored_classes(tag)
    assert len(stored_classes) > 3
    for stored_class in stored_classes:
        check_stored_class(stored_class, tag, stored_classes)
    list_words = {"method": list_stored_methods, "attack": list_stored_attacks}[tag]
    listed_words = [words for shape in ("table", "baskets") for words in list_words(shape)]
    assert sorted(listed_words) == sorted(stored_class.runs for stored_class in stored_classes)


def invent_class(base: Any, **attributes: Any) -> Any:
    """A class of a base in brackets, such as `StoredTableMethod[TopCode]`."""
    return new_class("StoredThing", (base,), exec_body=lambda names: names.update(attributes))


def test_what_would_not_be_found_is_noticed() -> None:
    runnable: dict[str, Any] = {"plan": None, "runs": "round_numbers"}
    for stored_class, message in (
        (invent_class(StoredTableMethod[sf.Method], **runnable), "names Method, no method that a policy can name"),
        (invent_class(StoredTopCode, **runnable), "names nothing, no method"),
        (invent_class(StoredTableMethod[sf.TopCode], **runnable), "StoredTopCode and StoredThing both name TopCode"),
        (invent_class(StoredBasketMethod[sf.RoundNumbers], **runnable), "shape baskets, and RoundNumbers of the shape"),
        (invent_class(StoredTableMethod[sf.RoundNumbers], runs="round_numbers"), "StoredThing lacks plan"),
        (
            invent_class(StoredTableMethod[sf.RoundNumbers], **runnable),
            r"begin it there, .* class StoredThing\(StoredTableMethod\[RoundNumbers\]\)",
        ),
    ):
        with pytest.raises(AssertionError, match=message):
            check_stored_class(stored_class, "method", [StoredTopCode, stored_class])
    with pytest.raises(AssertionError, match='begin with "top_code"'), pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoredTopCode, "runs", "numbers")
        check_stored_class(StoredTopCode, "method", [StoredTopCode])
