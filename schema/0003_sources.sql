-- Every outcome of a read, what a window that was not read to its end leaves behind, and sources that list open roles.
-- An unchanged source costs one run, one audit row and updates that touch no index: see docs/decisions.md.

alter table source
    add column kind text not null default 'feed',
    add column body_hash text not null default '',
    add column failures integer not null default 0,
    -- Where it is read, once a permanent redirect has held; null: at `url`.
    add column fetch_url text,
    add column moved_to text,
    add column moved_since timestamptz,
    -- The run that last read the whole list: what is listed there now.
    add column listed_work text,
    add column listed_token bigint,
    add constraint source_kind_is_known check (kind in ('feed', 'greenhouse', 'lever', 'ashby')),
    -- A redirect has a target and an instant, or neither.
    add constraint moved_whole_or_not check ((moved_to is null) = (moved_since is null)),
    -- A source is its address and the name of its secret.
    add constraint source_key_is_derived check (
        key = left(encode(sha256(convert_to(secret_name || E'\n' || url, 'UTF8')), 'hex'), 40)
    ),
    drop constraint source_url_secret_name_key,
    set (fillfactor = 60);

-- Both are read by scans of what is small, and their upkeep made every beat of a source's life touch all its indexes.
drop index source_due;
drop index work_held;

alter table subscription
    add column purpose text not null default 'news',
    add constraint purpose_is_known check (purpose in ('news', 'openings'));

alter table ingest_run
    drop constraint run_status_is_known,
    add column renamed integer not null default 0,
    add column unmodified boolean not null default false,
    add column reads integer not null default 1,
    add column first_claimed_at timestamptz,
    add constraint run_status_is_known check (
        status in ('claimed', 'new', 'none', 'unreachable', 'invalid', 'partial', 'gone', 'failed')
    ),
    -- Only a read that found nothing stands for several.
    add constraint coalesced_only_when_unmodified check (reads = 1 or (status in ('claimed', 'none')));

alter table source add constraint source_lists_by_a_run
    foreign key (listed_work, listed_token) references ingest_run (work_key, token);

-- A run that stands for several replaces the one before it: without these, each delete would look through both tables.
create index source_lists_by_run on source (listed_work, listed_token);
create index evidence_by_run on evidence (run_key, run_token);

alter table evidence add column facts jsonb not null default '{}';

-- A window that ended without being read to its end. Later windows hide it from nobody.
create table unread_window (
    work_key text primary key references work (key),
    source_key text not null references source (key),
    cursor_version integer not null,
    how text not null,
    reason text not null,
    attempts integer not null,
    ended_at timestamptz not null,
    constraint how_is_known check (how in ('spent', 'gone', 'died', 'skipped'))
);

create index unread_window_by_source on unread_window (source_key, ended_at);

-- Another name under which a known item came back: not a new one.
create table identity_alias (
    source_key text not null references source (key),
    identity text not null,
    event_key text not null references event (key),
    noted_at timestamptz not null,
    primary key (source_key, identity)
);

-- What one morning reported of open roles; the next one is compared with it.
create table openings_report (
    key text primary key references obligation (key),
    owner text not null references owner (name),
    local_date date not null,
    hash sha256 not null references frozen (hash),
    facts jsonb not null,
    reported_at timestamptz not null
);

create index openings_report_by_owner on openings_report (owner, local_date);
