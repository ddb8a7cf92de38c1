# SPDX-License-Identifier: MIT
"""The page: what the report says, put into one HTML file with its style and pictures inside."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import polars as pl
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sfumato.report import content, findings, pictures, words
from sfumato.report.account import Account, Section
from sfumato.report.lattice import lattice

PICTURED = 30
"""How many columns are drawn, and listed before the table folds."""
_VALUES, _TOP = 24, 20


def page(account: Account) -> str:
    """The report as HTML. Nothing of it runs, and nothing is fetched."""
    here = files("sfumato.report")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        number=words.number, percent=words.percent, short=words.short, clean=words.clean, spaced=words.spaced
    )
    template = environment.from_string(here.joinpath("page.html.j2").read_text(encoding="utf-8"))
    style = colours() + here.joinpath("page.css").read_text(encoding="utf-8")
    return template.render(style=Markup(style), **_said(account)).lstrip()


def colours() -> str:
    """The palette as variables, and the rules that make every picture follow them."""
    light = "".join(f"--{name}:{pair[0]};" for name, pair in pictures.PALETTE.items())
    dark = "".join(f"--{name}:{pair[1]};" for name, pair in pictures.PALETTE.items())
    swaps = "".join(
        f'.picture [{part}="{pair[0]}"]{{{part}:var(--{name})}}\n'
        for name, pair in pictures.PALETTE.items()
        for part in ("fill", "stroke")
    )
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{swaps}"


def _said(account: Account) -> dict[str, Any]:
    body, internal = account.certificate, account.internal
    return {
        "internal": internal,
        "title": words.short(account.title, 120),
        "body": body,
        "verdict": content.verdict(body),
        "tiles": content.tiles(account),
        "linking": _linking(account),
        "crowds": _crowds(account),
        "claims": findings.claims(body),
        "columns": content.columns(account),
        "roles": content.roles(body),
        "first": PICTURED,
        "removed": words.listed(body.get("removed_columns", ()), most=60),
        "attacks": findings.attacks(body),
        "losses": findings.losses(body, internal),
        "distributions": _distributions(account),
        "gates": content.gates(body),
        "methods": content.parameters(body),
        "missing": words.MISSING.get(body.get("missing", ""), ""),
        "created": words.moment(body["created"]),
        "size": content.size(body["data"]),
        "things": content.things(account),
        "drawn": content.drawn_rows(account),
        "by_chance": bool(body.get("public")) or any(method["method"] in words.LOSS_OF for method in body["methods"]),
        "advice": account.advice if internal else (),
        "reasons": account.reasons if internal else (),
        "lattice": _lattice(account) if internal else None,
        "sections": [_section(one) for one in account.sections],
        "house": _house(account) if internal else None,
    }


def _lattice(account: Account) -> dict[str, Any] | None:
    """The picture of a small lattice, with its numbers."""
    nodes = account.lattice
    if not nodes:
        return None
    fine = sum(node.will_do for node in nodes)
    rows = [
        (
            " ".join(map(str, node.levels)),
            words.number(node.suppressed),
            f"{node.loss:.4f}",
            "✓" if node.will_do else "✗",
        )
        for node in nodes
    ]
    label = f"{words.number(len(nodes))} combinations of levels; {words.number(fine)} of them satisfy the models."
    return {"svg": Markup(lattice(nodes)), "label": label, "rows": rows}


def _linking(account: Account) -> dict[str, Any] | None:
    """The risk before and after."""
    after, before = content.main_attack(account.certificate), account.before
    if after is None or before is None or content.drawn_rows(account):
        return None
    said = words.percent(before.risk)
    risk_after = words.percent(after["risk"])
    gates = {gate["gate"]: gate["limit"] for gate in account.certificate.get("gate", ())}
    limit = gates.get("max_linking_risk")
    bars = [
        pictures.Bar("originals", before.risk, before.low, before.high, said, "before"),
        pictures.Bar("release", after["risk"], after["low"], after["high"], risk_after, "after"),
    ]
    rows = [
        ("originals", said, words.span(before.low, before.high)),
        ("release", risk_after, words.span(after["low"], after["high"])),
    ]
    return {
        "svg": Markup(pictures.risks(bars, limit)),
        "label": f"Share of people who can be linked: {said} in the originals, {risk_after} in the release.",
        "rows": rows,
        "limit": None if limit is None else words.percent(limit),
        "log": pictures.vanishing(bars),
        "before": said,
        "after": risk_after,
    }


def _section(section: Section) -> dict[str, Any]:
    """A method's own part, with its pictures as markup."""
    figures = [{**vars(figure), "svg": Markup(figure.svg)} for figure in section.figures]
    return {**vars(section), "figures": figures}


