"""`matins up`, `matins down`, `matins doctor`: the local runtime, and whether everything can be reached."""

from __future__ import annotations

import json
import signal
import time
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from matins.local.runtime import Runtime
    from matins.settings import Settings

_LOOK_EVERY = 1.0
_GLANCE = 0.1
_AFTER_REFUSAL = 15.0


def register(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (up, down, doctor):
        app.command()(command)


def up(
    detach: Annotated[bool, typer.Option("--detach", help="Come back when all is ready; stop with: down.")] = False,
    local: Annotated[
        bool, typer.Option("--local", help="Use local parts where outside ones were used before.")
    ] = False,
) -> None:
    """Start Postgres, Temporal, the object store, the mailbox and the worker, and stay until Ctrl-C."""
    from matins import settings
    from matins.local import runtime, watch

    chosen = settings.load()
    chosen.limits()
    running = runtime.up(chosen, say=typer.echo, local=local)
    typer.echo(_addresses(running))
    if detach:
        watch.start(chosen)
        return
    if _stay(chosen, asked=_on_signals()):
        runtime.down(chosen, say=typer.echo)


def down() -> None:
    """Stop everything that runs here. Data are kept."""
    from matins import settings
    from matins.local import runtime

    if not runtime.down(settings.load(), say=typer.echo):
        typer.echo("Nothing was running.")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Ask every part and check every setting: what is well, what is wrong, what to do."""
    from matins import settings
    from matins.cli import doctor as checks

    findings = checks.examine(settings.load())
    if as_json:
        typer.echo(json.dumps([finding.as_dict() for finding in findings], indent=1))
    else:
        typer.echo(checks.page(findings))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def _addresses(running: Runtime) -> str:
    """The lines that one wants to copy, last."""
    pages = running.settings.temporal_ui
    inside = [f"  inside     {pages}   (Temporal's own pages)"] if pages else []
    return "\n".join(["", *inside, "  stop       matins down"])


class _Asked:
    """Whether somebody asked to stop. A plain flag: a handler that takes a lock can deadlock."""

    __slots__ = ("told",)

    def __init__(self) -> None:
        self.told = False

    def wait(self, seconds: float) -> bool:
        """Whether it was asked within `seconds`."""
        deadline = time.monotonic() + seconds
        while not self.told and time.monotonic() < deadline:
            time.sleep(_GLANCE)
        return self.told


def _on_signals() -> _Asked:
    """What Ctrl-C or SIGTERM sets; a second Ctrl-C interrupts as usual."""
    asked = _Asked()

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
        asked.told = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    return asked


def _stay(chosen: Settings, *, asked: _Asked) -> bool:
    """Watch the parts, and start again what falls. Whether it ended by a signal, not by `matins down` elsewhere."""
    from matins.local import runtime
    from matins.rules.errors import Refused

    typer.echo("\n  Ctrl-C stops everything.")
    pause = _LOOK_EVERY
    while not asked.wait(pause):
        if runtime.is_down(chosen.data):
            typer.echo("  stopped by another matins")
            return False
        try:
            runtime.heal(chosen, say=typer.echo)
            pause = _LOOK_EVERY
        except Refused as error:
            typer.echo(f"  {error}", err=True)
            pause = _AFTER_REFUSAL
    return True
