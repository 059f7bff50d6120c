"""Pages of the wiki in any state, by the real transitions, and the mornings that want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from matins.ledger import admission, evidence, ingest, obligation, page, page_write, plan, source, summary
from matins.ledger.page import Telling
from matins.ledger.summary import Draft
from matins.ledger.work import Claim
from matins.rules import keys, plans
from matins.rules.canonical import sha256
from matins.rules.evidence import Item
from tests.ledger.scene import DATE, EVENING, URL, Scene, item, reading, unclaimed

if TYPE_CHECKING:
    from tests.ledger.factory import Factory

RECHECK = 70.0
"""Seconds after which nothing of a dead worker can come any more."""
BODIES = {".md": sha256(b"md"), ".html": sha256(b"html")}
OBJECTS = {form: {"hash": content, "etag": f'"{form}"'} for form, content in BODIES.items()}
TOPIC = "rivers"

Piece = tuple[str, str]
"""(event, evidence hash)."""


@dataclass(frozen=True, slots=True)
class Morning:
    """A morning whose edition told something, at its step `wiki`."""

    key: str
    claim: Claim
    pieces: tuple[Piece, ...]
    """What it told, by title."""

    @property
    def owner(self) -> str:
        """Whose morning it is."""
        return keys.parse(self.key).owner

    @property
    def day(self) -> date:
        """Its date."""
        return keys.parse(self.key).local_date


def subscribed(make: Factory, *owners: str, url: str = URL) -> str:
    """Owners who read the same source since yesterday evening. Returns its key."""
    make.clock.set(EVENING)
    for owner in owners:
        make.owner(owner)
        source.add(make.conn, owner, url=url, name="gazette")
    return keys.source(url)


def read(make: Factory, source_key: str, *items: Item, etag: str = '"1"') -> str:
    """The source's current window claimed, read to its end and settled. Returns `new` or `none`."""
    window = source.window(make.conn, source_key)
    claim = make.claim(window.work_key)
    declared = 0
    if items:
        first = admission.is_first_read(make.conn, source_key)
        declared = admission.admit(make.conn, claim, window, items, baseline=first).items
    return ingest.settle(make.conn, claim, window, reading(*items, etag=etag), declared=declared)


def research(make: Factory, owner: str = "ada", *, day: str = DATE) -> tuple[str, tuple[Piece, ...]]:
    """The morning of `owner`, with all that is fresh in its evidence set. Returns its key and the pieces by title."""
    key = f"{owner}/morning/{day}"
    opens = datetime.fromisoformat(f"{day}T04:05+00:00")
    if make.clock.now() < opens:
        make.clock.set(opens)
    plan.plan(make.conn)
    claim = make.claim(keys.obligation_work(key))
    fresh = sorted(evidence.fresh(make.conn, key), key=lambda one: one.title)
    pieces = tuple((one.event_key, one.evidence_hash) for one in fresh)
    content = f"evidence of {key}".encode()
    evidence.freeze(
        make.conn, key, claim, owner=owner, content_hash=sha256(content), content=content, coverage={},
        items=[(event, hashed, True) for event, hashed in pieces],
    )  # fmt: skip
    obligation.complete(make.conn, key, claim, plan=plans.CURRENT, output_hash=sha256(content))
    return key, pieces


def morning(make: Factory, owner: str = "ada", *, day: str = DATE) -> Morning:
    """The morning of `owner` with all that is fresh told, published, and its step `wiki` claimed."""
    key, pieces = research(make, owner, day=day)
    work_key = keys.continuation_work(key)
    make.draft(key, make.claim(work_key, step=plans.COMPOSE), content=f"draft of {key}".encode())
    make.publish(key, make.claim(work_key, step=plans.PUBLISH), content=f"bundle of {key}".encode())
    make.finish(key, make.claim(work_key, step=plans.JOBS))
    return Morning(key, make.claim(work_key, step=plans.WIKI), pieces)


def draft(piece: Piece, *, prompt: str = "1", text: str = "What happened.") -> Draft:
    """A text on one piece of evidence."""
    return Draft(*piece, prompt_version=prompt, model="extract", title="The river", text=text)


def accept(make: Factory, at: Morning, *drafts: Draft) -> list[str]:
    """Texts accepted under the morning's claim; one on each of its pieces if none is given."""
    return summary.accept(make.conn, at.claim, drafts or [draft(piece) for piece in at.pieces])


def telling(*pieces: Piece, topic: str = TOPIC) -> Telling:
    """One story, led by the first piece."""
    return Telling(pieces[0][0], tuple(event for event, _ in pieces), topic)


def want(make: Factory, at: Morning, tellings: Sequence[Telling] | None = None) -> list[str]:
    """The pages of the morning's edition; one story of all its pieces if nothing else is told."""
    told = [telling(*at.pieces)] if tellings is None else tellings
    return page.want(make.conn, at.claim, at.owner, at.day, told)


def told(make: Factory, *, owner: str = "ada") -> tuple[Morning, list[str]]:
    """A morning that told two items as one story, and the ids of its three pages: story, topic, index."""
    read(make, subscribed(make, owner), item("a"), item("b"))
    at = morning(make, owner)
    accept(make, at)
    return at, want(make, at)


def page_scene(make: Factory, page_id: str, *, holder: str = "worker-1") -> Scene:
    """A page, claimed by `holder`."""
    work_key = keys.page_work(page_id)
    return Scene("", page_id, work_key, make.claim(work_key, holder=holder))


def open_write(make: Factory, at: Scene, *, version: int = 1, cards: Sequence[Piece] = ()) -> None:
    """The intent to put one version of the page."""
    page_write.open_write(
        make.conn, at.claim, at.key, version=version, hashes=BODIES, cards=cards, recheck_after=RECHECK
    )  # fmt: skip


def mark(make: Factory, at: Scene, *, version: int = 1, cards: Sequence[Piece] = ()) -> None:
    """The page's objects read back."""
    page_write.mark(make.conn, at.claim, at.key, version=version, objects=OBJECTS, cards=cards)


def show(make: Factory, page_id: str, *, cards: Sequence[Piece] = ()) -> None:
    """The newest version of the page claimed, put, read back and marked."""
    at, version = page_scene(make, page_id), page.state(make.conn, page_id).wanted
    open_write(make, at, version=version, cards=cards)
    mark(make, at, version=version, cards=cards)


def written_page(make: Factory, variant: str, owner: str = "ada") -> Scene:
    """unclaimed, none[_dead, _spent, _spent_dead, _superseded], open[_dead, _superseded, _taken, _stale], closed,
    abandoned: of the story's page, whose first version is written.
    """
    at, ids = told(make, owner=owner)
    if variant == "unclaimed":
        return Scene("", ids[0], keys.page_work(ids[0]), unclaimed(keys.page_work(ids[0]), kind="page"))
    if "spent" in variant:
        make.on_last_attempt(keys.page_work(ids[0]))
    made = page_scene(make, ids[0])
    if variant.startswith(("open", "closed", "abandoned")):
        open_write(make, made, cards=at.pieces)
    if variant.endswith("_superseded"):
        accept(make, at, draft(at.pieces[0], prompt="2", text="What happened since."))
    if variant == "closed":
        mark(make, made, cards=at.pieces)
    if variant in ("open_taken", "open_stale", "abandoned"):
        make.die()
        taken = page_scene(make, ids[0], holder="worker-3")
        if variant == "abandoned":
            open_write(make, taken, cards=at.pieces)
        if variant == "open_taken":
            made = replace(made, claim=taken.claim)
    if variant.endswith("_dead"):
        make.die()
    return made
