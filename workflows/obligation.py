"""Research for one owner, product and date: the polls it needs, the frozen evidence, and its continuation."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import Ended, Start
    from workflows.loop import follow


@workflow.defn(name="Obligation")
class Obligation:
    """Research for one owner, product and date: the polls it needs, the frozen evidence, and its continuation."""

    @workflow.run
    async def run(self, start: Start) -> Ended:
        """Move the key on until the ledger says that nothing is to be done now."""
        return await follow("obligation", start)
