-- The ledger: what is owed, who holds the right to move it, what was begun, and what came of it.
-- Postgres decides: every fact that a decision rests on is a row here. docs/state_machine.md draws the arrows.

-- The one clock. Test databases carry another body of it; a worker compares the body at start.
create function ledger_now() returns timestamptz
    language sql volatile parallel safe
    as 'select clock_timestamp()';

create domain sha256 as text constraint sha256_is_lower_hex check (value ~ '^[0-9a-f]{64}$');

-- Frozen bytes, by their hash: what was committed before a call, and is sent again as it was.
create table frozen (
    hash sha256 primary key,
    bytes bytea not null,
    frozen_at timestamptz not null default ledger_now(),
    -- Bytes are what their name says.
    constraint bytes_match_hash check (hash = encode(sha256(bytes), 'hex'))
);

create table owner (
    name text primary key,
    profile_version integer not null,
    created_at timestamptz not null default ledger_now(),
    -- A name may stand in a key, an id and a path.
    constraint owner_is_a_name check (name ~ '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$')
);

create table profile (
    owner text not null references owner (name),
    version integer not null,
    hash sha256 not null,
    document jsonb not null,
    zone text not null,
    opens time not null,
    ready_by time not null,
    useful_until time not null,
    send_at time,
    products text[] not null,
    applied_at timestamptz not null default ledger_now(),
    primary key (owner, version),
    -- A window ends after it starts, and is useful at least until it should be ready.
    constraint window_in_order check (opens < ready_by and ready_by <= useful_until)
);

alter table owner add constraint owner_has_a_profile
    foreign key (name, profile_version) references profile (owner, version);

create table destination (
    owner text not null,
    version integer not null,
    name text not null,
    channel text not null,
    address text not null,
    proof text not null,
    if_unknown text not null,
    primary key (owner, version, name),
    foreign key (owner, version) references profile (owner, version),
    constraint proof_is_known check (proof in ('mailbox', 'none')),
    constraint if_unknown_is_known check (if_unknown in ('ask', 'send_again', 'let_go'))
);

-- The lease kernel: the right to write until an instant, for every kind of leased work. Nothing a beat changes is indexed.
create table work (
    key text primary key,
    kind text not null,
    step text,
    token bigint not null default 0,
    holder text,
    attempts integer not null default 0,
    budget integer not null default 5,
    budget_token bigint not null default 0,
    in_flight integer not null default 0,
    lease_expires_at timestamptz,
    deadline_at timestamptz,
    retry_at timestamptz,
    moved_at timestamptz not null default ledger_now(),
    restarted_at timestamptz,
    closed_at timestamptz,
    -- A lease has a holder, an end and a deadline, or none of them.
    constraint leased_whole_or_not check (
        (holder is null) = (lease_expires_at is null) and (holder is null) = (deadline_at is null)
    ),
    -- What is finished is held by nobody.
    constraint closed_holds_no_lease check (closed_at is null or holder is null),
    -- What is finished has no effect under way.
    constraint closed_has_nothing_in_flight check (closed_at is null or in_flight = 0),
    -- Nobody tries more often than the budget allows.
    constraint attempts_in_budget check (attempts between 0 and budget),
    -- No beat carries a lease past its claim's deadline.
    constraint lease_ends_by_deadline check (lease_expires_at <= deadline_at),
    constraint in_flight_is_a_count check (in_flight >= 0)
) with (fillfactor = 70);

create index work_held on work (key) where holder is not null;

create table obligation (
    key text primary key,
    owner text not null references owner (name),
    product text not null,
    local_date date not null,
    status text not null,
    plan integer not null,
    intent_hash sha256 not null,
    profile_version integer not null,
    tzdata text not null,
    day_starts_at timestamptz not null,
    opens_at timestamptz not null,
    ready_by_at timestamptz not null,
    useful_until_at timestamptz not null,
    follows text references obligation (key),
    work_key text unique references work (key),
    output_hash sha256,
    unadvanced boolean not null default false,
    declared_at timestamptz not null,
    queued_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    foreign key (owner, profile_version) references profile (owner, version),
    -- One owner's product on one local date is owed once.
    constraint one_per_owner_product_date unique (owner, product, local_date),
    constraint obligation_key_is_derived check (key = owner || '/' || product || '/' || to_char(local_date, 'YYYY-MM-DD')),
    constraint obligation_status_is_known check (
        status in ('declared', 'queued', 'running', 'succeeded', 'exhausted', 'missed')
    ),
    -- An output exists when, and only when, it succeeded.
    constraint output_only_when_succeeded check ((status = 'succeeded') = (output_hash is not null)),
    -- What may be claimed has a work row.
    constraint queued_has_work check (status not in ('queued', 'running') or work_key is not null),
    constraint ended_when_terminal check ((status in ('succeeded', 'exhausted', 'missed')) = (ended_at is not null)),
    -- Only what succeeded can wait for its continuation.
    constraint unadvanced_only_when_succeeded check (not unadvanced or status = 'succeeded')
);

