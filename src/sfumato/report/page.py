# SPDX-License-Identifier: MIT
"""Render the report as one HTML file that includes its style and pictures."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from sfumato.details import AnonymityDetails
from sfumato.errors import count_noun, join_names
from sfumato.report import content
from sfumato.report.compiled_page import CompiledPage
from sfumato.report.pictures import bar_pictures, distributions, rendering
from sfumato.report.pictures.lattice_picture import draw_lattice
from sfumato.report.run_account import ReportSection, RunAccount
from sfumato.report.sections import group_losses
from sfumato.report.words import attack_stories, findings, verdict_words, wording
from sfumato.table import Table

MOST_PICTURES = 30
"""How many columns are drawn, and listed before the rest is folded."""
STEP_FIGURES = ("loss", "precision")
"""Figures that are published in steps."""


def render_page(account: RunAccount) -> str:
    """The report as HTML, without scripts and without external resources."""
    package_files = files("sfumato.report")
    style = (
        render_colours() + package_files.joinpath("page.css").read_text(encoding="utf-8") + _mark_printed_pages(account)
    )
    return _load_template().render(style=Markup(style), **_collect_page_content(account)).lstrip()


@cache
def _load_template() -> Template:
    """The page as jinja2 compiles it, which takes longer than to fill it in."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: files("sfumato.report").joinpath(name).read_text(encoding="utf-8")),
        bytecode_cache=CompiledPage(),
    )
    environment.filters.update(
        number=wording.format_count,
        percent=wording.format_percent,
        short=wording.shorten_label,
        names=join_names,
        clean=wording.clean_label,
        spaced=wording.spell_name,
    )
    return environment.get_template("page.html.j2")


def _mark_printed_pages(account: RunAccount) -> str:
    """What each printed page says at its edges, so that no page of the internal report is published by mistake."""
    small = f'font:8pt system-ui,"Liberation Sans",sans-serif;color:{rendering.PALETTE["soft"][0]}'
    box = '@bottom-right{content:"page " counter(page) " of " counter(pages);' + small + "}"
    if account.internal:
        strong = f'font:bold 9pt system-ui,"Liberation Sans",sans-serif;color:{rendering.PALETTE["warn"][0]}'
        box += '@top-center{content:"Internal: not for release";' + strong + "}"
    return f"@page{{{box}}}\n"


def render_colours() -> str:
    """The palette as CSS variables, and the rules that apply them to pictures."""
    light = "".join(f"--{name}:{pair[0]};" for name, pair in rendering.PALETTE.items())
    dark = "".join(f"--{name}:{pair[1]};" for name, pair in rendering.PALETTE.items())
    swaps = "".join(
        f'.picture [{part}="{pair[0]}"]{{{part}:var(--{name})}}\n'
        for name, pair in rendering.PALETTE.items()
        for part in ("fill", "stroke")
    )
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{swaps}"


def _collect_page_content(account: RunAccount) -> dict[str, Any]:
    body, internal = account.certificate, account.internal
    return {
        "internal": internal,
        "title": wording.shorten_label(account.title, 120),
        "body": body,
        "verdict": verdict_words.describe_verdict(body),
        "tiles": content.list_tiles(account),
        "linking": _show_linking(account),
        "crowds": _show_crowds(account),
        "claims": findings.list_claims(body),
        "columns": content.list_column_rows(account),
        "roles": content.describe_roles(body),
        "first": MOST_PICTURES,
        "removed": wording.quote_first_names(body.get("removed_columns", ()), most=60),
        "attacks": findings.list_attacks(body, is_internal=internal),
        "losses": findings.list_losses(body),
        "in_steps": any(name in body["utility"] for name in STEP_FIGURES),
        "distributions": distributions.show_distributions(account, MOST_PICTURES),
        "groups": group_losses.show_groups(account) if internal else None,
        "gates": content.list_gates(body),
        "methods": content.list_parameters(body),
        "missing": wording.MISSING.get(body.get("missing", ""), "") if body["data"]["shape"] == "table" else "",
        "created": wording.format_moment(body["created"]),
        "size": content.describe_size(account),
        "things": content.name_things(account),
        "drawn": content.are_rows_drawn(account),
        "suppression": body["suppression"] if content.may_suppress_rows(body) else None,
        "advice": account.advice if internal else (),
        "reasons": account.reasons if internal else (),
        "lattice": _show_lattice(account) if internal else None,
        "sections": [_show_section(section) for section in account.sections],
        "private_facts": _list_private_facts(account) if internal else None,
    }


