# SPDX-License-Identifier: MIT
"""The interface of a method: a frozen description of how to protect, the same in Python, a policy file and a form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from sfumato.arrays import Ints
from sfumato.change_kinds import ChangeKind
from sfumato.description import Description
from sfumato.key import Key
from sfumato.protect.claim_arguments import do_arguments_fit
from sfumato.protect.data_checks import check_data, check_draw
from sfumato.protect.footprint import Footprint, trace_all_columns
from sfumato.public.codes.filter_size import FilterSize
from sfumato.public.level_choice import LevelChoice
from sfumato.public.thresholds import CrowdThresholds, GapLimits, MiningThresholds
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.table import Table


class HeadlineCount(NamedTuple):
    """A count among the losses of a method."""

    losses: tuple[str, ...]
    """The names of the losses that add up to it."""
    caption: str
    """What is counted, as two words below the number."""
    note: str
    """More about it; `{name}` is the count of that loss."""


class Method(Description, ABC):
    """A protection method.

    A subclass has a tag (`method: Literal["…"]`), fields with docstrings, and a class docstring with the guarantee, the
    adversary, the limits and the paper.
    """

    shape: ClassVar[str] = "table"
    """The shape of the data it takes: `table`, `baskets` or `sequences`."""
    gives: ClassVar[str] = "table"
    """The shape of its release: usually that of the data, but baskets may be released as patterns only."""
    maturity: ClassVar[str] = "stable"
    """`stable`, or `for study` if the literature knows a break."""
    by_chance: ClassVar[bool] = False
    """Whether published values are random draws rather than the originals or something coarser."""
    draws_columns_together: ClassVar[bool] = False
    """Whether what is drawn for one column depends on what is drawn for another, as in noise that is shaped like the
    data or in records that are drawn whole. Otherwise columns are drawn independently, even if they hold the same."""
    utility: ClassVar[Literal["classes", "blanks", "chance", "codes", "baskets", "sequences"]] = "classes"
    """What an analyst loses by it; this determines which utility measures make sense."""
    section: ClassVar[str] = ""
    """Its own section of the custodian's report, if any, as `report/sections/chosen_sections.py` names it."""
    loss_meaning: ClassVar[str] = ""
    """What `loss` is a share of, as a sentence for the report; only if no kind of change that it states has words for
    its loss (`change_kinds.py`), and labels do not show it."""
    kept_meaning: ClassVar[tuple[str, str]] = ("kept", "by the method's own measure")
    """What the rest, 1 − `loss`, is a share of, as the two lines below a percentage: "of values not capped", "in …"."""
    headline_count: ClassVar[HeadlineCount | None] = None
    """The count that the custodian's report shows at its top, if it has one of its own."""
    optimum_of: ClassVar[str] = ""
    """Among what nothing costs less if it says that its choice is proven, as words after "nothing costs less"."""
    loses_detail: ClassVar[bool] = False
    """Whether `loss` is how much detail labels leave open, which other code measures again on the written file."""
    holds: ClassVar[tuple[str, str]] = ("item", "items")
    """What is counted in published baskets, sequences, patterns or rules, singular and plural: codes are not items."""
    truthful: ClassVar[bool] = True
    """Whether every published quasi-identifying cell is the original, a label that covers it, or suppressed.

    A mean or a cap is a number like any other: labels do not show the loss, so the method's own loss is reported.
    """
    iso_20889: ClassVar[str] = ""
    """The class of de-identification technique in ISO/IEC 20889."""
    threshold_fields: ClassVar[Mapping[str, str]] = {}
    """Property of a claim → the public field that is its threshold, so that anyone can compare the two; a share in the
    place of a count is not compared. Claims of privacy models are in `list_promises`."""
    least_threshold_fields: ClassVar[Mapping[str, str]] = {}
    """Property of a claim → the public field that its threshold is never below, because the method refuses it."""
    hides_parameters: ClassVar[bool] = False
    """Whether nobody can make it again from its public parameters: what it hides is one of the private ones."""
    file_claims: ClassVar[frozenset[str]] = frozenset()
    """The properties of its claims that anyone can check, besides those of privacy models and those that many methods
    make: their arguments are compared with its public parameters (`may_claim`)."""
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset()
    """What it may do to a column besides keeping or removing it, if `list_change_kinds` does not say."""
    hides_in_crowds: ClassVar[bool] = False
    """Whether people hide in equivalence classes while their sensitive cells are published unchanged.

    Measurements against the originals of such a release are about quasi-identifying values, which the adversary is
    assumed to know, and are published in coarse steps. If randomness, suppression, swapping, coding or hiding protects,
    they are about the secret itself and stay private.
    """

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Check the data before `protect` of any method, and label its rows afterwards."""
        super().__pydantic_init_subclass__(**arguments)
        if "protect" in vars(cls) and "protect" not in cls.__abstractmethods__:
            cls.protect = check_data(cls.protect)  # type: ignore[method-assign]  # wraps the method of each subclass once

    @classmethod
    def find_mark(cls, parameters: Mapping[str, Any]) -> str:
        """What a hidden item leaves in its place, or gets as an ending, with these public parameters; else empty."""
        return ""

    @classmethod
    def explain_left_out(cls, parameters: Mapping[str, Any]) -> str:
        """Which rows it may drop with these public parameters, as a sentence for the certificate; empty if none.

        It does not state whether rows were dropped.
        """
        return ""

    @classmethod
    def draws_rows(cls, parameters: Mapping[str, Any]) -> bool:
        """Whether rows are drawn from a model with these public parameters, so that none belongs to a person."""
        return False

    @classmethod
    def find_row_count(cls, parameters: Mapping[str, Any]) -> int | None:
        """How many rows it publishes with these public parameters; None if that depends on the data."""
        return None

    @classmethod
    def find_repair(cls, parameters: Mapping[str, Any]) -> str | None:
        """How published supports were repaired, with these public parameters: `none` if they were not, None if it
        publishes no supports.
        """
        return None

    @classmethod
    def find_thresholds(cls, parameters: Mapping[str, Any]) -> MiningThresholds | None:
        """The thresholds at which what it hides would be mined, from the public parameters; None if it hides no rules
        or items."""
        return None

    @classmethod
    def find_crowd_thresholds(cls, parameters: Mapping[str, Any]) -> CrowdThresholds | None:
        """How many people published patterns describe at least, with these parameters; None if it publishes none."""
        return None

    @classmethod
    def find_gap_limits(cls, parameters: Mapping[str, Any]) -> GapLimits:
        """Which matches count of the patterns that it hides, with these public parameters; by default all."""
        return GapLimits()

    def state_claims(self, table: Table) -> tuple[Claim, ...]:
        """The claims whose sentences follow from its public parameters and from the names and roles of the columns of a
        table, whose rows are not read: anyone can compare these sentences. Empty if every sentence depends on the data.
        """
        return ()

    @classmethod
    def list_promises(cls, parameters: Mapping[str, Any]) -> tuple[Claim, ...]:
        """The claims of privacy models that it makes with these public parameters."""
        return ()

    @classmethod
    def may_star_rows(cls, parameters: Mapping[str, Any]) -> bool:
        """Whether rows that are not suppressed may be "*" in every quasi-identifying column, with these public
        parameters: nobody can tell them from suppressed ones.
        """
        return False

    @classmethod
    def find_suppression_limit(cls, parameters: Mapping[str, Any]) -> float | None:
        """The largest share of rows that it may suppress, with these public parameters; None if it knows no such
        limit.
        """
        return None

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Column → what it does to it, with these public parameters; other columns stay. None if they do not say."""
        return None

    @classmethod
    def may_claim(cls, parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
        """Whether one of its `file_claims` may have these arguments, with these public parameters; by default if they
        repeat the parameters of their names."""
        return do_arguments_fit(cls, parameters, arguments)

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """Of each of these sets of properties, a release with these public parameters claims at least one; by default
        each of its `file_claims`."""
        return require_each(cls.file_claims)

    @property
    def publishes_codes(self) -> bool:
        """Whether codes stand in the place of values or items; a method with a key need not."""
        return self.utility == "codes"

    @property
    def filter_size(self) -> FilterSize | None:
        """The size of the Bloom filters that it publishes; everybody may know it."""
        return None

    @property
    def must_be_alone(self) -> bool:
        """Whether it must be the only method of a policy: its claims compare all that is published with the originals.

        Two methods on data without columns can be listed together only if neither is alone, and the later one says that
        it may follow the earlier one (`explain_misfit`).
        """
        return self.shape != "table"

    @property
    def level_choice(self) -> LevelChoice:
        """How it chooses the levels of a hierarchy among those that are safe; everybody may know it."""
        return LevelChoice.OTHER

    def footprint(self, data: Any) -> Footprint:
        """What it touches of a table, before it runs; by default everything, so no other method can be combined with
        it.
        """
        return trace_all_columns(data)

    def explain_misfit(self, earlier: Method) -> str | None:
        """Why it may not follow another method on data without columns, and what to do; None if it may.

        By default it may not: nothing says that it leaves alone what the earlier one promises.
        """
        return "nothing says that it keeps what the other promises; remove one of them"

    def list_alternatives(self, table: Table) -> Iterator[Alternative]:
        """Other ways to keep the same models that may lose less, the quickest first; by default none is known."""
        return iter(())

    def list_models(self) -> tuple[Any, ...]:
        """The privacy models (`PrivacyModel`) that every class must satisfy; by default there are none."""
        return ()

    def list_law_columns(self) -> tuple[str, ...]:
        """The columns, as its parameters name them, whose cells follow a law that the release publishes."""
        return ()

    def list_capped_columns(self) -> tuple[str, ...]:
        """The columns, as its parameters name them, whose extreme values become one: their classes are others than
        before."""
        return ()

    @property
    def draws_by_law(self) -> bool:
        """Whether that law is one of chance: a gate that selects among draws would break it."""
        return self.by_chance and bool(self.list_law_columns())

    def settle(self, original: Any, randomness: Randomness) -> Method:
        """The same method, with what it says about rows of the originals looked up there; an earlier method may drop
        rows.
        """
        return self

    def follow_rows(self, rows: Ints) -> Method:
        """The settled method for data whose rows are these original ones."""
        return self

    @abstractmethod
    def protect(self, data: Any, randomness: Randomness | None = None) -> Release:
        """Make a release without changing the data; raise `ImpossibleRelease` if there is none."""

    def refuse_undeclared(self, data: Any) -> None:
        """Stop if the release would disclose something about the data that the custodian has not declared public.

        A policy calls this before it publishes. In Python a release is made anyway, and marked.
        """

    def describe(self) -> dict[str, Any]:
        """The method and its parameters, for a published certificate; a method omits what must stay private."""
        return self.model_dump(mode="json")


def require_each(names: Iterable[str]) -> tuple[frozenset[str], ...]:
    """Each property is claimed, and no other will do."""
    return tuple(frozenset({name}) for name in sorted(names))


class Alternative(NamedTuple):
    """Something else to do with the same table, in words and as a method."""

    words: str
    method: Method
    table: Table


class KeyedMethod(Method):
    """A protection method with a secret: a key that is drawn first, stays private and decodes what is mined."""

    decodes: ClassVar[Literal["trees", "itemsets", "candidates"]]
    """What the key decodes: trees, itemsets with their supports, or itemsets some of which may not be frequent."""

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Check the data before a key is drawn for it, too."""
        super().__pydantic_init_subclass__(**arguments)
        if "new_key" in vars(cls) and "new_key" not in cls.__abstractmethods__:
            cls.new_key = check_draw(cls.new_key)  # type: ignore[method-assign]  # the same signature

    @property
    def must_be_alone(self) -> bool:
        """Codes stand for the originals, and nothing else could be checked or decoded."""
        return True

    @abstractmethod
    def new_key(self, data: Any, randomness: Randomness | None = None) -> Key:
        """Draw a secret for the data."""

    @abstractmethod
    def protect(  # type: ignore[override]  # the secret replaces the randomness: it was drawn with it
        self, data: Any, key: Key | None = None, randomness: Randomness | None = None
    ) -> Release:
        """Make a release with a key; the release does not contain it."""
