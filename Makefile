# What one types. Each target is thin: the work is done by pip, pytest, ruff, mypy, sphinx and simopt itself.
# Needs Python 3.11 to 3.14, make and a package registry; everything is installed into .venv.
#
#   make verify ARGS="ak --effort full"      make test ARGS="-k kernel"      make PYTHON=python3.12 VENV=.venv312 test

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q -c requirements/constraints.txt
# Gram matrices here are small and runs are parallel over claims: threaded BLAS loses more than it gains.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# Tests and claims start hundreds of processes, each of which would compile all modules anew where the shell forbids byte code on disk.
unexport PYTHONDONTWRITEBYTECODE
# Where proof files and witnesses are, for `make coq`; made there if there are none.
EVIDENCE ?= build/evidence

.PHONY: verify test full lint types coq mutants attacks bench league notebooks docs hashed wheel resolve other-pythons oldest-cvxpy clean

verify: $(VENV)/.core
	$(BIN)/simopt verify $(ARGS)

# Slow tests (mutants of every claim, sweeps, whole tables) are left to `make full`, thorough ones (attacks, ugly data, other arithmetics) to .ci/run,
# or to ARGS="-m 'not slow'".
test: $(VENV)/.test
	$(BIN)/pytest -n logical --maxprocesses 8 --dist worksteal -m "not slow and not thorough" --durations=15 $(ARGS)

# Everything, on every BLAS kernel of this machine; can be interrupted and goes on where it was.
full: $(VENV)/.test $(VENV)/.notebooks $(VENV)/.docs
	$(BIN)/python .ci/full.py $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# On an installed copy: at the root of the repository mypy would see simopt/ alone and skip the content folders.
types: $(VENV)/.test
	rm -rf build
	$(PIP) --no-deps --target build/types .
	cd build/types && $(abspath $(BIN))/mypy --config-file $(CURDIR)/pyproject.toml -p simopt

# Proof files, refutations, certificates and headline results as theorems of Coq, put to its kernel, and a mutant of each, to be refused; needs
# Debian's coq and libcoq-interval, and goes on where it was interrupted. ARGS="--seconds 120" takes a sample, ARGS="--again --page docs/coq.md"
# has coqchk look, too, and writes the page.
coq: $(VENV)/.core
	[ -d $(EVIDENCE) ] || { mkdir -p $(EVIDENCE) && $(BIN)/simopt verify --evidence $(EVIDENCE) --output $(EVIDENCE)/verdicts.json > /dev/null; }
	$(BIN)/python -m simopt.coq $(EVIDENCE) build/coq $(ARGS)

# One changed line at a time in what decides: do the tests notice? Writes docs/mutants.md; an interrupt loses nothing.
mutants: $(VENV)/.test
	$(BIN)/python tests/mutants $(ARGS)

# Hostile files, disks, solvers, kills and threads, counted by class. ARGS=--all takes the slow ones along and writes docs/attacks.md.
attacks: $(VENV)/.test
	$(BIN)/python tests/adversarial $(ARGS)

# Our solvers against their peers, going on where it was interrupted; ARGS=--all runs every benchmark, and ARGS=--page writes docs/benchmarks.md
# and the README's table from the run.
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(ARGS)

# Every solver that is installed, on files, the catalogue and the gallery: docs/league.md, with each false claim. At most three hours, going on
# where it was interrupted; ARGS=--quick takes at most ten minutes and prints the page.
league: $(VENV)/.test
	$(BIN)/python -m benchmarks.league $(ARGS)

notebooks: $(VENV)/.notebooks
	$(BIN)/pytest --nbmake --nbmake-timeout=600 notebooks $(ARGS)

# The verdict table, the errata and the gallery of models are written from runs, the picture of the architecture, the glossary and the list of
# what is public from the code, so they cannot be stale. The matrix of equivalences is read from docs/equivalences.json, of which tests measure
# a part again; `python docs/equivalences.py --measure` measures all of it, a quarter of an hour.
docs: $(VENV)/.docs
	mkdir -p build
	$(BIN)/python docs/architecture.py
	$(BIN)/python docs/glossary.py
	$(BIN)/python docs/public_names.py
	$(BIN)/simopt verify --json --output build/verdicts.json --evidence build/evidence > /dev/null
	$(BIN)/python docs/tables.py build/verdicts.json
	$(BIN)/python docs/equivalences.py build/verdicts.json
	$(BIN)/python docs/model_pages.py
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html

# Everything but further back ends and what `make bench` needs beyond the suite, and only files whose SHA-256 stands in requirements/hashes.txt:
# pip refuses any other. What builds simopt is among them, so that nothing is fetched for that. Other targets find all of it installed;
# requirements/hashes.sh writes the file.
hashed: | $(BIN)/python
	$(BIN)/python -m pip --disable-pip-version-check install -q --no-deps --require-hashes --only-binary :all: -r requirements/hashes.txt
	$(BIN)/python -m pip --disable-pip-version-check install -q --no-deps --no-build-isolation -e .
	@touch $(VENV)/.core $(VENV)/.test $(VENV)/.notebooks $(VENV)/.docs

# A stale build/lib would bring deleted modules back.
wheel: $(VENV)/.core
	rm -rf build dist
	$(BIN)/python -m pip --disable-pip-version-check wheel -q --no-deps -w dist .

# Has everything wheels for the Pythons that this machine lacks; what do the suite and the claims say on those that it has?
resolve:
	PYTHON=$(PYTHON) requirements/resolve.sh $(ARGS)

other-pythons:
	.ci/other_pythons.sh $(ARGS)

oldest-cvxpy:
	.ci/oldest_cvxpy.sh

clean:
	rm -rf build dist $(VENV) *.egg-info

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v[:2] in ((3, 11), (3, 12), (3, 13), (3, 14)) or sys.exit(\
	"simopt needs Python 3.11, 3.12, 3.13 or 3.14, this is %d.%d.\n" % v[:2] +\
	"Name another interpreter with: make PYTHON=python3.12 <target>")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml requirements/constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.test $(VENV)/.bench $(VENV)/.notebooks $(VENV)/.docs: $(VENV)/.%: $(VENV)/.core
	$(PIP) -e '.[$*]'
	@touch $@
