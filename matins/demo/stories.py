"""What the demo's sources tell. Town, people, ships, programs and papers are invented. Paragraphs are separated by a
blank line.

`{today}`, `{in_3_days}` and their like stand for weekdays, so that a story reads right on the day it is served.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Told:
    """One story as one source tells it."""

    source: str
    slug: str
    age: timedelta
    """How long before the end of the day before it came out: never in the future of a reader of the day."""
    title: str
    text: str


def _hours(count: int, minutes: int = 0) -> timedelta:
    return timedelta(hours=count, minutes=minutes)


NEWS: tuple[Told, ...] = (
    Told(
        "harbour-gazette",
        "port-reopens",
        _hours(2, 35),
        "The port of Aldermouth reopens to container ships on {in_3_days}",
        """
The harbour board has lifted its closure of the outer basin, and the first container ships will berth in
Aldermouth again on {in_3_days}, eleven days after a barge sank across the fairway.

Divers raised the last section of the barge, the Patient Wren, on {yesterday} evening. A survey of the channel
found 12.4 metres of water at low tide, which is 40 centimetres more than the pilots had asked for.

"We had a plan for three weeks and a crew that did it in less than two," said the harbour master, Ines Calloway.
Nine ships wait in the roads, and they will be brought in by order of arrival, two on each tide.

The eastern lock stays shut until January. Fishing boats and the island ferry are not affected, and harbour dues
for the eleven days will not be charged.
""",
    ),
    Told(
        "aldermouth-echo",
        "port-open-again",
        _hours(1, 50),
        "Aldermouth port to reopen on {in_3_days} as harbour board lifts closure",
        """
Container ships return to Aldermouth on {in_3_days}. The harbour board lifted the closure of the outer basin
after divers raised the last of the sunken barge, the Patient Wren, on {yesterday} evening.

The closure has lasted eleven days. Nine ships lie at anchor in the roads, and hauliers in the town say that
some 600 containers were sent by road from other ports in the meantime.

"My lorries drove the long way round and my drivers missed their suppers," said Tom Ardley, who runs a yard on
Quay Street. "I am glad to have the cranes back." The board will bring the waiting ships in by order of arrival.
The eastern lock remains closed until January.
""",
    ),
    Told(
        "lodestone-releases",
        "lodestone-9-3",
        _hours(6, 10),
        "Lodestone 9.3 fixes an index bug: check tables built since September",
        """
Lodestone 9.3 is out. It mends a fault in the parallel index build that came with 9.1 in September: when
two workers met on the same page, one entry in about 4 million could be left out of the index, although the row
itself was safe in the table.

Queries that use such an index may miss rows. No data is lost. The new command lodestone check --indexes reads
1 TB in about 35 minutes on our test machine and names the indexes to rebuild, which can be done while the
database is in use.

We advise everybody on 9.1 and 9.2 to upgrade this week. Versions before 9.1 do not build indexes in parallel
and are not affected. Thanks to the two operators who sent us their traces.
""",
    ),
    Told(
        "database-notebook",
        "index-check",
        _hours(4, 20),
        "Lodestone 9.3: an index bug, and how to check for it before lunch",
        """
If you run the Lodestone database and have built an index since September, put aside half an hour today. Release
9.3 mends a fault in the parallel index build, and it brings a command that tells you whether you were hit.

I ran lodestone check --indexes over three clusters of my own, 2.2 TB in all. It took 81 minutes and found one
bad index out of 1,460, with a single entry missing. The row was there; the index just did not know it.

"One entry in 4 million sounds like nothing until it is the invoice you are looking for," a colleague said when
I told her. The rebuild ran beside the usual traffic, and nobody noticed. Older versions than 9.1 need no check.
""",
    ),
    Told(
        "coast-rail-watch",
        "strike-off",
        _hours(1, 15),
        "Two rail unions accept the offer; {in_4_days}'s strike is off",
        """
The strike on the coast line planned for {in_4_days} will not take place. Both rail unions accepted the
operator's offer late on {yesterday}, the drivers with 71 per cent of the vote and the guards with 64 per cent.

