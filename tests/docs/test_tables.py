"""schema/README.md draws the tables and edges that the files of schema/ make."""

import re

from matins.ledger import migrate
from tests.docs.pages import ROOT, page, quoted

README = page("schema/README.md")
(DRAWING,) = README.blocks("mermaid")
DDL = "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "schema").glob("[0-9]*.sql")))
TABLE = re.compile(r"^create table (\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)
ADDED = re.compile(r"^alter table (\w+)\s[^;]*?references (\w+)", re.MULTILINE)
EDGE = re.compile(r"^\s+(\w+) [|}o]{2}--[|{o]{2} (\w+) : ", re.MULTILINE)


def tables() -> dict[str, str]:
    """Table -> its body."""
    return {found[1]: found[2] for found in TABLE.finditer(DDL)}


def test_each_table_has_its_sentence_and_nothing_else_has() -> None:
    made_by_the_runner = re.findall(r"create table if not exists (\w+)", migrate._VERSIONS)
    assert {quoted(row[0])[0] for row in README.rows("table")} == {*tables(), *made_by_the_runner}


def test_each_view_has_its_sentence_and_nothing_else_has() -> None:
    views = set(re.findall(r"^create (?:or replace )?view (\w+)", DDL, re.MULTILINE))
    assert {quoted(row[0])[0] for row in README.rows("view")} == views


def test_the_drawing_has_an_edge_for_each_reference() -> None:
    referred = {
        frozenset((table, other)) for table, body in tables().items() for other in re.findall(r"references (\w+)", body)
    }
    referred |= {frozenset(found) for found in ADDED.findall(DDL)}
    assert {frozenset(edge) for edge in EDGE.findall(DRAWING)} == referred


def test_each_line_of_the_drawing_is_an_edge() -> None:
    assert len(EDGE.findall(DRAWING)) == len(DRAWING.splitlines()) - 1
