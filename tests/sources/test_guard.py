from __future__ import annotations

from dataclasses import replace

import pytest

from matins.rules.errors import ProviderRefused, ProviderUnavailable
from matins.rules.evidence import Cursor
from matins.sources.fetch import Fetcher
from tests.sources.server import Reply, Server
from tests.sources.writing import answers, gate

FEED = b"<rss version='2.0'><channel><title>Harbour</title></channel></rss>"
NOTHING = Cursor()


# The guard: F-56, C55, C56, I25


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1",
        "0.0.0.0",
    ],
)  # fmt: skip
def test_f56_no_spelling_of_this_machine_is_connected_to(internal: Server, outside: Fetcher, host: str) -> None:
    with pytest.raises((ProviderRefused, ProviderUnavailable), match=r"private address|cannot be resolved"):
        outside.get(internal.url("/", host=host), cursor=NOTHING)
    assert internal.first_bytes == []


PUBLIC = "1.2.3.4"
"""Only ever judged in these tests, never connected to."""


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "::", "::1", "fe80::1", "fc00::1", "fec0::1",
        "ff02::1", "2001:db8::1", "::ffff:10.0.0.1", "::ffff:7f00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "::7f00:1", "fe80::1%eth0", "nonsense",
    ],
)  # fmt: skip
def test_a_name_with_one_private_address_is_refused(address: str) -> None:
    for found in ((address,), (PUBLIC, address), (address, PUBLIC)):
        with pytest.raises(ProviderRefused) as refusal:
            gate(*found).judged("feeds.example", 80)
        assert str(refusal.value) == "feeds.example: resolves to a private address"


def test_a_name_with_public_addresses_only_is_judged_good() -> None:
    public = (PUBLIC, "2606:4700::1", "64:ff9b::102:304", "::ffff:1.2.3.4", "2002:102:304::1")
    assert gate(*public, PUBLIC).judged("feeds.example", 80) == public


def test_f56_a_name_that_turns_private_between_two_hops_is_refused_at_the_second(
    server: Server, internal: Server, fetcher: Fetcher
) -> None:
    server.script["/feed"] = Reply(302, headers=(("Location", internal.url("/", host="feeds.example")),))
    named = replace(fetcher, resolver=answers("127.0.0.1"), allow_hosts=frozenset({f"feeds.example:{server.port}"}))
    with pytest.raises(ProviderRefused, match=r"redirected to feeds\.example: resolves to a private address"):
        named.get(server.url("/feed", host="feeds.example"), cursor=NOTHING)
    assert internal.first_bytes == []


def test_an_allowed_name_is_reached_at_its_address_under_its_own_name(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(body=FEED)
    authority = f"feeds.example:{server.port}"
    named = replace(fetcher, allow_hosts=frozenset({authority}), resolver=answers("127.0.0.1"))
    assert named.get(server.url("/feed", host="Feeds.Example"), cursor=NOTHING).body == FEED
    assert server.requests[0].headers["host"] == authority


def test_a_host_is_allowed_for_the_port_that_was_named_only(internal: Server, fetcher: Fetcher) -> None:
    with pytest.raises(ProviderRefused, match="private address"):
        fetcher.get(internal.url("/"), cursor=NOTHING)
    assert internal.first_bytes == []


def test_the_environments_proxy_is_not_used(
    server: Server, internal: Server, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script["/feed"] = Reply(body=FEED)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, internal.url(""))
    assert fetcher.get(server.url("/feed"), cursor=NOTHING).body == FEED
    assert internal.first_bytes == []