create index obligation_open on obligation (opens_at) where status in ('declared', 'queued', 'running');
create index obligation_unadvanced on obligation (ended_at) where unadvanced;
create index obligation_by_date on obligation (local_date, owner);
create index obligation_follows on obligation (follows) where follows is not null;

create table continuation (
    key text primary key references obligation (key),
    work_key text not null unique references work (key),
    plan integer not null,
    status text not null,
    created_at timestamptz not null,
    ended_at timestamptz,
    constraint continuation_status_is_known check (status in ('pending', 'running', 'done', 'exhausted')),
    constraint continuation_ended_when_terminal check ((status in ('done', 'exhausted')) = (ended_at is not null))
);

create index continuation_open on continuation (created_at) where status in ('pending', 'running');

create table action (
    key text primary key,
    subject text not null references obligation (key),
    step text not null,
    work_key text not null references work (key),
    token bigint not null,
    generation integer not null default 1,
    status text not null,
    repeat text not null,
    provider text not null,
    request_hash sha256 not null references frozen (hash),
    reference text,
    receipt jsonb,
    reason text,
    refunded boolean not null default false,
    started_at timestamptz not null,
    ended_at timestamptz,
    constraint action_status_is_known check (
        status in ('in_flight', 'completed', 'refused', 'not_done', 'uncertain', 'abandoned', 'held')
    ),
    constraint repeat_is_known check (repeat in ('harmless', 'askable')),
    -- Completed means that a provider gave it a reference.
    constraint completed_only_with_reference check ((status = 'completed') = (reference is not null)),
    -- A provider's reference stands for one effect.
    constraint one_reference_per_provider unique (provider, reference),
    constraint action_ended_when_not_in_flight check ((status = 'in_flight') = (ended_at is null))
);

create index action_by_work on action (work_key);
create index action_by_subject on action (subject);
create index action_in_flight on action (started_at) where status = 'in_flight';

create table message (
    key text primary key,
    work_key text not null unique references work (key),
    subject text not null references obligation (key),
    kind text not null,
    channel text not null,
    destination text not null,
    address text not null,
    mail_hash sha256 not null references frozen (hash),
    mail_id text not null unique,
    proof text not null,
    if_unknown text not null,
    status text not null,
    useful_until_at timestamptz not null,
    created_at timestamptz not null,
    look_at timestamptz,
    looks integer not null default 0,
    quarantine_until timestamptz,
    provider text,
    reference text,
    reply text,
    accepted_at timestamptz,
    mechanism text,
    placement text,
    observed_at timestamptz,
    reason text,
    ended_at timestamptz,
    constraint message_key_is_derived check (key = subject || '/' || kind || '/' || channel || '/' || destination),
    constraint message_status_is_known check (
        status in ('pending', 'sending', 'uncertain', 'held', 'accepted', 'observed', 'expired', 'dead')
    ),
    -- Accepted means that a provider gave it a reference.
    constraint accepted_only_with_reference check (
        (status in ('accepted', 'observed')) = (provider is not null and reference is not null and accepted_at is not null)
    ),
    -- Observed means that somebody looked, by a named mechanism, and saw it.
    constraint observed_only_with_mechanism check (
        (status = 'observed') = (mechanism is not null and placement is not null and observed_at is not null)
    ),
    -- A mail of unknown fate has an instant before which "not found" proves nothing.
    constraint uncertain_has_a_quarantine check (status <> 'uncertain' or quarantine_until is not null),
    constraint message_ended_when_terminal check ((status in ('observed', 'expired', 'dead')) = (ended_at is not null))
);

create index message_open on message (created_at) where status in ('pending', 'sending', 'uncertain');
create index message_to_look_for on message (look_at) where look_at is not null;
create index message_by_subject on message (subject);

-- Where evidence comes from, shared by owners. `window_key` is the pointer to the one window that may be read now.
create table source (
    key text primary key,
    url text not null,
    secret_name text not null default '',
    title text not null default '',
    cursor_version integer not null default 1,
    etag text not null default '',
    last_modified text not null default '',
    window_key text not null unique references work (key),
    due_at timestamptz not null,
    asked_at timestamptz,
    tried_at timestamptz,
    settled_at timestamptz,
    items_read integer not null default 0,
    outcome text,
    reason text not null default '',
    failing_since timestamptz,
    created_at timestamptz not null,
    unique (url, secret_name)
);

