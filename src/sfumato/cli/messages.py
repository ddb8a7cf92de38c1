# SPDX-License-Identifier: MIT
"""The terminal output of the commands: tables and sentences."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

from sfumato.bound_words import format_bound, format_measured
from sfumato.cli.terminal import escape_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from sfumato.attack.attack import AttackResult
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.compare import Comparison
    from sfumato.workflow.pipeline import Run
    from sfumato.workflow.verification import Verification

MOST_ROWS = 20
"""How many rows the terminal shows; a file gets all of them."""


def _make_grid(*columns: str, title: str | None = None) -> Any:
    from rich.table import Table as Grid

    grid = Grid(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        grid.add_column(_escape_cell(column))
    return grid


def _print_things(*parts: Any) -> None:
    """Print lines and grids; a string is always one line, whatever names it contains."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 200)
    for part in parts:
        if isinstance(part, str):
            console.print(escape_text(part), markup=False, highlight=False, soft_wrap=True)
        else:
            console.print(part)


def _escape_cell(text: object) -> Any:
    """Text from the data: neither rich nor the terminal may interpret it."""
    from rich.text import Text

    return Text(escape_text(text))


def say_plainly(message: str) -> str:
    """Typer's message about a value, without the words of the parser."""
    for words, plain in _PARSER_WORDS.items():
        message = re.sub(words, plain, message)
    command = re.match(r"No such command '(.+?)'", message)
    if command and (other_command := _OTHER_COMMANDS.get(command[1].lower())):
        message = f"No such command '{command[1]}'. Did you mean 'sfumato {other_command}'?"
    if message.startswith("Got unexpected extra argument") and {"--quasi", "--sensitive"} & set(sys.argv):
        message += "; columns are listed with commas and without blanks, as in --quasi age,zip"
    elif message.startswith("Got unexpected extra argument") and {"run", "init"} & set(sys.argv[1:2]):
        message += "; name where to write with --out"
    name = next((name for name in (" ".join(sys.argv[1:3]), *sys.argv[1:2]) if name in _EXAMPLES), None)
    if message.startswith(("Missing argument", "Missing option")) and name is not None:
        message += f" Type, for example: sfumato {name} {_EXAMPLES[name]}"
    return message


_EXAMPLES = {
    **dict.fromkeys(("audit", "init"), "people.csv"),
    "hierarchy": "people.csv age",
    "measure": "people.csv --quasi age,zip",
    "run": "policy.toml",
    "verify": "out/release",
    "compare": "out other",
    "attack": "out policy.toml",
    "mine": "baskets.txt",
    "channels": "baskets.txt --k 5",
    **dict.fromkeys(("support", "contains"), "baskets.txt bread"),
    "regions": "points.csv --out regions.txt",
    "decode": "found.txt out/private/encode_items.key.json",
    "requests": "out/private/encode_bloom.key.json --out requests.csv",
    "party init": "north",
}
"""What a command needs at least."""
_PARSER_WORDS = {
    "Input should be a valid integer, unable to parse string as an integer": "give a whole number",
    "Input should be a valid integer, got a number with a fractional part": "give a whole number",
    "Input should be a valid number, unable to parse string as a number": "give a number",
    "Input should be greater than or equal to": "give at least",
    "Input should be less than or equal to": "give at most",
    "Input should be greater than": "give more than",
    "Input should be less than": "give less than",
    "Value error, ": "",
}
_OTHER_COMMANDS = {
    **dict.fromkeys(("anonymize", "anonymise", "protect", "release", "publish", "report"), "run"),
    **dict.fromkeys(("new", "create", "start", "draft", "policy"), "init"),
    **dict.fromkeys(("check", "validate"), "verify"),
    **dict.fromkeys(("risk", "risks"), "measure"),
    "version": "--version",
    "help": "--help",
}
"""What is typed for a command out of habit, and the command."""


