"""What an edition leaves for the wiki: a quoted summary of each story's evidence, and which events one story is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matins.brief import quoting

PROMPT_VERSION = "quoted-1"
"""How a quoted summary is made; a summary made in another way has another one."""
MODEL = "quoted"
SUMMARY_WORDS = 120


def summary_of(item: Mapping[str, Any]) -> tuple[str, str]:
    """Title and text of one item of an evidence set (its `title` and `text` count, nothing else does).

    The title is never empty. The text is the first whole sentences, at most 120 words, paragraphs separated by a blank
    line; "" where there is none worth quoting.
    """
    return quoting.headline(item), "\n\n".join(quoting.body(item, most=SUMMARY_WORDS))


def summaries(draft: Mapping[str, Any], evidence_set: Mapping[str, Any]) -> list[dict[str, str]]:
    """For each told story, in the edition's order, the summary of the evidence that it quotes first.

    Each is {"event_key", "evidence_hash", "title", "text"}, all strings. Raises KeyError if the draft names evidence
    that the set does not hold: they are not of one morning.
    """
    known = {_name(item): item for item in evidence_set["items"]}
    found = []
    for story in draft["stories"]:
        lead = story["evidence"][0]
        title, text = summary_of(known[_name(lead)])
        found.append({**{part: lead[part] for part in ("event_key", "evidence_hash")}, "title": title, "text": text})
    return found


def stories_of(draft: Mapping[str, Any], evidence_set: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each told story, in the edition's order, what its page is made of.

    Each is {"lead": event_key, "topic": str ("" for none), "members": [event_key, ...], "headline": str}; the lead is
    the first member, and no member is named twice. Raises KeyError as `summaries` does.
    """
    known = {_name(item) for item in evidence_set["items"]}
    found = []
    for story in draft["stories"]:
        if missing := [one["event_key"] for one in story["evidence"] if _name(one) not in known]:
            raise KeyError(missing[0])
        members = list(dict.fromkeys(one["event_key"] for one in story["evidence"]))
        found.append({"lead": members[0], "topic": story["topic"], "members": members, "headline": story["headline"]})
    return found


def _name(piece: Mapping[str, Any]) -> tuple[str, str]:
    return piece["event_key"], piece["evidence_hash"]