create index source_due on source (due_at);

create table subscription (
    owner text not null references owner (name),
    source_key text not null references source (key),
    name text not null,
    added_at timestamptz not null default ledger_now(),
    primary key (owner, source_key),
    unique (owner, name)
);

create index subscription_by_source on subscription (source_key);

-- One claimed read of one window; its claim token is part of its name, so it settles once.
create table ingest_run (
    work_key text not null references work (key),
    token bigint not null,
    source_key text not null references source (key),
    cursor_version integer not null,
    status text not null,
    declared integer,
    admitted integer not null default 0,
    fresh integer not null default 0,
    reason text not null default '',
    claimed_at timestamptz not null,
    ended_at timestamptz,
    primary key (work_key, token),
    constraint run_status_is_known check (status in ('claimed', 'new', 'none', 'unreachable', 'invalid', 'failed')),
    -- A cursor moves only after all that was declared is stored.
    constraint settled_only_when_all_admitted check (status not in ('new', 'none') or declared = admitted),
    constraint run_ended_when_settled check ((status = 'claimed') = (ended_at is null))
);

create index ingest_run_by_source on ingest_run (source_key, claimed_at);

create table event (
    key text primary key,
    source_key text not null references source (key),
    identity text not null,
    evidence_hash sha256 not null,
    baseline boolean not null,
    first_seen_at timestamptz not null,
    unique (source_key, identity)
);

create table evidence (
    event_key text not null references event (key),
    hash sha256 not null,
    url text not null,
    title text not null,
    body text not null,
    published_at timestamptz,
    admitted_at timestamptz not null,
    run_key text not null,
    run_token bigint not null,
    primary key (event_key, hash),
    foreign key (run_key, run_token) references ingest_run (work_key, token)
);

alter table event add constraint event_has_its_evidence
    foreign key (key, evidence_hash) references evidence (event_key, hash);

-- What one claimed read says it saw, and that it was stored.
create table declared_item (
    work_key text not null,
    token bigint not null,
    event_key text not null,
    evidence_hash sha256 not null,
    admitted_at timestamptz,
    primary key (work_key, token, event_key),
    foreign key (work_key, token) references ingest_run (work_key, token)
);

-- The frozen evidence of one date. An item is in one set of an owner at most, for ever.
create table evidence_set (
    key text primary key references obligation (key),
    hash sha256 not null references frozen (hash),
    coverage jsonb not null,
    frozen_at timestamptz not null
);

create table evidence_item (
    owner text not null references owner (name),
    event_key text not null,
    evidence_hash sha256 not null,
    key text not null references evidence_set (key),
    chosen boolean not null,
    constraint one_set_per_owner_and_evidence primary key (owner, event_key, evidence_hash),
    foreign key (event_key, evidence_hash) references evidence (event_key, hash)
);

create index evidence_item_by_set on evidence_item (key);

create table edition (
    key text not null references obligation (key),
    revision integer not null,
    status text not null,
    kind text not null,
    title text not null,
    draft_hash sha256 not null references frozen (hash),
    bundle_hash sha256 references frozen (hash),
    facts jsonb not null default '{}',
    drafted_at timestamptz not null,
    published_at timestamptz,
    primary key (key, revision),
    constraint edition_status_is_known check (status in ('drafted', 'published')),
    -- Published means that a bundle was read back.
    constraint published_only_with_bundle check (
        (status = 'published') = (bundle_hash is not null and published_at is not null)
    )
);

create table edition_current (
    key text primary key,
    revision integer not null,
    foreign key (key, revision) references edition (key, revision)
);

-- Whoever looked and did nothing says why, coalesced.
create table decision (
    subject text not null,
    kind text not null,
    reason text not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    count bigint not null default 1,
    primary key (subject, kind, reason)
);

create index decision_recent on decision (last_seen_at);

create table audit (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    subject text not null,
    event text not null,
    token bigint,
    facts jsonb not null default '{}'
);

create index audit_by_subject on audit (subject, id);

create function audit_is_append_only() returns trigger
    language plpgsql
    as 'begin raise exception ''the audit is append-only''; end';

create trigger audit_is_append_only
    before update or delete or truncate on audit
    for each statement execute function audit_is_append_only();

create table sweep_run (
    id bigint generated always as identity primary key,
    caller text not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    passes jsonb not null default '{}'
);

create index sweep_run_recent on sweep_run (started_at);
