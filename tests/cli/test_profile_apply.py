"""`matins profile apply`: what changes is said, boards are followed at once, and all of it is shown."""

import json

from matins.ledger import profile

ACME = """
[openings]
titles = ["engineer", "signalling and telecommunications maintainer", "train driver"]
avoid = ["intern"]
[[openings.boards]]
name = "acme"
kind = "lever"
board = "acme"
"""


def test_an_applied_profile_says_what_changes_follows_its_boards_and_is_shown_whole(matins, conn, tmp_path) -> None:
    file = tmp_path / "sam.toml"
    file.write_text('owner = "sam"\nzone = "Europe/London"\n')
    first = matins("profile", "apply", str(file)).out
    assert first.splitlines() == ["sam: profile 1 applied", "  no destination: nothing will be mailed"]
    file.write_text(f'owner = "sam"\nname = "Sam S."\nzone = "Europe/London"\nlong = 3\n{ACME}')
    ran = matins("profile", "apply", str(file))
    told = ran.out.splitlines()
    assert ran.err == ""
    assert told[0].startswith("sam: profile 2 applied, from today, ")
    assert told[1:] == [
        "  name: sam, now Sam S.",
        "  long stories: 5, now 3",
        "  openings: asked for from now on",
        "  feeds: as before; its boards are followed from now on",
        "  no destination: nothing will be mailed",
    ]
    assert [one["name"] for one in json.loads(matins("source", "list", "sam", "--json").out)] == ["openings at acme"]
    assert matins("source", "show", "sam", "acme").code == 0
    page = matins("profile", "show", "sam").out
    assert max(map(len, page.splitlines())) <= 80
    for said in (
        "name       Sam S.",
        "openings   engineer, ",
        "never intern",
        "board      acme: lever,",
        "  https://api.lever.co/v0/postings/acme",
    ):
        assert said in page
    file.write_text('owner = "sam"\nzone = "Europe/London"\n')
    told = matins("profile", "apply", str(file)).out
    assert "openings: not asked for any more" in told
    assert "feeds: as before; its boards are not followed any more" in told
    assert matins("source", "list", "sam").out.startswith("sam reads nothing yet.")
    assert profile.end(conn, "sam")
    assert "  feeds: none: nothing was owed any more; add them again" in matins("profile", "apply", str(file)).out
