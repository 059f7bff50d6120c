-- The wiki: accepted texts, the pages made from them, and the intent to put one page's bodies into the object store.
-- `wanted` counts what a page should show, `published` what was read back: a page is dirty while they differ.

create table summary (
    key text primary key,
    event_key text not null,
    evidence_hash sha256 not null,
    prompt_version text not null,
    model text not null,
    title text not null,
    body text not null,
    accepted_at timestamptz not null,
    rejected_at timestamptz,
    foreign key (event_key, evidence_hash) references evidence (event_key, hash),
    -- One text per piece of evidence, wording of the question and model.
    constraint one_summary_per_identity unique (event_key, evidence_hash, prompt_version, model)
);

alter table event add column summary_key text references summary (key);

create table page (
    id text primary key,
    owner text not null references owner (name),
    kind text not null,
    topic text not null,
    -- The event whose current summary the page shows; its first one named the page.
    event_key text references event (key),
    work_key text not null unique references work (key),
    wanted integer not null,
    published integer not null default 0,
    summary_key text references summary (key),
    -- By form (".md", ".html"): the SHA-256 that was read back, and the ETag last recorded.
    objects jsonb not null default '{}',
    first_told date,
    last_told date,
    created_at timestamptz not null,
    published_at timestamptz,
    -- When what an abandoned write may still put is read once more.
    recheck_at timestamptz,
    -- A column of its own, so that the planner knows how few there are.
    dirty boolean not null generated always as (wanted > published or recheck_at is not null) stored,
    constraint page_kind_is_known check (kind in ('story', 'topic', 'index')),
    -- A story has an event and its dates; a list of stories has none.
    constraint story_has_an_event check ((kind = 'story') = (event_key is not null and last_told is not null)),
    -- Nothing is published that was never wanted.
    constraint published_was_wanted check (published between 0 and wanted),
    constraint published_when_read_back check ((published > 0) = (published_at is not null))
) with (fillfactor = 70);

create index page_dirty on page (created_at) where dirty;
create index page_by_event on page (event_key) where event_key is not null;
create index page_by_topic on page (owner, topic, kind);

-- The events that tell a page's story.
create table page_member (
    page_id text not null references page (id),
    owner text not null,
    event_key text not null references event (key),
    added_at timestamptz not null,
    primary key (page_id, event_key),
    -- An event tells one story to an owner.
    constraint one_page_per_owner_and_event unique (owner, event_key)
);

create table page_write (
    page_id text not null references page (id),
    token bigint not null,
    version integer not null,
    status text not null,
    hashes jsonb not null,
    opened_at timestamptz not null,
    ended_at timestamptz,
    primary key (page_id, token, version),
    constraint page_write_status_is_known check (status in ('open', 'closed', 'abandoned')),
    constraint page_write_ended_when_not_open check ((status = 'open') = (ended_at is null))
);

create index page_write_open on page_write (page_id) where status = 'open';

-- One piece of evidence on a page. Without `published_at` no read-back has shown it there yet.
create table source_card (
    page_id text not null references page (id),
    event_key text not null,
    evidence_hash sha256 not null,
    carded_at timestamptz not null,
    published_at timestamptz,
    primary key (page_id, event_key, evidence_hash),
    foreign key (event_key, evidence_hash) references evidence (event_key, hash)
);

create index source_card_unpublished on source_card (carded_at) where published_at is null;
