# SPDX-License-Identifier: MIT
"""What the command line says to a person: tables and sentences on the terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from sfumato.cli.terminal import escape_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from sfumato.attack import Attack, Outcome
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.certificate import Verification
    from sfumato.workflow.compare import Comparison
    from sfumato.workflow.pipeline import Run


def _table(*columns: str, title: str | None = None) -> Any:
    from rich.table import Table as Grid

    grid = Grid(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        grid.add_column(_cell(column))
    return grid


def _show(*things: Any) -> None:
    """Print lines and grids; a line is one line, whatever name from outside stands in it."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 200)
    for thing in things:
        if isinstance(thing, str):
            console.print(escape_text(thing), markup=False, highlight=False, soft_wrap=True)
        else:
            console.print(thing)


def _cell(text: object) -> Any:
    """Text of the data: rich must not take it for markup, nor the terminal for a command."""
    from rich.text import Text

    return Text(escape_text(text))


def say_audit(found: Audit, pairs: int, roles: bool = False) -> None:
    """Tell what is at risk."""
    _show(f"{found.source}: {found.rows:,} rows, {found.columns} columns", "")
    if roles:
        grid = _table("column", "proposed role", "why", title="Proposed roles (nothing is decided: you say)")
        for one in found.proposals:
            grid.add_row(_cell(one.column), one.role.value, _cell(one.reason))
        _show(grid, "")
    for sentence in found.sentences():
        _show(sentence)
    if found.pairs:
        grid = _table("two columns", "people singled out", title="\nThe riskiest pairs")
        for pair in found.pairs[:pairs]:
            grid.add_row(_cell(" + ".join(pair.columns)), f"{pair.unique_share:.1%}")
        _show(grid)


_SIGNS = {"at_least": "≥", "at_most": "≤", "below": "<", "exactly": "="}


def say_run(done: Run) -> None:
    """Tell what a run did."""
    body = done.record
    grid = _table("claim", "promised", "measured", "", title="\nClaims, measured again on the written file")
    for found in done.findings:
        sign = _SIGNS[found.bound]
        grid.add_row(
            _cell(found.property), f"{sign} {found.threshold:g}", f"{found.measured:g}", "✓" if found.holds else "✗"
        )
    _show(grid)
    if body["levels"]:
        grid = _table("column", "level", "of", title="\nLevels chosen")
        for name, level in body["levels"].items():
            grid.add_row(_cell(name), str(level), str(body["heights"][name]))
        _show(grid)
    if done.attacks:
        say_attacks(done.attacks)
    told = {**body["losses"], **body["utility"]}
    shown = [f"{name.replace('_', ' ')} {told[name]:.4g}" for name in _TOLD if name in told]
    shown += [f"{name.replace('_', ' ')} {told[name]:.4g}" for name in _TOLD_IF_ANY if told.get(name)]
    _show("", *([f"{', '.join(shown).capitalize()}."] if shown else []))
    if "suppressed_rows" in body["losses"]:
        _show(body["suppression"]["why"])
    _show("These figures count the originals: they are for you, and not in the release.")
    if sentence := tell_formulas(body):
        _show(sentence)
    if done.published:
        _show("", f"Release: {done.out / 'release'}", f"Private: {done.out / 'private'}", f"Signer:  {body['signer']}")
    for sentence in done.kept:
        _show(f"Note: {sentence}.")
    for refusal in done.refusals:
        _show(f"Refused by the gate: {refusal}.")
    if not done.published:
        _show(f"Nothing was released. The internal report is in {done.out / 'refused'}.")
        if (done.out / "release").is_dir():
            _show(f"An earlier release still lies in {done.out / 'release'}; this run did not touch it.")


def tell_formulas(body: Mapping[str, Any]) -> str:
    """One sentence about cells that a spreadsheet would calculate; none if there are none."""
    formulas = body.get("formulas", {})
    count, columns = formulas.get("cells", 0), formulas.get("columns", ())
    if not count:
        return ""
    cells = "1 cell looks" if count == 1 else f"{count:,} cells look"
    named = [json.dumps(name, ensure_ascii=False) for name in columns[:12]]  # control characters stay visible
    where = ", ".join(named if len(columns) <= 12 else [*named, "…"])
    if body["data"].get("escaped_formulas"):
        cure = "each has an apostrophe in front."
    elif body["data"].get("format") in ("csv", "tsv", "long"):
        cure = "a spreadsheet would run them; set escape_formulas = true under [output]."
    else:
        cure = (
            "this format keeps them as they are; write csv, tsv or long with escape_formulas = true for a spreadsheet."
        )
    return f"{cells} like a spreadsheet formula, in {where}: {cure}"


