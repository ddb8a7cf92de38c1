# SPDX-License-Identifier: MIT
"""Minimality: that a value had to be generalized says what would have been seen without it.

Against methods that do no more than needed, whose certificate says so: the published levels are safe, and one level
lower in any column was not. The adversary knows everybody's quasi-identifying values, so the classes that would have
stood there, and counts only those ways of handing out the published sensitive values under which each finer node
held an offending class. What leaks is that these classes offended: confidence rises above the share in the class.
Wong, Fu, Wang, Pei, *Minimality attack in privacy preserving data publishing* (2007).

Worked out for full-domain generalization without suppression, where "not chosen" does mean "refused"; for k, for
distinct l-diversity and for a bound on the share of a value. Within a published class every way of handing out its
values is taken as equally likely. Only the finer neighbours are used, not other nodes that would have cost less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.anonymity.homogeneity import Homogeneity, count_homogeneous_people
from sfumato.attack.anonymity.links import Links
from sfumato.attack.anonymity.value_assignments import (
    FEWEST_DRAWS,
    MinimalityUnsound,
    PublishedClass,
    RefusalRule,
    ValueAssignments,
    enumerate_assignments,
)
from sfumato.attack.attack import Attack, Outcome, count_strangers
from sfumato.attack.candidates import (
    CandidateSets,
    ValueTally,
    choose_sensitive_columns,
    look_up_candidates,
    trace_people,
)
from sfumato.attack.missing_readings import list_table_readings
from sfumato.data.hierarchies.hierarchy import Hierarchy, spell_cells
from sfumato.engine.classes import pack_row_keys
from sfumato.errors import DataError
from sfumato.public.class_limits import ClassLimits
from sfumato.public.level_choice import LevelChoice
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing, Table

_DIGITS = 9
_MOST_DRAWS = 100_000_000  # people × draws, all classes together
_MOST_NEIGHBOURS = 8
_Z = 3.2905267314919255  # 99.9 % of a normal distribution lie this many deviations around its mean
_SURE = 1 - 1e-12


class Minimality(Attack):
    """An insider asks why ages had to be generalized: because the two people of 47 would both have shown cancer.

    The adversary links as usual, and knows everybody's quasi-identifying values, the hierarchies, the models, and that
    every finer combination of levels was rejected. It guesses the value with the highest chance given all that. A
    success is a right guess about someone of whom the release says more in this way than the share of that value in the
    class does, or says it with certainty. Risk beyond the baseline is what minimality added. Where the inference is not
    sound (suppression, other models or methods) the adversary reads shares, and the facts say why. Wong et al. 2007.
    """

    story: ClassVar[str] = (
        "An insider knows everybody's {known}, asks why no more detail is published, and infers which {target} finer "
        "data would have shown."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("column", "k", "l", "share", "samples")
    private_fields: ClassVar[tuple[str, ...]] = ("values",)
    report_labels: ClassVar[Mapping[str, str]] = {"share": "Largest share of one value in a class"}
    column_fields: ClassVar[tuple[str, ...]] = ("column",)

    attack: Literal["minimality"] = "minimality"
    column: str | None = None
    """The sensitive column to learn; may be left out if there is one, or if the models name one."""
    k: int | None = Field(default=None, ge=1, strict=True)
    """The k of the release; with `l` and `share`, taken from the release's method if none of them is given."""
    l: int | None = Field(default=None, ge=1, strict=True)
    """The least number of different values in a class."""
    share: float | None = Field(default=None, gt=0.0, le=1.0)
    """The largest share of one value in a class; 1/l for the paper's simplified l-diversity."""
    values: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The values that `share` applies to; every value if not given."""
    samples: int = Field(default=2000, ge=100, strict=True)
    """How many ways are drawn in a class that has too many to count."""

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person; guess by the chances that minimality leaves."""
        published_table, column = release.data, self._choose_column(release)
        report_progress("minimality")
        people = trace_people(release, truth)
        tally = CandidateSets.of(_link_covered_people(published_table, people, column)).tally(
            published_table, people, column
        )
        belief = _PersonalBelief.believe_shares(tally)
        try:
            step = _find_leveling_step(release)
            view = _FinerNeighbours.of(step, truth, people, self._choose_rule(step, column, tally))
            belief, facts = _condition_on_refusals(
                belief, tally, view, self.samples, randomness or Randomness.seeded(0)
            )
        except MinimalityUnsound as problem:
            facts = {"inference": str(problem)}
        claim_mask = belief.raised_mask | (belief.chance >= 1)
        return Outcome(
            attempts=len(people),
            successes=int((claim_mask & (belief.guess == tally.truth)).sum()),
            baseline=int((claim_mask & (tally.sets.spread_to_people(tally.commonest, -2) == tally.truth)).sum()),
            control=None if control is None else count_homogeneous_people(published_table, control, (column,)),
            targets=(column,),
            known_columns=(published_table.quasi_identifying,),
            facts={
                **count_strangers(control),
                "raised": int(belief.raised_mask.sum()),
                "largest_gain": round(
                    float((belief.chance - belief.share)[belief.raised_mask].max(initial=0.0)), _DIGITS
                ),
                **facts,
            },
        )

    def _choose_column(self, release: Release) -> str:
        spoken: set[str] = {
            name for model in _list_models(_find_leveling_step(release)) for name in model.list_columns()
        }
        if self.column is None and len(spoken) == 1:
            return spoken.pop()
        name, *more = choose_sensitive_columns(release.data, self.column)
        if more:
            raise DataError(f"{release.data.source}: {len(more) + 1} columns are sensitive; name one as `column`")
        return name

    def _choose_rule(self, release: Release, column: str, tally: ValueTally) -> RefusalRule:
        """What made a class offend: as given, or as the release's method says."""
        k, l, share = self.k, self.l, self.share
        if k is l is share is None:
            k, l, share = _combine_limits(_list_models(release), column)
        protected_flags = [self.values is None or value in self.values for value in tally.values.to_list()]
        if not any(protected_flags):
            raise DataError(f'{release.data.source}: none of `values` occurs in "{column}"; spell them as in the data')
        return RefusalRule(k or 1, l or 1, 1.0 if share is None else share, np.asarray(protected_flags, dtype=np.bool_))


