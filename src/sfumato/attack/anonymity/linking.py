# SPDX-License-Identifier: MIT
"""Linking: look someone up in the release by what is known about them from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from sfumato.attack.anonymity.external_people import look_up_external
from sfumato.attack.anonymity.match_sizes import MatchSizes
from sfumato.attack.anonymity.strongest_links import choose_strongest, draw_tried
from sfumato.attack.attack import Attack, Columns, Outcome, count_strangers, round_expected
from sfumato.attack.candidates import trace_people
from sfumato.engine.classes import count_class_sizes
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Missing, Table

LIST_OF_PEOPLE = "people"
"""Where a description says that people of a list are looked up."""


class Linking(Attack):
    """A neighbour knows that someone is in the table, and their quasi-identifying values (the prosecutor).

    The adversary takes the published rows that the person's values fall under, and guesses one of them. Rows starred
    all over are taken only when nothing else fits, since then the person must be among them. Where cells are noisy,
    randomized, averaged or moved, the likeliest rows by all that is published are taken, in a large release for some
    people who are drawn. The risk is the share of people whose own row is guessed on average, so it does not depend on
    random draws. Sweeney 2002; the prosecutor of El Emam and Dankar 2008.
    """

    story: ClassVar[str] = (
        "A neighbour knows that a person is in the table, and knows the person's {known}. The neighbour "
        "finds the published rows that match, and guesses one of them."
    )
    story_of_list: ClassVar[str] = (
        "Somebody has a list of people with their {known}, finds the published rows that match each of them, and "
        "guesses one of these rows. Everybody on the list who fits is assumed to be in the data: the risk is an "
        "upper bound."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("knowledge",)
    private_fields: ClassVar[tuple[str, ...]] = ("external",)
    gates: ClassVar[tuple[str, ...]] = ("max_linking_risk", "max_record_risk")
    file_fields: ClassVar[tuple[str, ...]] = ("external",)
    column_fields: ClassVar[tuple[str, ...]] = ("knowledge",)

    attack: Literal["linking"] = "linking"
    knowledge: Columns | None = None
    """The columns that the adversary knows; all quasi-identifying ones if not given."""
    external: str | None = None
    """A file of people to look up, with the known columns; everybody in the release if not given."""

    @classmethod
    def choose_story(cls, attack: Mapping[str, Any]) -> str:
        """People of a list need not be in the table."""
        return cls.story_of_list if attack.get(LIST_OF_PEOPLE) else cls.story

    def describe(self) -> dict[str, Any]:
        """The file stays private; that people are looked up who may not be in the data does not."""
        return {**super().describe(), **({} if self.external is None else {LIST_OF_PEOPLE: "of a list"})}

    def looks_up_everybody(self, quasi_identifying: Sequence[str]) -> bool:
        """Whether it is the plain attack: on everybody in the release, by all quasi-identifying columns."""
        return self.external is None and (self.knowledge is None or set(self.knowledge) == set(quasi_identifying))

    def run(
        self, release: Release, truth: Table, control: Table | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Look up every person; count how often the guessed row is theirs, on average over all guesses."""
        published_table: Table = release.data
        names = self.knowledge or published_table.quasi_identifying
        report_progress("linking")
        row_owners = trace_people(release, truth)
        if self.external is None:  # the prosecutor's targets are in the release: one person a published row
            tried_people = draw_tried(release, row_owners, names)
            targets, control = tried_people.people, tried_people.take_as_many(control)
            strongest = choose_strongest(
                release, targets, names, lambda links: links.count_expected_hits(tried_people.rows)
            )
            look_up, sizes = strongest.look_up, strongest.sizes
            hits = strongest.links.count_expected_hits(tried_people.rows)
        else:  # nobody says which rows are right, nor who is in the release
            targets = Table.read_like(self.external, truth)
            links, look_up, odds = look_up_external(release, row_owners, targets, names)
            hits, sizes = float(odds.sum()), MatchSizes.of(links.counts)
        return Outcome(
            attempts=len(targets),
            successes=round(hits),
            baseline=round_expected(len(targets) / len(published_table)) if len(published_table) else 0,
            control=None if control is None else int((look_up(control).counts == 1).sum()),
            known_columns=(tuple(names),),
            highest_risk=sizes.highest_risk,
            facts={**count_strangers(control), **sizes.state_facts(names)},
        )


def link_originals(original: Table) -> Outcome:
    """What linking would find if the originals were published, on average: of each class of equal rows, one person."""
    names = original.quasi_identifying
    if original.missing is not Missing.OWN_VALUE and any(original.frame.select(names).null_count().row(0)):
        return Linking().run(Release(original, None, (), {}), original)  # classes overlap
    class_sizes = count_class_sizes(original.frame, names)
    sizes = MatchSizes(len(original), int((class_sizes == 1).sum()), int(class_sizes.min(initial=len(original))))
    return Outcome(
        attempts=len(original),
        successes=len(class_sizes),
        baseline=min(1, len(original)),
        known_columns=(names,),
        highest_risk=sizes.highest_risk,
        facts=sizes.state_facts(names),
    )
