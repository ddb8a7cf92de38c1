# SPDX-License-Identifier: MIT
"""The command line: `sfumato run`, `verify`, `audit`, `measure`, `compare`, `mine`, `attack`, `decode` and others.

Every command has `--json` for scripts and exits with 0, with 1 if a claim or a gate failed, or with 2 on
bad input. A failure is one sentence, never a traceback.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from sfumato.cli.draft_commands import Shape, hierarchy_command, init_command
from sfumato.cli.messages import (
    print_audit,
    print_comparison,
    print_measures,
    print_run,
    print_verification,
    say_plainly,
)
from sfumato.cli.mining_commands import attack_command, decode_command, mine_command
from sfumato.cli.options import Json
from sfumato.cli.outsourced_mining import requests_command
from sfumato.cli.party_commands import party_app
from sfumato.cli.pattern_commands import channels_command, contains_command, support_command
from sfumato.cli.questions import split_at_commas, split_names
from sfumato.cli.region_command import region_command
from sfumato.cli.terminal import print_json, print_line, show_progress, spell_tabs
from sfumato.engine.engine_names import EngineName
from sfumato.interrupts import StopSignals

if TYPE_CHECKING:
    from sfumato.engine.choice import EngineChoice

FAILED, BAD_INPUT, FAULT, BY_SIGNAL = 1, 2, 70, 128

app = typer.Typer(
    name="sfumato",
    help="Anonymize data, attack the result, and sign a report of what held.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
DATA_HELP = "A file of any format, a sheet (people.xlsx?sheet=Patients), or a table (sqlite:///people.db?table=people)."
EngineOption = Annotated[
    EngineName,
    typer.Option(
        help="Where rows are counted: in memory, by duckdb for files larger than memory, by Spark, or by size."
    ),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The folder for release/ and private/.")]


def _print_version(wants_version: bool) -> None:
    if wants_version:
        from sfumato import __version__

        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def _set_up_root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Anonymize data, attack the result, and sign a report of what held."""


@app.command(name="demo")
def run_demo(out: Out = None, as_json: Json = False) -> None:
    """Run the main job on a built-in population of 20,000 invented people; no file needed."""
    from importlib.resources import files

    from sfumato.workflow.audit import audit
    from sfumato.workflow.pipeline import run
    from sfumato.workflow.policy import Policy
    from sfumato.workflow.verification import verify

    policy = Policy.parse(files("sfumato").joinpath("demo.toml").read_text(encoding="utf-8"), Path("demo.toml"))
    target = out or Path("sfumato-demo")
    with show_progress(as_json):
        findings = audit(policy.table())
        finished_run = run(policy, target)
        verification = verify(target, finished_run.certificate.body["signer"])
    if as_json:
        print_json(finished_run.as_json())
        return
    print_audit(findings, pairs=3)
    print_run(finished_run)
    print_verification(verification)
    print_line()
    print_line(f"Open the report: {finished_run.out / 'release' / 'report.html'}")


