import time
from tests.ledger.conftest import *
from matins.ledger import plan


def test_perf(factory, clock):
    c = factory.conn
    clock.set("2026-08-16T20:00+00:00")
    factory.owner("ada")
    c.execute("set constraints all deferred")
    c.execute("set local session_replication_role=replica")
    c.execute(
        "insert into profile select 'o'||i, 1, hash, document, zone, opens, ready_by, useful_until, send_at, products, applied_at from profile, generate_series(1,500) i"
    )
    c.execute("insert into owner select 'o'||i, 1, ledger_now() from generate_series(1,500) i")
    c.execute("""insert into obligation (key, owner, product, local_date, status, plan, intent_hash, profile_version, tzdata, day_starts_at, opens_at, ready_by_at, useful_until_at, declared_at, ended_at, follows)
     select 'o'||i||'/'||p||'/'||to_char(d,'YYYY-MM-DD'), 'o'||i, p, d::date, 'missed', 1, repeat('0',64), 1, 'x', d,d,d,d,d,d, case p when 'brief' then 'o'||i||'/morning/'||to_char(d,'YYYY-MM-DD') end from generate_series(1,500) i, generate_series('2025-08-17'::timestamptz,'2026-08-16','1 day') d, unnest(array['morning','brief']) p""")
    c.execute("set local session_replication_role=origin")
    c.execute("analyze obligation; analyze owner; analyze profile")
    for t in ("2026-08-16T23:30+00:00", "2026-08-16T23:35+00:00", "2026-08-17T04:05+00:00", "2026-08-17T04:10+00:00"):
        clock.set(t)
        a = time.time()
        d = plan.plan(c)
        print(t, len(d.declared), len(d.queued), len(d.missed), round(time.time() - a, 3))
    print("\n".join(r[0] for r in c.execute("explain analyze " + plan._SHAPES.replace("%(owner)s", "null"))))
    c.execute("set local session_replication_role=replica")
    for t in ("obligation", "work"):
        c.execute(f"delete from {t}")
