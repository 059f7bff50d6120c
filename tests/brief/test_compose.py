"""What the edition says: quoted, empty and blind mornings, lengths, times and counts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from time import process_time

import pytest

from matins.brief import audit, compose, coverage, inner, phrases
from matins.brief.phrases import fold, words
from matins.rules.errors import CopyRefused, DateConflict
from matins.rules.evidence import SourceLook
from tests.brief.making import AT, DAY, PROSE, chosen_set, edition, evidence, look, profile, told


def test_a_long_story_is_whole_sentences_of_its_source_within_the_budget() -> None:
    draft, _ = edition([evidence("Hourly ferries from March")])
    story = draft["stories"][0]
    assert story["headline"] == "Hourly ferries from March"
    assert " ".join(story["body"]) in PROSE
    assert " ".join(story["body"]).endswith(".")
    assert 60 <= sum(map(words, story["body"])) <= 100


def test_a_short_story_has_one_line_and_one_source() -> None:
    items = [evidence("Hourly ferries from March"), evidence("Hourly ferries from March", source="echo")]
    draft, _ = edition(items, long=0, short=4)
    story = draft["stories"][0]
    assert story["body"] == [PROSE.partition(" It now")[0]]
    assert len(story["sources"]) == 1
    assert story["more_sources"] == 1


def test_a_story_without_enough_text_to_quote_is_told_in_short() -> None:
    items = [evidence("Title only", "", published=AT), evidence("Bees return to chimneys", source="echo")]
    draft, _ = edition(items, long=5)
    assert [(story["headline"], story["form"]) for story in draft["stories"]] == [
        ("Bees return to chimneys", "long"),
        ("Title only", "short"),
    ]


def test_every_story_names_its_sources_with_their_time_in_the_owner_s_zone() -> None:
    later, before = AT + timedelta(hours=3), AT - timedelta(minutes=2)
    items = [
        evidence("Hourly ferries", published=datetime(2026, 11, 30, 4, 10, tzinfo=UTC), source="a"),
        evidence("Bees return", published=None, seen=datetime(2026, 11, 30, 4, 58, tzinfo=UTC), source="b"),
        evidence("Opera cut", published=later, seen=before, source="c"),
        evidence("Chess cup", published=datetime(2026, 11, 29, 21, 30, tzinfo=UTC), source="d"),
    ]
    draft, _ = edition(items, zone="Europe/Paris")
    times = {story["headline"]: story["sources"][0]["time"] for story in draft["stories"]}
    assert times == {
        "Hourly ferries": "05:10",
        "Bees return": "seen 05:58",
        "Opera cut": "seen 05:59",
        "Chess cup": "Sun 22:30",
    }


def test_a_story_says_which_interest_it_follows() -> None:
    draft, _ = edition([evidence("Hourly ferries")], interests={"shipping": ["ferry", "ferries"]})
    assert draft["stories"][0]["why"] == "because you follow: shipping"


def test_the_opening_is_made_of_facts() -> None:
    items = [
        evidence("Hourly ferries"),
        evidence("A late ferry on Saturdays", "No.", source="echo"),
        evidence("Bees return", "Bees.", source="a"),
        evidence("Rails are cold", "Rails.", source="b"),
    ]
    draft, _ = edition(items, interests={"shipping": ["ferry", "ferries"], "rail": ["rail"]})
    lead = draft["stories"][0]["headline"]
    assert draft["opening"] == (
        "From 4 new items in 4 sources: two stories on shipping, one on rail, and one outside your topics. "
        f"First: “{lead}”."
    )
    assert words(draft["opening"]) <= 60


def test_the_opening_never_passes_sixty_words() -> None:
    draft, _ = edition([evidence("word " * 39 + str(n), source=f"s{n}") for n in range(9)])
    assert draft["opening"]
    assert words(draft["opening"]) <= 60


@pytest.mark.parametrize(
    ("reached", "failed", "kind", "headline"),
    [
        (3, 0, "empty", "Nothing new in 3 sources, all reached at 05:01."),
        (1, 0, "empty", "Nothing new in your one source, reached at 05:01."),
        (8, 1, "empty", "Nothing new in the 8 sources reached at 05:01; one could not be looked at."),
        (9, 131, "blind", "I could not look: 131 of 140 sources did not answer, most likely this machine's network."),
        (0, 1, "blind", "I could not look: your only source did not answer (timed out)."),
        (0, 2, "blind", "I could not look: all 2 sources could not be read."),
        (0, 0, "blind", "I could not look: there are no sources yet."),
    ],
)
def test_nothing_new_and_could_not_look_are_different_editions(
    reached: int, failed: int, kind: str, headline: str
) -> None:
    looks = [look(f"s{n}") for n in range(reached)]
    looks += [look(f"x{n}", reason="timed out") for n in range(failed)]
    draft, _ = edition([], looks)
    assert (draft["kind"], draft["headline"]) == (kind, headline)
    assert draft["ending"] == "That is all for today."


def test_where_servers_answered_the_network_is_not_blamed() -> None:
    draft, _ = edition([], [look(f"x{n}", reason="403") for n in range(5)])
    assert draft["headline"] == "I could not look: all 5 sources could not be read."


def test_a_blind_morning_with_one_story_tells_it_and_says_so_first() -> None:
    looks = [look("gazette"), *(look(f"x{n}", reason="timed out") for n in range(9))]
    draft, _ = edition([evidence("Hourly ferries")], looks)
    assert draft["kind"] == "blind"
    assert len(draft["stories"]) == 1


def test_the_coverage_names_what_was_not_seen_and_why() -> None:
    looks = [
        look("gazette"),
        look("echo", reason="connection refused"),
        look("lwn", reason="503", since=datetime(2026, 11, 27, 6, 0, tzinfo=UTC)),
    ]
    draft, _ = edition([evidence("Hourly ferries")], looks)
    assert draft["coverage"]["line"] == "1 of 3 sources; not seen: Echo (connection refused), Lwn (503, since Fri 27)"
    assert draft["warning"] == "Not seen today: Echo, Lwn (since Fri 27)."


def test_the_opening_counts_the_sources_that_the_items_come_from() -> None:
    items = [evidence("Hourly ferries"), evidence("Bees return", "Bees.", source="b"), evidence("Ice", source="c")]
    items += [evidence("An old one", source="d", published=AT - timedelta(days=9), baseline=True)]
    looks = [look("gazette"), *(look(name, reason="503") for name in "bcd")]
    draft, found = edition(items, looks)
    assert draft["opening"].startswith("From 3 new items in 3 sources: ")
    assert audit.check(draft, found)
    with pytest.raises(CopyRefused, match="count"):
        audit.check(draft | {"opening": "From 9 new items in 9 sources."}, found)
    draft["coverage"].pop("in_part")
    assert audit.check(draft | {"opening": "From 3 new items in 1 source."}, found), "drafted before an update"


@pytest.mark.parametrize(
    ("partial", "others", "line"),
    [
        (["Half Feed"], [look(f"s{n}") for n in range(4)], "all 5 sources, one only in part (Half Feed)"),
        (["Half Feed"], [], "1 source, only in part (Half Feed)"),
        (
            ["Half Feed", "Lease Token"],
            [look("echo", reason="503")],
            "2 of 3 sources, two only in part (Half Feed, Lease Token); not seen: Echo (503)",
        ),
        (list("abcdefg"), [], "all 7 sources, seven only in part (a, b, c, d, e and two more)"),
    ],
)
def test_the_foot_says_which_sources_were_read_only_in_part(
    partial: list[str], others: list[SourceLook], line: str
) -> None:
    broken = [SourceLook(name, name, True, 12, "broke off after 12 entries", None, partial=True) for name in partial]
    draft, found = edition([evidence("Hourly ferries")], [*broken, *others])
    assert draft["coverage"]["line"] == line
    assert phrases.capital(line) + "." in coverage.foot(draft)
    assert [one["name"] for one in draft["coverage"]["in_part"]] == partial
    assert audit.check(draft, found), "a source's name may be an inner word"


def test_many_unseen_sources_are_counted_after_the_fifth() -> None:
    looks = [*(look(f"s{n}") for n in range(20)), *(look(f"x{n}", reason="503") for n in range(8))]
    draft, _ = edition([], looks)
    assert draft["warning"] == "Not seen today: X0, X1, X2, X3, X4 and three more."


def test_an_inner_word_in_a_reason_does_not_reach_the_reader() -> None:
    draft, _ = edition([evidence("Hourly ferries")], [look("gazette"), look("echo", reason="lease token lost")])
    assert not inner.inner_words(draft["coverage"]["line"])


def test_what_was_left_out_is_counted_with_its_reason() -> None:
    items = [evidence(f"Story {letter * 4}", letter) for letter in "abcdef"]
    items += [evidence(f"Old {n}", published=AT - timedelta(days=9), baseline=True, source="new") for n in range(3)]
    draft, _ = edition(items, long=1, short=2)
    assert coverage.left_out(draft) == ("Left out: 3 old (there when their source was first read), 3 over the limit.")


def test_minutes_to_read_are_at_least_one_and_follow_the_words() -> None:
    short, _ = edition([])
    many, _ = edition([evidence(f"Story {letter * 5}", PROSE, source=letter) for letter in "abcdefghij"], long=10)
    assert short["minutes"] == 1
    assert many["minutes"] == round(many["words"] / 230)
    assert many["minutes"] > 2


def test_one_of_everything_is_said_in_the_singular() -> None:
    draft, _ = edition([evidence("Hourly ferries")])
    assert draft["opening"] == "From 1 new item in 1 source: one story. It is “Hourly ferries”."
    assert coverage.title(draft) == "For Sam. One story, one minute."
    assert draft["coverage"]["line"] == "1 source"


def test_forty_events_with_long_texts_are_composed_in_no_time() -> None:
    items = [evidence(f"Story {n}", "\n\n".join([PROSE] * 40), source=f"s{n}") for n in range(40)]
    found = chosen_set(items, long=20, short=20)
    started = process_time()
    draft = compose.compose(found, profile(long=20, short=20), date=DAY)
    assert process_time() - started < 0.25  # five times what it may take
    assert draft["stories"]


def test_items_told_before_are_no_new_items() -> None:
    items = [evidence("Hourly ferries"), evidence("Bees return", "Bees.", source="b")]
    draft, _ = edition(items, told=[told(items[0])])
    assert draft["opening"].startswith("From 1 new item in 1 source: one story.")


def test_a_morning_on_which_all_was_told_before_has_nothing_new() -> None:
    draft, _ = edition([evidence("Hourly ferries")], told=[told(evidence("Hourly ferries"))])
    assert (draft["kind"], draft["headline"]) == ("empty", "Nothing new in your one source, reached at 05:01.")
    assert coverage.left_out(draft) == "Left out: 1 told before."


def test_evidence_of_another_date_is_refused() -> None:
    with pytest.raises(DateConflict):
        compose.compose(chosen_set([]), profile(), date=date(2026, 12, 1))


def test_a_text_in_a_script_without_spaces_keeps_to_the_budget() -> None:
    draft, _ = edition([evidence("港が開いた", "船が港に入った。" * 900)])
    assert sum(map(words, draft["stories"][0]["body"])) <= 100


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (datetime(2026, 11, 30, 5, 10, tzinfo=UTC), "05:10"),
        (datetime(2026, 11, 25, 5, 10, tzinfo=UTC), "Wed 05:10"),
        (datetime(2026, 11, 24, 5, 10, tzinfo=UTC), "24 Nov"),
        (datetime(2019, 11, 24, 5, 10, tzinfo=UTC), "24 Nov 2019"),
    ],
)
def test_a_moment_is_said_as_one_says_it_on_the_day(at: datetime, said: str) -> None:
    assert phrases.moment(at, "Europe/London", day=DAY) == said


def test_folding_leaves_one_line_without_hidden_or_turning_characters() -> None:
    assert fold(" a\r\nb\u2028c\x00d\u202ee\ud800f\u200bg\x85h ") == "a b c defg h"


def test_a_cut_is_at_a_word_and_never_halves_a_number() -> None:
    assert phrases.cut("The port reopens to ships", 20) == "The port reopens…"
    assert phrases.cut("x" * 15 + "1234567", 20) == "x" * 15 + "…"
