# cogtcp from a bare Debian 12 or Ubuntu 24.04: what `make` needs of a system, and nothing else.
#
#   docker build -t cogtcp --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" .
#   docker build -t cogtcp --build-arg BASE=ubuntu:24.04 .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" cogtcp run /cogtcp/scenarios/sensed-link.toml
ARG BASE=debian:12-slim
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
