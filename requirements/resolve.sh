#!/usr/bin/env bash
# Does everything that simopt and its extras need have wheels for a Python that this machine may not have? Nothing is installed.
#   requirements/resolve.sh 3.13 3.14
# uv resolves, since pip evaluates the markers of requirements for the Python that runs it and not for the one it is asked about.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 3.13 3.14
SOURCE_ONLY=(goodpoints) # a peer of `make bench`, which has no wheel for any Python

# uv reads none of pip's variables
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$PIP_CERT}"
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install -q --disable-pip-version-check uv
# every extra but ecos, which is the one that compiles
mapfile -t extras < <("$scratch/venv/bin/python" - <<< 'import tomllib
for extra in tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]:
    if extra != "ecos":
        print("--extra", extra, sep="\n")')
for version in "$@"; do
    "$scratch/venv/bin/uv" pip compile pyproject.toml -q "${extras[@]}" -c requirements/constraints.txt --python-version "$version" \
        --only-binary :all: "${SOURCE_ONLY[@]/#/--no-binary=}" --no-header --no-annotate -o "$scratch/found" > /dev/null
    unpinned="$(cut -d ' ' -f 1 "$scratch/found" | grep -vxFf <(grep -v '^#' requirements/constraints.txt | tr 'A-Z_' 'a-z-') || true)"
    if [ -n "$unpinned" ]; then printf 'Python %s: not in requirements/constraints.txt:\n%s\n' "$version" "$unpinned" && exit 1; fi
    echo "Python $version: all $(wc -l < "$scratch/found") packages have wheels, but for ${SOURCE_ONLY[*]}"
done