def _show_lattice(account: RunAccount) -> dict[str, Any] | None:
    """A small lattice as a picture and a table."""
    nodes = account.lattice
    if not nodes:
        return None
    fine = sum(node.will_do for node in nodes)
    rows = [
        (
            " ".join(map(str, node.levels)),
            wording.format_count(node.suppressed_count),
            f"{node.loss:.4f}",
            "✓" if node.will_do else "✗",
        )
        for node in nodes
    ]
    label = (
        f"{count_noun(len(nodes), 'combination')} of levels; {wording.format_count(fine)} of them satisfy the models "
        "within the limits."
    )
    return {"svg": Markup(draw_lattice(nodes)), "label": label, "rows": rows}


def _show_linking(account: RunAccount) -> dict[str, Any] | None:
    """The linking risk before and after."""
    attack, baseline = content.find_main_attack(account.certificate), account.original_linking
    if attack is None or baseline is None or content.are_rows_drawn(account):
        return None
    risk_text = wording.format_percent(baseline.risk)
    risk_after = wording.format_percent(attack["risk"])
    gates = {gate["gate"]: gate["limit"] for gate in account.certificate.get("gate", ())}
    limit = gates.get("max_linking_risk")
    bars = [
        bar_pictures.RiskBar("originals", baseline.risk, baseline.low, baseline.high, risk_text, "before"),
        bar_pictures.RiskBar("release", attack["risk"], attack["low"], attack["high"], risk_after, "after"),
    ]
    rows = [
        ("originals", risk_text, wording.format_span(baseline.low, baseline.high)),
        ("release", risk_after, wording.format_span(attack["low"], attack["high"])),
    ]
    return {
        "svg": Markup(bar_pictures.draw_risks(bars, limit)),
        "label": f"Share of people whom linking finds: {risk_text} in the originals, {risk_after} in the release.",
        "rows": rows,
        "limit": None if limit is None else wording.format_percent(limit),
        "log": bar_pictures.has_vanishing_bar(bars),
        "before": risk_text,
        "after": risk_after,
        "known": attack_stories.join_columns(attack_stories.find_known_columns(attack)[0]),
    }


def _show_section(section: ReportSection) -> dict[str, Any]:
    """A method's own section, with its pictures as markup."""
    figures = [{**vars(figure), "svg": Markup(figure.svg)} for figure in section.figures]
    return {**vars(section), "figures": figures}


def _show_crowds(account: RunAccount) -> dict[str, Any] | None:
    """The class sizes; for the custodian next to those of the originals."""
    if not account.sizes_after.height or content.are_rows_drawn(account):
        return None
    has_originals = bool(account.sizes_before.height)
    original, published_shares = (
        content.compute_crowd_shares(account.sizes_before),
        content.compute_crowd_shares(account.sizes_after),
    )
    bins = [name for name, _, _ in content.BINS]
    least = content.find_smallest_crowd(account.sizes_after)
    return {
        "svg": Markup(bar_pictures.draw_crowds(bins, original if has_originals else None, published_shares)),
        "label": "Share of people by the number of people with the same values.",
        "rows": [
            (name, wording.format_percent(was) if has_originals else None, wording.format_percent(published_share))
            for name, was, published_share in zip(bins, original, published_shares, strict=True)
        ],
        "least": least,
        "before": has_originals,
        "alone": wording.format_percent(content.compute_share_between(account.sizes_before, 1, 1)),
        "fewer": wording.format_percent(content.compute_share_between(account.sizes_before, 1, max(least - 1, 1))),
    }


