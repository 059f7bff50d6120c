"""What a morning consists of, in order. A plan that has been used is never edited: a new one gets a new version."""

from __future__ import annotations

from matins.rules.errors import StepOutOfOrder

MORNING = "morning"
BRIEF = "brief"
PRODUCTS = (MORNING,)
"""What a profile may ask for. `brief` comes with `morning` and is completed by its publishing."""

RESEARCH = "research"
COMPOSE = "compose"
PUBLISH = "publish"
JOBS = "jobs"
WIKI = "wiki"

OPENINGS = "openings"
"""The kind of the message that tells of open roles."""

STEPS: dict[int, tuple[str, ...]] = {1: (COMPOSE, PUBLISH, JOBS), 2: (COMPOSE, PUBLISH, JOBS, WIKI)}
CURRENT = 2


def first_step(plan: int) -> str:
    """The first step of the continuation of a morning under `plan`."""
    return STEPS[plan][0]


def next_step(plan: int, step: str) -> str | None:
    """The step after `step`, or None after the last. Raises StepOutOfOrder for a step the plan does not have."""
    steps = STEPS[plan]
    if step not in steps:
        raise StepOutOfOrder(f"plan {plan} has no step {step}")
    at = steps.index(step) + 1
    return steps[at] if at < len(steps) else None


def intent(product: str, plan: int, options: dict[str, str] | None = None) -> dict[str, object]:
    """What is owed, apart from who asked and when: hashed, it tells the same ask from another one."""
    return {"product": product, "plan": plan, "options": options or {}}