def _crowds(account: Account) -> dict[str, Any] | None:
    """How large the crowds are: beside those of the originals where they may be counted."""
    if not account.sizes_after.height or content.drawn_rows(account):
        return None
    told = bool(account.sizes_before.height)
    before, after = content.crowd_shares(account.sizes_before), content.crowd_shares(account.sizes_after)
    bins = [name for name, _, _ in content.BINS]
    least = content.smallest(account.sizes_after)
    return {
        "svg": Markup(pictures.crowds(bins, before if told else None, after)),
        "label": "Share of people by the number of people with the same values.",
        "rows": [
            (name, words.percent(was) if told else None, words.percent(now))
            for name, was, now in zip(bins, before, after, strict=True)
        ],
        "least": least,
        "before": told,
        "alone": words.percent(content.share_between(account.sizes_before, 1, 1)),
        "fewer": words.percent(content.share_between(account.sizes_before, 1, max(least - 1, 1))),
    }


def _distributions(account: Account) -> dict[str, Any]:
    """A small picture for each of the first columns that have something to compare."""
    names, internal = list(account.distributions), account.internal
    drawn, single = [], []
    for name in names[:PICTURED]:
        counts = account.distributions[name]
        told = counts.filter(pl.col("published") > 0)
        starred = told["value"].to_list() in ([], ["*"])
        if told.height <= 1 and (starred or counts.height <= 1 or not internal):
            single.append((name, told["value"][0] if told.height else None))
        else:
            drawn.append(_distribution(name, counts if internal else told, internal, content.things(account)))
    return {"drawn": drawn, "single": single, "left": len(names) - len(names[:PICTURED])}


def _distribution(name: str, counts: pl.DataFrame, internal: bool, things: str) -> dict[str, Any]:
    rows, rest = _shortened(counts)
    labels = [label for label, _, _ in rows]
    before = [count for _, count, _ in rows] if internal else None
    after = [count for _, _, count in rows]
    return {
        "name": name,
        "svg": Markup(pictures.distribution(labels, after, before)),
        "label": f"{things.capitalize()} by value of {words.short(name)}, {words.several(counts.height, 'value')}.",
        "rows": [(words.short(label, 60), was if internal else None, now) for label, was, now in rows],
        "rest": rest,
    }


def _shortened(counts: pl.DataFrame) -> tuple[list[tuple[str, int, int]], int]:
    """Numbers in their order, names by frequency; of very many, the most frequent and the rest as one."""
    ranked = counts.sort(["published", "original", "value"], descending=[True, True, False])
    rest = counts.height - _TOP if counts.height > _VALUES else 0
    shown = ranked.head(_TOP) if rest else ranked
    rows: Sequence[tuple[Any, ...]] = shown.select("value", "original", "published").rows()
    told = [(str(label), was, now) for label, was, now in rows]
    if words.ordered([label for label, _, _ in told]):
        told.sort(key=lambda row: words.natural(row[0]))
    else:
        told.sort(key=lambda row: words.UNTOLD.index(row[0]) + 1 if row[0] in words.UNTOLD else 0)
    if rest:
        tail = ranked.tail(-_TOP)
        told.append((f"{words.number(rest)} others", int(tail["original"].sum()), int(tail["published"].sum())))
    return told, rest


def _house(account: Account) -> list[tuple[str, str]]:
    """What stays: counts of the originals, how the search went, how long it took."""
    details, body = account.details, account.certificate
    nodes, checked = details.get("nodes"), details.get("checked")
    things = words.THINGS[body["data"]["shape"]][0].capitalize()
    said = [
        ("Source", words.clean(account.source)),
        (f"{things} of the originals", words.number(len(account.original))),
        (f"{content.things(account).capitalize()} in the release", words.number(body["data"]["rows"])),
        *_crowd_facts(account),
    ]
    if nodes is not None and checked is not None:
        said.append(("Combinations of levels", f"{words.number(nodes)}, of which {words.number(checked)} were checked"))
    if details.get("proven"):
        said.append(("Best possible", "proven by search"))
    elif details.get("bound") is not None:
        bound, found = words.number(details["bound"]), words.number(details["objective"])
        said.append(("Best possible", f"at least {bound}, found {found}"))
    seconds = [f"{words.STEPS.get(step, words.spaced(step))} {took:.2f} s" for step, took in account.seconds.items()]
    said.append(("Time", ", ".join(seconds)))
    return said


def _crowd_facts(account: Account) -> list[tuple[str, str]]:
    """How people stood before, exactly."""
    body, before = account.certificate, account.sizes_before
    if account.before is None:
        return []
    width = ("Columns of the originals", words.number(account.original.frame.width))
    if content.drawn_rows(account):
        return [width]
    k = max(content.smallest(account.sizes_after), 1)
    fewer = int(before.filter(pl.col("size") < k)["rows"].sum()) if before.height else 0
    return [
        width,
        ("Rows suppressed", words.number(body["suppression"]["rows"])),
        ("Rows left out for missing cells", words.number(body["losses"].get("dropped_rows", 0))),
        ("Combinations of quasi-identifying values, before", words.number(int(before["classes"].sum()))),
        ("Combinations of quasi-identifying values, after", words.number(int(account.sizes_after["classes"].sum()))),
        (f"People in crowds smaller than {k}, before", words.number(fewer)),
        ("People whom linking found in the originals", words.number(account.before.successes)),
    ]