_TOLD = ("loss", "suppressed_rows", "private_entries", "derived_entries", "changes", "lost_rules", "ghost_rules")
"""Losses that are worth a word on the terminal; the report has all of them."""
_TOLD_IF_ANY = ("exposed_rules", "marginal_shift")
"""Losses that mean a promise could not be made."""


def say_attacks(attacks: Sequence[tuple[Attack, Outcome]]) -> None:
    """Tell how far each attack got."""
    grid = _table("attack", "tried", "hit", "risk", "95 % interval", "by blind guessing", title="\nAttacks")
    for attack, outcome in attacks:
        blind = f"{outcome.baseline / outcome.attempts:.4f}" if outcome.attempts else "–"
        interval = f"{outcome.low:.4f} to {outcome.high:.4f}"
        counts = (f"{outcome.attempts:,}", f"{outcome.successes:,}")
        grid.add_row(attack.model_dump()["attack"], *counts, f"{outcome.risk:.4f}", interval, blind)
    _show(grid)


def say_rows(found: pl.DataFrame, most: int, out: Path | None) -> None:
    """The first rows of what was mined."""
    grid = _table(*found.columns)
    for row in found.head(most).iter_rows():
        grid.add_row(*(_cell(_mined(value)) for value in row))
    _show(grid)
    left = found.height - most
    if left > 0:
        _show(f"… and {left:,} more" + ("" if out else " (--out FILE writes all of them, --json prints them)"))
    _show(f"{found.height:,} found." + (f" Written to {out}." if out else ""))


def _mined(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        return "(missing)"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def say_measures(achieved: dict[str, Any], risks: dict[str, Any]) -> None:
    """Tell what a table achieves."""
    grid = _table("model", "column", "achieved", title="What the table achieves as it stands")
    for model, value in achieved.items():
        each = value.items() if isinstance(value, dict) else [("", value)]
        for column, found in each:
            grid.add_row(_cell(model), _cell(column), f"{found:g}" if isinstance(found, (int, float)) else _cell(found))
    _show(grid)
    grid = _table("adversary", "records at risk", "highest risk", "success rate", title="\nRisks")
    for name in ("prosecutor", "journalist", "marketer"):
        one = risks.get(name)
        if one:
            grid.add_row(name, *(f"{one[key]:.4f}" for key in ("records_at_risk", "highest_risk", "success_rate")))
    _show(grid, f"Population: {risks['estimator']}")


def say_comparison(found: Comparison) -> None:
    """Put two releases side by side."""
    _show(f"first:  {found.first}", f"second: {found.second}")
    grid = _table("", "", "first", "second", "")
    last = ""
    for row in found.rows:
        cells = ["–" if c is None else f"{c:g}" if isinstance(c, float) else str(c) for c in (row.first, row.second)]
        grid.add_row(
            row.about if row.about != last else "", _cell(row.name), *map(_cell, cells), "≠" if row.differs else ""
        )
        last = row.about
    _show(grid)
    if found.internal:
        _show("These figures are from the private records: they are for you, and not in the releases.")
    for name, checked in zip(("first", "second"), found.verified, strict=True):
        if checked.for_publication is False:
            _show(f"! {name}: {NOT_FOR_PUBLICATION}")
        for problem in checked.problems:
            _show(f"✗ {name}: {problem}")


NOT_FOR_PUBLICATION = "NOT FOR PUBLICATION: chance was seeded, and whoever knows the seed can take it out again"


def say_verification(checked: Verification) -> None:
    """Tell what an auditor found; a release that must not be published says so first and last."""
    warning = [f"! {NOT_FOR_PUBLICATION}"] if checked.for_publication is False else []
    _show(*warning)
    for problem in checked.problems:
        _show(f"✗ {problem}")
    for found in checked.findings:
        if found.measured is None:
            _show(f"? {found.property}: only someone with the originals can check this")
        else:
            sign, bound = "✓" if found.holds else "✗", _SIGNS[found.bound]
            _show(f"{sign} {found.property}: promised {bound} {found.threshold:g}, measured {found.measured:g}")
    if checked.input_shown:
        _show("✓ input: the release was made from this input")
    if checked.holds:
        known = "the key you named" if checked.signer_known else f"{checked.signer} (name the key you trust: --signer)"
        _show(f"The release is as certified, signed by {known}.")
    else:
        _show("The release is not as certified.")
    _show(*warning)
