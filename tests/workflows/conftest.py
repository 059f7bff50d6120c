"""A time-skipping Temporal for the loop, and a whole scene for what a real worker leaves in a real one."""

from __future__ import annotations

from tests.crash.conftest import scene

__all__ = ["scene"]