@dataclass(frozen=True)
class _PersonalBelief:
    """What the adversary believes of each person."""

    guess: Ints  # the likeliest value; −2 where no row fits
    chance: Floats  # its chance, given all that is known
    share: Floats  # its share among the rows found
    raised_mask: Flags  # where the chance is above the share, beyond doubt where it was sampled

    @classmethod
    def believe_shares(cls, tally: ValueTally) -> _PersonalBelief:
        """Take the shares in the release at face value."""
        share = tally.sets.spread_to_people(tally.most / tally.sizes)
        guess = tally.sets.spread_to_people(tally.commonest, -2)
        return cls(guess, share, share, np.zeros(len(guess), dtype=np.bool_))


@dataclass(frozen=True)
class _FinerNeighbours:
    """The finer neighbours: in which part of each of them every person would have stood."""

    rule: RefusalRule
    neighbours: tuple[Ints, ...]  # for each column one level lower: a number for each person's label there
    cell: Ints  # a number for each person's labels with all these columns one level lower

    @classmethod
    def of(cls, release: Release, truth: Table, people: Table, rule: RefusalRule) -> _FinerNeighbours:
        """Generalize everybody to one level below the published ones, column by column."""
        _refuse_unsound(release, people)
        names = release.data.quasi_identifying
        hierarchies = {name: truth.get_hierarchy(name) for name in names}
        levels = {name: _find_lowest_level(release.data.frame[name], hierarchies[name]) for name in names}
        raised_columns = [name for name in names if levels[name] > 0][:_MOST_NEIGHBOURS]
        if not raised_columns:
            raise MinimalityUnsound("none: nothing was generalized")
        lower = {
            n: _generalize_labels(people.frame[n], hierarchies[n], levels[n] - (n in raised_columns)) for n in names
        }
        frame = pl.DataFrame([labels.alias(name) for name, labels in lower.items()])
        return cls(
            rule, tuple(pack_row_keys(frame, [name]).keys for name in raised_columns), pack_row_keys(frame, names).keys
        )


def _list_models(step: Release) -> tuple[Any, ...]:
    """The privacy models of a step; none if its method is not known."""
    return () if step.method is None else tuple(step.method.list_models())


def _combine_limits(models: Sequence[Any], column: str) -> ClassLimits:
    """What models refuse together, if that is only about the size of classes and the values of one column."""
    if not models:
        raise MinimalityUnsound("none: the models are not known")
    limits = ClassLimits()
    for model in models:
        if model.class_limits is None or set(model.list_columns()) - {column}:
            raise MinimalityUnsound("none: a finer node may have been refused for a reason that is not worked out")
        limits = limits.combine(model.class_limits)
    return limits


