#!/usr/bin/env bash
# The reader's tests and CVXPY's own problems with the oldest CVXPY that pyproject.toml allows, in an environment of its own.
#   .ci/oldest_cvxpy.sh        KEEP=folder keeps the environment; PYTEST_ARGS chooses tests; CVXPY=version takes another
# Not VENV: `make full` hands on that of its own environment, which would be left with the old CVXPY.
# What is judged of the problems is held against results.jsonl: one that is refused there alone, or misread, fails.
set -uo pipefail
cd "$(dirname "$0")/.."
oldest="${CVXPY:-$(sed -nE 's/.*"cvxpy>=([0-9.]+),.*/\1/p' pyproject.toml)}"
# Left out are the tests of the list and its pages: they are of the CVXPY that requirements/constraints.txt names.
PYTEST_ARGS="${PYTEST_ARGS:-tests/duality --ignore=tests/duality/test_corpus.py -q -n logical --dist worksteal -m 'not slow'}"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PIP_DISABLE_PIP_VERSION_CHECK=1

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
bin="$(realpath -m "${KEEP:-$scratch/venv}")/bin"
set -e
python3 -m venv "${bin%/bin}"
"$bin/python" -m pip install -q -c requirements/constraints.txt -e '.[test]'
"$bin/python" -m pip install -q --no-deps "cvxpy==$oldest"
set +e

failed=0
eval "$(printf %q "$bin/pytest") $PYTEST_ARGS" > "$scratch/pytest" 2>&1 || { failed=1 && tail -n 40 "$scratch/pytest"; }
"$bin/python" tests/duality/corpus --certify --results "$scratch/results.jsonl" > "$scratch/corpus" 2> "$scratch/progress" || failed=1
cat "$scratch/corpus"
[ -s "$scratch/corpus" ] || tail -c 2000 "$scratch/progress"
echo "CVXPY $oldest: $(tail -n 1 "$scratch/pytest"); $(tail -n 1 "$scratch/corpus")"
exit $failed