@app.command(name="audit")
def audit_command(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    separator: Annotated[str | None, typer.Option(help="One character between cells; detected if omitted.")] = None,
    missing_mark: Annotated[
        list[str] | None, typer.Option(help='A cell that means "missing"; may be repeated. Default: empty and ?.')
    ] = None,
    quasi: Annotated[
        list[str] | None,
        typer.Option(help="The quasi-identifying columns, comma-separated, instead of the proposed ones."),
    ] = None,
    header: Annotated[bool, typer.Option(help="Whether the first line names the columns.")] = True,
    encoding: Annotated[str, typer.Option(help="The text encoding.")] = "utf-8",
    decimal: Annotated[str, typer.Option(help="The sign before decimals in a text file: . or , (1,5).")] = ".",
    shape: Shape = None,
    id_column: Annotated[str, typer.Option("--id", help="Sequences: the id column of a long-form file.")] = "id",
    item: Annotated[str, typer.Option(help="Sequences: the item column of a long-form file.")] = "item",
    time: Annotated[str, typer.Option(help="Sequences: the time column of a long-form file.")] = "time",
    engine: EngineOption = "auto",
    as_json: Json = False,
) -> None:
    """Show what is at risk in a file: a table, sequences, or points of trajectories."""
    from sfumato.cli.sequence_audit import audit_sequence_file, write_next_command
    from sfumato.data.reading.table_reader import MISSING_MARKS, TextFormat
    from sfumato.engine.choice import choose_engine
    from sfumato.workflow.audit import audit

    columns = {"id": id_column, "item": item, "time": time}
    if audit_sequence_file(data, shape, separator, columns, as_json):
        return
    with show_progress(as_json):
        text = TextFormat(separator, tuple(missing_mark or MISSING_MARKS), header, encoding=encoding, decimal=decimal)
        names = _require_names(",".join(quasi), "--quasi") if quasi else None
        choice = choose_engine(data, engine)
        findings = audit(data, names, engine=choice.name, text=text)
    if as_json:
        print_json(findings.as_json())
    else:
        _print_choice(choice)
        print_audit(findings, pairs=5, roles=True)
        print_line()
        option_values = {"--separator": separator, "--encoding": encoding, "--decimal": decimal, "--shape": shape}
        print_line(
            f"Next, a policy to start from: {write_next_command(data, option_values, missing_mark or (), header)}"
        )


app.command(name="init")(init_command)
app.command(name="hierarchy")(hierarchy_command)


