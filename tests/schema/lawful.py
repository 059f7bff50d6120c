"""Rows that keep the law, and statements that add to them."""

ROWS = """
set session_replication_role = replica;
insert into frozen (hash, bytes) values (encode(sha256('x'::bytea), 'hex'), 'x');
insert into owner (name, profile_version) values ('ada', 1);
insert into obligation (key, owner, product, local_date, status, plan, intent_hash, profile_version, tzdata,
                        day_starts_at, opens_at, ready_by_at, useful_until_at, work_key, declared_at, follows)
select 'ada/' || product || '/2026-08-17', 'ada', product, '2026-08-17', 'declared', 2, repeat('a', 64), 1, 'x',
       ledger_now(), ledger_now(), ledger_now(), ledger_now(), work_key, ledger_now(), follows
  from (values ('morning', 'm', null), ('brief', null, 'ada/morning/2026-08-17')) as given (product, work_key, follows);
insert into continuation (key, work_key, plan, status, created_at) 
values ('ada/morning/2026-08-17', 'c', 2, 'pending', ledger_now());
insert into message (key, work_key, subject, kind, channel, destination, address, mail_hash, mail_id, proof, if_unknown,
                     status, useful_until_at, created_at)
values ('ada/morning/2026-08-17/brief/email/inbox', 's', 'ada/morning/2026-08-17', 'brief', 'email', 'inbox', 'a@b.c',
        encode(sha256('x'::bytea), 'hex'), '<x>', 'none', 'ask', 'pending', ledger_now(), ledger_now());
insert into source (key, url, window_key, due_at, created_at)
select key, 'http://a.example', 'ingest/' || key || '/1', ledger_now(), ledger_now()
  from (select left(encode(sha256(convert_to(E'\\nhttp://a.example', 'UTF8')), 'hex'), 40) as key) as derived;
insert into event (key, source_key, identity, evidence_hash, baseline, first_seen_at)
select name, source.key, name, repeat('a', 64), false, ledger_now() from source, (values ('e'), ('f')) as given (name);
insert into summary (key, event_key, evidence_hash, prompt_version, model, title, body, accepted_at)
values ('t', 'e', repeat('a', 64), '1', 'm', 'T', 'B', ledger_now());
insert into page (id, owner, kind, topic, work_key, wanted, created_at)
values ('p', 'ada', 'index', '', 'w', 1, ledger_now());
insert into work (key, kind) values ('m', 'obligation'), ('c', 'continuation'), ('s', 'message'), ('w', 'page');
insert into work (key, kind, token) select window_key, 'ingest', 1 from source;
"""
"""A morning with all that hangs on it, none of it begun. It keeps the law."""

KEY = "ada/morning/2026-08-17"
WRITE = (
    "insert into page_write (page_id, token, version, status, hashes, opened_at, ended_at)"
    " values ('p', {token}, 1, '{status}', '{{}}', ledger_now(), {ended})"
)
UNREAD = (
    "insert into unread_window (work_key, source_key, cursor_version, how, reason, attempts, ended_at)"
    " select window_key, key, 1, 'spent', '', 5, ledger_now() from source"
)