def list_row_notes(result: Audit) -> list[str]:
    """What the custodian should know if a person seems to have several rows."""
    from sfumato.workflow.drafts.draft_notes import note_points, note_several_rows
    from sfumato.workflow.drafts.event_columns import note_events

    points = list(note_points(proposal.column for proposal in result.proposals))
    return [*note_several_rows(result.proposals), *(points or note_events(result.source, result.proposals))]


def print_audit(result: Audit, pairs: int, roles: bool = False) -> None:
    """Print what is at risk."""
    sizes = ((result.rows, "row"), (result.columns, "column"))
    rows, columns = (f"{count:,} {word}{'s' * (count != 1)}" for count, word in sizes)
    _print_things(f"{result.source}: {rows}, {columns}", "")
    if roles:
        grid = _make_grid("column", "proposed role", "why", title="Proposed roles (you decide)")
        for proposal in result.proposals:
            grid.add_row(_escape_cell(proposal.column), proposal.role.value, _escape_cell(proposal.reason))
        _print_things(grid, "")
    for sentence in result.list_sentences():
        _print_things(sentence)
    for note in list_row_notes(result):
        _print_things(f"Note: {note}")
    if result.pairs:
        grid = _make_grid("two columns", "people singled out", title="\nThe riskiest pairs")
        for pair in result.pairs[:pairs]:
            grid.add_row(_escape_cell(" + ".join(pair.columns)), f"{pair.unique_share:.1%}")
        _print_things(grid)


_SIGNS = {"at_least": "≥", "at_most": "≤", "below": "<", "exactly": "="}


def print_run(finished_run: Run) -> None:
    """Print what a run did."""
    body = finished_run.record
    grid = _make_grid("claim", "promised", "measured", "", title="\nClaims, measured again on the written file")
    for finding in finished_run.findings:
        sign = _SIGNS[finding.bound]
        grid.add_row(
            _escape_cell(finding.title()),
            f"{sign} {format_bound(finding.bound, finding.threshold)}",
            "–" if finding.measured is None else format_measured(finding.bound, finding.measured, finding.threshold),
            "✓" if finding.holds else "✗",
        )
    _print_things(grid)
    if body["levels"]:
        grid = _make_grid("column", "level", "of", title="\nLevels chosen")
        for name, level in body["levels"].items():
            grid.add_row(_escape_cell(name), str(level), str(body["heights"][name]))
        _print_things(grid)
    if finished_run.attacks:
        print_attacks(finished_run.attacks)
    figures = {**body["losses"], **body["utility"]}
    figure_texts = [_format_figure(name, figures[name]) for name in _SHOWN_LOSSES if name in figures]
    figure_texts += [_format_figure(name, figures[name]) for name in _SHOWN_IF_ANY if figures.get(name)]
    _print_things("", *([f"{', '.join(figure_texts).capitalize()}."] if figure_texts else []))
    if "suppressed_rows" in body["losses"] or not body["suppression"]["seen"]:
        _print_things(body["suppression"]["why"])
    _print_things("These figures are about the originals: they are for you, and not in the release.")
    for sentence in body["advice"]:
        _print_things(f"Advice: {sentence}")
    if sentence := describe_formulas(body):
        _print_things(sentence)
    if finished_run.published:
        _print_things(
            "",
            f"Release: {finished_run.out / 'release'}",
            f"Private: {finished_run.out / 'private'}",
            f"Signer:  {body['signer']}",
        )
    for sentence in finished_run.publication_notes:
        _print_things(f"Note: {sentence}.")
    _print_verdict(finished_run)
    for refusal in finished_run.refusals:
        _print_things(f"Refused: {str(refusal).removesuffix('.')}.")
    if not finished_run.published:
        _print_things(f"Nothing was released. The internal report is in {finished_run.out / 'refused'}.")
        if (finished_run.out / "release").is_dir():
            _print_things(f"An earlier release is still in {finished_run.out / 'release'}; this run did not change it.")


