"""From a rendered letter to the frozen mails of an owner's destinations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parseaddr

from matins.brief.mail import message_id
from matins.ledger.obligation import Owed
from matins.ledger.outgoing import Outgoing
from matins.rules import calendar, keys
from matins.rules.canonical import sha256
from matins.rules.profile import Destination


@dataclass(frozen=True, slots=True)
class Addressed:
    """Everything in one mail's heading that is not its letter."""

    sender: str
    to: str
    message_key: str
    message_id: str
    list_id: str
    unsubscribe: str


Build = Callable[[Addressed], bytes]
"""One mail's whole bytes for one heading."""


def outgoing(
    destinations: Sequence[Destination], *, subject: str, owner: str, kind: str, sender: str, build: Build
) -> list[Outgoing]:
    """One frozen mail of `kind` about `subject` for each destination."""
    return [_one(there, subject=subject, owner=owner, kind=kind, sender=sender, build=build) for there in destinations]


def _one(there: Destination, *, subject: str, owner: str, kind: str, sender: str, build: Build) -> Outgoing:
    message_key = keys.message(subject, kind, there.channel, there.name)
    address = parseaddr(sender)[1]
    domain = address.rpartition("@")[2]
    mail_id = message_id(message_key, domain)
    heading = Addressed(
        sender=sender,
        to=there.address,
        message_key=message_key,
        message_id=mail_id,
        list_id=f"{owner}.matins.{domain}",
        unsubscribe=f"mailto:{address}?subject=stop%20{owner}",
    )
    mail = build(heading)
    return Outgoing(
        kind=kind,
        channel=there.channel,
        destination=there.name,
        address=there.address,
        proof=there.proof,
        if_unknown=there.if_unknown,
        mail=mail,
        mail_hash=sha256(mail),
        mail_id=mail_id,
    )


def send_at(owed: Owed) -> datetime | None:
    """The instant before which nothing of this date is sent, or None."""
    day: date = owed.local_date
    return calendar.first_instant(day, owed.send_at, owed.zone) if owed.send_at else None