@app.command(name="measure")
def measure_command(
    data: Annotated[str, typer.Argument(help=DATA_HELP)],
    quasi: Annotated[str, typer.Option(help="The quasi-identifying columns, comma-separated.")],
    sensitive: Annotated[str, typer.Option(help="The sensitive columns, comma-separated.")] = "",
    separator: Annotated[str | None, typer.Option(help="One character between cells; detected if omitted.")] = None,
    missing: Annotated[
        str, typer.Option(help="What a missing value means: own_value, matches_any, never_matches or drop.")
    ] = "own_value",
    threshold: Annotated[float, typer.Option(help="The risk above which a record is at risk.")] = 0.2,
    original: Annotated[
        str | None, typer.Option(help="The table that DATA was made from: how far sensitive columns moved beside it.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="With --original: a class; how many bits --quasi tells about it, before and after."),
    ] = None,
    bins: Annotated[int, typer.Option(min=1, help="With --target: into how many parts numbers are cut.")] = 10,
    as_json: Json = False,
) -> None:
    """Measure a table under every anonymity model, and the risks of its records; or beside its originals."""
    from sfumato.cli.compared_measures import compare_with_originals, print_compared
    from sfumato.data.roles.role import Role
    from sfumato.errors import PolicyError, quote_names
    from sfumato.measure import anonymity, risk
    from sfumato.table import Table

    if original is None and target is not None:
        raise PolicyError("--target compares with the table that DATA was made from; name it with --original FILE")
    if original is not None and target is None and not split_names(sensitive):
        raise PolicyError("--original compares columns of --sensitive, and --target; name at least one")
    with show_progress(as_json):
        quasi_names, sensitive_names = _require_names(quasi, "--quasi"), split_names(sensitive)
        if common_names := [name for name in sensitive_names if name in quasi_names]:
            raise PolicyError(
                f"{quote_names(common_names)} is both in --quasi and in --sensitive; a column has one role"
            )
        table = Table.read(data, separator=separator, missing=missing)
        roles: dict[str, str | Role] = dict.fromkeys(table.frame.columns, Role.INSENSITIVE)
        roles |= dict.fromkeys(sensitive_names, Role.SENSITIVE) | dict.fromkeys(quasi_names, Role.QUASI_IDENTIFYING)
        table = Table.of(table.frame, roles, missing=missing, source=table.source)
        model_values, risks = anonymity(table).to_dict(), risk(table, threshold).as_json()
        measures = {}
        if original is not None:
            truth = Table.read(original, separator=separator, missing=missing)
            measures = compare_with_originals(table, truth, quasi_names, sensitive_names, target, bins)
    if as_json:
        print_json({"anonymity": model_values, "risk": risks, **measures})
        return
    print_measures(model_values, risks)
    print_compared(measures)


def _print_choice(choice: EngineChoice) -> None:
    """Say which engine was used, unless it is the usual one for a table that fits."""
    if choice.name != "memory" or choice.is_fallback:
        print_line(choice.describe_choice())


def _require_names(names_text: str, option: str) -> tuple[str, ...]:
    from sfumato.errors import PolicyError

    names = split_names(names_text)
    if not names:
        raise PolicyError(f"{option} names no column; list some, as in {option} age,zip, or leave it out")
    if not all(split_at_commas(names_text)):
        raise PolicyError(f"{option} has nothing between two commas, or after the last; write {option} age,zip")
    return names


@app.command(name="run")
def run_command(
    policy: Annotated[Path, typer.Argument(help="A policy file (TOML).")],
    out: Out = None,
    engine: Annotated[
        EngineName | None, typer.Option(help="Where rows are counted, instead of the policy's `engine`.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Protect, write, verify, attack and measure; write a certificate and a report."""
    from sfumato.workflow.pipeline import run
    from sfumato.workflow.policy import Policy
    from sfumato.workflow.stored.stored_support import choose_run_engine

    with show_progress(as_json):
        rules = Policy.read(policy)
        choice = choose_run_engine(rules, engine)
        finished_run = run(rules, out, engine=choice.name)
    if as_json:
        print_json({**finished_run.as_json(), "engine": choice.name})
    else:
        _print_choice(choice)
        print_run(finished_run)
    if not finished_run.published:
        raise typer.Exit(FAILED)


@app.command(name="verify")
def verify_command(
    folder: Annotated[Path, typer.Argument(help="A release folder, or the folder it is in.")],
    signer: Annotated[str | None, typer.Option(help="The public key you trust: its text, or a file with it.")] = None,
    given: Annotated[str | None, typer.Option("--input", help="With --opening: the input file of the release.")] = None,
    opening: Annotated[
        Path | None, typer.Option(help="The custodian's input_opening.json, which opens the commitment to the input.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="How long measuring the claims may take.")] = 600.0,
    engine: EngineOption = "auto",
    as_json: Json = False,
) -> None:
    """Check a release from its files alone: signature, checksums, claims."""
    from sfumato.errors import PolicyError
    from sfumato.workflow.signing.signature import read_signer
    from sfumato.workflow.verification import show_input, verify

    if (given is None) != (opening is None):
        raise PolicyError(
            "--input and --opening go together: the input file, and the file that opens the commitment to it"
        )
    with show_progress(as_json):
        trusted_signer = read_signer(signer) if signer is not None else None
        if given is not None and opening is not None:
            verification = show_input(folder, given, opening, trusted_signer, seconds, engine=engine)
        else:
            verification = verify(folder, trusted_signer, seconds, engine=engine)
    if as_json:
        print_json(verification.as_json())
    else:
        print_verification(verification)
    if not verification.holds:
        raise typer.Exit(FAILED)


@app.command(name="compare")
def compare_command(
    first: Annotated[Path, typer.Argument(help="A release folder, or the folder it is in.")],
    second: Annotated[Path, typer.Argument(help="Another release folder.")],
    as_json: Json = False,
) -> None:
    """Compare two releases: claims, losses, levels, attacks."""
    from sfumato.workflow.compare import compare

    with show_progress(as_json):
        comparison = compare(first, second)
    if as_json:
        print_json(comparison.as_json())
    else:
        print_comparison(comparison)
    if not all(verification.holds for verification in comparison.verifications):
        raise typer.Exit(FAILED)


for name, command in (("mine", mine_command), ("attack", attack_command), ("decode", decode_command)):
    app.command(name=name)(command)
app.command(name="requests")(requests_command)
app.command(name="channels")(channels_command)
app.command(name="support")(support_command)
app.command(name="contains")(contains_command)
app.add_typer(party_app, name="party")
app.command(name="regions")(region_command)


@app.command(name="signer")
def print_signer(as_json: Json = False) -> None:
    """Print the public half of your signing key, for an auditor's `verify --signer`."""
    from sfumato.workflow.signing.signature import format_public_key, load_signing_key

    text = format_public_key(load_signing_key())
    if as_json:
        print_json({"signer": text})
    else:
        typer.echo(text)


def run_commands() -> None:
    """Run the command line; every failure becomes a sentence and an exit code."""
    wants_json = "--json" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks ✓ shows ? instead of failing
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # exit quietly, as other tools do, when the reader closes the pipe
    stop = StopSignals()
    stop.install()
    try:
        code = app(spell_tabs(sys.argv[1:]), standalone_mode=False)
        sys.stdout.flush()
        stop.finish()
    except SystemExit:
        raise
    except BaseException as error:  # a polars panic is not an Exception, and must not end in a traceback either
        stop.finish()
        if stop.number is None and not isinstance(error, KeyboardInterrupt):
            _explain_error(error, wants_json)
        code = BY_SIGNAL + signal.SIGINT
    if not stop.is_answered and (stop.number is not None or code == BY_SIGNAL + signal.SIGINT):
        report_stop(stop, wants_json)
    sys.exit(code if isinstance(code, int) else 0)


def report_stop(stop: StopSignals, wants_json: bool) -> NoReturn:
    """Report that a signal ended the command, and whether that was before or after publication."""
    number = stop.number or signal.SIGINT
    kind = {signal.SIGTERM: "Terminated", signal.SIGHUP: "HungUp"}.get(signal.Signals(number), "Interrupted")
    word = {"Terminated": "terminated", "HungUp": "hung up"}.get(kind, "interrupted")
    completions = stop.list_completions()
    message = f"{word}, but {'; '.join(completions)}" if completions else f"{word}; nothing was published"
    _exit_with_error(kind, message, BY_SIGNAL + number, wants_json)


def _explain_error(error: BaseException, wants_json: bool) -> NoReturn:
    from sfumato.errors import CertificateRefused, ClaimBroken, ImpossibleRelease, PartyError, SfumatoError

    if hasattr(error, "format_message"):  # typer's own message about a wrong command line
        if not error.format_message():  # the help was shown, since nothing was asked
            sys.exit(BAD_INPUT)
        hint = "" if wants_json else " (see --help)"
        _exit_with_error("UsageError", f"{say_plainly(error.format_message())}{hint}", BAD_INPUT, wants_json)
    if os.environ.get("SFUMATO_DEBUG"):
        raise error
    if isinstance(error, SfumatoError):
        is_failure = isinstance(error, (ClaimBroken, CertificateRefused, ImpossibleRelease, PartyError))
        _exit_with_error(type(error).__name__, str(error), FAILED if is_failure else BAD_INPUT, wants_json)
    if isinstance(error, MemoryError):
        _exit_with_error("MemoryError", "not enough memory; try fewer columns or rows", BAD_INPUT, wants_json)
    if isinstance(error, OSError) and error.filename is None and error.errno == errno.ENOSPC:
        _discard_output()
        _exit_with_error("OutputError", "the output could not be written: no space left", BAD_INPUT, wants_json=False)
    # Anything else is a bug. Its text may contain a value of the data, so it is not shown.
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    location = f"{Path(last.tb_frame.f_code.co_filename).name}, line {last.tb_lineno}" if last else "?"
    message = f"a fault in sfumato ({type(error).__name__} at {location}); set SFUMATO_DEBUG=1 to see the traceback"
    _exit_with_error("Fault", message, FAULT, wants_json)


def _discard_output() -> None:
    """Discard pending output: flushing it at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_with_error(kind: str, message: str, code: int, wants_json: bool) -> NoReturn:
    if wants_json:
        print_json({"error": kind, "message": message})
    else:
        print_line(f"sfumato: {message}", error=True)
    sys.exit(code)
