-- What a person asks the database on a bad morning, as views for psql. The commands read the same ones.

create view owed as
select obligation.key, obligation.owner, obligation.product, obligation.local_date, obligation.status,
       profile.zone, obligation.opens_at, obligation.ready_by_at, obligation.useful_until_at,
       obligation.queued_at, obligation.started_at, obligation.ended_at,
       work.token, work.attempts, work.holder, work.lease_expires_at, work.retry_at,
       continuation.status as continuation_status, next.step, next.token as continuation_token,
       next.attempts as continuation_attempts, next.lease_expires_at as continuation_lease_expires_at,
       next.retry_at as continuation_retry_at,
       edition.kind as edition_kind, edition.title as edition_title, edition.published_at, edition.facts,
       evidence_set.coverage
  from obligation
  join profile on profile.owner = obligation.owner and profile.version = obligation.profile_version
  left join work on work.key = obligation.work_key
  left join continuation on continuation.key = obligation.key
  left join work as next on next.key = continuation.work_key
  left join edition_current on edition_current.key = obligation.key
  left join edition on edition.key = obligation.key
       and edition.revision = coalesce(edition_current.revision, 1)
  left join evidence_set on evidence_set.key = obligation.key
 where obligation.follows is null;

comment on view owed is 'Each morning that is owed, how far it got, and who holds it: select * from owed where local_date = current_date';

create view stuck as
select work.key, work.kind, work.step, work.attempts, work.budget, work.moved_at, work.lease_expires_at, work.retry_at,
       ledger_now() - work.moved_at as unmoved_for
  from work
 where work.closed_at is null
   and work.kind <> 'ingest'
   and work.moved_at < ledger_now() - interval '15 minutes'
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and (work.retry_at is null or work.retry_at <= ledger_now());

comment on view stuck is 'Open work that nobody moved, holds or postponed for a quarter of an hour';

create view held as
select message.key, message.subject, message.destination, message.status, message.reason, message.created_at
  from message
 where message.status = 'held';

comment on view held is 'Messages that may have been sent and wait for a person';
