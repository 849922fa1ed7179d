#!/usr/bin/env python3
"""tools/api-version and cmake/plugin_headers.py on a tree of their own, and the header that the build has made. Usage: api_version.py SOURCE GENERATED_HEADER"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, GENERATED = map(pathlib.Path, sys.argv[1:])
KINDS = ("module", "target", "extension", "searcher", "cost_model", "task_scheduler", "importer", "runner")


def run(root, *arguments, fails=False):
    done = subprocess.run([root / "tools/api-version", *arguments], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, f"api-version {arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


ZEROS = " ".join(["0" * 16] * len(KINDS))
HASHES = f"(?:[0-9a-f]{{16}} ?){{{len(KINDS)}}}"


def write(root, header, text, library="host"):
    path = root / "core" / library / "include/tunesmith" / header
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def headers_decide(root):
    file = root / "core/host/api_version.txt"
    file.write_text(f"# about\n0.2 {ZEROS}\n")
    assert "headers of task_scheduler: 0000000000000000, now " in run(root, "--check", fails=True)
    run(root)
    run(root, "--check")
    first = file.read_text()
    assert re.fullmatch(rf"# about\n0\.2 {HASHES}\n", first), first

    # Between releases the version stays, even if headers change.
    write(root, "common.h", "int common;\nint more;\n")
    run(root, "--check", fails=True)
    run(root, "--release", "0.1.0", fails=True)
    run(root)
    second = file.read_text()
    assert second != first and re.fullmatch(rf"# about\n0\.2 {HASHES}\n", second), second

    # A released version is final: the next change of headers raises it, further ones do not.
    run(root, "--release", "0.1.0")
    run(root, "--release", "0.1.0", fails=True)
    run(root, "--check")
    released = file.read_text()
    assert released == second.rstrip("\n") + " released with 0.1.0\n", released
    for text in ("int common;\nint three;\n", "int common;\nint four;\n"):
        write(root, "common.h", text)
        run(root, "--check", fails=True)
        run(root)
        run(root, "--check")
        now = file.read_text()
        assert re.fullmatch(re.escape(released) + rf"0\.3 {HASHES}\n", now), now


def hashes(root):
    printed = subprocess.run([sys.executable, root / "cmake/plugin_headers.py", root], check=True, capture_output=True, text=True).stdout
    return dict(zip(KINDS, printed.split()))


def changed_kinds(root, change):
    """Makes a change, returns the kinds of plugins that it refuses, and reverts it."""
    before = hashes(root)
    files = {path: path.read_text() for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    change()
    after = hashes(root)
    for path, text in files.items():
        path.write_text(text)
    return {kind for kind in KINDS if before[kind] != after[kind]}


def each_kind_has_what_it_reaches(root):
    def rewritten(path, text):
        return changed_kinds(root, lambda: (root / path).write_text(text))

    common = (root / "core/host/include/tunesmith/common.h").read_text()
    assert rewritten("core/host/include/tunesmith/common.h", "// What all include.\n" + common.replace(" ", "  ")) == set(), "a comment refuses plugins"
    assert rewritten("core/host/include/tunesmith/common.h", common.replace("int ", "long ")) == set(KINDS)
    assert rewritten("core/compiler/include/tunesmith/inner.h", "long inner;\n") == set(KINDS)
    assert rewritten("core/host/include/tunesmith/module.h", "#include <tunesmith/common.h>\nlong module;\n") == {"module"}
    assert rewritten("core/host/include/tunesmith/nobody.h", "long nobody;\n") == set()
    # A library's public headers count for plugins that reach them; its other files do not.
    assert rewritten("core/host/include/tunesmith/by_library.h", "long by_library;\n") == {"cost_model"}
    assert rewritten("library/library.cpp", (root / "library/library.cpp").read_text() + "int more;\n") == set()
    # A library may define the interface of a kind.
    assert rewritten("library/include/tunesmith/library/interface.h", "long interface;\n") == {"importer"}
    # To reach another header changes the interface.
    assert rewritten("core/host/include/tunesmith/module.h", '#include <tunesmith/common.h>\n#include "tunesmith/nobody.h"\nint module;\n') == {"module"}


def lists_name_what_is_there(root):
    file = root / "core/host/plugin_headers.txt"
    text = file.read_text()
    for wrong, said in ((text.replace("module.h", "gone.h"), "module names gone.h, which is in no folder"), (text.replace("searcher:", "seeker:"), "the kinds are module,"),
                        (text.replace("+ library", "+ gone"), "cost_model uses gone, and there are no sources in")):
        file.write_text(wrong)
        done = subprocess.run([sys.executable, root / "cmake/plugin_headers.py", root], capture_output=True, text=True)
        assert done.returncode != 0 and said in done.stderr, done.stderr
    file.write_text(text)


def tree(root):
    for file in ("tools/api-version", "cmake/code_hash.py", "cmake/plugin_headers.py"):
        (root / file).parent.mkdir(exist_ok=True)
        shutil.copy(SOURCE / file, root / file)
    write(root, "common.h", '#pragma once\n#include "tunesmith/inner.h"\nint common;\n')
    write(root, "inner.h", "int inner;\n", "compiler")
    write(root, "module.h", "#include <tunesmith/common.h>\nint module;\n")
    write(root, "nobody.h", "int nobody;\n")
    write(root, "by_library.h", "int by_library;\n")
    for file, text in (("library/include/tunesmith/library/library.h", "#pragma once\n"), ("library/include/tunesmith/library/interface.h", "int interface;\n"),
                       ("library/library.cpp", '#include "tunesmith/by_library.h"\n#include "tunesmith/library/library.h"\n')):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    lines = [f"{kind}: common.h" + {"module": "\n  module.h", "cost_model": " + library", "importer": " library/interface.h"}.get(kind, "") for kind in KINDS]
    (root / "core/host/plugin_headers.txt").write_text("# about: this\n" + "\n".join(lines) + "\n")


def the_kernel_has_these_hashes_and_this_version():
    built = GENERATED.read_text()
    for kind, printed in hashes(SOURCE).items():
        name = "".join(word.capitalize() for word in kind.split("_"))
        assert f'case PluginKind::{name}:\n      return "{printed}";' in built, f"{kind}: {printed} is not in:\n{built}"
    major, minor = re.match(r"(\d+)\.(\d+) ", (SOURCE / "core/host/api_version.txt").read_text().splitlines()[-1]).groups()
    assert f"kApiMajor = {major};" in built and f"kApiMinor = {minor};" in built, built


with tempfile.TemporaryDirectory() as temporary:
    root = pathlib.Path(temporary)
    tree(root)
    each_kind_has_what_it_reaches(root)
    lists_name_what_is_there(root)
    headers_decide(root)
the_kernel_has_these_hashes_and_this_version()
