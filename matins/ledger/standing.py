"""How far each morning got, read from the views: the facts from which a verdict is made, and the ordered evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from matins.ledger.query import Row, row, rows
from matins.ledger.work import Conn
from matins.rules import calendar, keys, plans
from matins.rules.verdict import MessageFacts, Morning, StepFacts

_MORNINGS = """
select owed.*, obligation.profile_version, obligation.declared_at, obligation.plan, ledger_now() as now,
       continuation.ended_at as continuation_ended_at
  from owed
  join obligation on obligation.key = owed.key
  left join continuation on continuation.key = owed.key
 where owed.local_date = %(local_date)s
   and (%(owner)s::text is null or owed.owner = %(owner)s)
 order by owed.owner, owed.product
"""
_ACTIONS = """
select subject, step, status, provider, reference, reason
  from action
 where subject = any(%(keys)s)
   and step <> 'send'
"""
_CLAIMS = """
select subject, coalesce(facts ->> 'step', 'research') as step, count(*)::integer as attempts
  from audit
 where subject = any(%(works)s)
   and event like '%%.claimed'
 group by 1, 2
"""
_MESSAGES = """
select message.subject, message.work_key, message.kind, message.channel, message.destination, message.status,
       message.proof, message.provider, message.reference, message.reply, message.mechanism, message.placement,
       message.reason, message.created_at, message.accepted_at, message.observed_at, message.look_at, message.looks,
       work.retry_at as send_at
  from message
  join work on work.key = message.work_key
 where message.subject = any(%(keys)s)
 order by message.kind, message.channel, message.destination
"""
_REPORTS = "select key, facts, reported_at from openings_report where key = any(%(keys)s)"
_PAGES = """
select action.subject, count(*)::integer as pages,
       (count(*) filter (where page.wanted > page.published))::integer as pages_due
  from action
  join frozen on frozen.hash = action.request_hash
 cross join jsonb_array_elements_text(convert_from(frozen.bytes, 'UTF8')::jsonb -> 'pages') as touched (id)
  join page on page.id = touched.id
 where action.subject = any(%(keys)s)
   and action.step = 'wiki'
   and action.status = 'completed'
 group by action.subject
"""


def mornings(conn: Conn, local_date: date, *, owner: str | None = None) -> list[Morning]:
    """Every morning of a local date, or one owner's, with its steps and messages, by owner."""
    found = rows(conn, _MORNINGS, local_date=local_date, owner=owner)
    named = [one["key"] for one in found]
    works = [keys.obligation_work(key) for key in named] + [keys.continuation_work(key) for key in named]
    actions = {(one["subject"], one["step"]): one for one in rows(conn, _ACTIONS, keys=named)}
    claims = {(one["subject"], one["step"]): one["attempts"] for one in rows(conn, _CLAIMS, works=works)}
    messages = rows(conn, _MESSAGES, keys=named)
    ends = _ends(conn, named)
    return [_morning(one, actions, claims, messages, ends.get(one["key"], {})) for one in found]


def _ends(conn: Conn, named: list[str]) -> dict[str, Row]:
    """Key -> what the last steps of a morning left: its report of open roles, and its pages of the wiki."""
    ends: dict[str, Row] = {key: {} for key in named}
    for one in rows(conn, _REPORTS, keys=named):
        ends[one["key"]] |= {"openings": one["facts"], "reported_at": one["reported_at"]}
    for one in rows(conn, _PAGES, keys=named):
        ends[one["subject"]] |= {"pages": one["pages"], "pages_due": one["pages_due"]}
    return ends


def _morning(
    found: Row,
    actions: dict[tuple[str, str], Row],
    claims: dict[tuple[str, str], int],
    messages: list[Row],
    ends: Row,
) -> Morning:
    key = found["key"]
    steps = (plans.RESEARCH, *plans.STEPS[found["plan"]])
    return Morning(
        **{name: found[name] for name in _PLAIN},
        local_date=found["local_date"].isoformat(),
        retry_at=found["continuation_retry_at"] if found["continuation_status"] else found["retry_at"],
        reason=next((one["reason"] for (at, _), one in actions.items() if at == key and one["reason"]), None),
        facts=found["facts"] or {},
        coverage=found["coverage"] or {},
        steps=tuple(_step(found, step, actions, claims) for step in steps),
        messages=tuple(MessageFacts(**_without(one, "subject")) for one in messages if one["subject"] == key),
        **ends,
    )


