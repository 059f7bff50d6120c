# The worker, the command line and the test mailbox, in one image; docker-compose.yml says which runs where.
# The version of Python is the one the lock was made for. The lock's hashes decide what is installed.
FROM python:3.11.14-slim-bookworm AS packages
WORKDIR /srv/matins
RUN python -m venv .venv
COPY requirements.lock ./
RUN .venv/bin/python -m pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.lock

FROM python:3.11.14-slim-bookworm
RUN groupadd --system --gid 10001 matins \
    && useradd --system --uid 10001 --gid matins --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin matins \
    && install -d -m 0700 -o matins -g matins /var/lib/matins
WORKDIR /srv/matins
COPY --from=packages /srv/matins/.venv .venv
COPY bin/matins bin/matins
COPY deploy/prepare.py deploy/prepare.py
COPY schema schema
COPY activities activities
COPY workflows workflows
COPY matins matins
COPY worker.py ./
RUN .venv/bin/python -m compileall -q activities workflows matins worker.py
ENV PYTHONPATH=/srv/matins PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
STOPSIGNAL SIGTERM
CMD [".venv/bin/python", "worker.py"]
