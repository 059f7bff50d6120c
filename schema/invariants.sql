-- Each query lists what breaks a rule; all of them empty is the law. Run after every test that moves work, and by
-- `matins doctor`. The comment above a query is its name.

-- in_flight is the number of the work's actions in flight
select work.key, work.in_flight, count(action.key) as actions
  from work
  left join action on action.work_key = work.key and action.status = 'in_flight'
 group by work.key, work.in_flight
having work.in_flight <> count(action.key);

-- a succeeded morning has its continuation, or says that it lacks it
select obligation.key
  from obligation
  left join continuation on continuation.key = obligation.key
 where obligation.status = 'succeeded'
   and obligation.follows is null
   and continuation.key is null
   and not obligation.unadvanced;

-- a terminal obligation, continuation or message holds no open work
select work.key
  from work
  left join obligation on obligation.work_key = work.key
  left join continuation on continuation.work_key = work.key
  left join message on message.work_key = work.key
 where work.closed_at is null
   and (obligation.status in ('succeeded', 'exhausted', 'missed')
        or continuation.status in ('done', 'exhausted')
        or message.status in ('uncertain', 'held', 'accepted', 'observed', 'expired', 'dead'));

-- an open obligation, continuation or message has open work
select work.key
  from work
  left join obligation on obligation.work_key = work.key
  left join continuation on continuation.work_key = work.key
  left join message on message.work_key = work.key
 where work.closed_at is not null
   and (obligation.status in ('queued', 'running')
        or continuation.status in ('pending', 'running')
        or message.status in ('pending', 'sending'));

-- no action belongs to a token that was never issued
select action.key from action join work on work.key = action.work_key where action.token > work.token;

-- tokens of one work row only grow
select subject
  from (select subject, token, lag(token) over (partition by subject order by id) as before
          from audit
         where event like '%.claimed') as claims
 where token <= before;

-- the brief succeeds with its morning's published edition, and only then
select obligation.key
  from obligation
  left join edition_current on edition_current.key = obligation.follows
  left join edition on edition.key = edition_current.key and edition.revision = edition_current.revision
 where obligation.follows is not null
   and (obligation.status = 'succeeded') <> (edition.status is not null and edition.status = 'published');

-- every message of an edition carries bytes frozen before it was sent
select message.key
  from message
  join frozen on frozen.hash = message.mail_hash
  join action on action.key = message.key
 where frozen.frozen_at > action.started_at;

-- an accepted message has a completed action
select message.key
  from message
  left join action on action.key = message.key
 where message.status in ('accepted', 'observed')
   and action.status is distinct from 'completed';

-- observed is later than accepted
select key from message where observed_at < accepted_at;

-- a source's pointer names its own cursor version's window, and that window is open
select source.key
  from source
  join work on work.key = source.window_key
 where source.window_key <> 'ingest/' || source.key || '/' || source.cursor_version
    or work.closed_at is not null;

-- a source has at most one run that is claimed
select source_key from ingest_run where status = 'claimed' group by source_key having count(*) > 1;

-- what a settled run declared is stored
select ingest_run.work_key, ingest_run.token
  from ingest_run
 where ingest_run.status in ('new', 'none')
   and ingest_run.declared <> (select count(*)
                                 from declared_item
                                 join evidence on evidence.event_key = declared_item.event_key
                                              and evidence.hash = declared_item.evidence_hash
                                where declared_item.work_key = ingest_run.work_key
                                  and declared_item.token = ingest_run.token);

-- a published edition's evidence set exists
select edition.key
  from edition
  left join evidence_set on evidence_set.key = edition.key
 where evidence_set.key is null;

-- what is being done has a holder, and what waits has none
select work.key
  from work
  left join obligation on obligation.work_key = work.key
  left join continuation on continuation.work_key = work.key
  left join message on message.work_key = work.key
 where (work.holder is not null)
    <> (coalesce(obligation.status, continuation.status, message.status) in ('running', 'sending'))
   and work.kind not in ('ingest', 'page');

-- open work that nobody holds has an attempt left
select key from work where closed_at is null and holder is null and attempts >= budget;

-- an action in flight belongs to open work
select action.key
  from action
  join work on work.key = action.work_key
 where action.status = 'in_flight'
   and work.closed_at is not null;

-- a message of unknown fate has an uncertain action, and is due to be looked for
select message.key
  from message
  left join action on action.key = message.key
 where (message.status = 'uncertain') <> (action.status is not distinct from 'uncertain')
    or (message.status = 'uncertain' and message.look_at is null);

-- a claimed run belongs to the claim that holds its window
select ingest_run.work_key, ingest_run.token
  from ingest_run
  join work on work.key = ingest_run.work_key
 where ingest_run.status = 'claimed'
   and (ingest_run.token <> work.token or work.holder is null);

-- a brief is declared only while its morning can still publish it
select brief.key
  from obligation as brief
  join obligation as morning on morning.key = brief.follows
  left join continuation on continuation.key = morning.key
 where brief.status = 'declared'
   and (morning.status in ('missed', 'exhausted') or continuation.status in ('done', 'exhausted'));

-- every work row moves something
select work.key
  from work
  left join obligation on obligation.work_key = work.key
  left join continuation on continuation.work_key = work.key
  left join message on message.work_key = work.key
  left join ingest_run on ingest_run.work_key = work.key
  left join source on source.window_key = work.key
  left join unread_window on unread_window.work_key = work.key
  left join page on page.work_key = work.key
 where coalesce(obligation.key, continuation.key, message.key, ingest_run.work_key, source.key, unread_window.work_key,
                page.id) is null;

-- a window that was spent, skipped or gone is closed, and remembered
select work.key
  from work
  join unread_window on unread_window.work_key = work.key
 where work.closed_at is null;

-- an event's summary is a text on the event's own evidence, and was not rejected
select event.key
  from event
  join summary on summary.key = event.summary_key
 where summary.event_key <> event.key
    or summary.rejected_at is not null;

-- an open page write belongs to a page that is dirty, and at most one is open
select page.id
  from page
  join page_write on page_write.page_id = page.id and page_write.status = 'open'
 group by page.id, page.wanted, page.published, page.recheck_at
having count(*) > 1
    or (page.wanted = page.published and page.recheck_at is null);

-- what a page says is published was read back under a closed write
select page.id
  from page
 where page.published > 0
   and not exists (select 1
                     from page_write
                    where page_write.page_id = page.id
                      and page_write.version = page.published
                      and page_write.status = 'closed');

-- a card that was shown is on a published page
select source_card.page_id
  from source_card
  join page on page.id = source_card.page_id
 where source_card.published_at is not null
   and page.published = 0;

-- a page's work is never closed
select page.id from page join work on work.key = page.work_key where work.closed_at is not null;
