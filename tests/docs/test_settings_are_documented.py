"""`.env.example` lists every setting, its default and its meaning, and nothing else."""

from matins.settings import CHECKOUT, OTHER_VARIABLES, VARIABLES, Settings, load

LINES = (CHECKOUT / ".env.example").read_text(encoding="utf-8").splitlines()
SHOWN = dict(line.split("=", 1) for line in LINES if line and not line.startswith("#"))


def test_every_setting_is_listed_and_nothing_else() -> None:
    assert set(SHOWN) == {*VARIABLES.values(), *OTHER_VARIABLES}


def test_each_setting_has_its_meaning_in_the_line_above() -> None:
    for field, variable in VARIABLES.items():
        meaning = (Settings.model_fields[field].description or "").lower()
        above = LINES[LINES.index(f"{variable}={SHOWN[variable]}") - 1]
        assert above.lower() == f"# {meaning}."


def test_the_values_shown_are_the_defaults(tmp_path) -> None:
    nowhere = {"MATINS_CONFIG": "/dev/null", "MATINS_DATA": str(tmp_path)}
    shown = load({**SHOWN, **nowhere}, directory=tmp_path)
    default = load(nowhere, directory=tmp_path)
    assert shown.model_dump(exclude={"origins"}) == default.model_dump(exclude={"origins"})
    assert SHOWN["MATINS_DATA"] == str(Settings.model_fields["data"].default)
