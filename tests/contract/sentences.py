# SPDX-License-Identifier: MIT
"""Every sentence that certificates and reports say of a method, from the releases of its examples.

`docs/generate.py` writes them to a page. No test can read a sentence: whoever changes one sees it in the diff of that
page, and has someone else read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.report.words.loss_words import describe_method_loss
from sfumato.report.words.wording import spell_name
from tests.contract.releases import make_all


def write_sentences() -> str:
    """A section for each method: its claims, what its loss means, what is left out, and what is done to columns."""
    return "\n\n".join(_write_section(kind) for kind in METHODS)


def _write_section(kind: type[sf.Method]) -> str:
    tag = kind.model_fields["method"].default
    rows = [f"| {_escape(cell)} | {_escape(sentence)} |" for cell, sentence in dict.fromkeys(_list_sentences(kind))]
    return "\n".join([f"## [`{tag}`](methods/{tag}.md)", "", "| about | sentence |", "|---|---|", *rows])


def _list_sentences(kind: type[sf.Method]) -> Iterator[tuple[str, str]]:
    for result in make_all(kind):
        for claim in result.release.claims:
            checker = "the custodian checks" if claim.needs_original else "anyone checks"
            yield f"{spell_name(claim.property)} ({checker})", claim.meaning
    for result in make_all(kind):
        words = describe_method_loss(kind.model_fields["method"].default, map(asdict, result.release.changes))
        yield "the loss", f"{words.meaning} The rest: … {words.caption}, {words.scope}."
    for result in make_all(kind):
        if sentence := kind.explain_left_out(result.release.method.describe()):
            yield "what is left out", sentence
    kinds = {change.kind for result in make_all(kind) for change in result.release.changes}
    for change in sorted(kinds):
        if change.meaning.words:  # no levels: a search that a clock ends may find others
            yield "what was done to a column", change.meaning.words


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
