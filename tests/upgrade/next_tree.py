#!/usr/bin/env python3
"""Writes this tree as it might be at the next minor version of the stable interface, to be built like any other.
Usage: next_tree.py ROOT FOLDER
  stable tier   all tables, those that plugins implement among them, are longer by a function, structs by a field; minor version + 1
  exact tier    a comment in every public header; code in those that no searcher, cost model, target or extension reaches, and among them
                a struct that modules call functions with is longer: modules of this tier were built for another kernel
Files that are as they were keep their times, so that a second build is short."""
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

ROOT, FOLDER = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
sys.path[:0] = [str(ROOT / "cmake"), str(ROOT / "tests/stable_tier")]
import code_hash  # noqa: E402
import grown_interface  # noqa: E402
import plugin_headers  # noqa: E402

UNCHANGED = ("searcher", "cost_model", "target", "extension")
CHANGED_STRUCT = "tunesmith/analysis/blocks.h"


def replaced(text, pattern, by, count=1):
    changed, times = re.subn(pattern, by, text, flags=re.DOTALL)
    assert times == count, f"{pattern!r} is there {times} times, and not {count}"
    return changed


def api_yaml(text):
    return yaml.safe_dump(grown_interface.grow(yaml.safe_load(text), lambda name, table: True), sort_keys=False, width=10000)


def kernel_source(text):
    """The kernel's tables get the function, and the facts of a loop their field."""
    text = re.sub(r"(const tunesmith_(\w+) k_\w+ = \{\s*sizeof\(tunesmith_\2\),[^;]*?)\};", r"\1, [](uint32_t) noexcept {}};", text)
    return re.sub(r"(return \{sizeof\(tunesmith_loop_facts\),[^;]*?)\};", r"\1, 0};", text)


def wrapper(name, text, minor):
    """What plugins implement gets the function where they ask for this minor version."""
    later = f"#if TUNESMITH_STABLE_MINOR >= {minor}\n#define TUNESMITH_ADDED_LATER , nullptr\n#else\n#define TUNESMITH_ADDED_LATER\n#endif\n"
    ends = {"module.h": r"(kFunctions = \{sizeof\(tunesmith_module_interface\),[^;]*?)\};",
            "task_scheduler.h": r"(kFunctions = \{\s*sizeof\(tunesmith_task_scheduler_interface\),[^;]*?)\};",
            "plugin.h": r"(PluginInterface<plugin_kind>::type>::destroy)\}"}
    if name not in ends:
        return text
    if name == "plugin.h":
        text = replaced(text, r'(#include "tunesmith/stable/options.h"\n)', r"\1" + "\n" + later)
    return replaced(text, ends[name], r"\1 TUNESMITH_ADDED_LATER}" + ("" if name == "plugin.h" else ";"))


class Tree:
    def __init__(self):
        self.hashed = plugin_headers.Tree(ROOT)
        kinds = self.hashed.kinds()
        self.spared = {name.removeprefix("include/") for kind in UNCHANGED for name in self.hashed.of_kind(kind, *kinds[kind])[1]}
        assert CHANGED_STRUCT not in self.spared, f"{CHANGED_STRUCT} is reached by {UNCHANGED}"
        self.minor = yaml.safe_load((ROOT / "stable/api.yaml").read_text())["minor"] + 1

    def header(self, name, text):
        text = "// As the next version has it.\n" + text
        if name == CHANGED_STRUCT:
            text = replaced(text, r"(struct IterationCount \{\n.*?)\};", r"\1  int64_t opaque = 1;\n};")
        return text if name in self.spared else text + "namespace tunesmith {\nclass AddedLater;\n}\n"

    def api_versions(self, text, hashes):
        major, minor = re.findall(r"^(\d+)\.(\d+) ", text, re.M)[-1]
        return f"{text}{major}.{int(minor) + 1} {hashes}\n"

    def changed(self, name, text):
        if name == "stable/api.yaml":
            return api_yaml(text)
        if name.startswith("core/api/") and name.endswith(".cpp"):
            return kernel_source(text)
        if name.startswith("core/include/"):
            return self.header(name.removeprefix("core/include/"), text)
        if name.startswith("stable/include/tunesmith/stable/"):
            return wrapper(name.removeprefix("stable/include/tunesmith/stable/"), text, self.minor)
        return text


def copy(tree, generated):
    """All but what is built; what is generated in the copy is left alone."""
    wanted = set()
    for path in sorted(ROOT.rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if name.split("/")[0].startswith(("build", "install", ".git")) or "__pycache__" in name or not path.is_file():
            continue
        wanted.add(name)
        target = FOLDER / name
        text = None
        if name.startswith(("stable/", "core/")):
            text = tree.changed(name, path.read_text())
        if name in generated and target.exists():
            continue
        if text is not None:
            code_hash.write_if_other(target, text)
        elif not target.exists() or target.read_bytes() != path.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    for path in FOLDER.rglob("*"):
        name = path.relative_to(FOLDER).as_posix()
        if path.is_file() and name not in wanted and not name.startswith("build"):
            path.unlink()


def main():
    tree = Tree()
    generated = {"core/api/layout.c", "core/api/table_list.inc", "stable/include/tunesmith/stable/primitives.h", "core/api_version.txt",
                 *(path.relative_to(ROOT).as_posix() for path in (ROOT / "stable/include/tunesmith/stable/c").glob("*.h") if path.name != "note.h")}
    copy(tree, generated)
    subprocess.run([sys.executable, FOLDER / "tools/generate-api"], check=True)
    grown = (ROOT / "core/api").glob("*.cpp")
    assert sum("added_later" not in path.read_text() and "[](uint32_t) noexcept" in (FOLDER / "core/api" / path.name).read_text() for path in grown) == 8
    later = plugin_headers.Tree(FOLDER)
    hashes = {kind: [code_hash.digest(each.of_kind(kind, *each.kinds()[kind])[1]) for each in (tree.hashed, later)] for kind in plugin_headers.KINDS}
    assert all(hashes[kind][0] == hashes[kind][1] for kind in UNCHANGED) and hashes["module"][0] != hashes["module"][1], hashes
    code_hash.write_if_other(FOLDER / "core/api_version.txt", tree.api_versions((ROOT / "core/api_version.txt").read_text(),
                                                                               " ".join(hashes[kind][1] for kind in plugin_headers.KINDS)))


if __name__ == "__main__":
    main()
