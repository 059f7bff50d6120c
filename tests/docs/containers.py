"""docker-compose.yml and Dockerfile, read."""

from __future__ import annotations

from typing import Any

import yaml

from tests.docs.pages import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
DONE = "service_completed_successfully"
ONCE = {
    name
    for one in SERVICES.values()
    for name, how in one.get("depends_on", {}).items()
    if how["condition"] == DONE
}  # fmt: skip
OURS = {name for name, one in SERVICES.items() if "build" in one}


def mounted(one: dict[str, Any]) -> dict[str, str]:
    """Secret -> where the container finds it."""
    named = [{"source": each} if isinstance(each, str) else each for each in one.get("secrets", [])]
    return {each["source"]: each.get("target", f"/run/secrets/{each['source']}") for each in named}
