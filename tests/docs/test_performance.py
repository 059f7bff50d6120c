"""docs/performance.md names every measure; the tables show what was measured, and only the figures are replaced."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import sweep
from bench.sizes import FULL, Sizes
from bench.table import Row, markdown, table
from matins import sweep as product
from tests.docs.pages import page

PERFORMANCE = page("docs/performance.md")
MEASURED = {"plan": [Row("a re-plan, to the first", [0.2, 0.05, 0.08], at_most=0.1), Row("  rows", [1200])]}


def test_the_page_has_a_line_for_every_measure() -> None:
    assert {row[0].strip("`") for row in PERFORMANCE.rows("measure")} == set(bench.MEASURES)


def test_the_sweeps_measure_has_every_pass_and_every_find_of_the_product() -> None:
    assert tuple(sorted(sweep.PASSES)) == tuple(sorted(product.PASSES))
    for name, finds in sweep.PASSES.items():
        said = inspect.getsource(getattr(product._Round, name))
        names = [f"{find.__module__.rpartition('.')[2]}.{find.__name__}(" for find in finds]  # type: ignore[attr-defined]
        assert [one for one in names if one not in said] == []
        assert said.count(".find_") == sum(".find_" in one for one in names)


@pytest.mark.parametrize(
    ("row", "measured", "goal"),
    [
        (Row("a", [3.0]), "3", ""),
        (Row("a", [0.0512], "ms", at_most=0.1), "0.051 ms", "<= 0.10 ms"),
        (Row("a", [1.0, 12.34, 5.0], "s", at_most=4), "5 s  (1 to 12.3, 3 runs)", "<= 4 s  MISSED"),
        (Row("a", [1234.5], "/s", at_least=1000), "1,234 /s", ">= 1,000 /s"),
        (Row("a", [999.0], "/s", at_least=1000), "999 /s", ">= 1,000 /s  MISSED"),
    ],
)
def test_a_row_shows_median_spread_and_whether_the_goal_is_missed(row: Row, measured: str, goal: str) -> None:
    assert (row.measured(), row.goal()) == (measured, goal)
    assert measured in table([row])
    assert row.document("python -m bench a")["met"] is (None if not goal else "MISSED" not in goal)


def test_writing_replaces_the_figures_and_nothing_else(tmp_path: Path) -> None:
    there = tmp_path / "performance.md"
    there.write_text(f"before\n{bench.BEGIN}\nold\n{bench.END}\nafter\n")
    for _ in range(2):
        bench.write(there, MEASURED, Sizes(owners=5), "2 cores")
    told = there.read_text()
    assert told.startswith("before\n")
    assert told.endswith(f"{bench.END}\nafter\n")
    assert "old" not in told
    assert told.count("`python -m bench plan --owners 5`") == 1
    assert "| a re-plan, to the first | 0.080  (0.050 to 0.20, 3 runs) | <= 0.10 |" in told
    assert markdown(MEASURED, {"plan": "x"}).count("\n") == 4


@pytest.mark.parametrize("wrong", [["nothing"], ["plan", "--owners", "0"], ["feeds", "--changed", "101"]])
def test_what_cannot_be_measured_is_refused_before_anything_starts(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        bench.main(wrong)
    assert ended.value.code == 2
    assert "measuring" not in capsys.readouterr().err


def test_the_full_sizes_are_written_as_options() -> None:
    asked = bench._parser().parse_args(["plan", *FULL.options().split()])
    assert bench.chosen(asked, Sizes()) == FULL
