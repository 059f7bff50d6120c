"""Delivery: hand the frozen bytes to the server, note its answer, and then look whether the mail is there."""

from __future__ import annotations

from temporalio import activity

from activities.desk import Desk, following
from activities.failures import told
from activities.messages import Ask, Next
from matins.ledger import action, doubt, ending, message, observation, work
from matins.ledger.doubt import Doubt
from matins.ledger.message import Envelope
from matins.ledger.work import Claim
from matins.providers.imap import Mailbox
from matins.providers.smtp import Smtp
from matins.rules.crash import crashpoint
from matins.rules.errors import (
    ActionInFlight,
    Closed,
    OutcomeUnknown,
    ProviderRefused,
    ProviderUnavailable,
    TooLate,
)
from matins.rules.receipt import Receipt, Sighting


class Delivery:
    """The message's activities. `mailbox` is None where no mailbox is watched."""

    def __init__(self, desk: Desk, smtp: Smtp, mailbox: Mailbox | None, *, sender: str) -> None:
        self._desk, self._smtp, self._mailbox, self._sender = desk, smtp, mailbox, sender

    @activity.defn(name="message.send", no_thread_cancel_exception=True)
    @told
    def send(self, ask: Ask) -> Next:
        """Send the frozen mail once: intent (commit), the call, the server's whole answer (commit)."""
        with self._desk.ledger() as conn:
            envelope = message.envelope(conn, ask.key)
        try:
            with self._desk.claimed(ask.key) as claim:
                self._hand_over(claim, envelope)
        except (Closed, ActionInFlight):
            return self._next(ask.key)
        return self._next(ask.key)

    def _hand_over(self, claim: Claim, envelope: Envelope) -> None:
        crashpoint("action.before_row")
        with self._desk.ledger() as conn:
            started = action.start(
                conn,
                claim,
                key=envelope.action,
                subject=envelope.subject,
                step="send",
                provider=self._smtp.provider,
                contents=[envelope.mail],
            )
        crashpoint("action.after_row")
        try:
            receipt = started.receipt or self._call(claim, envelope)  # what was recorded is never sent again
        except (ProviderUnavailable, ProviderRefused, TooLate) as error:
            self._not_sent(claim, envelope, error)
        except OutcomeUnknown as unknown:
            with self._desk.ledger() as conn:
                doubt.doubt(conn, claim, reason=unknown.message, quarantine=self._desk.limits.quarantine)
        else:
            with self._desk.ledger() as conn:
                message.accept(conn, claim, receipt)
            crashpoint("send.after_accepted")

    def _call(self, claim: Claim, envelope: Envelope) -> Receipt:
        return self._smtp.send(
            envelope.mail,
            sender=self._sender,
            to=envelope.address,
            idempotency_key=envelope.key,
            still_mine=lambda: self._ask_once_more(claim),
            watch=lambda phase: crashpoint(f"send.{phase}"),
        )

    def _ask_once_more(self, claim: Claim) -> None:
        """Called when the server waits for the body: raises LeaseLost or TooLate, and nothing is sent."""
        with self._desk.ledger() as conn:
            work.still_mine(conn, claim.key, token=claim.token)
            message.still_useful(conn, claim.key)

    def _not_sent(
        self, claim: Claim, envelope: Envelope, error: ProviderUnavailable | ProviderRefused | TooLate
    ) -> None:
        with self._desk.ledger() as conn:
            if isinstance(error, ProviderRefused):
                action.record_refused(conn, claim, key=envelope.action, reason=error.message)
                ending.fail(conn, claim.key, token=claim.token, reason=error.message, final=True)
                return
            action.record_not_done(conn, claim, key=envelope.action, reason=error.message)
            if isinstance(error, TooLate):
                message.expire(conn, claim.key, token=claim.token)
                return
        self._desk.fail(claim, reason=error.message, retry_after=error.retry_after)

    @activity.defn(name="message.recover", no_thread_cancel_exception=True)
    @told
    def recover(self, ask: Ask) -> Next:
        """End the send of a dead worker: it may have happened, so it is looked for and not repeated."""
        with self._desk.ledger() as conn:
            for stalled in action.stalled_in(conn, ask.key):
                action.abandon(conn, stalled.key, token=stalled.token, quarantine=self._desk.limits.quarantine)
        return self._next(ask.key)

    @activity.defn(name="message.look", no_thread_cancel_exception=True)
    @told
    def look(self, ask: Ask) -> Next:
        """Find out whether a mail of unknown fate was sent. Only a complete look after the quarantine says no."""
        with self._desk.ledger() as conn:
            observation.due_to_look(conn, ask.key)
            found = doubt.doubted(conn, ask.key)
        if found is None:
            return self._next(ask.key)
        if found.proof == "none" or self._mailbox is None:
            return self._decide(ask.key, found, "this mailbox cannot be looked into")
        sighting = self._sight(mail_id=found.mail_id, message_key=found.key)
        crashpoint("observe.before_record")
        with self._desk.ledger() as conn:
            if sighting.found:
                doubt.accept_found(conn, ask.key, mail_id=found.mail_id, sighting=sighting)
            elif sighting.complete and found.quarantine_over:
                doubt.prove_not_sent(conn, ask.key, reason=f"not found by {sighting.mechanism}")
            elif found.late and found.quarantine_over:
                return self._decide(ask.key, found, "the mailbox could not be looked into")
            else:
                observation.look_again(conn, ask.key, reason="not found yet")
        return self._next(ask.key)

    @activity.defn(name="message.observe", no_thread_cancel_exception=True)
    @told
    def observe(self, ask: Ask) -> Next:
        """Look for an accepted mail; waits by its own retry until it is seen or no longer useful."""
        with self._desk.ledger() as conn:
            observation.due_to_look(conn, ask.key)
            envelope = message.envelope(conn, ask.key)
        sighting = self._sight(mail_id=envelope.mail_id, message_key=envelope.key)
        crashpoint("observe.before_record")
        with self._desk.ledger() as conn:
            if sighting.found:
                observation.observe(conn, ask.key, sighting)
            else:
                observation.look_again(conn, ask.key, reason="not in the mailbox")
        return self._next(ask.key)

    def _sight(self, *, mail_id: str, message_key: str) -> Sighting:
        if self._mailbox is None:
            return Sighting(found=False, mechanism="none", complete=False)
        try:
            return self._mailbox.look(message_id=mail_id, message_key=message_key)
        except (ProviderUnavailable, ProviderRefused):
            return Sighting(found=False, mechanism="none", complete=False)

    def _decide(self, work_key: str, found: Doubt, why: str) -> Next:
        with self._desk.ledger() as conn:
            match found.if_unknown:
                case "send_again":
                    doubt.prove_not_sent(conn, work_key, reason=f"{why}; sent again by your choice", waived=True)
                case "let_go":
                    doubt.let_go(conn, work_key, reason=f"{why}; let go by your choice")
                case _:
                    doubt.hold(conn, work_key, reason=why)
        return self._next(work_key)

    def _next(self, work_key: str) -> Next:
        with self._desk.ledger() as conn:
            return following(message.next_move(conn, work_key))