The offer gives 4.1 per cent now and 2 per cent next autumn, and it ends split shifts of more than eleven hours.
The operator in turn may run two trains an hour on Sundays from May.

"Nobody got all they came for, and that is how you know it is a settlement," said Maud Pell of the guards'
union. Trains run to the ordinary timetable from this morning. Tickets bought for another day because of the
strike can be handed back without a fee until the end of the month.
""",
    ),
    Told(
        "aldermouth-echo",
        "trains-run",
        _hours(0, 55),
        "Rail strike off: two unions accept the operator's offer",
        """
There will be no strike on the coast line on {in_4_days}. The drivers' and the guards' unions both accepted the
operator's offer in votes counted on {yesterday} night, and trains run as usual from this morning.

Drivers were for it by 71 per cent, guards by 64 per cent. The offer is worth 4.1 per cent now and 2 per cent
next autumn, and it puts an end to split shifts of more than eleven hours.

In Aldermouth, where four in ten people who work in the city take the 07:12, the news was welcome. "I had
already asked my sister for her sofa," said one of them, a nurse, on the platform. Unused tickets can be handed
back until the end of the month.
""",
    ),
    Told(
        "energy-coast",
        "tidal-turbine",
        _hours(9, 5),
        "The tidal turbine at Gull Point sends its first power ashore",
        """
At 14:20 on {yesterday} the turbine on the sea bed off Gull Point sent its first power ashore. It turned for a
whole tide and reached 1.1 of its planned 1.6 megawatts.

The machine stands in 28 metres of water, where the stream runs at up to 3.4 metres a second. Unlike wind, its
hours are known years ahead: the almanac gives it 5,100 hours of useful stream in the coming year, enough for
about 1,300 homes.

"The sea keeps its appointments, so now we have to keep ours," said Rhona Falk, the engineer in charge. It will
run at reduced power until March, while two cameras watch whether seals and porpoises keep away from the blades.
The results will be published each month.
""",
    ),
    Told(
        "harbour-gazette",
        "electric-pilot-boats",
        _hours(7, 30),
        "Aldermouth's pilots will try two electric boats for a year",
        """
From February the pilots of Aldermouth will go out to ships in two electric boats. The trial lasts a year, costs
£2.3 million and is paid for from harbour dues.

Each boat is 14 metres long and makes 18 knots for 50 minutes, enough to reach the pilot ground and come back
with a third of its charge left. A diesel boat stays ready for bad weather and for ships that are late.

"You can hear the ship's own engine from the ladder, and that is worth something at night," said the senior
pilot, Oskar Lind, after a first run. The pilots will keep a public log of each trip with its weather, its time
and its charge. The board will decide on three more boats next winter.
""",
    ),
    Told(
        "low-orbit-letter",
        "seagrass-map",
        _hours(8, 40),
        "A satellite the size of a loaf maps seagrass from 510 kilometres up",
        """
A satellite no larger than a loaf of bread has drawn the most detailed map yet of the seagrass along the
Aldermouth coast. Its camera sees through up to 9 metres of clear water from a height of 510 kilometres.

The map shows 38 square kilometres of meadow, about a fifth more than boats had found by hand in ten summers.
Students from the town's college checked it at 120 points with a glass-bottomed bucket and found it wrong at
seven.

"The bucket cost us four pounds and it is still the best instrument we have," said Dr. Amara Quist, who leads
the project. The next pass is in nine days. The pictures are free for anybody to use, and the method is
described in 16 pages.
""",
    ),
    Told(
        "energy-coast",
        "ice-house-heat",
        _hours(5, 45),
        "An old ice house will warm 214 homes with heat from the harbour",
        """
The ice house on Fish Quay, where trawlers took on their ice until 1987, will soon do the opposite. Two heat
pumps in its cellar are to draw warmth from the harbour and send it through 3 kilometres of pipe to 214 homes.

The water in the basin never falls below 6 degrees. For each unit of electricity the pumps should give 3.2 units
of heat, and the co-operative that owns them has fixed the price for five years. Work begins in April, and the
first street is to be warm by November.

