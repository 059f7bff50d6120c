"""Values of an owner's TOML, each checked by itself; a bad one is refused in a sentence: what, where, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from matins.rules import keys
from matins.rules.errors import ProfileRefused


@dataclass(frozen=True, slots=True)
class Check:
    """What refuses a value, naming whose it is and where it stands. Its methods return the value as it may be used."""

    owner: str
    where: str

    def refuse(self, what: str, do: str) -> NoReturn:
        """Raises ProfileRefused: `what` is wrong, and what to `do` about it."""
        raise ProfileRefused(f"{self.owner}: {what}, in {self.where}. To mend it: {do}")

    def known(self, raw: dict[str, Any], fields: frozenset[str], inside: str) -> None:
        """Nothing but `fields` in `raw`, which is the table named `inside`."""
        for field in raw:
            if field not in fields:
                self.refuse(f'unknown field "{inside}{field[:40]}"', f"use: {', '.join(sorted(fields))}")

    def text(self, raw: dict[str, Any], field: str, *, example: str = "") -> str:
        """Some text that has to be there."""
        value = raw.get(field)
        if not isinstance(value, str) or not value:
            self.refuse(f"no {field}", f"add {example or field + ' = ...'}")
        return value

    def line(self, raw: dict[str, Any], field: str, *, default: str) -> str:
        """One printable line."""
        value = raw.get(field, default)
        if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 100:
            self.refuse(f"{field} is not one printable line of at most 100 characters", f"mend {field}")
        return value

    def words(self, raw: dict[str, Any], field: str, *, default: list[str]) -> list[str]:
        """A list of words with at least one in it."""
        value = raw.get(field, default)
        if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
            self.refuse(f"{field} is not a list of words", f'write {field} = ["..."]')
        return list(value)

    def count(self, raw: dict[str, Any], field: str, *, default: int) -> int:
        """A number from 0 to 20."""
        value = raw.get(field, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 20:
            self.refuse(f"{field} is not a number from 0 to 20", f"mend {field}")
        return value

    def flag(self, raw: dict[str, Any], field: str) -> bool:
        """true or false; false if it is not there."""
        value = raw.get(field, False)
        if not isinstance(value, bool):
            self.refuse(f"{field} is neither true nor false", f"write {field} = true")
        return value

    def choice(self, raw: dict[str, Any], field: str, allowed: tuple[str, ...]) -> str:
        """One of `allowed`; the first if it is not there."""
        value = raw.get(field, allowed[0])
        if value not in allowed:
            self.refuse(f'{field} "{str(value)[:40]}" is unknown', f"choose from: {', '.join(allowed)}")
        return str(value)

    def name(self, value: str, what: str) -> str:
        """`value` as a name that keys are made of."""
        if not keys.is_name(value):
            self.refuse(f'{what} "{value[:40]}" is not a name', "use 1 to 32 of a-z, 0-9 and inner hyphens")
        return value

    def tables(self, value: object, field: str) -> list[dict[str, Any]]:
        """A list of tables, as [[...]] writes one."""
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.refuse(f"{field} is not a list of tables", f"write [[{field}]]")
        return value
