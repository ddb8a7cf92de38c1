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


class OptionCondition(NamedTuple):
    """Something that must be there before an option has an effect."""

    topic: str
    """What the option is about, as in "--max-gap is about sequences"."""
    cure: str = ""
    """What else to type, as in "add --sequences"; empty if the option can only be left out."""


class CommandContext(NamedTuple):
    """What a command does with what it was given."""

    words: str
    """As in "the file is read as baskets"; `{options}` stands for the options that are refused."""
    met_needs: frozenset[OptionCondition] = frozenset()
    form: str = ""
    """How the file is written, as in "the file is in long form", for options that depend on it."""

    def add(self, *needs: OptionCondition) -> CommandContext:
        """The same with further needs met."""
        return self._replace(met_needs=self.met_needs | {*needs})


ALWAYS = OptionCondition("everything")

# The data.
TABLES = OptionCondition("tables")
SEQUENCES = OptionCondition("sequences", "add --sequences if the file holds them")
BASKET_FILES = OptionCondition("files of baskets")
PUBLISHED_PATTERNS = OptionCondition("published patterns")
OWNED_ROWS = OptionCondition("long-form files of baskets or sequences, and points")
TIMED_ROWS = OptionCondition("long-form files of sequences, and points")

# How a file is written.
LONG_FORM = OptionCondition("long-form files")
COMMA_LINES = OptionCondition("comma-separated baskets")
SEPARATED_CELLS = OptionCondition("text files with cells")
TEXT_TABLES = OptionCondition("tables in text files")
MARKED_CELLS = OptionCondition("tables whose format has no missing cells of its own")
FILE_NEEDS = frozenset({LONG_FORM, COMMA_LINES, SEPARATED_CELLS})
"""What only a look into the file can tell."""

# What is mined.
PATTERNS = OptionCondition("patterns")
PATTERN_FILES = OptionCondition("files of baskets or sequences")
RULES = OptionCondition("rules", "add --rules")
BASKET_RULES = OptionCondition("baskets")
PATTERN_KINDS = OptionCondition("itemsets and subsequences", "remove --rules")
FILTERS = OptionCondition("files of Bloom filters")
PRIVATE_TABLES = OptionCondition("tables")
ESTIMATES = OptionCondition("release folders")
C45_TREES = OptionCondition("C4.5 trees", "add --learner c45 --target COLUMN")
NOISY_TREES = OptionCondition("trees on noisy releases", "name a release folder and --target COLUMN")

# What is decoded.
ITEMSETS = OptionCondition("itemsets")
DECODED_RULES = OptionCondition("rules", "give the original baskets")
ORIGINALS = OptionCondition("the originals", "name them after the key")

# Others.
COMPARISON = OptionCondition("a comparison with the original table", "name it with --original FILE")
CLASS_COLUMN = OptionCondition("the class column", "add --target COLUMN")
CROWDS = OptionCondition("methods that hide people among k others")
OPENED_INPUT = OptionCondition("the commitment to the input", "add --opening FILE")
INPUT_FILE = OptionCondition("the commitment to the input", "add --input FILE")
DENSE_CELLS = OptionCondition("dense cells", "add --dense SHARE")
POLYGONS = OptionCondition("polygons", "add --polygons FILE")
CENTRES = OptionCondition("cells around centres", "add --cells FILE")
THIS_SITE = OptionCondition("running this site")


def refuse_idle_options(context: typer.Context, situation: CommandContext) -> None:
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


def list_given(context: typer.Context) -> dict[str, tuple[OptionCondition, ...]]:
    """The options that were typed, and what each needs."""
    needs = read_needs(inspect.unwrap(context.command.callback))  # type: ignore[arg-type]  # every command has a callback
    return {
        _spell_option(context, parameter): tuple(need for need in needs[parameter.name] if need is not ALWAYS)
        for parameter in context.command.params
        if parameter.name in needs and _is_typed(context, parameter.name)
    }


def asks_about_file(context: typer.Context) -> bool:
    """Whether a typed option has an effect only on files that are written in a certain way."""
    return any(FILE_NEEDS & {*needs} for needs in list_given(context).values())


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _spell_option(context: typer.Context, parameter: Any) -> str:
    """The option as it is spelled; of a switch, as it was turned."""
    if parameter.secondary_opts and context.params.get(parameter.name) is False:
        return str(parameter.secondary_opts[0])
    return str(parameter.opts[0])


@lru_cache
def read_needs(command: Callable[..., Any]) -> dict[str, tuple[OptionCondition, ...]]:
    """The needs of each option of a command, by the name of its parameter."""
    parameters = inspect.signature(command, eval_str=True).parameters
    parts = {name: get_args(parameter.annotation) for name, parameter in parameters.items()}
    return {
        name: tuple(part for part in metadata if isinstance(part, OptionCondition))
        for name, metadata in parts.items()
        if any(isinstance(part, OptionInfo) for part in metadata)
    }
