# SPDX-License-Identifier: MIT
"""The sections of the report for particular kinds of methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sfumato.baskets import Baskets
from sfumato.details import SynthesisDetails
from sfumato.protect.method import Method
from sfumato.public.basket_distortion import ITEMS
from sfumato.published_law import PublishedLaw
from sfumato.release import Release
from sfumato.report.run_account import ReportSection
from sfumato.rules import Rules
from sfumato.runtime.lazy import find_tagged_class
from sfumato.sequences import Sequences
from sfumato.table import Table


def build_outgoing_sections(
    public: Mapping[str, PublishedLaw], published_data: Any, method_entries: Sequence[Mapping[str, Any]] = ()
) -> tuple[ReportSection, ...]:
    """What an analyst can estimate or read, and how sequences look, made from the release alone.

    `method_entries` are the methods of the certificate with their public parameters.
    """
    if isinstance(published_data, Sequences):
        from sfumato.report.sections.sequence_section import build_outgoing_sequence_section

        return (build_outgoing_sequence_section(published_data, _find_mark(method_entries)),)
    if isinstance(published_data, Rules):
        return _build_model_sections(published_data, method_entries)
    if isinstance(published_data, Baskets) and ITEMS in public:
        from sfumato.report.sections.basket_section import build_basket_estimates_section

        section = build_basket_estimates_section(public, published_data)
        return () if section is None else (section,)
    if not isinstance(published_data, Table) or not any(law.can_be_estimated for law in public.values()):
        return ()
    from sfumato.report.sections.noise_section import build_estimates_section

    return (build_estimates_section(public, published_data),)


def _find_mark(method_entries: Sequence[Mapping[str, Any]]) -> str:
    """The mark of hidden items, as the methods of a certificate state it; else empty."""
    kinds = [(find_tagged_class("method", str(entry["method"])), entry) for entry in method_entries]
    return next((mark for kind, entry in kinds if kind is not None and (mark := kind.find_mark(entry))), "")


def _build_model_sections(
    published_data: Any, method_entries: Sequence[Mapping[str, Any]]
) -> tuple[ReportSection, ...]:
    """Rules and classifiers, shown on both pages alike; of rules with what the repair means for their figures."""
    if not isinstance(published_data, Rules):
        return ()
    from sfumato.mine.patterns.classifier_tree import build_classifier_tree
    from sfumato.report.sections.model_section import build_model_section
    from sfumato.report.sections.rule_repair_section import describe_published_rules

    section = build_model_section(published_data)
    if build_classifier_tree(published_data) is not None:
        return (section,)
    kinds = [(find_tagged_class("method", str(entry["method"])), entry) for entry in method_entries]
    repair = next((kind.find_repair(entry) for kind, entry in kinds if kind is not None), None)
    return (replace(section, intro=describe_published_rules(published_data, repair)),)


def make_sections(
    methods: Sequence[Method], release: Release, original: Any, published_data: Any, utility: Mapping[str, float]
) -> tuple[ReportSection, ...]:
    """The sections of the methods of a release, each once, in the order of the methods; of hiding, one per method."""
    run = _RunData(release, original, published_data, utility)
    sections = [*_build_model_sections(published_data, [method.describe() for method in methods])]
    for name in dict.fromkeys(method.section for method in methods if method.section):
        section = _SECTIONS[name](run)
        sections += [] if section is None else [section] if isinstance(section, ReportSection) else section
    return tuple(sections)


class _RunData(NamedTuple):
    """What the section of a method may be made from."""

    release: Release
    original: Any
    published_data: Any
    utility: Mapping[str, float]


_Builder = Callable[[_RunData], ReportSection | Sequence[ReportSection] | None]
_SECTIONS: dict[str, _Builder] = {}


def _makes_section(name: str) -> Callable[[_Builder], _Builder]:
    """Register what draws the section of methods with this `section`; it imports what draws, which loads slowly."""

    def register(builder: _Builder) -> _Builder:
        _SECTIONS[name] = builder
        return builder

    return register


def list_section_names() -> tuple[str, ...]:
    """The sections that a method may name."""
    return tuple(_SECTIONS)


@_makes_section("entries")
def _make_entries(run: _RunData) -> ReportSection | None:
    from sfumato.report.sections.entry_section import build_entry_section

    return build_entry_section(run.release, run.original, run.published_data)


@_makes_section("hiding")
def _make_hiding(run: _RunData) -> Sequence[ReportSection]:
    from sfumato.report.sections.hiding_section import list_hiding_sections

    # Patterns mined from such baskets have their own section.
    return (
        list_hiding_sections(run.release, run.original, run.published_data, run.utility)
        if isinstance(run.published_data, Baskets)
        else ()
    )


@_makes_section("noise")
def _make_noise(run: _RunData) -> ReportSection | None:
    from sfumato.report.sections.noise_section import build_filtered_section

    if not any(law.can_be_estimated for law in run.release.public.values()):
        return None  # nothing was drawn, so nothing is estimated
    return build_filtered_section(run.release, run.original, run.published_data)


@_makes_section("synthesis")
def _make_synthesis(run: _RunData) -> ReportSection | None:
    from sfumato.report.sections.synthesis_section import build_synthesis_section

    synthesis = run.release.details.get_family(SynthesisDetails)
    if synthesis is None or synthesis.holdout is None or not len(synthesis.holdout):
        return None  # nobody was set aside
    return build_synthesis_section(run.release, run.original, run.published_data)


@_makes_section("codes")
def _make_codes(run: _RunData) -> ReportSection | None:
    from sfumato.report.sections.code_section import build_code_section

    return build_code_section(run.release, run.original)


@_makes_section("patterns")
def _make_patterns(run: _RunData) -> ReportSection | None:
    from sfumato.report.sections.hiding_section import build_pattern_section
    from sfumato.report.sections.rule_repair_section import build_rule_repair_section

    if isinstance(run.published_data, Rules):
        return build_rule_repair_section(run.release)
    return build_pattern_section(run.release, run.original, run.published_data)


@_makes_section("classifier")
def _make_classifier(run: _RunData) -> ReportSection | None:
    from sfumato.report.sections.rule_repair_section import build_withheld_splits_section

    return build_withheld_splits_section(run.release, run.original)


@_makes_section("sequences")
def _make_sequences(run: _RunData) -> ReportSection | None:
    from sfumato.report.sections.sequence_section import build_sequence_section

    return build_sequence_section(run.release, run.original, run.published_data, run.utility)
