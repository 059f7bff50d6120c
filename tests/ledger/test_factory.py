from __future__ import annotations
import pytest
from tests.ledger.factory import Factory
NAMES="""obligation/declared obligation/queued obligation/queued_again obligation/running obligation/running_dead obligation/running_spent
obligation/running_spent_dead obligation/running_in_flight obligation/running_in_flight_dead obligation/running_in_flight_spent_dead obligation/succeeded obligation/exhausted obligation/missed obligation/missed_queued
continuation/pending continuation/pending_again continuation/running continuation/running_dead continuation/running_spent continuation/running_spent_dead continuation/running_in_flight continuation/running_in_flight_dead continuation/done continuation/exhausted
edition/none edition/drafted edition/published
action/none action/in_flight action/in_flight_dead action/in_flight_taken action/completed action/refused action/not_done action/abandoned
message/pending message/pending_again message/pending_late message/sending message/sending_dead message/sending_late message/sending_spent message/sending_spent_dead message/sending_in_flight message/sending_in_flight_dead message/sending_in_flight_late message/uncertain message/uncertain_quiet message/uncertain_quiet_refunded_spent message/uncertain_quiet_spent message/held message/let_go message/accepted message/observed message/expired message/dead
ingest_run/unclaimed ingest_run/claimed ingest_run/claimed_admitted ingest_run/claimed_dead ingest_run/claimed_spent ingest_run/claimed_spent_dead ingest_run/new ingest_run/none ingest_run/unreachable ingest_run/invalid ingest_run/failed""".split()
@pytest.mark.parametrize("name", NAMES)
def test_scene(factory: Factory, name):
    factory.scene(name)