_PLAIN = (
    "key", "owner", "product", "zone", "status", "profile_version", "opens_at", "ready_by_at", "useful_until_at",
    "declared_at", "queued_at", "started_at", "ended_at", "token", "continuation_status", "continuation_ended_at",
    "edition_kind", "edition_title", "published_at", "now",
)  # fmt: skip


def _without(found: Row, name: str) -> dict[str, Any]:
    return {column: value for column, value in found.items() if column != name}


def _step(found: Row, step: str, actions: dict[tuple[str, str], Row], claims: dict[tuple[str, str], int]) -> StepFacts:
    action = actions.get((found["key"], step))
    prefix = keys.obligation_work if step == plans.RESEARCH else keys.continuation_work
    return StepFacts(
        step=step,
        status=_step_status(found, step),
        provider=action["provider"] if action else None,
        reference=action["reference"] if action else None,
        attempts=claims.get((prefix(found["key"]), step), 0),
    )


def _step_status(found: Row, step: str) -> str:
    """A step's status is the obligation's or the continuation's: completed once the next one is at hand."""
    if step == plans.RESEARCH:
        return "completed" if found["status"] == "succeeded" else found["status"]
    if found["continuation_status"] is None:
        return "pending"
    if found["continuation_status"] == "done":
        return "completed"
    order = plans.STEPS[found["plan"]]
    done = order.index(step) < order.index(found["step"])
    if done:
        return "completed"
    return found["continuation_status"] if step == found["step"] else "pending"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One row of the audit, as evidence for a morning."""

    at: datetime
    subject: str
    event: str
    token: int | None
    facts: dict[str, Any]


_RECORDED = """
select at, subject, event, token, facts
  from audit
 where subject = any(%(subjects)s)
 order by id
"""


def evidence(conn: Conn, morning: Morning) -> list[Recorded]:
    """What was recorded of a morning, its edition, its brief and its messages, in order."""
    day = keys.parse(morning.key)
    brief = keys.obligation(day.owner, plans.BRIEF, day.local_date)
    subjects = [
        keys.obligation_work(morning.key),
        keys.continuation_work(morning.key),
        keys.obligation_work(brief),
        f"edition/{morning.key}",
        *(message.work_key for message in morning.messages),
    ]
    return [Recorded(**found) for found in rows(conn, _RECORDED, subjects=subjects)]


_CANNOT = """
select distinct on (subject) subject, reason
  from decision
 where kind = 'plan.refused'
   and subject = any(%(subjects)s)
   and last_seen_at > ledger_now() - interval '1 day'
 order by subject, last_seen_at desc
"""


def cannot(conn: Conn, owners: list[str]) -> dict[str, str]:
    """Owner -> why nothing can be planned for it, for those the planner refused in the last day."""
    found = rows(conn, _CANNOT, subjects=[f"owner/{name}" for name in owners])
    return {one["subject"].removeprefix("owner/"): one["reason"] for one in found}


_LAST_SWEEP = """
select extract(epoch from ledger_now() - max(finished_at))::float8 as seconds, ledger_now() as now from sweep_run
"""


def last_check(conn: Conn) -> tuple[float | None, datetime]:
    """Seconds since the last finished sweep, if there was one, and the database's instant."""
    found = row(conn, _LAST_SWEEP)
    assert found is not None, "an aggregate returns a row"
    return found["seconds"], found["now"]


_ZONES = """
select owner.name as owner, owner.created_at, profile.zone, profile.opens, profile.ready_by, profile.useful_until
  from owner
  join profile on profile.owner = owner.name and profile.version = owner.profile_version
 where owner.ended_at is null
    or exists (select 1
                 from obligation
                where obligation.owner = owner.name
                  and obligation.useful_until_at > ledger_now())
 order by owner.name
"""


@dataclass(frozen=True, slots=True)
class Lives:
    """Where an owner lives, and when its mornings are."""

    owner: str
    created_at: datetime
    zone: str
    opens: time
    ready_by: time
    useful_until: time

    def too_late(self, now: datetime) -> bool:
        """Whether the day of `now` was over before there was a profile; in a known zone."""
        day = calendar.window(now, self.zone, opens=self.opens, ready_by=self.ready_by, useful_until=self.useful_until)
        return day.useful_until_at <= self.created_at


def owners(conn: Conn) -> dict[str, Lives]:
    """Where each owner lives, by name; one that was ended until its last day is over."""
    return {found["owner"]: Lives(**found) for found in rows(conn, _ZONES)}
