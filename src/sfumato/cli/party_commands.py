# SPDX-License-Identifier: MIT
"""The commands `sfumato party --config FILE` and `sfumato party init`: one site of a joint mining job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.messages import MOST_ROWS, print_rows
from sfumato.cli.option_needs import ALWAYS, THIS_SITE, CommandContext, refuse_idle_options
from sfumato.cli.options import Json
from sfumato.cli.terminal import print_json, print_line, show_progress

party_app = typer.Typer(
    help="Mine together with other sites, without showing them the data.", invoke_without_command=True
)


@party_app.callback()
def party_command(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="The file of this site (TOML)."), THIS_SITE
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts."), THIS_SITE] = False,
) -> None:
    """Run this site of a joint mining job; every other site runs its own."""
    if context.invoked_subcommand is not None:
        refuse_idle_options(context, CommandContext(f"{context.invoked_subcommand} does something else"))
        return
    from sfumato.errors import PolicyError
    from sfumato.parties.site import run_site
    from sfumato.parties.site_config import SiteConfig

    if config is None:
        raise PolicyError("name the file of this site: sfumato party --config site.toml (party init writes one)")
    read = SiteConfig.read(config)
    with show_progress(as_json):
        result = run_site(read)
    if as_json:
        print_json(result.as_json())
        return
    for name, table in result.list_tables().items():
        print_line(name.replace("_", "-").capitalize())
        print_rows(table, MOST_ROWS, read.output.path / f"{name}.json")
    for line in str(result.statement).splitlines():
        print_line(line)


@party_app.command(name="init")
def init_party_command(
    name: Annotated[str, typer.Argument(help="The name of this site, known to all.")],
    address: Annotated[str, typer.Option(help="Where this site listens, as host:port."), ALWAYS] = "127.0.0.1:7001",
    folder: Annotated[Path, typer.Option(help="The folder for the files."), ALWAYS] = Path(),
    days: Annotated[int, typer.Option(min=1, max=3650, help="How many days the certificate is valid."), ALWAYS] = 365,
    as_json: Json = False,
) -> None:
    """Make this site's key and certificate, and a file to fill in."""
    from sfumato.errors import PolicyError
    from sfumato.parties.site import write_site_file
    from sfumato.parties.transport.certificates import make_identity

    if not name or not all(letter.isalnum() or letter in "-_" for letter in name) or len(name) > 64:
        raise PolicyError("the name of a site is 1 to 64 letters, digits, - or _, because files are named after it")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.toml"
    write_site_file(file, name, address)
    identity = make_identity(name, folder, days)
    if as_json:
        paths = {"config": str(file), "key": str(identity.key), "certificate": str(identity.certificate)}
        print_json(paths | {"fingerprint": identity.fingerprint})
        return
    print_line(f"Key:         {identity.key} (keep it; nobody else may read it)")
    print_line(f"Certificate: {identity.certificate} (give it to every other site)")
    print_line(f"Fingerprint: {identity.fingerprint} (compare it by phone)")
    print_line(f"Next: fill in {file}, then run sfumato party --config {file}")
