"""Messages as a person looks after them: what is not proved yet, whose it is, and what the server said. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from matins.ledger.query import rows
from matins.ledger.work import Conn
from matins.rules import calendar


@dataclass(frozen=True, slots=True)
class Queued:
    """One message, read at `now`."""

    owner: str
    zone: str
    local_date: date
    """Of the morning that it belongs to."""
    work_key: str
    kind: str
    channel: str
    destination: str
    address: str
    status: str
    proof: str
    since: datetime
    """When it came to be where it is."""
    retry_at: datetime | None
    """Not sent before this; None: at any time."""
    look_at: datetime | None
    """When it is looked for next."""
    tries: int
    """How often somebody claimed it in order to send it."""
    looks: int
    provider: str | None
    reference: str | None
    reply: str | None
    placement: str | None
    reason: str | None
    useful_until_at: datetime
    now: datetime

    @property
    def proved(self) -> bool:
        """Whether it is at the proof its destination asks for."""
        return self.status == "observed" or (self.status == "accepted" and self.proof == "none")

    @property
    def given_up(self) -> bool:
        """Whether nothing more is done for it, and it is not proved."""
        unseen = self.status == "accepted" and not self.proved and self.look_at is None
        return unseen or self.status in ("dead", "expired")

    @property
    def needs_a_person(self) -> bool:
        """Whether it waits for its owner, or could not be sent."""
        return self.status in ("held", "dead")


_MESSAGES = """
select obligation.owner, profile.zone, obligation.local_date, message.work_key, message.kind, message.channel,
       message.destination, message.address, message.status, message.proof,
       coalesce(message.ended_at, message.accepted_at,
                case when message.status = 'pending' then message.created_at end, work.moved_at) as since,
       work.retry_at, message.look_at,
       (select count(*)
          from audit
         where audit.subject = message.work_key
           and audit.event = 'message.claimed')::integer as tries,
       message.looks, message.provider, message.reference, message.reply, message.placement, message.reason,
       message.useful_until_at, ledger_now() as now
  from message
  join obligation on obligation.key = message.subject
  join profile on profile.owner = obligation.owner and profile.version = obligation.profile_version
  join work on work.key = message.work_key
 where (%(owner)s::text is null or obligation.owner = %(owner)s)
   and case when %(local_date)s::date is not null then obligation.local_date = %(local_date)s
            else message.status in ('pending', 'sending', 'uncertain', 'held') or message.look_at is not null
                 or obligation.local_date > (ledger_now() at time zone 'UTC')::date - 2 end
 order by obligation.owner, obligation.local_date, message.kind, message.channel, message.destination
 limit %(limit)s
"""


def messages(
    conn: Conn, *, owner: str | None = None, local_date: date | None = None, proved: bool = False, limit: int = 1000
) -> list[Queued]:
    """The messages of a date; without one those of each owner's today, and what is under way from days before.

    Without `proved` only those that are not at the proof asked for.
    """
    found = [Queued(**one) for one in rows(conn, _MESSAGES, owner=owner, local_date=local_date, limit=limit)]
    return [one for one in found if (proved or not one.proved) and (local_date or _is_current(one))]


def _is_current(one: Queued) -> bool:
    """Whether it is of its owner's today, or something is still to be done for it."""
    if not (one.proved or one.given_up) or not calendar.is_known(one.zone):
        return True
    return one.local_date == calendar.local_date(one.now, one.zone)
