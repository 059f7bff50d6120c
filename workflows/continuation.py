"""What follows research: the steps of the plan in their order, each on its own queue."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import Ended, Start
    from workflows.loop import follow


@workflow.defn(name="Continuation")
class Continuation:
    """What follows research: the steps of the plan in their order, each on its own queue."""

    @workflow.run
    async def run(self, start: Start) -> Ended:
        """Move the key on until the ledger says that nothing is to be done now."""
        return await follow("continuation", start)
