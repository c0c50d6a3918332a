#!/usr/bin/env bash
# Source distribution and wheel: both build, carry every module and no data, install into an empty environment, and verify claims there.
#   .ci/distributions.sh [CLAIM or paper …]
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- ak
tree="$PWD"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

"${PYTHON:-python3}" -m venv "$scratch/tools"
"$scratch/tools/bin/python" -m pip install -q --disable-pip-version-check build
rm -rf build dist # a stale build/lib would bring deleted modules back
"$scratch/tools/bin/python" -m build --outdir dist . > "$scratch/log" 2>&1 || { cat "$scratch/log" && exit 1; }
wheel="$(echo dist/simopt_convex-*.whl)"
source="$(echo dist/simopt_convex-*.tar.gz)"
if { tar tf "$source"; unzip -Z1 "$wheel" 2> /dev/null || "$scratch/tools/bin/python" -m zipfile -l "$wheel"; } | grep -E '^(simopt_convex-[^/]*/)?data/|\.(csv|gz|npz|xls)( |$)'; then
    echo "a distribution carries data" && exit 1
fi

for file in "$wheel" "$source"; do
    rm -rf "$scratch/venv" "$scratch/empty"
    mkdir "$scratch/empty"
    "${PYTHON:-python3}" -m venv "$scratch/venv"
    "$scratch/venv/bin/python" -m pip install -q --disable-pip-version-check -c requirements/constraints.txt "$file"
    cd "$scratch/empty"
    "$scratch/venv/bin/python" "$tree/.ci/import_wheel.py" "$tree"
    "$scratch/venv/bin/simopt" verify "$@" > log 2>&1 || { tail -n 40 log && exit 1; }
    cd "$tree"
    "$scratch/venv/bin/python" -m pip install -q --disable-pip-version-check -c requirements/constraints.txt "$file[ml]"
    (cd "$scratch/empty" && "$scratch/venv/bin/python" "$tree/.ci/import_wheel.py" "$tree")
    echo "$file: installed into an empty environment, simopt verify $* ran"
done
