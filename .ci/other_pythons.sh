#!/usr/bin/env bash
# The claims and the numerical part of the suite on every other Python that simopt is for and that can be had here.
#   .ci/other_pythons.sh [VERSION …]        VENVS=folder keeps the environments; PYTEST_ARGS chooses tests
# An interpreter is looked for on the PATH, among pyenv's, and in Debian's packages; without one the row reads NOT TESTED, which fails nothing.
set -uo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 3.12 3.13 3.14
PYTEST_ARGS="${PYTEST_ARGS:-tests/frame tests/duality tests/problems tests/solvers tests/conformance tests/cli -q -n logical --dist worksteal -m 'not slow'}"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PIP_DISABLE_PIP_VERSION_CHECK=1

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
venvs="$(realpath -m "${VENVS:-$scratch}")"

interpreter() {
    local found
    for found in "python$1" "${PYENV_ROOT:-$(pyenv root 2> /dev/null || echo "$HOME/.pyenv")}/versions/$1".*/bin/python; do
        "$found" -c "import ssl, sqlite3" 2> /dev/null && echo "$found" && return # a shim of pyenv may stand for nothing
    done
    .ci/debian_python.sh "$1" "$venvs/debian-$1" 2> /dev/null | tail -n 1
}

tested() { # on the Python in $1; the row is its standard output, all else goes to $2
    local bin="$1/bin" failed=0
    "$bin/python" -m pip install -q -c requirements/constraints.txt -e '.[test]' >> "$2" 2>&1 || { echo "NOT INSTALLED" && return 1; }
    local verified="as expected"
    (cd "$scratch" && "$bin/simopt" verify --jobs 2 --evidence "$scratch/evidence") > "$2.verify" 2>&1 || { failed=1 && verified="NOT as expected"; }
    eval "PATH=$(printf %q "$bin"):\$PATH $(printf %q "$bin/pytest") $PYTEST_ARGS" > "$2.pytest" 2>&1 || failed=1
    echo "$(tail -n 1 "$2.pytest"); claims $verified"
    return $failed
}

status=0
for version in "$@"; do
    python="$(interpreter "$version")"
    if [ -z "$python" ]; then echo "Python $version: NOT TESTED (no interpreter)" && continue; fi
    "$python" -m venv "$venvs/$version"
    row="$(tested "$venvs/$version" "$scratch/log")" || { status=1; tail -n 40 "$scratch"/log*; }
    echo "$("$venvs/$version/bin/python" -V): $row"
done
exit $status
