"""Looking for mail: when a look is due, what it found, and when the next one is."""

from __future__ import annotations

from matins.ledger.query import execute, row
from matins.ledger.work import Conn
from matins.rules import limits
from matins.rules.errors import NoSuchRow, NotDue
from matins.rules.receipt import Sighting

_DUE = """
select look_at, extract(epoch from look_at - ledger_now())::float8 as wait from message where work_key = %(work_key)s
"""


def due_to_look(conn: Conn, work_key: str) -> None:
    """Return if a look at the mailbox is due now. Raises NotDue with the wait, or NoSuchRow."""
    found = row(conn, _DUE, work_key=work_key)
    if found is None:
        raise NoSuchRow(key=work_key)
    if found["look_at"] is not None and found["wait"] > 0:
        raise NotDue(key=work_key, at=found["look_at"], wait=found["wait"])


_OBSERVE = """
with held as materialized (
    select *
      from message
     where work_key = %(work_key)s
       for no key update
), found as materialized (
    select *, ledger_now() as at
      from held
     where status = 'accepted'
), moved as (
    update message
       set status = 'observed', mechanism = %(mechanism)s, placement = %(placement)s, observed_at = found.at,
           ended_at = found.at, look_at = null, looks = message.looks + 1
      from found
     where message.key = found.key
    returning message.key, message.work_key, message.observed_at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select observed_at, work_key, 'message.observed', null,
           jsonb_build_object('mechanism', %(mechanism)s::text, 'placement', %(placement)s::text)
      from moved
)
select key from moved
"""


def observe(conn: Conn, work_key: str, sighting: Sighting) -> bool:
    """message accepted -> observed: it was seen, by a named mechanism, in a named place. Returns whether it moved."""
    got = row(conn, _OBSERVE, work_key=work_key, mechanism=sighting.mechanism, placement=sighting.placement)
    return got is not None


_LOOK_AGAIN = """
with held as materialized (
    select *
      from message
     where work_key = %(work_key)s
       for no key update
), found as materialized (
    select *, ledger_now() as at
      from held
     where status in ('accepted', 'uncertain')
       and look_at is not null
)
update message
   set looks = found.looks + 1,
       reason = %(reason)s,
       look_at = case
           when found.status = 'uncertain' or found.useful_until_at > found.at
           then found.at + make_interval(secs => (%(spacing)s::float8[])[least(found.looks + 1, %(most)s)])
       end
  from found
 where message.key = found.key
"""


def look_again(conn: Conn, work_key: str, *, reason: str) -> None:
    """Note a look that found nothing, and when the next one is due; an accepted mail is looked for to useful-until."""
    spacing = list(limits.OBSERVE_AFTER)
    execute(conn, _LOOK_AGAIN, work_key=work_key, reason=reason, spacing=spacing, most=len(spacing))
