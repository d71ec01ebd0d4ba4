# cogtcp from a bare Debian 12 or Ubuntu 24.04: what `make` needs of a system, and nothing else.
#
#   docker build -t cogtcp --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" .
#   docker build -t cogtcp --build-arg BASE=ubuntu:24.04@sha256:6896323949d7acdf78c9fa087b858849920791181bc34eb41d432005cfdcd5d7 .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" cogtcp run /cogtcp/scenarios/sensed-link.toml
# The image of September 18, 2026, by its digest: a tag may come to name another image. apt-get brings later mends.
ARG BASE=debian:12-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
FROM $BASE AS build
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates gcc libc6-dev make python3 python3-venv && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /cogtcp
COPY . .
# Rust comes into .toolchain and is not needed once the extension is built.
RUN make .venv/.core && rm -rf .toolchain target
# For `cogtcp version`: the image has no .git.
ARG COMMIT=
RUN echo "$COMMIT" > python/cogtcp/commit.txt

FROM $BASE
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /cogtcp /cogtcp
# Without root: results go where you stand, which must be yours to write (--user "$(id -u)" for your own files).
RUN useradd --create-home --uid 1000 cogtcp && mkdir -p /work && chown cogtcp /work
USER cogtcp
WORKDIR /work
ENTRYPOINT ["/cogtcp/.venv/bin/cogtcp"]
