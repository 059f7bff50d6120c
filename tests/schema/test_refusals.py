"""What the tables of the sources and of the wiki refuse, whoever writes: one statement for each named constraint."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection

from tests.schema.lawful import KEY, UNREAD, WRITE

RUN = (
    "insert into ingest_run (work_key, token, source_key, cursor_version, status, reads, declared, admitted,"
    " claimed_at, ended_at) select window_key, 1, key, 1, {values} from source"
)
STORY = (
    "insert into page (id, owner, kind, topic, event_key, work_key, wanted, created_at, last_told)"
    " values ('q', 'ada', {values}, 'v', 1, ledger_now(), {told})"
)
REFUSED = {
    "source_kind_is_known": "update source set kind = 'mailing list'",
    "moved_whole_or_not": "update source set moved_to = 'http://b.example'",
    "source_key_is_derived": "update source set url = 'http://b.example'",
    "purpose_is_known": "insert into subscription (owner, source_key, name, purpose) values ('ada', 'x', 'x', 'fun')",
    "run_status_is_known": RUN.format(values="'read', 1, null, 0, ledger_now(), ledger_now()"),
    "run_ended_when_settled": RUN.format(values="'partial', 1, null, 0, ledger_now(), null"),
    "settled_only_when_all_admitted": RUN.format(values="'new', 1, 2, 1, ledger_now(), ledger_now()"),
    "coalesced_only_when_unmodified": RUN.format(values="'new', 2, 0, 0, ledger_now(), ledger_now()"),
    "how_is_known": UNREAD.replace("'spent'", "'lost'"),
    "unread_window_pkey": f"{UNREAD}; {UNREAD}",
    "identity_alias_pkey": "insert into identity_alias select key, 'n', event, created_at"
    " from source, unnest(array['e', 'f']) as event",
    "openings_report_pkey": "; ".join(
        ["insert into openings_report select key, owner, local_date, intent_hash, '{}', declared_at from obligation"
         f" where key = '{KEY}'"] * 2
    ),
    "one_summary_per_identity": "insert into summary select 'u', event_key, evidence_hash, prompt_version, model,"
    " title, body, accepted_at from summary",
    "page_kind_is_known": STORY.format(values="'blog', '', null", told="null"),
    "story_has_an_event": STORY.format(values="'story', '', null", told="'2026-08-17'"),
    "published_was_wanted": "update page set published = 2, published_at = ledger_now()",
    "published_when_read_back": "update page set published = 1",
    "one_page_per_owner_and_event": "insert into page_member select unnest(array['p', 'q']), 'ada', 'e', ledger_now()",
    "page_write_status_is_known": WRITE.format(token=1, status="lost", ended="ledger_now()"),
    "page_write_ended_when_not_open": WRITE.format(token=1, status="closed", ended="null"),
}  # fmt: skip


@pytest.mark.parametrize(("constraint", "statement"), REFUSED.items(), ids=REFUSED)
def test_the_table_refuses_by_name(rows: Connection[Any], constraint: str, statement: str) -> None:
    with pytest.raises(psycopg.IntegrityError) as refused, rows.transaction():
        rows.execute(statement.encode())
    assert refused.value.diag.constraint_name == constraint


def test_a_list_of_stories_has_no_event_and_no_dates(rows: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.CheckViolation), rows.transaction():
        rows.execute(STORY.format(values="'topic', '', 'e'", told="'2026-08-17'").encode())
