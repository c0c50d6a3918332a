#!/usr/bin/env bash
# Writes hashes.txt: every file of every version in constraints.txt with its SHA-256, for `make hashed`; to be run whenever a pin changes.
#   requirements/hashes.sh
# The hashes cannot stand in constraints.txt itself: with one of them there, pip refuses whatever has none, and a folder, as which simopt is
# installed, can have none. Left out are `ecos` and `bench`, which hold packages without wheels: what builds those would come without hashes.
set -euo pipefail
cd "$(dirname "$0")/.."

# uv reads none of pip's variables
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$PIP_CERT}"
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install -q --disable-pip-version-check uv
mapfile -t extras < <("$scratch/venv/bin/python" - <<< 'import tomllib
for extra in tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]:
    if extra not in ("ecos", "bench"):
        print("--extra", extra, sep="\n")')
"$scratch/venv/bin/uv" pip compile pyproject.toml -q "${extras[@]}" -c requirements/constraints.txt --python-version 3.11.7 \
    --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links -o "$scratch/found" > /dev/null
{
    echo "# Written by requirements/hashes.sh: what \`make hashed\` installs, and nothing else. Every file of each version, so that it holds for every system."
    sed 's/^ecos==[^ ]*/& ; python_version < "3.13"/' "$scratch/found" # the oldest Python needs most; beyond 3.12 ecos has no wheels
} > requirements/hashes.txt
