"""`matins`: the commands, and what every failure becomes for a person at a terminal.

Exit: 0 all well or not yet due, 1 late, held, missing or refused, 2 wrong usage, 3 cannot look, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module

import typer

from matins.rules.errors import MatinsError, ProfileRefused, TemporalUnreachable

COMMANDS = (
    "matins.cli.runtime",
    "matins.cli.morning",
    "matins.cli.owed",
    "matins.cli.why",
    "matins.cli.outbox",
    "matins.cli.wiki",
    "matins.cli.run",
    "matins.cli.profile",
    "matins.cli.source",
)
"""Modules that bring commands. Each has `register(app)`, and imports what a command needs inside that command."""

CANNOT_LOOK = 3
INTERRUPTED = 130

app = typer.Typer(
    name="matins",
    help="A briefing, owed to you every morning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _module in COMMANDS:
    import_module(_module).register(app)


def main() -> None:
    """Run the command line and end this process with its exit code.

    It ends at once: Temporal's client runs threads of its own that can abort the interpreter while it is torn down
    (temporalio/sdk-python#300), and a command whose work is done must not end with a signal.
    """
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run one command. Returns the exit code; a failure is one sentence on stderr."""
    try:
        app(arguments, prog_name="matins")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            return _say(
                "Interrupted. Nothing is lost: what was begun goes on by itself; matins down stops it.",
                code=INTERRUPTED,
            )
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except ProfileRefused as error:
        return _say(str(error), code=2)
    except TemporalUnreachable as error:
        return _say(str(error), code=CANNOT_LOOK)
    except MatinsError as error:
        return _say(str(error), code=1)
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        what = (error.strerror or str(error) or "cannot be used").lower()
        return _say(f"{error.filename or 'this machine'}: {what}", code=1)
    except Exception as error:
        if part := unreachable(error):
            return _say(f"{part} does not answer. Start it:  matins up", code=CANNOT_LOOK)
        raise
    return 0


def unreachable(error: BaseException) -> str:
    """The part that `error` says cannot be reached; "" if it says something else."""
    kind = type(error)
    if kind.__module__.startswith("psycopg") and any(base.__name__ == "OperationalError" for base in kind.__mro__):
        return "Postgres"
    if kind.__module__.startswith("temporalio.service"):
        return "Temporal"
    # The SDK raises a plain RuntimeError when it cannot connect.
    return "Temporal" if kind is RuntimeError and "Failed client connect" in str(error) else ""


def _say(sentence: str, *, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code
