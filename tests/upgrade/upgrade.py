#!/usr/bin/env python3
"""A vendor with an installed Tunesmith and its pages, who has neither its sources nor its build. He makes a module, a task scheduler and a pack
of the stable tier, and a searcher, a cost model and a module of the exact one, has them verified, locks and uses them. Then Tunesmith is upgraded
to the next minor version in the same place, and nothing is rebuilt but what is refused.
Usage: upgrade.py --prefix PREFIX --next PREFIX [--launcher COMPILER_LAUNCHER]
NEXT has no code generator: the target `llvm` of PREFIX is taken along, as a plugin of the exact tier whose headers have not changed."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

SPACES = """version: 1
spaces:
  vendors:
    extends: cpu
    target: {with+: ["amx?"]}
    modules+:
      - {use: split_outer, before: parallel_vectorize_unroll}
      - {use: amx_tile, before: register_tile}
    search: {kind: elite}
    cost_model: {kind: stores}
    task_scheduler: {kind: halving}
"""
# Plugins of both tiers, each with the page that contains its source; `plugins new` writes their frames.
MADE = [("module", "split_outer", "first-module.md"), ("task_scheduler", "halving", "task-schedulers.md"),
        ("searcher", "elite", "writing-a-searcher.md"), ("cost_model", "stores", "writing-a-cost-model.md")]
LASTING = ["split_outer", "halving", "amx", "elite", "stores"]
EXACT_INCLUDES = """#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>
#include <tunesmith/trace/schedule.h>
"""


def expect(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text), f"{pattern!r} is not in:\n{text}"


class Vendor:
    def __init__(self, folder, arguments):
        self.folder, self.prefix, self.home = folder, folder / "usr", folder / "home"
        self.work = folder / "work"
        self.packs = self.home / ".local/share/tunesmith/plugins"
        for each in (self.home, self.work, self.packs):
            each.mkdir(parents=True)
        self.install(arguments.prefix)
        self.pages = self.prefix / "share/doc/tunesmith"
        self.environment = {"PATH": f"{self.prefix}/bin:{os.environ['PATH']}", "HOME": str(self.home), "CMAKE_PREFIX_PATH": str(self.prefix), "LANG": "C.UTF-8",
                            "TUNESMITH_MACHINE_LOCK": str(folder / "machine.lock")}
        if arguments.launcher:
            self.environment |= {"CMAKE_CXX_COMPILER_LAUNCHER": arguments.launcher, "CCACHE_DIR": os.environ.get("CCACHE_DIR", os.path.expanduser("~/.cache/ccache"))}

    def install(self, prefix):
        shutil.rmtree(self.prefix, ignore_errors=True)
        shutil.copytree(prefix, self.prefix, symlinks=True)

    def run(self, *command, at=None, code=0):
        done = subprocess.run([str(word) for word in command], cwd=at or self.work, env=self.environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, f"{command}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
        return done

    def tunesmith(self, *arguments, **how):
        return self.run("tunesmith", *arguments, **how)

    def build(self, pack, *configure):
        self.run("cmake", "-B", "build", *configure, at=pack)
        self.run("cmake", "--build", "build", at=pack)

    def ship(self, name):
        """Installs a plugin as first-module.md says."""
        for file in (f"{name}.so", f"{name}.pack.json"):
            shutil.copy(self.work / name / "build/plugins" / file, self.packs)

    def source_on(self, page, name):
        text = (self.pages / "docs" / page).read_text()
        return re.search(rf"<!-- file: {name}.cpp -->\n+```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE).group(1)

    def make(self, kind, name, page):
        self.tunesmith("plugins", "new", kind, name)
        (self.work / name / f"{name}.cpp").write_text(self.source_on(page, name))
        self.build(self.work / name)
        self.ship(name)

    def make_pack(self):
        """Installs the example pack into the user's folder as targets.md says."""
        pack = shutil.copytree(self.pages / "sdk/examples/amx_pack", self.work / "amx")
        self.build(pack, f"-DCMAKE_INSTALL_PREFIX={self.home / '.local'}")
        self.run("cmake", "--install", "build", at=pack)

    def make_exact_module(self, name):
        self.tunesmith("plugins", "new", "module", name)
        for file, old, new in ((f"{name}.cpp", "#include <tunesmith/stable/module.h>\n", EXACT_INCLUDES), ("CMakeLists.txt", " TIER STABLE", "")):
            text = (self.work / name / file).read_text()
            assert old in text, text
            (self.work / name / file).write_text(text.replace(old, new))
        self.build(self.work / name)
        self.ship(name)

    def verify(self, names):
        for name in names:
            report = json.loads(self.tunesmith("plugins", "verify", self.packs / f"{name}.pack.json", "--json").stdout)
            outcomes = {check["outcome"] for check in report["checks"]}
            assert "passed" in outcomes and outcomes <= {"passed", "skipped", "unsupported"}, report

    def use(self, *more):
        """Uses all plugins in one run."""
        run = json.loads(self.tunesmith("tune", "gmm:n=16,m=16,k=32", "relu:n=16,m=16", "--spaces", "vendors.yaml", "--trials", "24", "--database", "records.db",
                                        "--json", "--quiet", *more).stdout)
        assert run["task_scheduler"] == "halving" and all(task["valid"] > 0 for task in run["tasks"]), run
        assert {"module:split_outer", "module:amx_tile", "extension:amx", "searcher:elite", "cost_model:stores", "target:llvm"} <= set(run["environment"]["plugins"]), run
        explained = self.tunesmith("spaces", "explain", "relu:n=16,m=16", "--spaces", "vendors.yaml", *more).stdout
        expect(explained, r"split_outer +applied")

    def accepted(self):
        """Each library in the user's folder, and the command's verdict on it."""
        why = self.tunesmith("plugins", "list", "--why").stdout
        return {name: line.split()[0] for line in why.splitlines() for name in re.findall(rf"{self.packs}/(\w+)\.", line)}

    def hashes(self):
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in self.packs.iterdir()}


