#!/usr/bin/env bash
# A clean machine with the four packages and nothing else of Tunesmith: builds them, installs them into an empty root,
# looks at them, hides the sources and the build, and follows the vendor pack's README word by word.
# Usage: clean_machine.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source_folder=$1
build_folder=$2
work=$(mktemp -d -t tunesmith-packages-XXXXXX)
trap 'rm -rf "$work"' EXIT
fail() { echo "packages: $*" >&2; exit 1; }

(umask 022 && cd "$build_folder" && cpack -G DEB -B "$work/packages") > "$work/cpack.log" 2>&1 || { cat "$work/cpack.log"; fail "cpack"; }
packages=("$work"/packages/*.deb)
[[ ${#packages[@]} -eq 4 ]] || fail "wanted four packages, got: ${packages[*]}"

# Each file is in one package; what a package needs of the others is said.
for package in "${packages[@]}"; do
  dpkg-deb --fsys-tarfile "$package" | tar -t | grep -v '/$' | sort > "$package.files"
done
twice=$(sort "$work"/packages/*.files | uniq -d)
[[ -z "$twice" ]] || fail "in two packages: $twice"
depends() { dpkg-deb -f "$work"/packages/"$1"_*.deb Depends; }
[[ "$(depends tunesmith)" == *"libtunesmith (= "* ]] || fail "tunesmith needs libtunesmith"
[[ "$(depends tunesmith-dev)" == *"tunesmith (= "* ]] || fail "tunesmith-dev needs tunesmith"
[[ "$(depends tunesmith-dev)" != *libboost* ]] || fail "tunesmith-dev needs Boost, which plugins of the stable tier do without"
dpkg-deb -f "$work"/packages/tunesmith-dev_*.deb Recommends | grep -q libboost-dev || fail "tunesmith-dev recommends what the exact tier needs"
[[ "$(depends libtunesmith)" == *libsqlite3-0* ]] || fail "libtunesmith needs SQLite: $(depends libtunesmith)"

root=$work/root
if [[ $EUID -eq 0 ]]; then
  # The root has no other packages, so what they depend on is taken from this machine, and ldconfig is not run.
  mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers}
  touch "$root/var/lib/dpkg/"{status,available}
  dpkg --root="$root" --force-depends --unpack "${packages[@]}" > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "dpkg"; }
  [[ $(dpkg --root="$root" -l | grep -c '^iU') -eq 4 ]] || fail "not all four are unpacked"
else
  for package in "${packages[@]}"; do dpkg-deb -x "$package" "$root"; done
fi

# Nothing that is installed leads back to where it was built.
if grep -rIl -e "$build_folder" -e "$source_folder" "$root/usr" > "$work/found"; then fail "names the build: $(cat "$work/found")"; fi
for binary in "$root"/usr/bin/* "$root"/usr/lib/*.so* "$root"/usr/lib/tunesmith/plugins/{,*/}*.so; do
  if readelf -d "$binary" | grep -E 'R(UN)?PATH' | grep -F "$build_folder"; then fail "$binary looks into the build"; fi
done

# What messages cite can be read here.
for file in README.md docs/plugin-rules.md sdk/examples/vendor_pack/README.md sdk/examples/traces/gmm_1024.trace; do
  [[ -f "$root/usr/share/doc/tunesmith/$file" ]] || fail "tunesmith-doc lacks $file"
done
"$root/usr/bin/tunesmith" explain P12 | grep -q '^P12: Exceptions that leave' || fail "explain P12"

# Manual pages and completion come with the commands.
for file in man/man1/tunesmith.1 man/man1/tunesmith-tune.1 man/man1/tunesmith-spaces-lint.1 bash-completion/completions/tunesmith \
            zsh/vendor-completions/_tunesmith fish/vendor_completions.d/tunesmith.fish; do
  [[ -s "$root/usr/share/$file" ]] || fail "$file is not installed"
done

# The page, as it is installed, and the script that follows it are all that is taken along.
cp -r "$root/usr/share/doc/tunesmith/sdk/examples/vendor_pack" "$work/vendor_pack"
cp "$source_folder/tests/docs/follow.py" "$work"
follow=(python3 "$work/follow.py" --prefix "$root/usr" --folder "$work/vendor_pack" "$work/vendor_pack/README.md")
if [[ $EUID -eq 0 ]] && unshare --mount true 2> /dev/null; then
  hide='mount -t tmpfs none "$1"; shift; [[ -d "$1" ]] && mount -t tmpfs none "$1"; shift; cd /; "$@"'
  unshare --mount bash -euc "$hide" hide "$source_folder" "$build_folder" "${follow[@]}"
else
  echo "packages: the sources cannot be hidden here; followed beside them"
  "${follow[@]}"
fi
echo "packages: the vendor pack's README works with the four packages alone"
