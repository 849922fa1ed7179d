#!/usr/bin/env python3
"""Adds packs to an installed Tunesmith, removes, locks and changes them. Each test has a copy of PREFIX.
Usage: installed.py --prefix PREFIX --sources FOLDER [--launcher L] [--flags F] TEST"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

# The spaces that need each pack. The default space works without instructions, and says so.
SPACES_OF = {"hopper": {"cuda-hopper"}, "tensor_core": {"cuda-tensorcore", "cuda-tensorcore-mma"}, "tensor_core_mma": {"cuda-tensorcore-mma"},
             "vnni": set(), "bf16_dot": set(), "amx_dot": set()}
GMM = "gmm:n=32,m=32,k=64,dtype=bf16"
AMX_WHERE_IT_IS = """version: 1
spaces:
  all: {extends: cpu, target: {with+: ["amx?"]}, modules+: [{use: amx_tile, before: register_tile}]}
"""
# A program that calls an instruction of the pack; it is legal on every machine.
ZERO = """c = get_block("C")
b, i, j, k = get_loops(c)
zero = decompose_reduction(c, i)
b0, i0, j0 = get_loops(zero)
t = tensorize(i0, "amx_zero_bf16")
"""


class Installation:
    """A copy of an installed Tunesmith, and a user's home."""

    def __init__(self, folder, arguments):
        self.folder, self.sources = folder, pathlib.Path(arguments.sources).resolve()
        self.prefix = folder / "usr"
        shutil.copytree(arguments.prefix, self.prefix, symlinks=True)
        self.plugins = self.prefix / "lib/tunesmith/plugins"
        self.home = folder / "home"
        self.home.mkdir()
        self.cmake = [f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_INSTALL_PREFIX={self.home}", f"-DCMAKE_CXX_FLAGS={arguments.flags}",
                      *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}"] if arguments.launcher else [])]
        os.environ["XDG_DATA_HOME"] = str(self.home / "share")
        os.environ["TUNESMITH_MACHINE_LOCK"] = str(folder / "machine.lock")

    def run(self, *command, code=0):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, f"{command}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
        return done

    def tunesmith(self, *arguments, code=0):
        return self.run(self.prefix / "bin/tunesmith", *arguments, code=code)

    def composing(self, code=0):
        """The built-in spaces that compose, and the messages for the others."""
        linted = self.tunesmith("spaces", "lint", code=code)
        return {line.split("'")[1] for line in linted.stdout.splitlines() if line.endswith(" composes")}, linted.stderr

    def build_and_install(self, source):
        """Builds a pack like its vendor, and installs it into the user's folder."""
        build = self.folder / "build" / source.name
        self.run("cmake", "-S", source, "-B", build, *self.cmake)
        self.run("cmake", "--build", build)
        self.run("cmake", "--install", build)

    def pack(self, name):
        listed = json.loads(self.tunesmith("plugins", "list", "--json").stdout)["plugins"]
        return [plugin for plugin in listed if plugin["pack"] == name]


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"


def a_build_without_a_pack_lacks_its_spaces_and_nothing_else(here):
    all_spaces, said = here.composing()
    assert said == "" and set().union(*SPACES_OF.values()) < all_spaces, (all_spaces, said)
    floats = "gmm:n=32,m=32,k=64"  # calls no instruction of a pack
    with_all = here.tunesmith("spaces", "show", floats)
    assert with_all.stderr == "", with_all.stderr
    for pack, spaces in SPACES_OF.items():
        shutil.move(here.plugins / pack, here.folder / "aside")
        composing, said = here.composing(code=4 if spaces else 0)
        assert composing == all_spaces - spaces, (pack, composing)
        for space in spaces:
            assert re.search(rf"space '{space}' .*requires .*\b{pack}\b", said), said
            refused = here.tunesmith("spaces", "explain", GMM, "--space", space, code=4).stderr
            expect(refused, f"space '{space}' requires the pack '{pack}', which is not installed; ", f"{here.plugins} (searched")
        without = here.tunesmith("spaces", "show", floats)
        assert without.stdout == with_all.stdout, pack
        expected = [] if spaces else [f"unknown extension '{pack}'; space 'cpu' continues without it"]
        assert [line.split(": ", 2)[2] for line in without.stderr.splitlines()] == expected, without.stderr
        shutil.move(here.folder / "aside", here.plugins / pack)
        assert here.composing() == (all_spaces, ""), pack


def a_folder_of_packs_builds_by_itself(here):
    """Built like a vendor's against the installation, a pack behaves the same in the user's folder as in the system's."""
    explain = ("spaces", "explain", "gmm:n=128,m=128,k=128,dtype=f16", "--space", "cuda-hopper")
    before = here.tunesmith(*explain).stdout
    shutil.rmtree(here.plugins / "hopper")
    here.build_and_install(here.sources / "packs/hopper")
    assert {plugin["source"] for plugin in here.pack("hopper")} == {"the user's folder"}
    assert here.tunesmith(*explain).stdout == before


