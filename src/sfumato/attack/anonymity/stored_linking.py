# SPDX-License-Identifier: MIT
"""Linking on a release that stays in its file: whom an adversary finds among rows that look alike.

If every column is published at one level of its hierarchy, each published cell covers its original, and suppressed rows
hold "*" in every quasi-identifying column: then the rows that fit a person are those of the person's own class, and the
outcome follows from the sizes of classes. If classes overlap, people are looked up among them. In memory one draw of
guesses is counted; here it is the number of right guesses to expect.
"""

from __future__ import annotations

from sfumato.attack.anonymity.linking import Linking
from sfumato.attack.anonymity.match_sizes import MatchSizes
from sfumato.attack.anonymity.stored_covering import CoveredPeople, has_overlapping_classes
from sfumato.attack.anonymity.strongest_links import choose_strongest
from sfumato.attack.attack import Outcome, round_expected
from sfumato.attack.stored_attack import StoredSetting, StoredTableAttack
from sfumato.engine.stored_rows import StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.release import Release


class StoredLinking(StoredTableAttack[Linking]):
    """Linking by all quasi-identifying columns."""

    runs = "linking"

    def explain_unstored(self, attack: Linking, setting: StoredSetting) -> str | None:
        """What of linking cannot be counted in the file; None if it can."""
        if not setting.quasi_identifying:
            return "linking without quasi-identifying columns"
        return "linking with knowledge or external" if attack.knowledge or attack.external else None

    def run(self, attack: Linking, release: Release, original: StoredTable, taken_rows: StoredRows | None) -> Outcome:
        """Link people to the rows of a release."""
        if has_overlapping_classes(release):
            return _link_covered(CoveredPeople.of(release, original, taken_rows))
        return _link_classes(release.data)


def _link_classes(table: StoredTable) -> Outcome:
    """Of each class, one person is found on average."""
    names = table.quasi_identifying
    class_sizes = table.rows.count_sizes(names)
    sizes = MatchSizes(len(table), class_sizes.unique, class_sizes.smallest)
    return Outcome(
        attempts=len(table),
        successes=int(class_sizes.classes.sum()),
        baseline=min(1, len(table)),
        known_columns=(names,),
        highest_risk=sizes.highest_risk,
        facts=sizes.state_facts(names),
    )


def _link_covered(covered_people: CoveredPeople) -> Outcome:
    """Guess a row for each person in the strongest of all ways."""
    names = covered_people.published_table.quasi_identifying
    strongest = choose_strongest(
        covered_people.release,
        covered_people.people,
        names,
        lambda links: float(covered_people.list_chances(links).sum()),
        covered_people.count_rows,
        forgets=covered_people.has_all_classes,
    )
    return Outcome(
        attempts=len(covered_people.people),
        successes=round(float(covered_people.list_chances(strongest.links).sum())),
        baseline=round_expected(len(covered_people.people) / len(covered_people.published_table))
        if len(covered_people.published_table)
        else 0,
        known_columns=(names,),
        highest_risk=strongest.sizes.highest_risk,
        facts=strongest.sizes.state_facts(names),
    )
