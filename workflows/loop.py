"""The loop that a workflow is: ask the ledger for the next move of this key, do it on its queue, until it says done.

Order lives in the ledger and the plan, not here. So the fast path, the sweep and a restart are one thing.
"""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.messages import Ask, Ended, Next, Start
    from workflows import options
    from workflows.options import Act


async def follow(kind: str, start: Start) -> Ended:
    """Move `start.key` on until nothing is to be done now. Returns the moves that were made."""
    ask = Ask(kind=kind, key=start.key)
    move = Next(start.hint) if start.hint else await _act(options.ASK, ask, start)
    moves: list[str] = []
    while not move.done:
        workflow.set_current_details(f"{kind} {start.key}: {move.name}")
        moves.append(move.name)
        move = await _act(options.MOVES[kind][move.name], ask, start)
    workflow.set_current_details(f"{kind} {start.key}: nothing more to do now")
    return Ended(key=start.key, moves=moves)


async def _act(act: Act, ask: Ask, start: Start) -> Next:
    move: Next = await workflow.execute_activity(
        act.activity,
        ask,
        result_type=Next,
        task_queue=act.queue,
        start_to_close_timeout=options.deadline(act, start.pace),
        heartbeat_timeout=options.heartbeat(act, start.pace),
        retry_policy=options.retries(start.pace),
        summary=f"{ask.kind} {ask.key}"[:200],
    )
    return move
