-- Generated: the schema as it stands after every file of this folder. Do not edit; a test compares it.
-- To write it anew: python -m tests.schema.snapshot

CREATE DOMAIN public.sha256 AS text
	CONSTRAINT sha256_is_lower_hex CHECK ((VALUE ~ '^[0-9a-f]{64}$'::text));

CREATE FUNCTION public.audit_is_append_only() RETURNS trigger
    LANGUAGE plpgsql
    AS $$begin raise exception 'the audit is append-only'; end$$;

CREATE FUNCTION public.ledger_now() RETURNS timestamp with time zone
    LANGUAGE sql PARALLEL SAFE
    AS $$select clock_timestamp()$$;

CREATE TABLE public.action (
    key text NOT NULL,
    subject text NOT NULL,
    step text NOT NULL,
    work_key text NOT NULL,
    token bigint NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    status text NOT NULL,
    repeat text NOT NULL,
    provider text NOT NULL,
    request_hash public.sha256 NOT NULL,
    reference text,
    receipt jsonb,
    reason text,
    refunded boolean DEFAULT false NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT action_ended_when_not_in_flight CHECK (((status = 'in_flight'::text) = (ended_at IS NULL))),
    CONSTRAINT action_status_is_known CHECK ((status = ANY (ARRAY['in_flight'::text, 'completed'::text, 'refused'::text, 'not_done'::text, 'uncertain'::text, 'abandoned'::text, 'held'::text]))),
    CONSTRAINT completed_only_with_reference CHECK (((status = 'completed'::text) = (reference IS NOT NULL))),
    CONSTRAINT repeat_is_known CHECK ((repeat = ANY (ARRAY['harmless'::text, 'askable'::text])))
);

