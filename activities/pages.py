"""Pages: put what a page should show into the object store, read it back, and mark it as published while it is still
what the page should show.

Whoever loses to a newer text puts the newer one in its place, once, and fails all the same. What even that leaves
wrong, the sweep finds: a page stays dirty until the objects read back are those of its newest version.
"""

from __future__ import annotations

from dataclasses import dataclass

from temporalio import activity

from activities.desk import Desk, following
from activities.failures import told
from activities.messages import Ask, Next
from matins.brief.wiki import pages
from matins.ledger import material, page, page_write, work
from matins.ledger.material import Made
from matins.ledger.work import Claim
from matins.providers.objects import Objects
from matins.rules import keys
from matins.rules.canonical import sha256
from matins.rules.crash import crashpoint
from matins.rules.errors import LeaseLost, ObjectChanged, ProviderUnavailable, Superseded
from matins.rules.media import content_type
from matins.rules.wiki import object_key

_PUTS = 3
"""How often one put may find another object than the one it saw, before the attempt fails."""

Files = dict[str, bytes]
Told = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Pages:
    """The page's activity, and what the wiki's step calls for each of its pages."""

    desk: Desk
    objects: Objects
    put_timeout: float
    """Seconds after which no put of a dead worker can arrive any more."""

    @activity.defn(name="page.publish", no_thread_cancel_exception=True)
    @told
    def publish(self, ask: Ask) -> Next:
        """Bring one page up to date. One that was only doubted is read, and put again if it is not as it should be."""
        self.bring_up_to_date(ask.key)
        with self.desk.ledger() as conn:
            return following(page.next_move(conn, ask.key))

    def bring_up_to_date(self, page_id: str) -> None:
        """Claim the page and publish what it should show. Raises Superseded when a newer text came meanwhile, which is
        then what was put; LeaseLost, LeaseHeld or NotDue.
        """
        with self.desk.claimed(keys.page_work(page_id)) as claim:
            with self.desk.ledger() as conn:
                seen = page.state(conn, page_id)
            if seen.wanted == seen.published and self._is_there(seen):
                with self.desk.ledger() as conn:
                    page_write.confirm(conn, claim, recheck_after=self.desk.limits.lease + self.put_timeout)
                return
            try:
                self._write(claim, page_id)
            except Superseded as lost:
                self._repair(claim, page_id)
                raise lost
            except LeaseLost:
                self._doubt(page_id)
                raise

    def _repair(self, claim: Claim, page_id: str) -> None:
        """Put the winner's text onto the page, once. If that is overtaken too, the page stays dirty for the sweep."""
        try:
            self._write(claim, page_id, repairing=True)
        except Superseded as again:
            self.desk.fail(claim, reason=again.message)
        except LeaseLost:
            self._doubt(page_id)
            raise

    def _doubt(self, page_id: str) -> None:
        with self.desk.ledger() as conn:
            page.doubt(conn, page_id)

    def _write(self, claim: Claim, page_id: str, *, repairing: bool = False) -> None:
        """One write of the page's newest version: intent (commit), put, read back, mark (commit)."""
        with self.desk.ledger() as conn:
            made, seen = material.of(conn, page_id), page.state(conn, page_id)
        files = pages(made.material)
        with self.desk.ledger() as conn:
            page_write.open_write(
                conn,
                claim,
                page_id,
                version=made.version,
                hashes={form: sha256(content) for form, content in files.items()},
                cards=made.cards,
                recheck_after=self.desk.limits.lease + self.put_timeout,
            )
        crashpoint("repair.before_put" if repairing else "page.after_write")
        objects = self._put(claim, seen, files)
        crashpoint("repair.after_put" if repairing else "page.after_put")
        self._read_back(seen, files)
        crashpoint("page.after_read_back")
        self._mark(claim, page_id, made, objects)
        crashpoint("page.after_mark")

    def _mark(self, claim: Claim, page_id: str, made: Made, objects: Told) -> None:
        with self.desk.ledger() as conn:
            page_write.mark(conn, claim, page_id, version=made.version, objects=objects, cards=made.cards)

    def _put(self, claim: Claim, seen: page.State, files: Files) -> Told:
        conditional = self.objects.honours_conditions()
        told: Told = {}
        for form, content in files.items():
            etag = str(seen.objects.get(form, {}).get("etag", ""))
            etag = self._replace(claim, _key(seen, form), form, content, etag, conditional=conditional)
            told[form] = {"hash": sha256(content), "etag": etag}
        return told

    def _replace(self, claim: Claim, key: str, form: str, content: bytes, etag: str, *, conditional: bool) -> str:
        """Put one form over the object with `etag`; over another one only while the lease is still ours."""
        kind = content_type(form)
        for _ in range(_PUTS):
            with self.desk.ledger() as conn:
                work.still_mine(conn, claim.key, token=claim.token)
            try:
                return self.objects.replace(key, content, content_type=kind, seen=etag, conditional=conditional)
            except ObjectChanged as changed:
                etag = changed.etag
        raise ProviderUnavailable(f"{self.objects.provider}: another writer puts {key} at the same time")

    def _read_back(self, seen: page.State, files: Files) -> None:
        for form, content in files.items():
            if not self.objects.read_back(_key(seen, form), sha256(content)):
                key = _key(seen, form)
                raise ProviderUnavailable(f"{self.objects.provider}: {key} did not come back as it was put")

    def _is_there(self, seen: page.State) -> bool:
        """Whether the store still has what was published."""
        return all(self.objects.read_back(_key(seen, form), seen.objects[form]["hash"]) for form in seen.objects)


def _key(seen: page.State, form: str) -> str:
    return object_key(seen.owner, seen.kind, seen.id, form)