def _print_verdict(finished_run: Run) -> None:
    """Print the verdict on the whole release, its warnings, and what nobody checked."""
    verdict = finished_run.verdict
    _print_things("", f"Verdict: {verdict.headline}")
    _print_things(*(f"! {sentence}" for sentence in (*verdict.warnings, *verdict.alarms)))
    _print_things(*(f"? {sentence}" for sentence in verdict.unchecked))


def describe_formulas(body: Mapping[str, Any]) -> str:
    """One sentence about cells that a spreadsheet would evaluate; empty if there are none."""
    formulas = body.get("formulas", {})
    count, columns = formulas.get("cells", 0), formulas.get("columns", ())
    if not count:
        return ""
    cells = "1 cell looks" if count == 1 else f"{count:,} cells look"
    shown_names = [json.dumps(name, ensure_ascii=False) for name in columns[:12]]  # control characters stay visible
    columns_text = ", ".join(shown_names if len(columns) <= 12 else [*shown_names, "…"])
    if body["data"].get("escaped_formulas"):
        cure = "each is prefixed with an apostrophe."
    elif body["data"].get("format") in ("csv", "tsv", "long"):
        cure = "a spreadsheet would run them; set escape_formulas = true under [output]."
    elif body["data"].get("format") == "excel":
        cure = "the workbook stores them as text, so nothing runs."
    else:
        cure = (
            "this format keeps them as they are; write csv, tsv or long with escape_formulas = true for a spreadsheet."
        )
    return f"{cells} like a spreadsheet formula, in {columns_text}: {cure}"


def _format_figure(name: str, value: float) -> str:
    """A loss by name; a share as a percentage, so that nobody takes it for a count, and a count with all its digits."""
    from sfumato.losses import is_share

    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
    return f"{name.replace('_', ' ')} {f'{value:.1%}' if is_share(name) else number}"


_SHOWN_LOSSES = (
    *("loss", "suppressed_rows", "private_entries", "derived_entries", "answered_entries", "right_answers"),
    *("right_by_prior", "changes", "lost_rules", "ghost_rules"),
)
"""Losses shown on the terminal; the report has all of them."""
_SHOWN_IF_ANY = ("dropped_rows", "exposed_rules", "leftover_rules", "marginal_shift")
"""Losses shown where there are any: rows left out for missing cells, and what tells that a promise was not made."""


def print_attacks(attacks: Sequence[AttackResult]) -> None:
    """Print the outcome of each attack."""
    from sfumato.report.words.attack_gains import describe_attack
    from sfumato.report.words.attack_names import name_attacks
    from sfumato.report.words.wording import format_count

    heads = ("attack", "tried", "hit", "risk", "95 % interval", "by blind guessing", "in words")
    grid = _make_grid(*heads, title="\nAttacks")
    descriptions = [attack.describe() for attack, _ in attacks]
    names = name_attacks([(fields["attack"], {"parameters": fields}) for fields in descriptions])
    for name, (attack, outcome) in zip(names, attacks, strict=True):
        blind = f"{outcome.baseline / outcome.attempts:.4f}" if outcome.attempts else "–"
        interval = f"{outcome.low:.4f} to {outcome.high:.4f}"
        counts = (f"{outcome.attempts:,}", format_count(outcome.successes))
        tag = attack.model_dump()["attack"]
        description = describe_attack({"attack": tag, **outcome.as_json()})
        words = "; right for ".join(filter(None, (description.words, description.strangers)))
        grid.add_row(_escape_cell(name), *counts, f"{outcome.risk:.4f}", interval, blind, words)
    _print_things(grid)


def print_rows(rows: pl.DataFrame, most: int, out: Path | None) -> None:
    """Print the first rows of a result."""
    grid = _make_grid(*rows.columns)
    for row in rows.head(most).iter_rows():
        grid.add_row(*(_escape_cell(_format_mined_value(value)) for value in row))
    _print_things(grid)
    remaining_count = rows.height - most
    if remaining_count > 0:
        _print_things(
            f"… and {remaining_count:,} more" + ("" if out else " (--out FILE writes all of them, --json prints them)")
        )
    _print_things(f"{rows.height:,} found." + (f" Written to {out}." if out else ""))