def _find_leveling_step(release: Release) -> Release:
    """The last step whose method chooses levels, whatever other methods did; else the last that has models."""
    steps = [step for step in reversed(release.list_steps()) if step.method is not None]
    leveling_steps = [step for step in steps if step.method.level_choice != LevelChoice.OTHER]
    model_steps = [step for step in steps if step.method.list_models()]
    return next(iter((*leveling_steps, *model_steps)), release)


def _refuse_unsound(release: Release, people: Table) -> None:
    # Without a method, the adversary takes the release for what the attack is about.
    level_choice = LevelChoice.FINEST if release.method is None else release.method.level_choice
    if level_choice == LevelChoice.OTHER:
        raise MinimalityUnsound("none: the method is not known to choose the finest safe levels")
    if level_choice == LevelChoice.SUPPRESSING:
        raise MinimalityUnsound("none: rows may be suppressed, so a finer node may have been safe but cost more")
    optimality = release.details.find_optimality()
    # A method that is known says whether it finished; of an unknown one, the adversary assumes it.
    if not optimality.is_proven if optimality is not None else release.method is not None:
        raise MinimalityUnsound("none: the search was not finished, so a finer node may not have been tried")
    has_blanks = any(people.frame.select(release.data.quasi_identifying).null_count().row(0))
    if has_blanks and people.missing in (Missing.MATCHES_ANY, Missing.NEVER_MATCHES):
        raise MinimalityUnsound("none: missing cells that match anything or nothing make no classes to count")


def _link_covered_people(published_table: Table, people: Table, column: str) -> Links:
    """The rows that cover everybody, with the meaning of missing cells by which more of them are known alike."""
    readings = list_table_readings(published_table, people, published_table.quasi_identifying)
    return max(
        (look_up_candidates(table, people) for table in readings),
        key=lambda links: Homogeneity().count_learnt(links, published_table, people, (column,)),
    )


def _find_lowest_level(cells: pl.Series, hierarchy: Hierarchy) -> int:
    """The lowest level at which all the labels of a column stand."""
    labels = set(spell_cells(cells).drop_nulls().unique().to_list())
    levels = [number for number, level in enumerate(hierarchy.levels) if labels <= set(level.labels)]
    if not levels:
        raise MinimalityUnsound("none: a column is not published at one level of its hierarchy")
    return levels[0]


def _generalize_labels(cells: pl.Series, hierarchy: Hierarchy, level: int) -> pl.Series:
    """What original values look like at a level."""
    texts = spell_cells(cells)
    ancestors = {row[0]: row[level] for row in hierarchy.rows}
    labels = texts.replace_strict(list(ancestors), list(ancestors.values()), default=texts, return_dtype=pl.String)
    return labels.fill_null(hierarchy.levels[level].labels[0]) if hierarchy.swallows_missing(level) else labels


