# SPDX-License-Identifier: MIT
"""What each option needs to have an effect, and the refusal of an option that has none.

An option states its needs in its type, next to its help text: `Annotated[int | None, typer.Option(…), SEQUENCES]`. With
several needs, it has an effect only if all are met; `ALWAYS` is met by everything. A command states which needs its
command line and its file meet, and `refuse_idle_options` refuses every option that was typed and would change nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, get_args

import typer
from typer.models import OptionInfo


class Need(NamedTuple):
    """Something that must be there before an option has an effect."""

    topic: str
    """What the option is about, as in "--max-gap is about sequences"."""
    cure: str = ""
    """What else to type, as in "add --sequences"; empty if the option can only be left out."""


class Situation(NamedTuple):
    """What a command does with what it was given."""

    words: str
    """As in "the file is read as baskets"; `{options}` stands for the options that are refused."""
    met_needs: frozenset[Need] = frozenset()
    form: str = ""
    """How the file is written, as in "the file is in long form", for options that depend on it."""

    def add(self, *needs: Need) -> Situation:
        """The same with further needs met."""
        return self._replace(met_needs=self.met_needs | {*needs})


ALWAYS = Need("everything")

# The data.
TABLES = Need("tables")
SEQUENCES = Need("sequences", "add --sequences if the file holds them")
BASKET_FILES = Need("files of baskets")
PUBLISHED_PATTERNS = Need("published patterns")
OWNED_ROWS = Need("long-form files of baskets or sequences, and points")
TIMED_ROWS = Need("long-form files of sequences, and points")

# How a file is written.
LONG_FORM = Need("long-form files")
COMMA_LINES = Need("comma-separated baskets")
SEPARATED_CELLS = Need("text files with cells")
TEXT_TABLES = Need("tables in text files")
MARKED_CELLS = Need("tables whose format has no missing cells of its own")
FILE_NEEDS = frozenset({LONG_FORM, COMMA_LINES, SEPARATED_CELLS})
"""What only a look into the file can tell."""

# What is mined.
PATTERNS = Need("patterns")
PATTERN_FILES = Need("files of baskets or sequences")
RULES = Need("rules", "add --rules")
BASKET_RULES = Need("baskets")
PATTERN_KINDS = Need("itemsets and subsequences", "remove --rules")
FILTERS = Need("files of Bloom filters")
PRIVATE_TABLES = Need("tables")
ESTIMATES = Need("release folders")
C45_TREES = Need("C4.5 trees", "add --learner c45 --target COLUMN")
NOISY_TREES = Need("trees on noisy releases", "name a release folder and --target COLUMN")

# What is decoded.
ITEMSETS = Need("itemsets")
DECODED_RULES = Need("rules", "give the original baskets")
ORIGINALS = Need("the originals", "name them after the key")

# Others.
COMPARISON = Need("a comparison with the original table", "name it with --original FILE")
CLASS_COLUMN = Need("the class column", "add --target COLUMN")
CROWDS = Need("methods that hide people among k others")
OPENED_INPUT = Need("the commitment to the input", "add --opening FILE")
INPUT_FILE = Need("the commitment to the input", "add --input FILE")
DENSE_CELLS = Need("dense cells", "add --dense SHARE")
POLYGONS = Need("polygons", "add --polygons FILE")
CENTRES = Need("cells around centres", "add --cells FILE")
THIS_SITE = Need("running this site")


def refuse_idle_options(context: typer.Context, situation: Situation) -> None:
    """Stop at options that were typed and would change nothing; say what they are about, and the cure."""
    from sfumato.errors import PolicyError

    unmet = {
        option: [need for need in needs if need not in situation.met_needs]
        for option, needs in list_given(context).items()
    }
    first = next((needs[0] for needs in unmet.values() if needs), None)
    if first is None:
        return
    options = [option for option, needs in unmet.items() if needs[:1] == [first]]
    words = situation.form if situation.form and first in FILE_NEEDS else situation.words
    verb, pronoun = ("is", "it") if len(options) == 1 else ("are", "them")
    raise PolicyError(
        f"{' and '.join(options)} {verb} about {first.topic}, and {words.replace('{options}', ', '.join(options))}; "
        f"{f'{first.cure}, or ' if first.cure else ''}leave {pronoun} out"
    )


def list_given(context: typer.Context) -> dict[str, tuple[Need, ...]]:
    """The options that were typed, and what each needs."""
    needs = read_needs(inspect.unwrap(context.command.callback))  # type: ignore[arg-type]
    return {
        _spell(context, parameter): tuple(need for need in needs[parameter.name] if need is not ALWAYS)
        for parameter in context.command.params
        if parameter.name in needs and _is_typed(context, parameter.name)
    }


def asks_about_file(context: typer.Context) -> bool:
    """Whether a typed option has an effect only on files that are written in a certain way."""
    return any(FILE_NEEDS & {*needs} for needs in list_given(context).values())


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _spell(context: typer.Context, parameter: Any) -> str:
    """The option as it is spelled; of a switch, as it was turned."""
    if parameter.secondary_opts and context.params.get(parameter.name) is False:
        return str(parameter.secondary_opts[0])
    return str(parameter.opts[0])


@lru_cache
def read_needs(command: Callable[..., Any]) -> dict[str, tuple[Need, ...]]:
    """The needs of each option of a command, by the name of its parameter."""
    parameters = inspect.signature(command, eval_str=True).parameters
    parts = {name: get_args(parameter.annotation) for name, parameter in parameters.items()}
    return {
        name: tuple(part for part in metadata if isinstance(part, Need))
        for name, metadata in parts.items()
        if any(isinstance(part, OptionInfo) for part in metadata)
    }
