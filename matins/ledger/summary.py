"""Summaries: accepted texts on events' evidence. Which one is current is a pointer in the event, and only moves to a
text on the evidence that is current itself, so an older one is never current after a newer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matins.ledger.query import row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import keys
from matins.rules.errors import OutputConflict


@dataclass(frozen=True, slots=True)
class Draft:
    """One text that wants to be the summary of one piece of evidence."""

    event_key: str
    evidence_hash: str
    prompt_version: str
    model: str
    title: str
    text: str

    @property
    def key(self) -> str:
        """Its identity, hashed."""
        return keys.summary(self.event_key, self.evidence_hash, self.prompt_version, self.model)


_ACCEPT = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       and token = %(token)s
       for no key update
), live as materialized (
    select *, ledger_now() as at
      from held
     where lease_expires_at > ledger_now()
), given as (
    select *
      from unnest(%(keys)s::text[], %(events)s::text[], %(hashes)s::text[], %(prompts)s::text[], %(models)s::text[],
                  %(titles)s::text[], %(texts)s::text[])
        as given (key, event_key, evidence_hash, prompt_version, model, title, body)
), current as materialized (
    select event.key, event.evidence_hash
      from event
     where event.key in (select event_key from given)
     order by event.key
       for no key update
), accepted as (
    insert into summary (key, event_key, evidence_hash, prompt_version, model, title, body, accepted_at)
    select given.key, given.event_key, given.evidence_hash, given.prompt_version, given.model, given.title, given.body,
           live.at
      from live, given
      join current on current.key = given.event_key and current.evidence_hash = given.evidence_hash
    on conflict do nothing
    returning key, event_key, accepted_at
), pointed as (
    update event set summary_key = accepted.key from accepted where event.key = accepted.event_key
), telling as materialized (
    select page.id, page.owner, page.topic
      from page
      join accepted on accepted.event_key = page.event_key
), due as materialized (
    select page.id
      from page
     where page.id in (select id from telling)
        or page.kind = 'topic' and (page.owner, page.topic) in (select owner, topic from telling)
     order by page.kind <> 'story', page.id
       for no key update
), outdated as (
    update page set wanted = page.wanted + 1 from due where page.id = due.id
), noted as (
    insert into audit (at, subject, event, token, facts)
    select accepted_at, 'event/' || event_key, 'summary.accepted', %(token)s,
           jsonb_build_object('summary', key, 'by', %(work_key)s::text)
      from accepted
)
select (select count(*) from live) as live, (select count(*) from accepted) as accepted
"""
_STORED = "select key, title, body from summary where key = any(%(keys)s)"


def accept(conn: Conn, claim: Claim, drafts: Sequence[Draft]) -> list[str]:
    """Accept each text whose evidence is its event's current one, and make it the current summary; the event's pages
    are then due, and the topics that list them.

    The same text again changes nothing. Returns the keys of the events whose evidence has moved on: nothing was
    accepted for them. Raises LeaseLost, or OutputConflict when another text was accepted under the same identity.
    """
    got = row(
        conn,
        _ACCEPT,
        work_key=claim.key,
        token=claim.token,
        keys=[draft.key for draft in drafts],
        events=[draft.event_key for draft in drafts],
        hashes=[draft.evidence_hash for draft in drafts],
        prompts=[draft.prompt_version for draft in drafts],
        models=[draft.model for draft in drafts],
        titles=[draft.title for draft in drafts],
        texts=[draft.text for draft in drafts],
    )
    if got is None or not got["live"]:
        raise explain_holder(conn, claim.key, token=claim.token)
    stored = {found["key"]: found for found in rows(conn, _STORED, keys=[draft.key for draft in drafts])}
    for draft in drafts:
        found = stored.get(draft.key)
        if found is not None and (found["title"], found["body"]) != (draft.title, draft.text):
            raise OutputConflict(key=draft.key, stored="another text", asked="this one")
    return [draft.event_key for draft in drafts if draft.key not in stored]


_REJECT = """
with held as materialized (
    select *
      from summary
     where key = %(key)s
       and rejected_at is null
       for no key update
), rejected as (
    update summary
       set rejected_at = moment.at
      from held, (select ledger_now() as at) as moment
     where summary.key = held.key
    returning summary.key, summary.event_key, summary.rejected_at
), pointed as (
    update event
       set summary_key = (select other.key
                            from summary as other
                           where other.event_key = event.key
                             and other.evidence_hash = event.evidence_hash
                             and other.rejected_at is null
                             and other.key <> rejected.key
                           order by other.accepted_at desc
                           limit 1)
      from rejected
     where event.key = rejected.event_key
       and event.summary_key = rejected.key
), shown as (
    select page_member.page_id as id from rejected join page_member on page_member.event_key = rejected.event_key
    union
    select list.id
      from rejected
      join page as story on story.event_key = rejected.event_key
      join page as list on list.owner = story.owner
                       and (list.kind = 'index' or list.kind = 'topic' and list.topic = story.topic)
), due as materialized (
    select page.id
      from page
     where page.id in (select id from shown)
     order by page.kind <> 'story', page.id
       for no key update
), outdated as (
    update page set wanted = page.wanted + 1 from due where page.id = due.id
), noted as (
    insert into audit (at, subject, event, facts)
    select rejected_at, 'event/' || event_key, 'summary.rejected',
           jsonb_build_object('summary', key, 'reason', %(reason)s::text)
      from rejected
)
select key from rejected
"""


def reject(conn: Conn, key: str, *, reason: str) -> bool:
    """Take a text back: it is shown on no page any more, and an earlier one on the same evidence is current again, if
    there is one. Returns whether it was still accepted.
    """
    return row(conn, _REJECT, key=key, reason=reason[:200]) is not None
