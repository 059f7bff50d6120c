"""What has to be there before a worker starts: the ledger's tables, and a bucket that keeps conditional writes.

`matins up` does the same where the parts run on one machine; docker-compose.yml runs this once before each start.
"""

from __future__ import annotations

import sys

import psycopg

from matins import settings
from matins.ledger.migrate import migrate
from matins.providers.objects import Objects
from matins.rules.errors import MatinsError, Refused
from matins.settings import Settings


def prepare(chosen: Settings) -> str:
    """Make what is missing. Returns one sentence for the log; raises MatinsError or psycopg's Error."""
    chosen.limits()
    applied = migrate(chosen.postgres_dsn)
    store = Objects(
        chosen.s3_endpoint,
        access_key=chosen.s3_access_key,
        secret_key=chosen.s3_secret_key.get_secret_value(),
        bucket=chosen.bucket,
    )
    store.ensure_bucket()
    if not store.probe():
        raise Refused(f"the object store does not keep conditional writes to bucket {chosen.bucket}: use another store")
    return f"schema: {', '.join(applied) or 'nothing new'}; bucket {chosen.bucket}: there, keeps conditional writes"


def main() -> int:
    """Returns 0, 1 where something was refused, or 3 where Postgres does not answer."""
    try:
        print(prepare(settings.load()))
    except MatinsError as error:
        print(error, file=sys.stderr)
        return 1
    except psycopg.OperationalError:
        print("Postgres does not answer. Start it, or correct postgres_dsn", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
