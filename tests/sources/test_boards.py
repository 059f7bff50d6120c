"""A board's answer is read as a whole, or it is no answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matins.rules.errors import ProviderRefused
from matins.rules.evidence import Item, SourceKind
from matins.sources.boards import next_page, read_board

GREENHOUSE, LEVER, ASHBY = SourceKind.GREENHOUSE, SourceKind.LEVER, SourceKind.ASHBY
URL = "https://boards.example/acme?limit=2&mode=json"

ROLES: dict[SourceKind, dict[str, Any]] = {
    GREENHOUSE: {
        "id": 127817,
        "internal_job_id": 144381,
        "title": "  Database\nEngineer ",
        "updated_at": "2026-11-20T10:55:28-05:00",
        "first_published": "2026-11-02T09:00:00-05:00",
        "requisition_id": "50",
        "location": {"name": "London, UK"},
        "absolute_url": "https://acme.example/roles/127817?gh_jid=127817",
        "company_name": "Acme",
        "content": "&lt;p&gt;You keep &amp;amp; mend&lt;/p&gt;&lt;script&gt;x()&lt;/script&gt;indexes.",
        "departments": [{"id": 1, "name": "Storage"}, {"id": 2, "name": "Core"}],
        "offices": [{"id": 8, "name": "London"}, {"id": 9, "name": "Berlin; Mitte"}],
    },
    LEVER: {
        "id": "f0b4a0f2-1f2a-4d67-8f5d-000000000001",
        "text": "Database Engineer",
        "categories": {
            "location": "London",
            "team": "Storage",
            "department": "R&D",
            "allLocations": ["London", "Oslo"],
        },
        "createdAt": 1_793_610_000_000,
        "workplaceType": "remote",
        "descriptionPlain": "You keep & mend",
        "lists": [{"text": "You need", "content": "<li>patience</li>"}],
        "additionalPlain": "indexes.",
        "hostedUrl": "https://jobs.example/acme/1",
        "applyUrl": "https://jobs.example/acme/1/apply",
    },
    ASHBY: {
        "id": "5d131ad4-6b3a-4f01-938e-000000000001",
        "title": "Database Engineer",
        "location": "London",
        "secondaryLocations": [{"location": "Remote - UK"}],
        "department": "R&D",
        "team": "Storage",
        "isListed": True,
        "isRemote": True,
        "descriptionHtml": "<p>You keep &amp; mend</p>",
        "descriptionPlain": "You keep & mend",
        "publishedAt": "2026-11-02T14:00:00.393+00:00",
        "jobUrl": "https://jobs.example/acme/1",
    },
}
KINDS = tuple(ROLES)


def _body(kind: SourceKind, *roles: object) -> bytes:
    shapes = {GREENHOUSE: {"jobs": list(roles), "meta": {"total": len(roles)}}, LEVER: list(roles)}
    return json.dumps(shapes.get(kind, {"apiVersion": "1", "jobs": list(roles)})).encode()


def _one(kind: SourceKind, **changes: Any) -> Item:
    (item,) = read_board(_body(kind, ROLES[kind] | changes), kind=kind, url=URL)[1]
    return item


@pytest.mark.parametrize(
    ("kind", "title", "expected"),
    [
        (
            GREENHOUSE,
            "Acme",
            Item(
                "127817",
                "https://acme.example/roles/127817?gh_jid=127817",
                "Database Engineer",
                "You keep & mend\n\nindexes.",
                datetime(2026, 11, 2, 14, tzinfo=UTC),
                {"place": "London, UK", "team": "Storage", "places": "London, UK; Berlin, Mitte"},
            ),
        ),
        (
            LEVER,
            "",
            Item(
                "f0b4a0f2-1f2a-4d67-8f5d-000000000001",
                "https://jobs.example/acme/1",
                "Database Engineer",
                "You keep & mend\n\nYou need\n\npatience\n\nindexes.",
                datetime.fromtimestamp(1_793_610_000, UTC),
                {"place": "London", "team": "Storage", "places": "London; Oslo; Remote"},
            ),
        ),
        (
            ASHBY,
            "",
            Item(
                "5d131ad4-6b3a-4f01-938e-000000000001",
                "https://jobs.example/acme/1",
                "Database Engineer",
                "You keep & mend",
                datetime(2026, 11, 2, 14, tzinfo=UTC),
                {"place": "London", "team": "Storage", "places": "London; Remote - UK"},
            ),
        ),
    ],
)
def test_a_role_is_read_as_its_provider_writes_it(kind: SourceKind, title: str, expected: Item) -> None:
    assert read_board(_body(kind, ROLES[kind]), kind=kind, url=URL) == (title, (expected,))


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_answer_with_no_roles_is_an_empty_board_and_no_failure(kind: SourceKind) -> None:
    assert read_board(_body(kind), kind=kind, url=URL) == ("", ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"<!DOCTYPE html><title>Sign in</title>", "an HTML page"),
        (b'{"jobs": [', "broken or cut off JSON"),
        (b"[" * 100_000, "broken or cut off JSON"),
        (b'{"status": 404, "error": "Job not found"}', "the board answers with an error"),
        (b'{"ok": false, "error": "Document not found"}', "the board answers with an error"),
        (b'{"jobs": null}', "no list of roles"),
        (b'{"jobs": {}}', "no list of roles"),
        (b"{}", "no list of roles"),
        (b"null", "JSON of another kind"),
        (b'"jobs"', "JSON of another kind"),
        (b"\x1f\x8b\x08\x00\x00", "broken or cut off JSON"),
    ],
)
def test_what_is_not_the_boards_answer_is_refused_and_never_empty(kind: SourceKind, body: bytes, says: str) -> None:
    with pytest.raises(ProviderRefused, match=says):
        read_board(body, kind=kind, url=URL)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "changes",
    [
        {"id": None, "jobUrl": None},
        {"id": True, "jobUrl": None},
        {"id": {}, "jobUrl": []},
        {"id": "\u202e "},
        {"title": "", "text": ""},
        {"title": 7, "text": 7},
        {"absolute_url": None, "hostedUrl": None, "jobUrl": None},
    ],
)
def test_one_role_that_cannot_be_told_from_another_makes_the_whole_answer_void(
    kind: SourceKind, changes: dict[str, Any]
) -> None:
    with pytest.raises(ProviderRefused, match="a role without an id, a title or a link"):
        read_board(_body(kind, ROLES[kind], ROLES[kind] | changes), kind=kind, url=URL)
    with pytest.raises(ProviderRefused, match="something that is no role"):
        read_board(_body(kind, ROLES[kind], "role"), kind=kind, url=URL)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_the_answer_of_another_kind_of_board_is_refused(kind: SourceKind, other: SourceKind) -> None:
    if kind is other:
        assert len(read_board(_body(other, ROLES[other]), kind=kind, url=URL)[1]) == 1
    else:
        with pytest.raises(ProviderRefused):
            read_board(_body(other, ROLES[other]), kind=kind, url=URL)


def test_a_board_that_counts_more_roles_than_it_lists_is_refused() -> None:
    short = json.dumps({"jobs": [ROLES[GREENHOUSE]], "meta": {"total": 2}}).encode()
    with pytest.raises(ProviderRefused, match="counts more roles than it lists"):
        read_board(short, kind=GREENHOUSE, url=URL)
    many = _body(ASHBY, *(ROLES[ASHBY] | {"id": str(n)} for n in range(5001)))
    with pytest.raises(ProviderRefused, match="too large"):
        read_board(many, kind=ASHBY, url=URL)


def test_an_unlisted_role_is_left_out_and_a_listed_one_is_not() -> None:
    hidden = ROLES[ASHBY] | {"id": "hidden", "isListed": False}
    assert [item.identity for item in read_board(_body(ASHBY, hidden, ROLES[ASHBY]), kind=ASHBY, url=URL)[1]] == [
        ROLES[ASHBY]["id"]
    ]
    assert read_board(_body(ASHBY, hidden), kind=ASHBY, url=URL) == ("", ())


def test_a_role_listed_twice_is_one_but_where_pages_are_found_by_counting() -> None:
    for kind in (GREENHOUSE, ASHBY):
        assert len(read_board(_body(kind, ROLES[kind], ROLES[kind]), kind=kind, url=URL)[1]) == 1
    with pytest.raises(ProviderRefused, match="twice"):
        read_board(_body(LEVER, ROLES[LEVER], ROLES[LEVER]), kind=LEVER, url=URL)


@pytest.mark.parametrize(
    ("kind", "changes", "field", "value"),
    [
        (GREENHOUSE, {"absolute_url": "javascript:alert(1)"}, "url", ""),
        (GREENHOUSE, {"absolute_url": "/roles/7"}, "url", "https://boards.example/roles/7"),
        (LEVER, {"hostedUrl": "https://a:b@jobs.example/"}, "url", ""),
        (GREENHOUSE, {"first_published": None}, "published_at", None),
        (GREENHOUSE, {"first_published": "soon"}, "published_at", None),
        (LEVER, {"createdAt": True}, "published_at", None),
        (LEVER, {"createdAt": 10**30}, "published_at", None),
        (LEVER, {"createdAt": -1}, "published_at", None),
        (LEVER, {"categories": ["London"], "workplaceType": 7}, "facts", {}),
        (ASHBY, {"location": None, "secondaryLocations": "x", "isRemote": 1, "team": 5, "department": 5}, "facts", {}),
        (ASHBY, {"descriptionPlain": None}, "text", "You keep & mend"),
        (GREENHOUSE, {"content": "<p>Not &lt;escaped&gt;</p>"}, "text", "Not <escaped>"),
        (GREENHOUSE, {"id": "0" * 400}, "identity", "0" * 299 + "…"),
    ],
)
def test_a_value_that_cannot_be_is_no_value(kind: SourceKind, changes: dict[str, Any], field: str, value: Any) -> None:
    assert getattr(_one(kind, **changes), field) == value


def test_huge_values_are_cut() -> None:
    places = [f"Town {n}" for n in range(1000)]
    item = _one(LEVER, text="x" * 10_000, descriptionPlain="y " * 500_000, categories={"allLocations": places})
    assert (len(item.title), len(item.text) <= 20_000, item.facts["places"].count(";")) == (300, True, 49)


@pytest.mark.parametrize(
    ("kind", "url", "count", "following"),
    [
        (LEVER, "https://l.example/acme?limit=2&mode=json", 2, "https://l.example/acme?limit=2&mode=json&skip=2"),
        (
            LEVER,
            "https://l.example/acme?limit=2&mode=json&skip=2",
            2,
            "https://l.example/acme?limit=2&mode=json&skip=4",
        ),
        (LEVER, "https://l.example/acme?limit=2&mode=json", 1, ""),
        (LEVER, "https://l.example/acme?limit=2&mode=json&skip=2", 0, ""),
        (LEVER, "https://l.example/acme", 99, ""),
        (LEVER, "https://l.example/acme", 100, "https://l.example/acme?limit=100&skip=100"),
        (LEVER, "https://l.example/acme?limit=0", 1, ""),
        (LEVER, "https://l.example/acme?limit=%C2%B2&skip=-7", 100, "https://l.example/acme?limit=100&skip=100"),
        (LEVER, "https://l.example/acme?limit=100&skip=4950", 100, ""),
        (GREENHOUSE, "https://g.example/acme?limit=2", 2, ""),
        (ASHBY, "https://a.example/acme?limit=2", 2, ""),
    ],
)
def test_only_a_full_page_of_a_lever_board_has_a_next_one(
    kind: SourceKind, url: str, count: int, following: str
) -> None:
    assert next_page(kind, url, [_one(LEVER)] * count) == following


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_whatever_a_role_holds_it_is_an_item_or_a_refusal(kind: SourceKind, data: st.DataObject) -> None:
    fields = data.draw(st.dictionaries(st.sampled_from(sorted(ROLES[kind])), _JSON, max_size=4))
    try:
        _, (item,) = read_board(_body(kind, ROLES[kind] | fields), kind=kind, url=URL)
    except ProviderRefused:
        return
    except ValueError:
        assert fields.get("isListed") is False
        return
    assert item.identity
    assert item.title
    assert item.url == "" or item.url.startswith(("http://", "https://"))
    assert all(isinstance(value, str) and value for value in item.facts.values())
    assert len(item.evidence_hash) == 64
