# SPDX-License-Identifier: MIT
"""A policy file: what the data is, what each column means, how to protect it, and when to refuse.

TOML, checked by the same models that Python uses. An error names the line and the field, never a value.
Paths are relative to the policy file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import InitErrorDetails

from sfumato.attack.attack import Attack
from sfumato.baskets import BasketFormat
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.data.items.sequence_files import is_sequence_file
from sfumato.data.reading.file_limits import refuse_special
from sfumato.data.reading.source import locate_source
from sfumato.data.roles.role import Role
from sfumato.data.writing.table_writer import Format
from sfumato.description import Description
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.fields.tagged_field import declare_tagged
from sfumato.protect.method import KeyedMethod, Method
from sfumato.table import Table
from sfumato.workflow.policy_parts.policy_errors import (
    explain_toml_error,
    explain_unreadable_policy,
    explain_validation_error,
)
from sfumato.workflow.policy_parts.policy_sections import (
    AboutSection,
    DataSection,
    GateSection,
    HierarchyEntry,
    MeasureSection,
    OutputSection,
    RolesSection,
)
from sfumato.workflow.shapes.file_shapes import get_shape

DEMO = "demo"


_FORMATS = frozenset({*get_args(Format), *get_args(BasketFormat)})

AnyMethod: Any = declare_tagged("method")
AnyAttack: Any = declare_tagged("attack")


class Policy(Description):
    """A whole policy."""

    title: str = "Release"
    """The title of the report and the certificate; it is published."""
    data: DataSection
    """Where the data is and how to read it."""
    roles: RolesSection = RolesSection()
    """The role of every column. Required unless the data is `demo`, baskets or sequences."""
    hierarchies: Mapping[str, HierarchyEntry] = Field(default_factory=dict)
    """Column → a hierarchy file, or a description of how to build one."""
    protect: tuple[AnyMethod, ...] = Field(min_length=1)
    """Methods, in order, each at most once; methods that randomize columns may be repeated for different columns."""
    attack: tuple[AnyAttack, ...] = ()
    """Attacks to run on the release. Linking runs without being listed on a table whose rows belong to people and whose
    quasi-identifying columns are not coded."""
    gate: GateSection = GateSection()
    """When to refuse although every claim holds."""
    measure: MeasureSection = MeasureSection()
    """What is measured beyond the claims."""
    accept: Mapping[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)
    """Column → why it may be published although it looks as if it named people, or although many people are unique by
    it and it is marked insensitive. Without it such a release is refused. The reason is published."""
    about: AboutSection = AboutSection()
    """Purpose, recipient, and who decided."""
    output: OutputSection = OutputSection()
    """Where the release goes."""

    @field_validator("output", mode="before")
    @classmethod
    def _check_format_is_known(cls, output: Any, information: ValidationInfo) -> Any:
        """Of a format that there is not, propose those that the release can have; others are refused with it."""
        form = output.get("format") if isinstance(output, Mapping) else None
        methods = information.data.get("protect", ())
        if isinstance(form, str) and methods and form not in _FORMATS:
            formats = [name for name in get_shape(methods[-1].gives).formats if name in _FORMATS]
            context = {"expected": ", ".join(f"'{name}'" for name in formats)}
            problem = InitErrorDetails(type="literal_error", loc=("format",), input=form, ctx=context)
            raise ValidationError.from_exception_data(cls.__name__, [problem], hide_input=True)
        return output

    @model_validator(mode="after")
    def _check_methods_once(self) -> Policy:
        # These may be repeated with other parameters for other columns.
        tags = [method.method for method in self.protect if not method.by_chance]
        repeated_tags = sorted({tag for tag in tags if tags.count(tag) > 1})
        if repeated_tags:
            verb = "appears" if len(repeated_tags) == 1 else "appear"
            raise ValueError(
                f"{' and '.join(repeated_tags)} {verb} twice under [[protect]]; the second cannot undo or refine the "
                "first"
            )
        chance = [method for method in self.protect if method.by_chance]
        drawing_all = [method.method for method in chance if method.must_be_alone and method.shape == "table"]
        if len(chance) > 1 and drawing_all:
            raise ValueError(
                f"a full {drawing_all[0]} draws every column, so no other method can randomize one; draw only some "
                "columns (kind = partial), or remove the other method"
            )
        return self

    @model_validator(mode="after")
    def _check_gate_selects_no_draw(self) -> Policy:
        """A limit on what depends on randomized answers or noise would choose which of them are published."""
        random_columns = {name for method in self.protect if method.draws_by_law for name in method.list_law_columns()}
        limits = self.gate.model_dump(exclude_none=True, exclude_defaults=True)
        if random_columns.isdisjoint(self.roles.quasi_identifying):
            limits = {name: limit for name, limit in limits.items() if name in ("max_risk", "max_loss")}
        if random_columns and limits:
            raise ValueError(
                f"the gate limits {', '.join(limits)}, which depends on randomized answers or noise: publishing only "
                "draws that pass would break their epsilon or law; remove the limit, or take another method"
            )
        return self

    @model_validator(mode="after")
    def _check_codes_are_there(self) -> Policy:
        decoders = sorted(
            {attack.attack for attack in self.attack if attack.needs_codes and attack.shape == self.gives}
        )
        if decoders and not any(isinstance(method, KeyedMethod) for method in self.protect):
            raise ValueError(
                f"{', '.join(decoders)} finds items behind codes, and {self.protect[0].method} publishes items by "
                "their names; choose another, or remove it"
            )
        return self

    @model_validator(mode="after")
    def _check_shapes_fit(self) -> Policy:
        for method, next_method in pairwise(self.protect):
            if method.gives != next_method.shape:
                raise ValueError(
                    f"{next_method.method} takes {next_method.shape}, and {method.method} gives {method.gives}"
                )
        if self.shape != "table" and (self.roles.group_by_column() or self.hierarchies):
            raise ValueError(
                f"{self.protect[0].method} takes {self.shape}, which have no columns: remove [roles] and [hierarchies] "
                "or choose a method for tables"
            )
        dropped_columns = sorted(self.hierarchies.keys() & set(self.roles.identifying))
        if dropped_columns:
            raise ValueError(
                f"[hierarchies] names {quote_names(dropped_columns)}, which the release leaves out as identifying: "
                "remove it there, or give it another role"
            )
        if self.shape == "table" and self.data.format is not None:
            raise ValueError(
                f"{self.protect[0].method} takes a table, whose format is detected, so that this one would be ignored: "
                "remove format under [data], or choose a method for baskets or sequences"
            )
        if self.shape == "baskets" and "time" in self.data.model_fields_set:
            raise ValueError(
                f"{self.protect[0].method} takes baskets, whose items have no order, so that the time column would be "
                "ignored: remove time under [data], or choose a method for sequences"
            )
        if self.data.points is not None and self.shape != "sequences":
            raise ValueError(
                f"{self.protect[0].method} takes {self.shape}, and points become sequences: remove [data.points] or "
                "choose a method for sequences"
            )
        strange = sorted({attack.attack for attack in self.attack if attack.shape != self.gives})
        if strange:
            shape = "a table" if self.gives == "table" else self.gives
            raise ValueError(f"{', '.join(strange)} cannot attack {shape}; choose another, or remove it")
        unrun = sorted(set(self.gate.max_risk) - {attack.attack for attack in self.attack})
        if unrun:
            raise ValueError(f"the gate limits the risk of {', '.join(unrun)}, which is not listed under [[attack]]")
        if self.gives not in ("table", "sequences") and self.output.order != "as_read":
            raise ValueError(f"tables and sequences can be shuffled; {self.gives} keep their order: remove `order`")
        if self.output.format is not None:
            try:
                get_shape(self.gives).name_file(self.output.format)
            except PolicyError as error:
                raise ValueError(str(error)) from None
        return self

    @model_validator(mode="after")
    def _check_gate_can_open(self) -> Policy:
        """A limit on linking needs people who can be linked."""
        limit_names = [name for name in ("max_linking_risk", "max_record_risk") if getattr(self.gate, name) is not None]
        if not limit_names:
            return self
        reason = ""
        if self.gives != "table":
            reason = f"{self.gives} have no quasi-identifying columns"
        elif any(method.publishes_codes for method in self.protect):
            reason = "linking cannot read codes"
        elif self.roles.group_by_column() and not self.roles.quasi_identifying:
            reason = "no column is quasi_identifying"
        if reason:
            raise ValueError(
                f"{' and '.join(limit_names)} cannot be measured, because {reason}, and every release would be "
                "refused; list an attack that fits, and limit its risk under max_risk"
            )
        return self

    @property
    def shape(self) -> str:
        """The shape of the data that goes in."""
        return str(self.protect[0].shape)

    @property
    def gives(self) -> str:
        """The shape of the data that comes out."""
        return str(self.protect[-1].gives)

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        """Read a policy file; errors name the line and the field."""
        file = Path(path)
        try:
            refuse_special(file)
            text = file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise PolicyError(explain_unreadable_policy(error, file)) from None
        except UnicodeDecodeError:
            raise PolicyError(f"{file}: the policy is not UTF-8; save it as UTF-8") from None
        except ValueError:
            raise PolicyError("the policy's path is not a valid file name") from None
        return cls.parse(text, file)

    @classmethod
    def parse(cls, text: str, file: Path) -> Policy:
        """Parse the text of a policy; paths are relative to `file`, and errors name it."""
        if not text.strip("\ufeff \r\n\t"):
            raise PolicyError(f"{file}: the policy is empty; `sfumato init` writes one for a data file")
        try:
            content = tomllib.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise PolicyError(explain_toml_error(error, text, file)) from None
        try:
            policy = cls.model_validate(content)
        except ValidationError as error:
            raise PolicyError(explain_validation_error(error, text, file, cls)) from None
        return policy._locate_files(file.parent)

    def _locate_files(self, base: Path) -> Policy:
        """Resolve paths relative to the policy file's folder."""

        def locate(name: str) -> str:
            try:
                file_path = base / Path(name).expanduser()
            except RuntimeError:
                raise PolicyError("a path in the policy starts with the home folder of an unknown user") from None
            if "\0" in name:
                raise PolicyError("a path in the policy contains a NUL character")
            return str(file_path)

        hierarchies = {n: locate(h) if isinstance(h, str) else h for n, h in self.hierarchies.items()}
        attacks = tuple(_locate_paths(attack, locate) for attack in self.attack)
        methods = tuple(_locate_paths(method, locate) for method in self.protect)
        path = self.data.path if self.data.path == DEMO else locate_source(self.data.path, locate)
        points = None if self.data.points is None else self.data.points.locate(locate)
        data = self.data.model_copy(update={"path": path, "points": points})
        output = self.output.model_copy(update={"path": locate(self.output.path)})
        return self.model_copy(
            update={"data": data, "hierarchies": hierarchies, "protect": methods, "attack": attacks, "output": output}
        )

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods, in order."""
        return self.protect

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """The attacks, in order."""
        return self.attack

    def read_original(self) -> Any:
        """Read the data of the policy."""
        if self.shape == "table":
            return self.read_original_table()
        if self.data.path == DEMO:
            raise PolicyError(f"the built-in population is a table; name a file of {self.shape}")
        return get_shape(self.shape).read_input(self.data)

    def read_original_table(self) -> Table:
        """Read the table of the policy."""
        if self.data.path == DEMO:
            return self._read_demo()
        data = self.data
        if is_sequence_file(Path(data.path)):
            raise DataError(
                f"{data.path}: the file holds sequences (its lines end in -2), and {self.protect[0].method} takes a "
                "table; use anonymize_sequences or hide_sequences"
            )
        return Table.read(
            data.path,
            self.roles.group_by_column(),
            self.hierarchies,
            data.separator,
            data.missing_marks,
            data.missing,
            header=data.header,
            columns=data.columns,
            dates=data.dates,
            encoding=data.encoding,
            comment=data.comment,
            trim=data.trim,
            decimal=data.decimal,
        )

    def _read_demo(self) -> Table:
        from sfumato.data.generators.population import (
            build_population_hierarchies,
            generate_population,
            list_population_roles,
        )

        roles: Mapping[str, str | Role] = self.roles.group_by_column() or list_population_roles()
        demo_hierarchies = {
            name: Hierarchy.of(rows, f"built-in {name}") for name, rows in build_population_hierarchies().items()
        }
        return Table.of(
            generate_population(),
            roles,
            {**demo_hierarchies, **self.hierarchies},
            self.data.missing,
            source="built-in population",
        )


def _locate_paths(description: Any, locate: Any) -> Any:
    """The same with the files that it names, and those of its parts, as they are found from the policy's folder."""
    files = {name: getattr(description, name) for name in description.file_fields}
    located_fields: dict[str, Any] = {name: locate(file) for name, file in files.items() if isinstance(file, str)}
    for name, parts in description.list_parts().items():
        located_fields[name] = tuple(_locate_paths(part, locate) for part in parts)
    return description.model_copy(update=located_fields) if located_fields else description