def _condition_on_refusals(
    belief: _PersonalBelief, tally: ValueTally, view: _FinerNeighbours, samples: int, randomness: Randomness
) -> tuple[_PersonalBelief, dict[str, Any]]:
    """Condition on every finer neighbour having been refused, and replace what was believed."""
    classes = _list_published_classes(tally, view)
    certain = np.zeros(len(view.neighbours), dtype=np.bool_)
    for published_class in classes:
        certain |= [
            bool((member @ published_class.sizes).min() < view.rule.smallest) for member in published_class.members
        ]
    open_ones = np.flatnonzero(~certain)
    if not len(open_ones):
        raise MinimalityUnsound("none: the sizes of its classes alone explain why each finer node was refused")
    draws = max(200, min(samples, _MOST_DRAWS // max(len(belief.guess), 1)))
    full = (1 << len(open_ones)) - 1
    worlds, covers, refusal_chances = [], 0, np.eye(1, full + 1)[0]  # nothing refused, for certain
    for published_class in classes:
        worlds.append(enumerate_assignments(published_class, view.rule, open_ones, draws, randomness.generator()))
        refusal_chances = _convolve_refusals(refusal_chances, worlds[-1].compute_refusal_chances(full))
        if refusal_chances[full] > _SURE:
            covers, refusal_chances = covers + 1, np.eye(1, full + 1)[0]
        if covers == 2:  # whichever class is looked at, the others explain everything
            raise MinimalityUnsound("none: many classes may each have been the reason")
    updated_belief, widest = _update_beliefs(belief, classes, worlds, full)
    sampled_count = sum(world.draws is not None for world in worlds)
    facts = {
        "classes_counted": len(worlds) - sampled_count,
        "classes_sampled": sampled_count,
        "widest_interval": round(widest, 6),
    }
    return updated_belief, {"inference": "used", **facts}


def _list_published_classes(tally: ValueTally, view: _FinerNeighbours) -> list[PublishedClass]:
    """The published classes with the people in them."""
    order = np.argsort(tally.sets.of_person, kind="stable")
    begin = np.searchsorted(tally.sets.of_person[order], np.arange(len(tally.sizes) + 1))
    if (np.diff(begin) != tally.sizes).any():
        raise MinimalityUnsound("none: the people do not fill the classes one to one")
    classes = []
    for number in range(len(tally.sizes)):
        people = order[begin[number] : begin[number + 1]]
        values = slice(tally.first[number], tally.first[number + 1])
        _, first_index, cell, sizes = np.unique(
            view.cell[people], return_index=True, return_inverse=True, return_counts=True
        )
        lower = [np.unique(labels[people[first_index]], return_inverse=True)[1] for labels in view.neighbours]
        members = tuple((groups == np.arange(groups.max() + 1)[:, None]).astype(np.int64) for groups in lower)
        classes.append(PublishedClass(people, cell, sizes, tally.codes[values], tally.counts[values], members))
    return classes


def _convolve_refusals(first: Floats, other: Floats) -> Floats:
    """How likely each set is of neighbours refused in one of two places or both."""
    first_masks, other_masks = np.flatnonzero(first), np.flatnonzero(other)
    joint_chances = np.outer(first[first_masks], other[other_masks]).ravel()
    return np.bincount(
        (first_masks[:, None] | other_masks).ravel(), weights=joint_chances, minlength=len(first)
    ).astype(np.float64)


def _update_beliefs(
    belief: _PersonalBelief, classes: list[PublishedClass], worlds: list[ValueAssignments], full: int
) -> tuple[_PersonalBelief, float]:
    """What is believed once every neighbour is known to have been refused somewhere, and the widest interval used."""
    later_chances = [np.eye(1, full + 1)[0]]
    for world in reversed(worlds):
        later_chances.append(_convolve_refusals(later_chances[-1], world.compute_refusal_chances(full)))
    if later_chances[-1][full] <= 0:
        raise MinimalityUnsound("none: no way was found in which every finer node would have been refused")
    guess, chance, share, raised_mask = (
        belief.guess.copy(),
        belief.chance.copy(),
        belief.share.copy(),
        belief.raised_mask.copy(),
    )
    earlier_chances, masks, widest = later_chances[0], np.arange(full + 1), 0.0
    for published_class, world, following_chances in zip(classes, worlds, later_chances[-2::-1], strict=True):
        other_chances = _convolve_refusals(earlier_chances, following_chances)
        earlier_chances = _convolve_refusals(earlier_chances, world.compute_refusal_chances(full))
        # How likely the other classes are to explain what this one leaves unexplained.
        explained_chances = np.asarray([other_chances[(masks | mask) == full].sum() for mask in world.masks.tolist()])
        chances, error = _compute_value_posterior(world, explained_chances)
        best = np.round(chances, _DIGITS).argmax(axis=1)
        top, doubt = chances[np.arange(len(best)), best], _Z * error[np.arange(len(best)), best]
        plain = published_class.counts[best] / published_class.counts.sum()
        more = np.round(top - doubt - plain, _DIGITS) > 0
        widest = max(widest, float(2 * doubt[more].max(initial=0.0)))
        person_indices, part = (
            published_class.people[more[published_class.cell]],
            published_class.cell[more[published_class.cell]],
        )
        guess[person_indices], chance[person_indices], share[person_indices] = (
            published_class.codes[best][part],
            np.round(top, 12)[part],
            plain[part],
        )
        raised_mask[person_indices] = True
    return _PersonalBelief(guess, chance, share, raised_mask), widest


def _compute_value_posterior(world: ValueAssignments, explained_chances: Floats) -> tuple[Floats, Floats]:
    """The chance of each value in each part, and its deviation: infinite where too few draws agree with the facts."""
    total, squared_chances = float(explained_chances @ world.weight), explained_chances**2
    chances = np.tensordot(explained_chances, world.mean, 1) / (total or 1.0)
    if world.draws is None:
        return chances, np.zeros_like(chances)
    if world.draws * total**2 < FEWEST_DRAWS * float(squared_chances @ world.weight) or total <= 0:
        return chances, np.full_like(chances, np.inf)
    mean, square = np.tensordot(squared_chances, world.mean, 1), np.tensordot(squared_chances, world.square, 1)
    spread = square - 2 * chances * mean + chances**2 * float(squared_chances @ world.weight)
    return chances, np.sqrt(np.maximum(spread, 0) / world.draws) / total
