"""Each rule of the law has rows that break it: a query that can find nothing holds nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from psycopg import Connection

from matins.ledger import invariants
from tests.schema.lawful import KEY, UNREAD, WRITE

ACTION = (
    "insert into action (key, subject, step, work_key, token, status, repeat, provider, request_hash, started_at,"
    " {more} ended_at)"
    " select '{key}', 'ada/morning/2026-08-17', 'x', '{work}', {token}, '{status}', 'harmless', 'x', hash,"
    " '2020-01-01+0', {given} {ended} from frozen"
)


def _closed(key: str) -> str:
    return f"update work set closed_at = ledger_now() where key = '{key}'"


def _action(key: str = "a", *, work: str = "m", token: int = 0, status: str = "in_flight", reference: str = "") -> str:
    more, given = ("reference,", f"'{reference}',") if reference else ("", "")
    ended = "null" if status == "in_flight" else "ledger_now()"
    return ACTION.format(key=key, work=work, token=token, status=status, more=more, given=given, ended=ended)


def _run(token: int, status: str, *, declared: str = "null", admitted: int = 0) -> str:
    return (
        "insert into ingest_run (work_key, token, source_key, cursor_version, status, declared, admitted, claimed_at,"
        f" ended_at) select window_key, {token}, key, 1, '{status}', {declared}, {admitted}, ledger_now(),"
        f" {'null' if status == 'claimed' else 'ledger_now()'} from source"
    )


MAIL = f"{KEY}/brief/email/inbox"
SUCCEEDED = "status = 'succeeded', output_hash = repeat('a', 64), ended_at = ledger_now()"
HELD = "holder = 'w', lease_expires_at = ledger_now(), deadline_at = ledger_now()"
ACCEPTED = "provider = 'x', reference = 'r', accepted_at = ledger_now()"
DRAFTED = (
    "insert into edition (key, revision, status, kind, title, draft_hash, drafted_at)"
    f" select '{KEY}', 1, 'drafted', 'full', 'T', hash, ledger_now() from frozen"
)
PUBLISHED = "update page set published = 1, published_at = ledger_now()"
CARD = (
    "insert into source_card (page_id, event_key, evidence_hash, carded_at, published_at)"
    " values ('p', 'e', repeat('a', 64), ledger_now(), ledger_now())"
)
BREAKING: dict[str, tuple[str, ...]] = {
    "in_flight is the number of the work's actions in flight": ("update work set in_flight = 1 where key = 'm'",),
    "a succeeded morning has its continuation, or says that it lacks it": (
        f"update obligation set {SUCCEEDED} where key = '{KEY}'; {_closed('m')};"
        " delete from continuation; delete from work where key = 'c'",
    ),
    "a terminal obligation, continuation or message holds no open work": (
        "update obligation set status = 'missed', ended_at = ledger_now()",
        "delete from obligation where product = 'brief';"
        "update continuation set status = 'done', ended_at = ledger_now()",
        "update message set status = 'dead', ended_at = ledger_now()",
    ),
    "an open obligation, continuation or message has open work": (
        f"update obligation set status = 'queued' where work_key = 'm'; {_closed('m')}",
        _closed("c"),
        _closed("s"),
    ),
    "no action belongs to a token that was never issued": (_action(token=1, status="not_done"),),
    "tokens of one work row only grow": (
        "insert into audit (at, subject, event, token) values (ledger_now(), 'm', 'obligation.claimed', 2),"
        " (ledger_now(), 'm', 'obligation.claimed', 2)",
    ),
    "the brief succeeds with its morning's published edition, and only then": (
        f"update obligation set {SUCCEEDED} where product = 'brief'",
    ),
    "every message of an edition carries bytes frozen before it was sent": (
        _action(MAIL, work="s", status="not_done"),
    ),
    "an accepted message has a completed action": (
        f"update message set status = 'accepted', {ACCEPTED}; {_closed('s')}",
    ),
    "observed is later than accepted": (
        f"update message set status = 'observed', {ACCEPTED}, observed_at = '2020-01-01+0', mechanism = 'm',"
        f" placement = 'p', ended_at = ledger_now(); {_closed('s')};"
        " update frozen set frozen_at = '2019-01-01+0'; "
        + _action(MAIL, work="s", status="completed", reference="r"),
    ),
    "a source's pointer names its own cursor version's window, and that window is open": (
        "update source set cursor_version = 2",
        "update work set closed_at = ledger_now() where kind = 'ingest'",
    ),
    "a source has at most one run that is claimed": (
        f"{_run(1, 'claimed')}; {_run(2, 'claimed')}",
    ),
    "what a settled run declared is stored": (_run(1, "none", declared="1", admitted=1),),
    "a published edition's evidence set exists": (DRAFTED,),
    "what is being done has a holder, and what waits has none": (
        f"update work set {HELD} where key = 'm'",
        "update message set status = 'sending'",
    ),
    "open work that nobody holds has an attempt left": ("update work set attempts = budget where key = 'w'",),
    "an action in flight belongs to open work": (
        _action() + "; update obligation set status = 'missed', ended_at = ledger_now();"
        " delete from obligation where product = 'brief';"
        " alter table work drop constraint closed_has_nothing_in_flight;"
        " update work set in_flight = 1, closed_at = ledger_now() where key = 'm'",
    ),
    "a message of unknown fate has an uncertain action, and is due to be looked for": (
        "update message set status = 'uncertain', quarantine_until = ledger_now();"
        f" {_closed('s')}",
    ),
    "a claimed run belongs to the claim that holds its window": (_run(1, "claimed"),),
    "a brief is declared only while its morning can still publish it": (
        "update obligation set status = 'missed', ended_at = ledger_now() where work_key = 'm';"
        f" {_closed('m')}",
        "update continuation set status = 'done', ended_at = ledger_now();"
        f" {_closed('c')}",
    ),
    "every work row moves something": ("insert into work (key, kind) values ('stray', 'page')",),
    "a window that was spent, skipped or gone is closed, and remembered": (UNREAD,),
    "an event's summary is a text on the event's own evidence, and was not rejected": (
        "update event set summary_key = 't' where key = 'f'",
        "update event set summary_key = 't' where key = 'e'; update summary set rejected_at = ledger_now()",
    ),
    "an open page write belongs to a page that is dirty, and at most one is open": (
        "; ".join(WRITE.format(token=token, status="open", ended="null") for token in (1, 2)),
        f"{PUBLISHED}; {WRITE.format(token=1, status='closed', ended='ledger_now()')};"
        + WRITE.format(token=2, status="open", ended="null"),
    ),
    "what a page says is published was read back under a closed write": (
        PUBLISHED,
        f"{PUBLISHED}; {WRITE.format(token=1, status='abandoned', ended='ledger_now()')}",
    ),
    "a card that was shown is on a published page": (CARD,),
    "a page's work is never closed": ("update work set closed_at = ledger_now() where key = 'w'",),
}  # fmt: skip


def test_every_rule_of_the_law_has_rows_that_break_it() -> None:
    assert set(BREAKING) == set(invariants.rules())


def test_the_rows_that_each_case_changes_keep_the_law(rows: Connection[Any]) -> None:
    assert invariants.broken(rows) == {}


@pytest.mark.parametrize(
    ("rule", "change"),
    [(rule, change) for rule, changes in BREAKING.items() for change in changes],
    ids=[re.sub(r"\W+", "-", rule) for rule, changes in BREAKING.items() for _ in changes],
)
def test_a_row_that_breaks_a_rule_is_found_by_it(rows: Connection[Any], rule: str, change: str) -> None:
    rows.execute(change.encode())
    assert rule in invariants.broken(rows)