def _list_incognito_facts(counts: pl.DataFrame | None) -> list[tuple[str, str]]:
    """What Incognito checked as printed, next to the search for minimal combinations."""
    if counts is None:
        return []
    checks = dict(counts.group_by("search").agg(pl.col("checked").sum()).iter_rows())
    words = (
        f"checked {wording.format_count(checks['incognito'])} combinations over all subsets of columns; the search "
        f"for minimal ones checks {wording.format_count(checks['minimal'])}"
    )
    return [("Incognito, as printed", words)]


def _list_private_facts(account: RunAccount) -> list[tuple[str, str]]:
    """Facts for the custodian: counts of the originals, the search, the running time."""
    details = account.details
    anonymity = details.get_family(AnonymityDetails) or AnonymityDetails()
    nodes, checked_count = anonymity.nodes, anonymity.checked_nodes
    row_noun = "People" if isinstance(account.original, Table) else type(account.original).__name__
    facts = [
        ("Source", wording.clean_label(account.source)),
        (f"{row_noun} in the originals", wording.format_count(len(account.original))),
        (
            f"{content.name_things(account).capitalize()} in the release",
            wording.format_count(content.count_things(account)),
        ),
        *_list_crowd_facts(account),
    ]
    blanked_columns = [difference for difference in account.differences.values() if difference.blanked]
    if blanked_columns:
        counts = (
            f"{join_names([wording.shorten_label(difference.column)])} {wording.format_count(difference.blanked)}"
            for difference in blanked_columns
        )
        facts.append(("Cells that became empty, by column", ", ".join(counts)))
    if nodes is not None and checked_count is not None:
        facts.append(
            (
                "Combinations of levels",
                f"{wording.format_count(nodes)}, of which {wording.format_count(checked_count)} were checked",
            )
        )
    facts += _list_incognito_facts(anonymity.node_counts)
    facts += _list_optimality_facts(account)
    seconds = [
        f"{wording.STEPS.get(step, wording.spell_name(step))} {took:.2f} s" for step, took in account.seconds.items()
    ]
    facts.append(("Time", ", ".join(seconds)))
    return facts


def _list_optimality_facts(account: RunAccount) -> list[tuple[str, str]]:
    """How good the choice of each method is known to be; a method that did not search for the best is not listed."""
    facts, steps = [], account.details.list_steps()
    for method, step in zip(account.certificate["methods"], steps, strict=False):
        optimality = step.find_optimality()
        if optimality is None:
            continue
        if optimality.is_proven:
            words = wording.describe_proof(str(method["method"]))
        elif optimality.bound is None:
            words = "not proven"
        else:
            bound, objective = (wording.format_count(number) for number in (optimality.bound, optimality.objective))
            words = f"not proven: costs {objective}; the lower bound is {bound}"
        facts.append(("Optimality" if len(steps) == 1 else f"Optimality of {method['method']}", words))
    return facts


def _list_crowd_facts(account: RunAccount) -> list[tuple[str, str]]:
    """Class sizes before and after, and how many people linking finds in the originals."""
    body, original_sizes = account.certificate, account.sizes_before
    if account.original_linking is None:
        return []
    width = ("Columns in the originals", wording.format_count(account.original.frame.width))
    if content.are_rows_drawn(account):
        return [width]
    matches = ("People whom linking finds in the originals", wording.format_count(account.original_linking.successes))
    if not account.sizes_after.height:
        return [width, matches]
    k = content.find_smallest_crowd(account.sizes_after)
    fewer = int(original_sizes.filter(pl.col("size") < k)["rows"].sum()) if original_sizes.height else 0
    return [
        width,
        ("Rows suppressed", wording.format_count(body["suppression"]["rows"])),
        ("Rows left out for missing values", wording.format_count(body["losses"].get("dropped_rows", 0))),
        (
            "Combinations of quasi-identifying values, before",
            wording.format_count(int(original_sizes["classes"].sum())),
        ),
        (
            "Combinations of quasi-identifying values, after",
            wording.format_count(int(account.sizes_after["classes"].sum())),
        ),
        (f"People in classes smaller than {k}, before", wording.format_count(fewer)),
        matches,
    ]
