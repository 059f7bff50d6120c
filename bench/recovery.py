"""From the SIGKILL of a worker in mid-step to the next claim of that step, beside bare Temporal killed alike.

Two workers serve; one of them holds a step (Matins: the read of a source that does not answer; bare Temporal: the one
activity of `bench/bare.py`) under the same heartbeat timeout, beat and retries. As soon as Temporal has heard a
heartbeat of it, the worker that holds the step is killed, and the clock runs until the second claim or attempt began.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Protocol, TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from bench.bare_contender import BareTemporal
from bench.ground import Ground, wait
from bench.matins_contender import Matins
from bench.table import Row
from matins.rules.limits import Limits

RUNS = 3
SHORT = Limits(lease=3.0, beat=1.0, heartbeat_timeout=4.0)
DEFAULTS = Limits()