CREATE TABLE public.audit (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    subject text NOT NULL,
    event text NOT NULL,
    token bigint,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE public.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.continuation (
    key text NOT NULL,
    work_key text NOT NULL,
    plan integer NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT continuation_ended_when_terminal CHECK (((status = ANY (ARRAY['done'::text, 'exhausted'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT continuation_status_is_known CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'done'::text, 'exhausted'::text])))
);

CREATE TABLE public.decision (
    subject text NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    count bigint DEFAULT 1 NOT NULL
);

CREATE TABLE public.declared_item (
    work_key text NOT NULL,
    token bigint NOT NULL,
    event_key text NOT NULL,
    evidence_hash public.sha256 NOT NULL,
    admitted_at timestamp with time zone
);

CREATE TABLE public.destination (
    owner text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    channel text NOT NULL,
    address text NOT NULL,
    proof text NOT NULL,
    if_unknown text NOT NULL,
    CONSTRAINT if_unknown_is_known CHECK ((if_unknown = ANY (ARRAY['ask'::text, 'send_again'::text, 'let_go'::text]))),
    CONSTRAINT proof_is_known CHECK ((proof = ANY (ARRAY['mailbox'::text, 'none'::text])))
);

CREATE TABLE public.edition (
    key text NOT NULL,
    revision integer NOT NULL,
    status text NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    draft_hash public.sha256 NOT NULL,
    bundle_hash public.sha256,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL,
    drafted_at timestamp with time zone NOT NULL,
    published_at timestamp with time zone,
    CONSTRAINT edition_status_is_known CHECK ((status = ANY (ARRAY['drafted'::text, 'published'::text]))),
    CONSTRAINT published_only_with_bundle CHECK (((status = 'published'::text) = ((bundle_hash IS NOT NULL) AND (published_at IS NOT NULL))))
);

CREATE TABLE public.edition_current (
    key text NOT NULL,
    revision integer NOT NULL
);

CREATE TABLE public.event (
    key text NOT NULL,
    source_key text NOT NULL,
    identity text NOT NULL,
    evidence_hash public.sha256 NOT NULL,
    baseline boolean NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    summary_key text
);

CREATE TABLE public.evidence (
    event_key text NOT NULL,
    hash public.sha256 NOT NULL,
    url text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    published_at timestamp with time zone,
    admitted_at timestamp with time zone NOT NULL,
    run_key text NOT NULL,
    run_token bigint NOT NULL,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE TABLE public.evidence_item (
    owner text NOT NULL,
    event_key text NOT NULL,
    evidence_hash public.sha256 NOT NULL,
    key text NOT NULL,
    chosen boolean NOT NULL
);

CREATE TABLE public.evidence_set (
    key text NOT NULL,
    hash public.sha256 NOT NULL,
    coverage jsonb NOT NULL,
    frozen_at timestamp with time zone NOT NULL
);

CREATE TABLE public.frozen (
    hash public.sha256 NOT NULL,
    bytes bytea NOT NULL,
    frozen_at timestamp with time zone DEFAULT public.ledger_now() NOT NULL,
    CONSTRAINT bytes_match_hash CHECK (((hash)::text = encode(sha256(bytes), 'hex'::text)))
);

CREATE TABLE public.message (
    key text NOT NULL,
    work_key text NOT NULL,
    subject text NOT NULL,
    kind text NOT NULL,
    channel text NOT NULL,
    destination text NOT NULL,
    address text NOT NULL,
    mail_hash public.sha256 NOT NULL,
    mail_id text NOT NULL,
    proof text NOT NULL,
    if_unknown text NOT NULL,
    status text NOT NULL,
    useful_until_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    look_at timestamp with time zone,
    looks integer DEFAULT 0 NOT NULL,
    quarantine_until timestamp with time zone,
    provider text,
    reference text,
    reply text,
    accepted_at timestamp with time zone,
    mechanism text,
    placement text,
    observed_at timestamp with time zone,
    reason text,
    ended_at timestamp with time zone,
    CONSTRAINT accepted_only_with_reference CHECK (((status = ANY (ARRAY['accepted'::text, 'observed'::text])) = ((provider IS NOT NULL) AND (reference IS NOT NULL) AND (accepted_at IS NOT NULL)))),
    CONSTRAINT message_ended_when_terminal CHECK (((status = ANY (ARRAY['observed'::text, 'expired'::text, 'dead'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT message_key_is_derived CHECK ((key = ((((((subject || '/'::text) || kind) || '/'::text) || channel) || '/'::text) || destination))),
    CONSTRAINT message_status_is_known CHECK ((status = ANY (ARRAY['pending'::text, 'sending'::text, 'uncertain'::text, 'held'::text, 'accepted'::text, 'observed'::text, 'expired'::text, 'dead'::text]))),
    CONSTRAINT observed_only_with_mechanism CHECK (((status = 'observed'::text) = ((mechanism IS NOT NULL) AND (placement IS NOT NULL) AND (observed_at IS NOT NULL)))),
    CONSTRAINT uncertain_has_a_quarantine CHECK (((status <> 'uncertain'::text) OR (quarantine_until IS NOT NULL)))
);

CREATE VIEW public.held AS
 SELECT key,
    subject,
    destination,
    status,
    reason,
    created_at
   FROM public.message
  WHERE (status = 'held'::text);

COMMENT ON VIEW public.held IS 'Messages that may have been sent and wait for a person';

CREATE TABLE public.identity_alias (
    source_key text NOT NULL,
    identity text NOT NULL,
    event_key text NOT NULL,
    noted_at timestamp with time zone NOT NULL
);

CREATE TABLE public.ingest_run (
    work_key text NOT NULL,
    token bigint NOT NULL,
    source_key text NOT NULL,
    cursor_version integer NOT NULL,
    status text NOT NULL,
    declared integer,
    admitted integer DEFAULT 0 NOT NULL,
    fresh integer DEFAULT 0 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    renamed integer DEFAULT 0 NOT NULL,
    unmodified boolean DEFAULT false NOT NULL,
    reads integer DEFAULT 1 NOT NULL,
    first_claimed_at timestamp with time zone,
    CONSTRAINT coalesced_only_when_unmodified CHECK (((reads = 1) OR (status = ANY (ARRAY['claimed'::text, 'none'::text])))),
    CONSTRAINT run_ended_when_settled CHECK (((status = 'claimed'::text) = (ended_at IS NULL))),
    CONSTRAINT run_status_is_known CHECK ((status = ANY (ARRAY['claimed'::text, 'new'::text, 'none'::text, 'unreachable'::text, 'invalid'::text, 'partial'::text, 'gone'::text, 'failed'::text]))),
    CONSTRAINT settled_only_when_all_admitted CHECK (((status <> ALL (ARRAY['new'::text, 'none'::text])) OR (declared = admitted)))
);

CREATE TABLE public.obligation (
    key text NOT NULL,
    owner text NOT NULL,
    product text NOT NULL,
    local_date date NOT NULL,
    status text NOT NULL,
    plan integer NOT NULL,
    intent_hash public.sha256 NOT NULL,
    profile_version integer NOT NULL,
    tzdata text NOT NULL,
    day_starts_at timestamp with time zone NOT NULL,
    opens_at timestamp with time zone NOT NULL,
    ready_by_at timestamp with time zone NOT NULL,
    useful_until_at timestamp with time zone NOT NULL,
    follows text,
    work_key text,
    output_hash public.sha256,
    unadvanced boolean DEFAULT false NOT NULL,
    declared_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT ended_when_terminal CHECK (((status = ANY (ARRAY['succeeded'::text, 'exhausted'::text, 'missed'::text])) = (ended_at IS NOT NULL))),
    CONSTRAINT obligation_key_is_derived CHECK ((key = ((((owner || '/'::text) || product) || '/'::text) || to_char((local_date)::timestamp with time zone, 'YYYY-MM-DD'::text)))),
    CONSTRAINT obligation_status_is_known CHECK ((status = ANY (ARRAY['declared'::text, 'queued'::text, 'running'::text, 'succeeded'::text, 'exhausted'::text, 'missed'::text]))),
    CONSTRAINT output_only_when_succeeded CHECK (((status = 'succeeded'::text) = (output_hash IS NOT NULL))),
    CONSTRAINT queued_has_work CHECK (((status <> ALL (ARRAY['queued'::text, 'running'::text])) OR (work_key IS NOT NULL))),
    CONSTRAINT unadvanced_only_when_succeeded CHECK (((NOT unadvanced) OR (status = 'succeeded'::text)))
);

CREATE TABLE public.openings_report (
    key text NOT NULL,
    owner text NOT NULL,
    local_date date NOT NULL,
    hash public.sha256 NOT NULL,
    facts jsonb NOT NULL,
    reported_at timestamp with time zone NOT NULL
);

CREATE TABLE public.profile (
    owner text NOT NULL,
    version integer NOT NULL,
    hash public.sha256 NOT NULL,
    document jsonb NOT NULL,
    zone text NOT NULL,
    opens time without time zone NOT NULL,
    ready_by time without time zone NOT NULL,
    useful_until time without time zone NOT NULL,
    send_at time without time zone,
    products text[] NOT NULL,
    applied_at timestamp with time zone DEFAULT public.ledger_now() NOT NULL,
    CONSTRAINT window_in_order CHECK (((opens < ready_by) AND (ready_by <= useful_until)))
);

CREATE TABLE public.work (
    key text NOT NULL,
    kind text NOT NULL,
    step text,
    token bigint DEFAULT 0 NOT NULL,
    holder text,
    attempts integer DEFAULT 0 NOT NULL,
    budget integer DEFAULT 5 NOT NULL,
    budget_token bigint DEFAULT 0 NOT NULL,
    in_flight integer DEFAULT 0 NOT NULL,
    lease_expires_at timestamp with time zone,
    deadline_at timestamp with time zone,
    retry_at timestamp with time zone,
    moved_at timestamp with time zone DEFAULT public.ledger_now() NOT NULL,
    restarted_at timestamp with time zone,
    closed_at timestamp with time zone,
    CONSTRAINT attempts_in_budget CHECK (((attempts >= 0) AND (attempts <= budget))),
    CONSTRAINT closed_has_nothing_in_flight CHECK (((closed_at IS NULL) OR (in_flight = 0))),
    CONSTRAINT closed_holds_no_lease CHECK (((closed_at IS NULL) OR (holder IS NULL))),
    CONSTRAINT in_flight_is_a_count CHECK ((in_flight >= 0)),
    CONSTRAINT lease_ends_by_deadline CHECK ((lease_expires_at <= deadline_at)),
    CONSTRAINT leased_whole_or_not CHECK ((((holder IS NULL) = (lease_expires_at IS NULL)) AND ((holder IS NULL) = (deadline_at IS NULL))))
)
WITH (fillfactor='70');

CREATE VIEW public.owed AS
 SELECT obligation.key,
    obligation.owner,
    obligation.product,
    obligation.local_date,
    obligation.status,
    profile.zone,
    obligation.opens_at,
    obligation.ready_by_at,
    obligation.useful_until_at,
    obligation.queued_at,
    obligation.started_at,
    obligation.ended_at,
    work.token,
    work.attempts,
    work.holder,
    work.lease_expires_at,
    work.retry_at,
    continuation.status AS continuation_status,
    next.step,
    next.token AS continuation_token,
    next.attempts AS continuation_attempts,
    next.lease_expires_at AS continuation_lease_expires_at,
    next.retry_at AS continuation_retry_at,
    edition.kind AS edition_kind,
    edition.title AS edition_title,
    edition.published_at,
    edition.facts,
    evidence_set.coverage
   FROM (((((((public.obligation
     JOIN public.profile ON (((profile.owner = obligation.owner) AND (profile.version = obligation.profile_version))))
     LEFT JOIN public.work ON ((work.key = obligation.work_key)))
     LEFT JOIN public.continuation ON ((continuation.key = obligation.key)))
     LEFT JOIN public.work next ON ((next.key = continuation.work_key)))
     LEFT JOIN public.edition_current ON ((edition_current.key = obligation.key)))
     LEFT JOIN public.edition ON (((edition.key = obligation.key) AND (edition.revision = COALESCE(edition_current.revision, 1)))))
     LEFT JOIN public.evidence_set ON ((evidence_set.key = obligation.key)))
  WHERE (obligation.follows IS NULL);

COMMENT ON VIEW public.owed IS 'Each morning that is owed, how far it got, and who holds it: select * from owed where local_date = current_date';

CREATE TABLE public.owner (
    name text NOT NULL,
    profile_version integer NOT NULL,
    created_at timestamp with time zone DEFAULT public.ledger_now() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT owner_is_a_name CHECK ((name ~ '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$'::text))
);

CREATE TABLE public.page (
    id text NOT NULL,
    owner text NOT NULL,
    kind text NOT NULL,
    topic text NOT NULL,
    event_key text,
    work_key text NOT NULL,
    wanted integer NOT NULL,
    published integer DEFAULT 0 NOT NULL,
    summary_key text,
    objects jsonb DEFAULT '{}'::jsonb NOT NULL,
    first_told date,
    last_told date,
    created_at timestamp with time zone NOT NULL,
    published_at timestamp with time zone,
    recheck_at timestamp with time zone,
    dirty boolean GENERATED ALWAYS AS (((wanted > published) OR (recheck_at IS NOT NULL))) STORED NOT NULL,
    CONSTRAINT page_kind_is_known CHECK ((kind = ANY (ARRAY['story'::text, 'topic'::text, 'index'::text]))),
    CONSTRAINT published_was_wanted CHECK (((published >= 0) AND (published <= wanted))),
    CONSTRAINT published_when_read_back CHECK (((published > 0) = (published_at IS NOT NULL))),
    CONSTRAINT story_has_an_event CHECK (((kind = 'story'::text) = ((event_key IS NOT NULL) AND (last_told IS NOT NULL))))
)
WITH (fillfactor='70');

CREATE TABLE public.page_member (
    page_id text NOT NULL,
    owner text NOT NULL,
    event_key text NOT NULL,
    added_at timestamp with time zone NOT NULL
);

CREATE TABLE public.page_write (
    page_id text NOT NULL,
    token bigint NOT NULL,
    version integer NOT NULL,
    status text NOT NULL,
    hashes jsonb NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT page_write_ended_when_not_open CHECK (((status = 'open'::text) = (ended_at IS NULL))),
    CONSTRAINT page_write_status_is_known CHECK ((status = ANY (ARRAY['open'::text, 'closed'::text, 'abandoned'::text])))
);

CREATE TABLE public.source (
    key text NOT NULL,
    url text NOT NULL,
    secret_name text DEFAULT ''::text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    cursor_version integer DEFAULT 1 NOT NULL,
    etag text DEFAULT ''::text NOT NULL,
    last_modified text DEFAULT ''::text NOT NULL,
    window_key text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    asked_at timestamp with time zone,
    tried_at timestamp with time zone,
    settled_at timestamp with time zone,
    items_read integer DEFAULT 0 NOT NULL,
    outcome text,
    reason text DEFAULT ''::text NOT NULL,
    failing_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    kind text DEFAULT 'feed'::text NOT NULL,
    body_hash text DEFAULT ''::text NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    fetch_url text,
    moved_to text,
    moved_since timestamp with time zone,
    listed_work text,
    listed_token bigint,
    CONSTRAINT moved_whole_or_not CHECK (((moved_to IS NULL) = (moved_since IS NULL))),
    CONSTRAINT source_key_is_derived CHECK ((key = "left"(encode(sha256(convert_to(((secret_name || '
'::text) || url), 'UTF8'::name)), 'hex'::text), 40))),
    CONSTRAINT source_kind_is_known CHECK ((kind = ANY (ARRAY['feed'::text, 'greenhouse'::text, 'lever'::text, 'ashby'::text])))
)
WITH (fillfactor='60');

CREATE TABLE public.source_card (
    page_id text NOT NULL,
    event_key text NOT NULL,
    evidence_hash public.sha256 NOT NULL,
    carded_at timestamp with time zone NOT NULL,
    published_at timestamp with time zone
);

CREATE VIEW public.stuck AS
 SELECT key,
    kind,
    step,
    attempts,
    budget,
    moved_at,
    lease_expires_at,
    retry_at,
    (public.ledger_now() - moved_at) AS unmoved_for
   FROM public.work
  WHERE ((closed_at IS NULL) AND (kind <> 'ingest'::text) AND ((kind <> 'page'::text) OR (EXISTS ( SELECT 1
           FROM public.page
          WHERE ((page.work_key = work.key) AND (page.wanted > page.published))))) AND (moved_at < (public.ledger_now() - '00:15:00'::interval)) AND ((lease_expires_at IS NULL) OR (lease_expires_at <= public.ledger_now())) AND ((retry_at IS NULL) OR (retry_at <= public.ledger_now())));

COMMENT ON VIEW public.stuck IS 'Open work that nobody moved, holds or postponed for a quarter of an hour';

CREATE TABLE public.subscription (
    owner text NOT NULL,
    source_key text NOT NULL,
    name text NOT NULL,
    added_at timestamp with time zone DEFAULT public.ledger_now() NOT NULL,
    purpose text DEFAULT 'news'::text NOT NULL,
    CONSTRAINT purpose_is_known CHECK ((purpose = ANY (ARRAY['news'::text, 'openings'::text])))
);

CREATE TABLE public.summary (
    key text NOT NULL,
    event_key text NOT NULL,
    evidence_hash public.sha256 NOT NULL,
    prompt_version text NOT NULL,
    model text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    rejected_at timestamp with time zone
);

CREATE TABLE public.sweep_run (
    id bigint NOT NULL,
    caller text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    passes jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE public.sweep_run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sweep_run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.unread_window (
    work_key text NOT NULL,
    source_key text NOT NULL,
    cursor_version integer NOT NULL,
    how text NOT NULL,
    reason text NOT NULL,
    attempts integer NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    CONSTRAINT how_is_known CHECK ((how = ANY (ARRAY['spent'::text, 'gone'::text, 'died'::text, 'skipped'::text])))
);

ALTER TABLE ONLY public.action
    ADD CONSTRAINT action_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.continuation
    ADD CONSTRAINT continuation_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.continuation
    ADD CONSTRAINT continuation_work_key_key UNIQUE (work_key);

ALTER TABLE ONLY public.decision
    ADD CONSTRAINT decision_pkey PRIMARY KEY (subject, kind, reason);

ALTER TABLE ONLY public.declared_item
    ADD CONSTRAINT declared_item_pkey PRIMARY KEY (work_key, token, event_key);

ALTER TABLE ONLY public.destination
    ADD CONSTRAINT destination_pkey PRIMARY KEY (owner, version, name);

ALTER TABLE ONLY public.edition_current
    ADD CONSTRAINT edition_current_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.edition
    ADD CONSTRAINT edition_pkey PRIMARY KEY (key, revision);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_source_key_identity_key UNIQUE (source_key, identity);

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (event_key, hash);

ALTER TABLE ONLY public.evidence_set
    ADD CONSTRAINT evidence_set_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.frozen
    ADD CONSTRAINT frozen_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.identity_alias
    ADD CONSTRAINT identity_alias_pkey PRIMARY KEY (source_key, identity);

ALTER TABLE ONLY public.ingest_run
    ADD CONSTRAINT ingest_run_pkey PRIMARY KEY (work_key, token);

ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_mail_id_key UNIQUE (mail_id);

ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_work_key_key UNIQUE (work_key);

ALTER TABLE ONLY public.obligation
    ADD CONSTRAINT obligation_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.obligation
    ADD CONSTRAINT obligation_work_key_key UNIQUE (work_key);

ALTER TABLE ONLY public.page_member
    ADD CONSTRAINT one_page_per_owner_and_event UNIQUE (owner, event_key);

ALTER TABLE ONLY public.obligation
    ADD CONSTRAINT one_per_owner_product_date UNIQUE (owner, product, local_date);

ALTER TABLE ONLY public.action
    ADD CONSTRAINT one_reference_per_provider UNIQUE (provider, reference);

ALTER TABLE ONLY public.evidence_item
    ADD CONSTRAINT one_set_per_owner_and_evidence PRIMARY KEY (owner, event_key, evidence_hash);

ALTER TABLE ONLY public.summary
    ADD CONSTRAINT one_summary_per_identity UNIQUE (event_key, evidence_hash, prompt_version, model);

ALTER TABLE ONLY public.openings_report
    ADD CONSTRAINT openings_report_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.owner
    ADD CONSTRAINT owner_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.page_member
    ADD CONSTRAINT page_member_pkey PRIMARY KEY (page_id, event_key);

ALTER TABLE ONLY public.page
    ADD CONSTRAINT page_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.page
    ADD CONSTRAINT page_work_key_key UNIQUE (work_key);

ALTER TABLE ONLY public.page_write
    ADD CONSTRAINT page_write_pkey PRIMARY KEY (page_id, token, version);

ALTER TABLE ONLY public.profile
    ADD CONSTRAINT profile_pkey PRIMARY KEY (owner, version);

ALTER TABLE ONLY public.source_card
    ADD CONSTRAINT source_card_pkey PRIMARY KEY (page_id, event_key, evidence_hash);

ALTER TABLE ONLY public.source
    ADD CONSTRAINT source_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.source
    ADD CONSTRAINT source_window_key_key UNIQUE (window_key);

ALTER TABLE ONLY public.subscription
    ADD CONSTRAINT subscription_owner_name_key UNIQUE (owner, name);

ALTER TABLE ONLY public.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (owner, source_key);

ALTER TABLE ONLY public.summary
    ADD CONSTRAINT summary_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.sweep_run
    ADD CONSTRAINT sweep_run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.unread_window
    ADD CONSTRAINT unread_window_pkey PRIMARY KEY (work_key);

ALTER TABLE ONLY public.work
    ADD CONSTRAINT work_pkey PRIMARY KEY (key);

CREATE INDEX action_by_subject ON public.action USING btree (subject);

CREATE INDEX action_by_work ON public.action USING btree (work_key);

CREATE INDEX action_in_flight ON public.action USING btree (started_at) WHERE (status = 'in_flight'::text);

CREATE INDEX audit_by_subject ON public.audit USING btree (subject, id);

CREATE INDEX continuation_open ON public.continuation USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));

CREATE INDEX decision_recent ON public.decision USING btree (last_seen_at);

CREATE INDEX evidence_by_run ON public.evidence USING btree (run_key, run_token);

CREATE INDEX evidence_item_by_set ON public.evidence_item USING btree (key);

CREATE INDEX ingest_run_by_source ON public.ingest_run USING btree (source_key, claimed_at);

CREATE INDEX message_by_subject ON public.message USING btree (subject);

CREATE INDEX message_open ON public.message USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'sending'::text, 'uncertain'::text]));

CREATE INDEX message_to_look_for ON public.message USING btree (look_at) WHERE (look_at IS NOT NULL);

CREATE INDEX obligation_by_date ON public.obligation USING btree (local_date, owner);

CREATE INDEX obligation_follows ON public.obligation USING btree (follows) WHERE (follows IS NOT NULL);

CREATE INDEX obligation_open ON public.obligation USING btree (opens_at) WHERE (status = ANY (ARRAY['declared'::text, 'queued'::text, 'running'::text]));

CREATE INDEX obligation_unadvanced ON public.obligation USING btree (ended_at) WHERE unadvanced;

CREATE INDEX openings_report_by_owner ON public.openings_report USING btree (owner, local_date);

CREATE INDEX page_by_event ON public.page USING btree (event_key) WHERE (event_key IS NOT NULL);

CREATE INDEX page_by_topic ON public.page USING btree (owner, topic, kind);

CREATE INDEX page_dirty ON public.page USING btree (created_at) WHERE dirty;

CREATE INDEX page_write_open ON public.page_write USING btree (page_id) WHERE (status = 'open'::text);

CREATE INDEX source_card_unpublished ON public.source_card USING btree (carded_at) WHERE (published_at IS NULL);

CREATE INDEX source_lists_by_run ON public.source USING btree (listed_work, listed_token);

CREATE INDEX subscription_by_source ON public.subscription USING btree (source_key);

CREATE INDEX sweep_run_recent ON public.sweep_run USING btree (started_at);

CREATE INDEX unread_window_by_source ON public.unread_window USING btree (source_key, ended_at);

CREATE TRIGGER audit_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION public.audit_is_append_only();

ALTER TABLE ONLY public.action
    ADD CONSTRAINT action_request_hash_fkey FOREIGN KEY (request_hash) REFERENCES public.frozen(hash);

ALTER TABLE ONLY public.action
    ADD CONSTRAINT action_subject_fkey FOREIGN KEY (subject) REFERENCES public.obligation(key);

ALTER TABLE ONLY public.action
    ADD CONSTRAINT action_work_key_fkey FOREIGN KEY (work_key) REFERENCES public.work(key);

ALTER TABLE ONLY public.continuation
    ADD CONSTRAINT continuation_key_fkey FOREIGN KEY (key) REFERENCES public.obligation(key);

ALTER TABLE ONLY public.continuation
    ADD CONSTRAINT continuation_work_key_fkey FOREIGN KEY (work_key) REFERENCES public.work(key);

ALTER TABLE ONLY public.declared_item
    ADD CONSTRAINT declared_item_work_key_token_fkey FOREIGN KEY (work_key, token) REFERENCES public.ingest_run(work_key, token);

ALTER TABLE ONLY public.destination
    ADD CONSTRAINT destination_owner_version_fkey FOREIGN KEY (owner, version) REFERENCES public.profile(owner, version);

ALTER TABLE ONLY public.edition
    ADD CONSTRAINT edition_bundle_hash_fkey FOREIGN KEY (bundle_hash) REFERENCES public.frozen(hash);

ALTER TABLE ONLY public.edition_current
    ADD CONSTRAINT edition_current_key_revision_fkey FOREIGN KEY (key, revision) REFERENCES public.edition(key, revision);

ALTER TABLE ONLY public.edition
    ADD CONSTRAINT edition_draft_hash_fkey FOREIGN KEY (draft_hash) REFERENCES public.frozen(hash);

ALTER TABLE ONLY public.edition
    ADD CONSTRAINT edition_key_fkey FOREIGN KEY (key) REFERENCES public.obligation(key);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_has_its_evidence FOREIGN KEY (key, evidence_hash) REFERENCES public.evidence(event_key, hash);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_source_key_fkey FOREIGN KEY (source_key) REFERENCES public.source(key);

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_summary_key_fkey FOREIGN KEY (summary_key) REFERENCES public.summary(key);

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.event(key);

ALTER TABLE ONLY public.evidence_item
    ADD CONSTRAINT evidence_item_event_key_evidence_hash_fkey FOREIGN KEY (event_key, evidence_hash) REFERENCES public.evidence(event_key, hash);

ALTER TABLE ONLY public.evidence_item
    ADD CONSTRAINT evidence_item_key_fkey FOREIGN KEY (key) REFERENCES public.evidence_set(key);

ALTER TABLE ONLY public.evidence_item
    ADD CONSTRAINT evidence_item_owner_fkey FOREIGN KEY (owner) REFERENCES public.owner(name);

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_run_key_run_token_fkey FOREIGN KEY (run_key, run_token) REFERENCES public.ingest_run(work_key, token);

ALTER TABLE ONLY public.evidence_set
    ADD CONSTRAINT evidence_set_hash_fkey FOREIGN KEY (hash) REFERENCES public.frozen(hash);

ALTER TABLE ONLY public.evidence_set
    ADD CONSTRAINT evidence_set_key_fkey FOREIGN KEY (key) REFERENCES public.obligation(key);

ALTER TABLE ONLY public.identity_alias
    ADD CONSTRAINT identity_alias_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.event(key);

ALTER TABLE ONLY public.identity_alias
    ADD CONSTRAINT identity_alias_source_key_fkey FOREIGN KEY (source_key) REFERENCES public.source(key);

ALTER TABLE ONLY public.ingest_run
    ADD CONSTRAINT ingest_run_source_key_fkey FOREIGN KEY (source_key) REFERENCES public.source(key);

ALTER TABLE ONLY public.ingest_run
    ADD CONSTRAINT ingest_run_work_key_fkey FOREIGN KEY (work_key) REFERENCES public.work(key);

ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_mail_hash_fkey FOREIGN KEY (mail_hash) REFERENCES public.frozen(hash);

ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_subject_fkey FOREIGN KEY (subject) REFERENCES public.obligation(key);

ALTER TABLE ONLY public.message
    ADD CONSTRAINT message_work_key_fkey FOREIGN KEY (work_key) REFERENCES public.work(key);

ALTER TABLE ONLY public.obligation
    ADD CONSTRAINT obligation_follows_fkey FOREIGN KEY (follows) REFERENCES public.obligation(key);

ALTER TABLE ONLY public.obligation
    ADD CONSTRAINT obligation_owner_fkey FOREIGN KEY (owner) REFERENCES public.owner(name);

ALTER TABLE ONLY public.obligation
    ADD CONSTRAINT obligation_owner_profile_version_fkey FOREIGN KEY (owner, profile_version) REFERENCES public.profile(owner, version);

ALTER TABLE ONLY public.obligation
    ADD CONSTRAINT obligation_work_key_fkey FOREIGN KEY (work_key) REFERENCES public.work(key);

ALTER TABLE ONLY public.openings_report
    ADD CONSTRAINT openings_report_hash_fkey FOREIGN KEY (hash) REFERENCES public.frozen(hash);

ALTER TABLE ONLY public.openings_report
    ADD CONSTRAINT openings_report_key_fkey FOREIGN KEY (key) REFERENCES public.obligation(key);

ALTER TABLE ONLY public.openings_report
    ADD CONSTRAINT openings_report_owner_fkey FOREIGN KEY (owner) REFERENCES public.owner(name);

ALTER TABLE ONLY public.owner
    ADD CONSTRAINT owner_has_a_profile FOREIGN KEY (name, profile_version) REFERENCES public.profile(owner, version);

ALTER TABLE ONLY public.page
    ADD CONSTRAINT page_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.event(key);

ALTER TABLE ONLY public.page_member
    ADD CONSTRAINT page_member_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.event(key);

ALTER TABLE ONLY public.page_member
    ADD CONSTRAINT page_member_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.page(id);

ALTER TABLE ONLY public.page
    ADD CONSTRAINT page_owner_fkey FOREIGN KEY (owner) REFERENCES public.owner(name);

ALTER TABLE ONLY public.page
    ADD CONSTRAINT page_summary_key_fkey FOREIGN KEY (summary_key) REFERENCES public.summary(key);

ALTER TABLE ONLY public.page
    ADD CONSTRAINT page_work_key_fkey FOREIGN KEY (work_key) REFERENCES public.work(key);

ALTER TABLE ONLY public.page_write
    ADD CONSTRAINT page_write_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.page(id);

ALTER TABLE ONLY public.profile
    ADD CONSTRAINT profile_owner_fkey FOREIGN KEY (owner) REFERENCES public.owner(name);

ALTER TABLE ONLY public.source_card
    ADD CONSTRAINT source_card_event_key_evidence_hash_fkey FOREIGN KEY (event_key, evidence_hash) REFERENCES public.evidence(event_key, hash);

ALTER TABLE ONLY public.source_card
    ADD CONSTRAINT source_card_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.page(id);

ALTER TABLE ONLY public.source
    ADD CONSTRAINT source_lists_by_a_run FOREIGN KEY (listed_work, listed_token) REFERENCES public.ingest_run(work_key, token);

ALTER TABLE ONLY public.source
    ADD CONSTRAINT source_window_key_fkey FOREIGN KEY (window_key) REFERENCES public.work(key);

ALTER TABLE ONLY public.subscription
    ADD CONSTRAINT subscription_owner_fkey FOREIGN KEY (owner) REFERENCES public.owner(name);

ALTER TABLE ONLY public.subscription
    ADD CONSTRAINT subscription_source_key_fkey FOREIGN KEY (source_key) REFERENCES public.source(key);

ALTER TABLE ONLY public.summary
    ADD CONSTRAINT summary_event_key_evidence_hash_fkey FOREIGN KEY (event_key, evidence_hash) REFERENCES public.evidence(event_key, hash);

ALTER TABLE ONLY public.unread_window
    ADD CONSTRAINT unread_window_source_key_fkey FOREIGN KEY (source_key) REFERENCES public.source(key);

ALTER TABLE ONLY public.unread_window
    ADD CONSTRAINT unread_window_work_key_fkey FOREIGN KEY (work_key) REFERENCES public.work(key);