def _format_mined_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        return "(missing)"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_grid(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table of texts, under a title that may be wider."""
    grid = _make_grid(*head)
    for row in rows:
        grid.add_row(*map(_escape_cell, row))
    _print_things("", title, grid)


def print_measures(model_values: dict[str, Any], risks: dict[str, Any]) -> None:
    """Print what a table achieves."""
    grid = _make_grid("model", "column", "achieved", title="What the table achieves")
    for model, value in model_values.items():
        column_pairs = value.items() if isinstance(value, dict) else [("", value)]
        for column, column_values in column_pairs:
            grid.add_row(
                _escape_cell(model),
                _escape_cell(column),
                _format_measure(column_values),
            )
    _print_things(grid)
    grid = _make_grid("adversary", "records at risk", "highest risk", "success rate", title="\nRisks")
    for name in ("prosecutor", "journalist", "marketer"):
        risk = risks.get(name)
        if risk:
            grid.add_row(name, *(f"{risk[key]:.4f}" for key in ("records_at_risk", "highest_risk", "success_rate")))
    _print_things(grid, f"Population: {risks['estimator']}")


def _format_measure(value: object) -> Any:
    """A count with all its digits, and any other number with six."""
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"
    return _escape_cell(value)


def print_comparison(comparison: Comparison) -> None:
    """Print two releases side by side."""
    _print_things(f"first:  {comparison.first}", f"second: {comparison.second}")
    grid = _make_grid("", "", "first", "second", "")
    last = ""
    for row in comparison.rows:
        cells = ["–" if c is None else f"{c:g}" if isinstance(c, float) else str(c) for c in (row.first, row.second)]
        grid.add_row(
            row.topic if row.topic != last else "",
            _escape_cell(row.name),
            *map(_escape_cell, cells),
            "≠" if row.differs else "",
        )
        last = row.topic
    _print_things(grid)
    if comparison.internal:
        _print_things("These figures are from the private records: they are for you, and not in the releases.")
    for name, verification in zip(("first", "second"), comparison.verifications, strict=True):
        if verification.for_publication is False:
            _print_things(f"! {name}: {NOT_FOR_PUBLICATION}")
        for problem in verification.problems:
            _print_things(f"{'?' if verification.unmeasured_claims else '✗'} {name}: {problem}")


NOT_FOR_PUBLICATION = (
    "NOT FOR PUBLICATION: random numbers came from a seed, and anyone who knows the seed can remove the noise"
)


def print_verification(verification: Verification) -> None:
    """Print the result of a verification; a release that must not be published says so first and last."""
    warning = [f"! {NOT_FOR_PUBLICATION}"] if verification.for_publication is False else []
    _print_things(*warning)
    if verification.engine != "memory":
        _print_things(f"Engine: {verification.engine}; the rows were counted in their file.")
    for problem in verification.problems:
        _print_things(f"{'?' if verification.unmeasured_claims else '✗'} {problem}")
    for finding in verification.findings:
        if finding.measured is None:
            _print_things(f"? {finding.title()}: only someone with the originals can check this")
        else:
            sign, bound = "✓" if finding.holds else "✗", _SIGNS[finding.bound]
            threshold_text = format_bound(finding.bound, finding.threshold)
            value_text = format_measured(finding.bound, finding.measured, finding.threshold)
            _print_things(f"{sign} {finding.title()}: promised {bound} {threshold_text}, measured {value_text}")
    if verification.input_shown:
        _print_things("✓ input: the release was made from this input")
    if verification.holds:
        signer_text = (
            "the key you gave"
            if verification.signer_known
            else f"{verification.signer} (pass --signer KEY to check who signed it)"
        )
        _print_things(f"The release is as certified, signed by {signer_text}.")
    elif verification.unmeasured_claims:
        _print_things("The release was not verified in time; nothing that was checked contradicts the certificate.")
    else:
        _print_things("The release is not as certified.")
    _print_things(*warning)
