"""The five-minute check, as the Schedule runs it: one activity, which is a plain function."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import Swept
    from workflows import options


@workflow.defn(name="Sweep")
class Sweep:
    """The five-minute check."""

    @workflow.run
    async def run(self) -> Swept:
        """One sweep, tried once: the next one is never far."""
        swept: Swept = await workflow.execute_activity(
            options.SWEEP.activity,
            result_type=Swept,
            task_queue=options.SWEEP.queue,
            start_to_close_timeout=options.SWEEP_TIMEOUT,
            retry_policy=options.ONCE,
        )
        return swept
