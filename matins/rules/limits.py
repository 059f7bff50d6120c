"""Every duration that another one depends on, and the sentences that tie them together.

All values are seconds unless the name says otherwise. The defaults are for a real night; crash tests use a lease of
two or three seconds. `Limits.check` is called at start by whoever reads settings, and refuses by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from matins.rules.errors import Refused

BUDGET = 5
"""Attempts of an obligation, of each step, of a message and of a source's window."""

SPACING = (30.0, 120.0, 300.0, 900.0)
"""Seconds to wait after the first, second, third and fourth recorded failure."""

CRASHES_BEFORE_SPACING = 2
"""Claims of one step that may follow each other at once; from the third on, crashes are spaced as well."""

OBSERVE_AFTER = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
"""Seconds between two looks for a mail; the last one repeats until useful-until."""

SWEEP_EVERY = 300.0
SWEEP_TIMEOUT = 240.0
UNADVANCED_BUDGET = 900.0
"""A succeeded obligation may sit without its continuation for this long."""

STUCK_AFTER = 900.0
"""A row that nobody moved, beat or postponed for this long is started anew."""

FILL_DAYS = 366
"""Days on which nobody planned are filled in as missed, so far back."""

POLL_EVERY = 1800.0
POLL_WAIT = 60.0
"""How long a morning waits for its sources to be read."""

POLL_CEILING = 86400.0
"""A source whose windows are spent one after the other is read ever more rarely, but at least this often."""

REDIRECT_HELD = 7 * 86400.0
"""A permanent redirect is believed, and the source read at its target, once it has held for so long."""

NETWORK_WINDOW = 600.0
NETWORK_LEAST = 5
NETWORK_SHARE = 0.8
"""When of at least so many sources tried within the window this share could not be reached, it is our network."""

PAGES_OF_A_FEED = 5
PAGES_OF_A_BOARD = 50
"""How many pages one read follows: of a feed only while all on them is new, of a board always."""

EDITIONS_REMEMBERED = 7
"""What so many last editions told is not told again without a new fact."""

PAGE_REST = 3600.0
"""A page whose workers died on every attempt is left alone for so long."""

CARDS_KEPT = 900.0
"""A card that no read-back has shown on its page, and no open write will, is collected after so long."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that have to agree with each other."""

    lease: float = 10.0
    beat: float = 3.0
    heartbeat_timeout: float = 12.0
    first_backoff: float = 1.0
    deadline: float = 120.0
    """What one claim may take in all; also the activity's start-to-close timeout."""
    provider_timeout: float = 60.0
    """What one call to a provider may take in all."""
    smtp_idle: float = 120.0
    """How long the mail server keeps an open connection on which nothing comes."""
    quarantine: float = 150.0
    """How long "it is not in the mailbox" proves nothing after a send of unknown outcome."""
    grace: float = 65.0
    """How long a worker told to stop may finish what it has begun."""

    def check(self) -> Limits:
        """Itself, if the durations agree. Raises Refused naming the first sentence that does not hold."""
        sentences = (
            (self.beat <= self.lease / 3, "beat <= lease / 3"),
            (
                self.lease <= self.heartbeat_timeout - self.beat + self.first_backoff,
                "lease <= heartbeat timeout - beat + first back-off",
            ),
            (self.provider_timeout < self.deadline, "provider timeout < deadline"),
            (self.quarantine > self.smtp_idle, "quarantine > the mail server's idle timeout"),
            (self.quarantine > self.provider_timeout, "quarantine > provider timeout"),
            (self.grace > self.provider_timeout, "grace > provider timeout"),
            (SWEEP_TIMEOUT < SWEEP_EVERY, "sweep timeout < sweep cadence"),
        )
        for holds, sentence in sentences:
            if not holds:
                raise Refused(f"these durations do not agree: it must hold that {sentence}")
        return self


def spacing(attempt: int) -> float:
    """Seconds to wait after the `attempt`-th recorded failure of one step, counted from 1."""
    return SPACING[min(attempt, len(SPACING)) - 1]
