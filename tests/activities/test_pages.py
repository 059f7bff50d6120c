"""Pages across Postgres and the object store: whatever happens inside a put, within one sweep the objects are those of
the current summary, and the attempt that lost is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from activities.desk import Desk
from matins.brief.wiki import pages
from matins.ledger import material, page, page_write, work
from matins.rules import keys, limits
from matins.rules.canonical import sha256
from matins.rules.errors import LeaseLost, NotDue, Superseded
from tests.activities.conftest import LIMITS
from tests.activities.wiki_scene import PUT_TIMEOUT, WikiScene
from tests.ledger.clock import Clock
from tests.providers import faulty_s3 as faulty
from tests.providers.faulty_s3 import FaultyS3


@pytest.fixture
def store() -> Iterator[FaultyS3]:
    with FaultyS3() as running:
        yield running


@pytest.fixture
def scene(desk: Desk, conn: psycopg.Connection[Any], clock: Clock, store: FaultyS3, morning: str) -> WikiScene:
    return WikiScene(desk, conn, clock, store, morning).make()


def _once(*acts: Callable[[], None]) -> Callable[[str], None]:
    """Do the first act at the first object's put, the next one at the first put of a repair; then nothing."""
    waiting, seen = list(acts), list[str]()

    def hook(key: str) -> None:
        if key.startswith("probe/"):
            return
        seen.append(key)
        if waiting and seen.count(key) == 1 + len(acts) - len(waiting) and key.endswith(seen[0][-3:]):
            waiting.pop(0)()

    return hook


def test_a_page_is_put_read_back_and_marked_with_four_calls(scene: WikiScene, store: FaultyS3) -> None:
    writer = scene.pages()
    writer.objects.honours_conditions()
    store.requests.clear()
    scene.publish(writer)
    assert scene.shows("first")
    assert [request.split()[0] for request in store.requests] == ["PUT", "PUT", "GET", "GET"]
    assert scene.sweep() == 2  # its topic and the index
    assert scene.sweep() == 0


@pytest.mark.parametrize("conditions", [True, False])
def test_a_newer_summary_inside_the_put_wins_at_once_and_the_attempt_fails(
    scene: WikiScene, store: FaultyS3, conditions: bool
) -> None:
    store.conditions = conditions
    store.after_put = _once(lambda: scene.accept("second"))
    with pytest.raises(Superseded):
        scene.publish()
    assert scene.shows("second")


@pytest.mark.parametrize("conditions", [True, False])
def test_a_third_summary_inside_the_repairs_put_is_put_by_the_sweep(
    scene: WikiScene, store: FaultyS3, conditions: bool
) -> None:
    store.conditions = conditions
    store.after_put = _once(lambda: scene.accept("second"), lambda: scene.accept("third"))
    with pytest.raises(NotDue):
        scene.publish()
    assert page.state(scene.conn, scene.page_id).dirty
    store.after_put = None
    scene.clock.forward(limits.SPACING[0] + 1)
    scene.sweep()
    assert scene.shows("third")


@pytest.mark.parametrize("conditions", [True, False])
def test_a_zombies_put_after_everything_is_undone_within_a_sweep(
    scene: WikiScene, store: FaultyS3, conditions: bool
) -> None:
    store.conditions = conditions
    zombie, released, failures = scene.freeze_put()
    scene.clock.forward(LIMITS.lease + 1)
    scene.accept("second")
    scene.publish()
    assert scene.shows("second")
    released.set()
    zombie.join(20)
    assert [type(failure) for failure in failures] == [LeaseLost]
    scene.clock.forward(1)
    scene.sweep()
    assert scene.shows("second")


def test_the_put_of_a_worker_that_died_is_looked_for_once_more_when_none_can_come_any_more(
    scene: WikiScene, store: FaultyS3
) -> None:
    store.conditions = False
    old = _begin_and_die(scene)
    scene.accept("second")
    scene.publish()
    key = f"ada/wiki/stories/{scene.page_id}.md"
    store.versions[key].append(old[".md"])  # it was on the wire all the while
    scene.clock.forward(LIMITS.lease + PUT_TIMEOUT + 1)
    scene.sweep()
    assert scene.shows("second")


