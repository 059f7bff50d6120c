"""The two questions that belong to no step: what is the next move for this key, and what did everybody forget."""

from __future__ import annotations

from temporalio import activity

from activities.desk import Desk, following
from activities.failures import told
from activities.messages import Ask, Next, Swept
from matins.ledger import continuation, message, obligation, page, source
from matins.ledger.move import Move
from matins.rules.errors import NoSuchRow
from matins.sweep import Sweeper


class Clerk:
    """Asks the ledger, and runs the sweep."""

    def __init__(self, desk: Desk, sweeper: Sweeper) -> None:
        self._desk, self._sweeper = desk, sweeper

    @activity.defn(name="ledger.next_move", no_thread_cancel_exception=True)
    @told
    def next_move(self, ask: Ask) -> Next:
        """The next move for a key, from its row. A key without a row is refused by name; nothing is declared."""
        with self._desk.ledger() as conn:
            match ask.kind:
                case "obligation":
                    return following(obligation.next_move(conn, ask.key))
                case "continuation":
                    return following(continuation.next_move(conn, ask.key))
                case "message":
                    return following(message.next_move(conn, ask.key))
                case "page":
                    return following(page.next_move(conn, ask.key))
                case "ingest":
                    return following(Move(source.window(conn, ask.key).source_key, "read"))
        raise NoSuchRow(f"there is no kind of work called {ask.kind[:40]}", key=ask.key)

    @activity.defn(name="sweep.run", no_thread_cancel_exception=True)
    @told
    def sweep(self) -> Swept:
        """One sweep. Returns a count per pass."""
        return Swept(self._sweeper.run("schedule"))
