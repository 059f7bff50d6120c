"""What counts as a new fact, and what is only said in other words."""

from __future__ import annotations

from datetime import date

import pytest

from matins.brief.facts import Known, facts, titled

TOLD = """The port of Aldermouth reopens on Thursday
The harbour board has lifted its closure of the outer basin after divers raised the sunken barge Patient Wren today.
Nine container ships wait in the roads, and three tugs help. The fee is £1,000 a day, the board said on Sunday.
“We had three weeks for it,” said Anna Pole of the Federal Communications Commission. Prices rose 5 per cent to £2.3m.
It opens at 18:00 on 3 December 2026. Version 9.10 of Lodestone is used. A ticket costs 3.50, for 12 people. The U.N.
looks on from Germany; Mr Marsh of the Sallow trust does not."""


def _new(sentence: str) -> list[str]:
    known = Known.of([(TOLD, date(2026, 11, 30))])
    return [f"{fact.kind} {fact.said}" for fact in facts(sentence) if not known.says(fact)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Divers raised the Patient Wren, so the Harbour Board lifted the closure.",
        "9 ships wait; 3 tugs help.",
        "Fees: £1000 daily; £1,000.00 in all.",
        "She had “three weeks for it”, Pole said, and ‘We had three weeks for it’ again.",
        'Said Pole: "We had three weeks for this".',
        "On Wednesday, the board said that the ships wait.",
        "The board told Reuters on Tuesday 1 December that the ships wait.",
        "The barge was raised on Monday.",
        "The ministers of the FCC agree with the UN.",
        "At 6 p.m. on 2026-12-03 it opens, in 2026.",
        "Prices went up by 5% to £2,300,000.",
        "A ticket costs £3.50, or 3.5 pounds.",
        "The Pateint Wren lies near the Salow, near Aldermuoth.",
        "The Germans came with Dr. Pole's team, as the Council asked.",
        "Nobody is the one who says no to the port.",
        "Lodestone 9.10 is used.",
        "“Yes” and “no way” were heard.",
    ],
)
def test_other_words_for_what_was_told_are_no_news(sentence: str) -> None:
    assert _new(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("The fee is £1,200 a day.", "money 1200"),
        ("The fee is now £12.", "money 12"),
        ("Prices rose by 12 percent.", "percent 12"),
        ("Ten ships wait.", "number 10"),
        ("Two million people wait.", "number 2000000"),
        ("Lodestone 9.11 is used.", "number 9.11"),
        ("Use v9.10.1 from now on.", "number 9.10.1"),
        ("The port reopens on Friday, the board said.", "weekday Friday"),
        ("It opens at 7 pm.", "clock 19:00"),
        ("It opens on 4 December.", "number 4"),
        ("It opens in January.", "month January"),
        ("The port, Maersk said, is open.", "name Maersk"),
        ("A ship for Jane Marsh is in.", "name Jane Marsh"),
        ("It sailed on to Iraq and to the EU.", "name Iraq"),
        ("“We will never close it again,” she said.", "quotation we will never close it again"),
    ],
)
def test_a_number_a_day_a_quotation_or_a_name_that_was_not_told_is_news(sentence: str, fact: str) -> None:
    assert _new(sentence)[0] == fact


def test_a_close_name_is_another_name() -> None:
    known = Known.of([("He met Iran and Anna in Austria.", date(2026, 11, 30))])
    said = [fact for fact in facts("She met Iraq and Anne and Australia.") if not known.says(fact)]
    assert [fact.said for fact in said] == ["Iraq", "Anne", "Australia"]


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Port Reopens To Ships On Thursday", True), ("Port reopens to ships", False), ("PORT REOPENS", True)],
)
def test_capitals_in_a_title_in_title_case_name_nothing(title: str, expected: bool) -> None:
    assert titled(title) is expected