def _begin_and_die(scene: WikiScene) -> dict[str, bytes]:
    """A worker commits its intent, and dies before or after its put. Returns what it would have put."""
    claim = work.claim(scene.conn, keys.page_work(scene.page_id), holder="dead", lease=10, limit=120)
    made = material.of(scene.conn, scene.page_id)
    files = pages(made.material)
    page_write.open_write(
        scene.conn,
        claim,
        scene.page_id,
        version=made.version,
        hashes={form: sha256(content) for form, content in files.items()},
        cards=made.cards,
        recheck_after=LIMITS.lease + PUT_TIMEOUT,
    )
    scene.clock.forward(LIMITS.lease + 1)
    return files


def test_a_412_on_ones_own_earlier_put_is_success_by_hash(scene: WikiScene, store: FaultyS3) -> None:
    files = _begin_and_die(scene)
    for form, content in files.items():
        store.versions[f"ada/wiki/stories/{scene.page_id}{form}"] = [content]
    scene.publish()
    assert scene.shows("first")
    assert store.versions[f"ada/wiki/stories/{scene.page_id}.md"] == [files[".md"]]


def test_a_412_on_another_writers_object_replaces_it_while_the_lease_is_ours(scene: WikiScene, store: FaultyS3) -> None:
    store.versions[f"ada/wiki/stories/{scene.page_id}.md"] = [b"somebody else's"]
    scene.publish()
    assert scene.shows("first")


@pytest.mark.parametrize("fault", [faulty.SAVE_AND_DROP, faulty.SAVE_AND_500])
def test_a_put_whose_reply_was_lost_is_found_by_reading(scene: WikiScene, store: FaultyS3, fault: str) -> None:
    writer = scene.pages()
    writer.objects.honours_conditions()
    store.faults["PUT"] = [fault, fault]
    scene.publish(writer)
    assert scene.shows("first")
    assert len(store.versions[f"ada/wiki/stories/{scene.page_id}.md"]) == 1


@pytest.mark.parametrize(
    ("put", "get"),
    [
        (["409"], []),
        (["503"], []),
        ([faulty.DROP], []),
        ([], [faulty.STALE]),
        ([], [faulty.CORRUPT]),
        ([], [faulty.TRUNCATE]),
        ([], ["500"]),
    ],
)
def test_what_was_not_put_or_not_read_back_is_not_marked_and_is_tried_again(
    scene: WikiScene, store: FaultyS3, put: list[str], get: list[str]
) -> None:
    writer = scene.pages()
    writer.objects.honours_conditions()
    store.faults = {"PUT": put, "GET": get}
    with pytest.raises(NotDue):
        scene.publish(writer)
    assert page.state(scene.conn, scene.page_id).published == 0
    scene.clock.forward(limits.SPACING[0] + 1)
    scene.sweep()
    assert scene.shows("first")


def test_a_store_that_accepts_a_condition_on_a_missing_key_gets_the_page_back(
    scene: WikiScene, store: FaultyS3
) -> None:
    scene.publish()
    store.matches_nothing = True
    store.versions.clear()
    page.doubt(scene.conn, scene.page_id)
    scene.clock.forward(1)
    scene.sweep()
    assert scene.shows("first")


def test_an_object_that_somebody_deleted_is_put_again_when_it_is_doubted(scene: WikiScene, store: FaultyS3) -> None:
    scene.publish()
    store.versions.clear()
    page.doubt(scene.conn, scene.page_id)
    scene.clock.forward(1)
    scene.sweep()
    assert scene.shows("first")


def test_a_page_that_fails_for_ever_is_tried_for_ever_and_never_given_up(scene: WikiScene, store: FaultyS3) -> None:
    writer = scene.pages()
    writer.objects.honours_conditions()
    for _ in range(7):
        store.faults["PUT"] = ["503"]
        with pytest.raises(NotDue):
            scene.publish(writer)
        scene.clock.forward(limits.SPACING[-1] + 1)
    scene.sweep()
    assert scene.shows("first")
