"""A morning in the words of the person at the terminal: where it stands, what was done, what comes next."""

from __future__ import annotations

from datetime import datetime

from matins.cli.times import ago, clock, place, second
from matins.rules import plans
from matins.rules.verdict import MessageFacts, Morning, State, at_hand, state

PIECES = {
    "research": "what the sources say",
    "compose": "the edition, written",
    "publish": "the edition, published",
    "jobs": "the openings",
    "wiki": "the wiki, brought up to date",
}
DOING = {
    "research": "reading the sources",
    "compose": "writing",
    "publish": "publishing",
    "jobs": "openings",
    "wiki": "bringing the wiki up to date",
}
WRITER = "quoted from the sources, no model used"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 story`, `2 stories`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def coverage(morning: Morning) -> str:
    """`8 of 9 sources`, or `5 of 5 sources, 1 in part`."""
    found = morning.coverage
    if not found:
        return ""
    broken = len(found.get("in_part", []))
    return f"{found['reached']} of {counted(found['sources'], 'source')}" + (f", {broken} in part" if broken else "")


def lacking(morning: Morning) -> dict[str, list[str]]:
    """`could not look` and `read in part` -> the sources of which that is true: `Half Feed (broke off after 12
    entries)`.
    """
    kinds = {"could not look": "unseen", "read in part": "in_part"}
    return {
        words: [f"{one['name']} ({one['reason']})" for one in morning.coverage.get(kind, [])]
        for words, kind in kinds.items()
    }


def stories(morning: Morning) -> str:
    """`9 stories`, whatever kind of edition tells them; of one without stories, why there are none."""
    told = int(morning.facts.get("stories", 0))
    match morning.edition_kind:
        case "empty":
            return "nothing new"
        case "blind" if not told:
            return "could not look"
    return counted(told, "story", "stories")


def written(morning: Morning) -> str:
    """What was written: `9 stories, quoted from the sources, no model used`, and what the edition says first if it
    found nothing or could hardly look.
    """
    match morning.edition_kind:
        case "empty":
            return 'an edition that says "nothing new"'
        case "blind" if not morning.facts.get("stories"):
            return 'an edition that says "could not look"'
        case "blind":
            return f'{stories(morning)}, {WRITER}, in an edition that says "could not look"'
    return f"{stories(morning)}, {WRITER}"


def openings(morning: Morning) -> str:
    """`3 new, 41 open, 1 gone`, or that none were asked for."""
    return str(morning.openings.get("headline", "")) or "none asked for"


def wiki(morning: Morning) -> str:
    """`9 pages brought up to date`, or how many are not yet."""
    if morning.pages_due:
        return f"{morning.pages_due} of {counted(morning.pages, 'page')} not up to date yet"
    return f"{counted(morning.pages, 'page')} brought up to date" if morning.pages else "nothing to bring up to date"


def mail(message: MessageFacts) -> str:
    """Where one mail stands, with the words that its proof allows."""
    match message.status:
        case "pending" if message.reason:
            return f"not sent yet ({message.reason})"
        case "pending":
            return "not sent yet"
        case "sending":
            return "being sent"
        case "uncertain":
            return "may have been sent"
        case "held":
            return "may have been sent; waits for you"
        case "accepted" if message.proof == "none":
            return "sent (server said yes)"
        case "accepted":
            return "sent, not seen in the inbox yet"
        case "observed":
            return "in the inbox" if message.placement == "inbox" else f"in {message.placement}"
        case "expired":
            return "not sent in time"
    return f"could not be sent ({message.reason})" if message.reason else "could not be sent"


def standing(morning: Morning, *, viewer: str) -> str:
    """The last column of `owed`."""
    match state(morning):
        case State.NOT_YET:
            there = clock(morning.opens_at, morning.zone)
            here = clock(morning.opens_at, viewer)
            return f"opens {here}" + (f" ({there} in {place(morning.zone)})" if here != there else "")
        case State.MISSED if morning.status == "missed":
            return "nothing was begun before its time was over"
        case State.MISSED if "exhausted" in (morning.status, morning.continuation_status):
            return f"gave up after 5 tries: {PIECES.get(at_hand(morning) or '', 'it')}"
        case State.DUE | State.LATE if morning.published_at is None:
            return _doing(morning, viewer)
    mails = [one for one in morning.messages if one.kind != plans.OPENINGS]
    rest = {"jobs": "openings to come", "wiki": "wiki to come"}.get(at_hand(morning) or "", "")
    return ", ".join(filter(None, [stories(morning), coverage(morning), *map(mail, mails), rest]))


def reported(morning: Morning) -> str:
    """The last column of `owed` for the openings of a morning that has its report."""
    mails = [mail(one) for one in morning.messages if one.kind == plans.OPENINGS]
    return ", ".join([openings(morning), *mails])


def _doing(morning: Morning, viewer: str) -> str:
    doing = DOING.get(at_hand(morning) or "", "")
    if morning.retry_at and morning.retry_at > morning.now and morning.reason:
        return f"{doing}: did not work ({morning.reason}), tried again at {clock(morning.retry_at, viewer)}"
    return doing if morning.status in ("running", "succeeded") else "waits to be begun"


def first_missing(morning: Morning) -> str | None:
    """The first piece of evidence that is not there, in words, or None. A mail that waits for a person comes first:
    whatever else is missing, that is why nothing moves.
    """
    held = next((one for one in morning.messages if one.status == "held"), None)
    piece = at_hand(morning)
    if piece is None:
        return None
    if piece in PIECES and held is None:
        return PIECES[piece]
    unproved = held or next(one for one in morning.messages if not one.proved)
    told = f"the {'openings ' if unproved.kind == plans.OPENINGS else ''}mail to {unproved.destination}"
    return f"{told}, sent" if unproved.accepted_at is None else f"{told}, seen in the inbox"


def following(morning: Morning, *, checked: float | None = None, every: float = 300.0) -> str:
    """Whose move is next, and when. `checked`: seconds since the last check; `every`: seconds between two."""
    zone = morning.zone
    match state(morning):
        case State.READY:
            return "Nothing. Everything owed was done, with evidence."
        case State.NOT_YET:
            return f"Matins begins at {clock(morning.opens_at, zone)}."
        case State.HELD:
            return "Yours: look whether the mail came. Matins will not send a second one."
        case State.MISSED:
            return "Nothing more is tried for this date; the next morning is not affected."
    if checked is not None and checked > 2 * every:
        return f"Yours: nothing moves here, the last check was {ago(checked)}. Start it:  matins up --detach"
    return _next_of_open(morning, zone)


def _next_of_open(morning: Morning, zone: str) -> str:
    unproved = [one for one in morning.messages if not one.proved]
    if at_hand(morning) in PIECES or not unproved:
        if morning.retry_at and morning.retry_at > morning.now:
            return f"Matins tries again at {second(morning.retry_at, zone)}."
        return "Matins is at it; what died is taken over within five minutes."
    message = unproved[0]
    if message.status == "uncertain":
        return f"Matins looks for the mail {_at(message.look_at, morning, zone)}. It will not send a second one."
    if message.status == "accepted":
        return (
            f"Matins looks again {_at(message.look_at, morning, zone)}, until {clock(morning.useful_until_at, zone)}."
        )
    if message.send_at and message.send_at > morning.now:
        return f"Matins sends it at {clock(message.send_at, zone)}."
    return "Matins is sending it."


def _at(at: datetime | None, morning: Morning, zone: str) -> str:
    return f"at {second(at, zone)}" if at and at > morning.now else "now"
