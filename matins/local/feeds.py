"""The demo's feeds as a part: a loopback web server with feeds of our own writing, in a process of its own."""

from __future__ import annotations

import argparse
import signal
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

from matins.local import part
from matins.local.part import Part
from matins.settings import CHECKOUT

NAME = "feeds"


def start(data: Path, *, port: int) -> bool:
    """Start the demo's feeds on this port, or find them running there. Whether they were running."""
    command = (sys.executable, "-m", "matins.local.feeds", "--port", str(port))
    made = Part(NAME, command, lambda: _answers(port), environment={"PYTHONPATH": str(CHECKOUT)})
    return part.ensure(made, data=data)


def stop(data: Path) -> bool | None:
    """Stop it. Whether it ended when asked; None if it was not running."""
    return part.stop(data, NAME)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=3):
            return True
    except OSError:
        return False


def main() -> None:
    """Serve until told to stop."""
    from matins.demo import feeds
    from matins.demo.server import DemoServer
    from matins.rules import calendar

    parser = argparse.ArgumentParser(prog="matins.local.feeds", description="Serve the demo's feeds.")
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    ending = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    with DemoServer(lambda: feeds.pages(calendar.local_date(datetime.now(UTC), "Europe/London")), port=port):
        signal.sigwait(ending)


if __name__ == "__main__":
    main()
