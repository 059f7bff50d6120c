import socket

import pytest

from matins.local import ports
from matins.rules.errors import Refused


@pytest.fixture
def taken():
    """A port on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def choose(data, **given) -> int:
    asked = {"wanted": 0, "remembered": 0, "ours": False, "data": data}
    return ports.choose("postgres", **{**asked, **given})


def test_a_port_asked_for_that_somebody_else_has_is_refused_by_name(tmp_path, taken: int) -> None:
    with pytest.raises(Refused, match=f"port {taken} is taken: set MATINS_POSTGRES_PORT"):
        choose(tmp_path, wanted=taken)


def test_a_port_asked_for_in_a_row_that_somebody_else_has_is_named(tmp_path, taken: int) -> None:
    with pytest.raises(Refused, match=f"port {taken} is taken"):
        choose(tmp_path, wanted=taken - 3, width=10)


def test_the_port_of_last_time_is_kept_while_it_is_free(tmp_path) -> None:
    first = choose(tmp_path)
    assert choose(tmp_path, remembered=first) == first
    with socket.create_server(("127.0.0.1", first)):
        assert choose(tmp_path, remembered=first) != first
        assert choose(tmp_path, remembered=first, ours=True) == first


def test_a_port_that_is_listened_to_on_every_address_is_taken() -> None:
    with socket.create_server(("", 0)) as server:
        assert not ports.is_free(server.getsockname()[1])


def test_ten_in_a_row_are_all_free(tmp_path) -> None:
    first = ports.search(str(tmp_path), width=10)
    with socket.create_server(("127.0.0.1", first + 9)):
        assert ports.search(str(tmp_path), width=10) != first
