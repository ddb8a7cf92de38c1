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
from typing import Annotated, NoReturn

import typer

from sfumato.cli.audit_command import EngineOption, audit_command, print_choice
from sfumato.cli.draft_commands import hierarchy_command, init_command
from sfumato.cli.measure_command import measure_command
from sfumato.cli.messages import (
    print_audit,
    print_comparison,
    print_run,
    print_verification,
    say_plainly,
)
from sfumato.cli.mining_commands import attack_command, decode_command, mine_command
from sfumato.cli.option_needs import (
    ALWAYS,
    INPUT_FILE,
    OPENED_INPUT,
    CommandContext,
    refuse_idle_options,
)
from sfumato.cli.options import Json
from sfumato.cli.outsourced_mining import requests_command
from sfumato.cli.party_commands import party_app
from sfumato.cli.pattern_commands import channels_command, contains_command, support_command
from sfumato.cli.region_command import region_command
from sfumato.cli.terminal import print_json, print_line, show_progress, spell_tabs
from sfumato.engine.engine_names import EngineName
from sfumato.runtime.interrupts import StopSignals

FAILURE, BAD_INPUT, FAULT, BY_SIGNAL = 1, 2, 70, 128

app = typer.Typer(
    name="sfumato",
    help="Anonymize data, attack the result, and sign a report of what held.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The folder for release/ and private/."), ALWAYS]


def _print_version(wants_version: bool) -> None:
    if wants_version:
        from sfumato import __version__

        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def _set_up_root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
        ALWAYS,
    ] = False,
) -> None:
    """Anonymize data, attack the result, and sign a report of what held."""


@app.command(name="demo")
def run_demo(out: Out = None, as_json: Json = False) -> None:
    """Run the whole workflow on a built-in population of 20,000 invented people; no file needed."""
    from importlib.resources import files

    from sfumato.workflow.audit import audit
    from sfumato.workflow.pipeline import run_policy
    from sfumato.workflow.policy import Policy
    from sfumato.workflow.verification import verify

    policy = Policy.parse(files("sfumato").joinpath("demo.toml").read_text(encoding="utf-8"), Path("demo.toml"))
    target = out or Path("sfumato-demo")
    with show_progress(as_json):
        findings = audit(policy.read_original_table())
        finished_run = run_policy(policy, target)
        verification = verify(target, finished_run.certificate.body["signer"])
    if as_json:
        print_json(finished_run.as_json())
        return
    print_audit(findings, pairs=3)
    print_run(finished_run)
    print_verification(verification)
    print_line()
    print_line(f"Open the report: {finished_run.out / 'release' / 'report.html'}")


app.command(name="audit")(audit_command)
app.command(name="init")(init_command)
app.command(name="hierarchy")(hierarchy_command)
app.command(name="measure")(measure_command)


@app.command(name="run")
def run_command(
    policy: Annotated[Path, typer.Argument(help="A policy file (TOML).")],
    out: Out = None,
    engine: Annotated[
        EngineName | None, typer.Option(help="Where rows are counted, instead of the policy's `engine`."), ALWAYS
    ] = None,
    as_json: Json = False,
) -> None:
    """Protect, write, verify, attack and measure; write a certificate and a report."""
    from sfumato.workflow.pipeline import run_policy
    from sfumato.workflow.policy import Policy
    from sfumato.workflow.stored.stored_support import choose_run_engine

    with show_progress(as_json):
        rules = Policy.read(policy)
        choice = choose_run_engine(rules, engine)
        finished_run = run_policy(rules, out, engine=choice.name)
    if as_json:
        print_json({**finished_run.as_json(), "engine": choice.name})
    else:
        print_choice(choice)
        print_run(finished_run)
    if not finished_run.published:
        raise typer.Exit(FAILURE)


@app.command(name="verify")
def verify_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A release folder, or the folder it is in.")],
    signer: Annotated[
        str | None, typer.Option(help="The public key you trust: its text, or a file with it."), ALWAYS
    ] = None,
    input_path: Annotated[
        str | None, typer.Option("--input", help="With --opening: the input file of the release."), OPENED_INPUT
    ] = None,
    opening: Annotated[
        Path | None,
        typer.Option(help="The custodian's input_opening.json, which opens the commitment to the input."),
        INPUT_FILE,
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="How long measuring the claims may take."), ALWAYS] = 600.0,
    engine: EngineOption = "auto",
    as_json: Json = False,
) -> None:
    """Check a release from its files alone: signature, checksums, claims."""
    from sfumato.workflow.signing.signature import read_signer
    from sfumato.workflow.verification import show_input, verify

    met_needs = {*([INPUT_FILE] if input_path is not None else []), *([OPENED_INPUT] if opening is not None else [])}
    refuse_idle_options(context, CommandContext("--input and --opening go together", frozenset(met_needs)))
    with show_progress(as_json):
        trusted_signer = read_signer(signer) if signer is not None else None
        if input_path is not None and opening is not None:
            verification = show_input(folder, input_path, opening, trusted_signer, seconds, engine=engine)
        else:
            verification = verify(folder, trusted_signer, seconds, engine=engine)
    if as_json:
        print_json(verification.as_json())
    else:
        print_verification(verification)
    if not verification.holds:
        raise typer.Exit(FAILURE)


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
        raise typer.Exit(FAILURE)


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
        _exit_with_error(type(error).__name__, str(error), FAILURE if is_failure else BAD_INPUT, wants_json)
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