def first_day(vendor):
    """The vendor's work with the first version."""
    for kind, name, page in MADE:
        vendor.make(kind, name, page)
    vendor.make_pack()
    vendor.make_exact_module("exact_module")
    (vendor.work / "vendors.yaml").write_text(SPACES)
    assert set(vendor.accepted().values()) == {"accepted"} and {*LASTING, "amx_tile", "exact_module"} == set(vendor.accepted()), vendor.accepted()
    vendor.verify(LASTING)
    vendor.tunesmith("plugins", "lock", "plugins.lock")
    vendor.use("--locked", "plugins.lock")


def day_of_the_upgrade(vendor, upgraded):
    """Without a rebuild, the stable tier loads, and plugins of the exact tier if their headers allow it; the others are told what to do."""
    before, target = vendor.hashes(), vendor.prefix / "lib/tunesmith/plugins"
    kept = {file: (target / file).read_bytes() for file in ("llvm.so", "llvm.pack.json")}
    vendor.install(upgraded)
    for file, content in kept.items():
        assert not (target / file).exists(), f"{upgraded} has {file} of its own"
        (target / file).write_bytes(content)
    said = vendor.accepted()
    assert said.pop("exact_module") == "refused" and set(said) == {*LASTING, "amx_tile"} and set(said.values()) == {"accepted"}, said
    # As the page says: Tunesmith's own files may have changed, although those of the stable tier often have not.
    vendor.tunesmith("plugins", "lock", "plugins.lock")
    vendor.verify(LASTING)
    vendor.use("--locked", "plugins.lock")
    assert vendor.hashes() == before


def what_is_refused_is_rebuilt(vendor):
    why = vendor.tunesmith("plugins", "list", "--why").stdout
    said = re.search(r"module 'exact_module'.*\[P2\] module interface: built for API (\d+\.\d+) with headers [0-9a-f]+, this is API (?!\1 )\d+\.\d+ with headers [0-9a-f]+; "
                     r"remedy: rebuild it against the headers of this kernel: (cmake -B build .* --clean-first)", why)
    assert said, why
    vendor.run("bash", "-c", said[2], at=vendor.work / "exact_module")
    vendor.ship("exact_module")
    assert vendor.accepted()["exact_module"] == "accepted"
    vendor.verify(["exact_module"])


def what_needs_the_new_version_says_so(vendor, earlier):
    """The older kernel refuses a module that asks for the newer minor version."""
    vendor.tunesmith("plugins", "new", "module", "later")
    file = vendor.work / "later/CMakeLists.txt"
    minor = re.search(r"NEWEST_MINOR (\d+)", (vendor.prefix / "include/tunesmith/stable/c/values.h").read_text()).group(1)
    file.write_text(file.read_text().replace("TIER STABLE", f"TIER STABLE MINOR {minor}"))
    vendor.build(vendor.work / "later")
    vendor.ship("later")
    assert vendor.accepted()["later"] == "accepted"
    vendor.install(earlier)
    needs = re.search(r"module 'later'.*needs (\d+)\.(\d+), this is (\d+)\.(\d+); remedy: install a Tunesmith whose stable interface is \1\.\2 or newer",
                      vendor.tunesmith("plugins", "list", "--why").stdout)
    assert needs and needs[1] == needs[3] and needs[2] == minor and int(needs[4]) == int(minor) - 1, needs


def main():
    parser = argparse.ArgumentParser()
    for option in ("--prefix", "--next"):
        parser.add_argument(option, required=True, type=pathlib.Path)
    parser.add_argument("--launcher", default="")
    arguments = parser.parse_args()
    os.umask(0o022)  # rule P8
    with tempfile.TemporaryDirectory(prefix="tunesmith-upgrade-") as folder:
        vendor = Vendor(pathlib.Path(folder), arguments)
        for step, *more in ((first_day,), (day_of_the_upgrade, arguments.next), (what_is_refused_is_rebuilt,), (what_needs_the_new_version_says_so, arguments.prefix)):
            begin = time.monotonic()
            step(vendor, *more)
            print(f"{step.__name__}: {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
