# SPDX-License-Identifier: MIT
"""Words that do not say what a thing is: nothing is called by one alone, whether it is written in capitals or not.

That is no function, class, constant, variable, field or parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

_PREPOSITIONS = """
    about above across after against along among apart around at before behind below beneath beside besides between
    beyond by down during for from inside into like near of off onto outside over past since through throughout to
    toward towards under until up upon via with within without
"""
_PRONOUNS = """
    all another anybody anyone anything both each either everybody everyone everything hers his it itself mine neither
    nobody none nothing one ones others ours own same some somebody someone something such that theirs them these they
    this those what which who whom whose yours
"""
_ADVERBS = """
    again ahead alone already also away back elsewhere else enough ever here how however later much never now often
    once only quite rather so soon then there thus together too twice very when where while why yet
"""
_PARTICIPLES = """
    begun bent born bought broken brought built caught chosen come done drawn driven fallen felt forgotten found given
    gone grown heard held hidden kept known laid learnt led left lent let lost made meant met paid put said seen sent
    shown sold sought spelt spent stood taken thought thrown told torn understood used won worn written
"""
_VAGUE = "place things"
AVOIDED = frozenset(f"{_PREPOSITIONS} {_PRONOUNS} {_ADVERBS} {_PARTICIPLES} {_VAGUE}".split())
_VAGUE_CONSTANTS = frozenset({"other"})
"""Words that say enough of what stands beside something, but not of a value of a module."""
_CLASSES = frozenset({"Remining", "Sorting", "Why"})
"""Classes that users call so: two attacks, and why a column is at its level."""
_PARAMETERS = {"estimate_itemsets": {"of"}, "estimate_rules": {"of"}}
"""Function → parameters that users write."""
_FUNCTIONS = frozenset({"averaging", "mine"})
"""Functions that users call so: a study of papers/, and the verb; as the name of a value, `mine` is a pronoun."""
_NOUNS_IN_ING = """
    beginning ceiling decoding drawing encoding ending finding grouping heading linking mapping matching meaning mining
    missing opening ordering packing pruning ranking reading recoding ring rounding sampling setting sibling spelling
    staging string thing timing training warning
