"""One page of the wiki, brought up to date."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import Ended, Start
    from workflows.loop import follow


@workflow.defn(name="Page")
class Page:
    """One page of the wiki."""

    @workflow.run
    async def run(self, start: Start) -> Ended:
        """Move the key on until the ledger says that nothing is to be done now."""
        return await follow("page", start)