"My grandfather carried ice up those steps and I shall be sending heat down them," said Nell Harker, who chairs
the co-operative. So far 171 households have signed, and 43 are still thinking it over.
""",
    ),
    Told(
        "aldermouth-echo",
        "ferry-library",
        _hours(10, 20),
        "The library on the island ferry lends its ten-thousandth book",
        """
The shelf in the saloon of the island ferry has lent its ten-thousandth book. It was a guide to knots, borrowed
on {yesterday} by a boy of nine who had asked for something useful.

The library has no cards and no fines. A passenger takes a book on the way out and brings it back on any
crossing, and in six years only 212 of them have not returned. Two came back by post from abroad, one with a
pressed flower in it.

"People read for forty minutes because there is nothing else to look at but the sea," said the mate, Josie Tarn,
who began it with a box of her own. A second shelf, for the night boat, opens in spring.
""",
    ),
    Told(
        "software-commons",
        "quillparse-2",
        _hours(3, 25),
        "Quillparse 2.0 reads large documents in a tenth of the memory",
        """
Quillparse, the free library that turns office documents into plain text, has reached version 2.0 after three
years. It now reads a file page by page instead of as a whole: a manual of 900 pages that took 1.8 GB of
memory takes 170 MB.

Speed is about the same. What changed is the interface: the call that loaded it is gone, and programs have to loop over
pages instead. A script that ships with the release rewrites the common cases, and version 1.9 will get security
fixes for another 18 months.

"We deleted 11,000 lines and nobody has asked for one of them back," wrote the maintainer, who signs as Wick.
The release notes list 37 contributors, among them a school class that translated the error messages.
""",
    ),
)

OLDER: tuple[Told, ...] = (
    Told("harbour-gazette", "barge", timedelta(days=11), "A barge sinks across the fairway and closes the outer basin",
         "The barge Patient Wren sank across the fairway at dawn. Her crew of three were taken off unhurt."),
    Told("harbour-gazette", "dredging", timedelta(days=24), "Dredging of the inner basin ends a week early",
         "The dredger has left the inner basin after five weeks, and the pontoons go back on Monday."),
    Told("aldermouth-echo", "market", timedelta(days=4), "The Saturday market moves to the bandstand for the winter",
         "Forty stalls move from the quay to the bandstand until March, out of the wind."),
    Told("aldermouth-echo", "bell", timedelta(days=9), "St Brannoc's bell is back from the foundry",
         "The cracked bell was recast and hung again after two years of silence."),
    Told("lodestone-releases", "lodestone-9-2", timedelta(days=38), "Lodestone 9.2: faster restarts",
         "Lodestone 9.2 reads its log in parallel after a crash and starts about twice as fast."),
    Told("lodestone-releases", "lodestone-9-1", timedelta(days=80), "Lodestone 9.1: parallel index builds",
         "Lodestone 9.1 builds indexes with several workers at once."),
    Told("database-notebook", "backups", timedelta(days=6), "A backup that was never restored is a wish",
         "Once a month I restore a backup on another machine and count the rows. Here is the script."),
    Told("coast-rail-watch", "vote", timedelta(days=8), "Unions put the operator's new offer to a vote",
         "Ballot papers go out this week. The count is planned for the end of the month."),
    Told("coast-rail-watch", "bridge", timedelta(days=19), "Night work on the Sallow bridge is finished",
         "Trains cross the Sallow bridge at full speed again after eleven nights of work."),
    Told("energy-coast", "turbine-lowered", timedelta(days=27), "The tidal turbine is lowered to the sea bed",
         "A crane ship set the turbine on its frame off Gull Point at slack water."),
    Told("low-orbit-letter", "launch-delayed", timedelta(days=5), "A launch waits for the wind, again",
         "Gusts above the limit moved the launch by a day for the third time."),
    Told("low-orbit-letter", "antenna", timedelta(days=33), "An antenna made of tape measure",
         "A class built a working ground station from a steel tape measure and a broom handle."),
    Told("software-commons", "marlin", timedelta(days=12), "Marlin, a small build tool, turns ten",
         "Its author looks back at ten years, 84 releases and one name change."),
    Told("software-commons", "docs-day", timedelta(days=20), "A day for documentation, once a quarter",
         "Three projects tell what came of stopping all other work for a day."),
)  # fmt: skip