"""
NOUNS_IN_ING = frozenset(_NOUNS_IN_ING.split())
"""Nouns, most of them terms of the field; any other word in -ing is a present participle."""
_NOUNS_IN_ED = frozenset({"seed", "need", "speed", "feed", "breed", "embed"})
_TERMS = frozenset({"derived", "proven"})
"""Fields of details that methods in the literature call so."""
_PAIRS = {"left": "right", "before": "after", "after": "before"}
"""Words that say enough beside the other one: two sides, two moments."""
WRITTEN = {
    "AnswerChannel": {"memoized"},
    "BackgroundKnowledge": {"excluded"}, "BetaLikeness": {"enhanced"}, "CertifiedAttack": {"guessing"},
    "CertifiedChange": {"starred"}, "CertifiedClaim": {"measured"}, "CertifiedSuppression": {"why"},
    "CertifiedVerdict": {"accepted", "unchecked"},
    "Change": {"starred"}, "ColumnDifference": {"blanked", "filled", "suppressed"},
    "ColumnKey": {"rising"}, "CopiedRecords": {"known", "within"},
    "Details": {"suppressed"}, "EncodeBloom": {"keyed"},
    "EntryDetails": {"hidden"}, "Finding": {"measured"},
    "Inference": {"known"}, "LikeliestAnswer": {"known"}, "Linkability": {"known"}, "Manifest": {"kept"},
    "NodeCount": {"accepted", "checked"}, "NumberLaw": {"achieved"}, "OutgoingCertificate": {"created"},
    "Partition": {"relaxed"}, "Policy": {"about"}, "PrivateEntries": {"where"},
    "Randomness": {"seeded"}, "RepeatedAnswers": {"by"},
    "ReportPages": {"outgoing"}, "RolesSection": {"identifying"}, "Run": {"published"},
    "SideEffects": {"added", "exposed", "removed"},
    "Table": {"identifying"},
    "TreeTransformer": {"required"}, "Verdict": {"accepted", "unchecked"},
}  # fmt: skip
"""Class → names that policies, certificates, records, pages, users or other libraries write."""


class GivenName(NamedTuple):
    """A name that a module gives, where, and the others that the same function or class gives."""

    line: int
    name: str
    owner: str
    neighbours: frozenset[str]
    is_function: bool


def is_avoided(name: str) -> bool:
    """Whether a name is a single word that does not say what the thing is: a participle, a preposition, a pronoun."""
    word = name.strip("_")
    is_constant = word.isupper()
    is_compound = "_" in word or (not is_constant and any(letter.isupper() for letter in word[1:]))
    if name.startswith("__") or is_compound or word in _CLASSES or word.lower() in _TERMS:
        return False
    if is_constant and word.lower() in _VAGUE_CONSTANTS:
        return True
    word = word.lower()
    is_past = word.endswith("ed") and len(word) > len("need") and word not in _NOUNS_IN_ED
    return word in AVOIDED or is_past or (word.endswith("ing") and word not in NOUNS_IN_ING)


def list_avoided(tree: ast.Module) -> Iterator[GivenName]:
    """Every name of a module that does not say what the thing is."""
    for binding in _list_given(tree, "", tree.body):
        pair = _PAIRS.get(binding.name.strip("_"))
        is_constructor = binding.is_function and binding.name == "of"
        is_verb = binding.is_function and binding.name.strip("_") in _FUNCTIONS
        if is_avoided(binding.name) and not (is_constructor or is_verb or pair in binding.neighbours):
            yield binding


def _list_given(node: ast.AST, owner: str, body: list[ast.stmt]) -> Iterator[GivenName]:
    """The names that a module, class or function gives itself, then those of the classes and functions inside."""
    bindings = [
        (line, name, isinstance(part, Inner) and part is not node)
        for part in (node, *body)
        for line, name in _list_own(part, part is node)
    ]
    neighbours = frozenset(name.strip("_") for _, name, _ in bindings)
    bases = [ast.unparse(base).split(".")[-1] for base in node.bases] if isinstance(node, ast.ClassDef) else []
    # What a class of this package must be called so, is called so in a class made of it.
    allowed_names = set().union(*(WRITTEN.get(name, set()) for name in (owner, *bases)))
    allowed_names |= _PARAMETERS.get(getattr(node, "name", ""), set())
    # A member of an enumeration is read with its class, and repeats the value that files write.
    is_enumeration = any(base.endswith("Enum") for base in bases)
    for line, name, is_function in bindings:
        if name.strip("_") not in allowed_names and not (is_enumeration and name.isupper()):
            yield GivenName(line, name, owner, neighbours, is_function)
    for inner in _list_inner(body):
        yield from _list_given(inner, inner.name if isinstance(inner, ast.ClassDef) else owner, inner.body)


Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _list_inner(body: list[ast.stmt]) -> Iterator[Inner]:
    for part in body:
        if isinstance(part, Inner):
            yield part
        else:
            yield from (inner for inner in ast.walk(part) if isinstance(inner, Inner))


def _list_own(part: ast.AST, is_head: bool) -> Iterator[tuple[int, str]]:
    """Names that a statement gives; of a function or class its own name, and at its head the parameters."""
    if isinstance(part, Inner):
        if not is_head:
            yield part.lineno, part.name
        elif not isinstance(part, ast.ClassDef):
            arguments = part.args
            several = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *several):
                # The options of a command are what typer finds in its arguments, unless it is told their names.
                kind = ast.unparse(argument.annotation or ast.Constant(0))
                is_option = "typer." in kind or kind.startswith("options.")
                if not is_option or "Option('--" in kind:
                    yield argument.lineno, argument.arg
        return
    if is_head:
        return
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name is not None:
            yield node.lineno, node.name