def a_pack_that_was_changed_is_refused(here):
    file = here.plugins / "vnni/vnni.yaml"
    right = sha256(file)
    tune = ("tune", "gmm:n=16,m=16,k=16", "--trials", "2", "--quiet", "--database", "records.db")
    here.tunesmith("plugins", "lock", "plugins.lock")
    here.tunesmith(*tune, "--locked", "plugins.lock")
    file.write_text(file.read_text().replace("[C, A, B]", "[C, B, A]"))
    # P9: it does not match its manifest. An optional extension is refused, too, since it is there.
    refused = here.tunesmith(*tune, code=4).stderr
    expect(refused, "extension 'vnni'", "[P9]", right, sha256(file))
    composing, _ = here.composing(code=4)
    assert composing and all(space.startswith("cuda") for space in composing), composing
    here.tunesmith("spaces", "explain", "gmm", "--space", "cuda-tensorcore")
    # P15: with a matching manifest, it differs from the locked one.
    manifest = here.plugins / "vnni/vnni.pack.json"
    manifest.write_text(manifest.read_text().replace(right, sha256(file)))
    here.tunesmith(*tune)
    refused = here.tunesmith(*tune, "--locked", "plugins.lock", code=4).stderr
    expect(refused, "extension 'vnni'", "[P15]", right, sha256(file))


def a_pack_out_of_the_tree_lives(here):
    """The pack for AMX, which no build contains, is built, added, used, upgraded, locked, refused after tampering, and removed."""
    source = shutil.copytree(here.sources / "sdk/examples/amx_pack", here.folder / "amx_pack")
    (here.folder / "zero.trace").write_text(ZERO)
    (here.folder / "all.yaml").write_text(AMX_WHERE_IT_IS)
    own = ("--spaces", source / "spaces.yaml")
    replay = ("trace", "replay", "zero.trace", "--workload", "gmm:n=16,m=16,k=32,dtype=bf16", *own)
    tune = ("tune", GMM, "--spaces", "all.yaml", "--trials", "4", "--json", "--quiet", "--database", "records.db")
    expect(here.tunesmith(*replay, code=4).stderr, "spaces.yaml:5:16: space 'cpu-amx' requires the pack 'amx', which is not installed; did you mean 'amx_dot'?; looked at: ")

    def used(*more):
        """Its instruction is known, and its module and its extension take part in a run."""
        expect(here.tunesmith(*replay, *more).stdout, "legal on gmm")
        result = json.loads(here.tunesmith(*tune, *more).stdout)
        assert result["valid"] == 4, result
        return result

    here.build_and_install(source)
    assert [(plugin["kind"], plugin["version"]) for plugin in here.pack("amx")] == [("module", "1.0.0"), ("extension", "1.0.0")]
    used()
    here.tunesmith("plugins", "lock", "plugins.lock")
    assert used("--locked", "plugins.lock")["resumed"] == 4

    for file, old, new in (("CMakeLists.txt", "1.0.0", "1.1.0"), ("amx.yaml", "amx_tiles: 8", "amx_tiles: 16")):
        (source / file).write_text((source / file).read_text().replace(old, new))
    installed = here.home / "share/tunesmith/plugins"
    locked = sha256(installed / "amx.yaml")
    here.build_and_install(source)
    assert {plugin["version"] for plugin in here.pack("amx")} == {"1.1.0"}
    used()
    refused = here.tunesmith(*replay, "--locked", "plugins.lock", code=4).stderr
    expect(refused, "[P15] locked is version 1.0.0", locked, "this is 1.1.0", sha256(installed / "amx.yaml"))
    here.tunesmith("plugins", "lock", "plugins.lock")
    used("--locked", "plugins.lock")

    right = sha256(installed / "amx.yaml")
    (installed / "amx.yaml").write_text((installed / "amx.yaml").read_text().replace("i16 64", "i16 32"))
    expect(here.tunesmith(*replay, code=4).stderr, "[P9]", right, sha256(installed / "amx.yaml"))
    here.tunesmith("spaces", "lint")
    for file in ("amx.pack.json", "amx.yaml", "amx_tile.so"):
        (installed / file).unlink()
    assert here.pack("amx") == []


def packs_are_chosen(here):
    """-DTUNESMITH_PACKS: packs that are left out are not built, and earlier builds of them are not found."""
    build = here.folder / "tree"
    configure = ("cmake", "-G", "Ninja", "-S", here.sources, "-B", build, "-DTUNESMITH_TARGETS=", "-DTUNESMITH_BUILD_TESTS=OFF", "-DTUNESMITH_BUILD_BENCH=OFF")
    built = lambda: {file.name.removesuffix(".pack.json") for file in (build / "lib/tunesmith/plugins").rglob("*.pack.json")}
    for chosen in (["bf16_dot", "vnni"], ["vnni"]):
        here.run(*configure, f"-DTUNESMITH_PACKS={';'.join(chosen)}")
        here.run("cmake", "--build", build, "--target", "packs/all")
        assert built() == set(chosen), built()
    here.run(*configure, "-DTUNESMITH_PACKS=")
    assert built() == set(), built()
    expect(here.run(*configure, "-DTUNESMITH_PACKS=vni", code=1).stderr, "there is no pack 'vni'; there are")


def main():
    tests = [a_build_without_a_pack_lacks_its_spaces_and_nothing_else, a_folder_of_packs_builds_by_itself, a_pack_that_was_changed_is_refused,
             a_pack_out_of_the_tree_lives, packs_are_chosen]
    parser = argparse.ArgumentParser()
    for option in ("--prefix", "--sources"):
        parser.add_argument(option, required=True)
    for option in ("--launcher", "--flags"):
        parser.add_argument(option, default="")
    parser.add_argument("test", choices=[test.__name__ for test in tests])
    arguments = parser.parse_args()
    os.umask(0o022)  # rule P8
    with tempfile.TemporaryDirectory(prefix="tunesmith-installed-") as folder:
        globals()[arguments.test](Installation(pathlib.Path(folder), arguments))


if __name__ == "__main__":
    main()
