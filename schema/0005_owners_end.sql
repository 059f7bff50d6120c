-- An owner can be ended: nothing is owed from then on, and what was stays. And a page that is up to date is not stuck.

-- Null while mornings are owed.
alter table owner add column ended_at timestamptz;

create or replace view stuck as
select work.key, work.kind, work.step, work.attempts, work.budget, work.moved_at, work.lease_expires_at, work.retry_at,
       ledger_now() - work.moved_at as unmoved_for
  from work
 where work.closed_at is null
   and work.kind <> 'ingest'
   and (work.kind <> 'page' or exists (select 1 from page where page.work_key = work.key and page.wanted > page.published))
   and work.moved_at < ledger_now() - interval '15 minutes'
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and (work.retry_at is null or work.retry_at <= ledger_now());
