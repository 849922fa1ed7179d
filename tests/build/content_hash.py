#!/usr/bin/env python3
"""tunesmith_content_hash: the same in every folder, another after each change of code, and of nothing else. Usage: content_hash.py CMAKE MODULES"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CMAKE, MODULES = sys.argv[1:]
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(hashed C)
list(APPEND CMAKE_MODULE_PATH {MODULES})
include(TunesmithContentHash)
file(WRITE ${{CMAKE_BINARY_DIR}}/main.c "#include \\"hash.h\\"\\nint main(void) {{ return sizeof(HASH) != 17; }}\\n")
file(WRITE ${{CMAKE_BINARY_DIR}}/hash.h.template "#define HASH \\"@CONTENT_HASH@\\"\\n#define NAME \\"@PROJECT_NAME@\\"\\n")
add_executable(main ${{CMAKE_BINARY_DIR}}/main.c)
file(GLOB_RECURSE files CONFIGURE_DEPENDS ${{CMAKE_SOURCE_DIR}}/data/*)
tunesmith_content_hash(TARGET main TEMPLATE ${{CMAKE_BINARY_DIR}}/hash.h.template OUTPUT hash.h BASE ${{CMAKE_SOURCE_DIR}}/data
                       FILES ${{files}})
"""


class Project:
    def __init__(self, folder):
        self.folder, self.data = folder, folder / "data"
        (self.data / "deep").mkdir(parents=True)
        (self.data / "b.h").write_text("one\n")
        (self.data / "deep" / "a.h").write_text("two\n")
        (folder / "CMakeLists.txt").write_text(PROJECT)
        self.header = folder / "build" / "generated" / "hash.h"
        subprocess.run([CMAKE, "-G", "Ninja", "-B", folder / "build", folder], check=True, stdout=subprocess.DEVNULL)

    def hash(self):
        subprocess.run([CMAKE, "--build", self.folder / "build"], check=True, stdout=subprocess.DEVNULL)
        text = self.header.read_text()
        assert '#define NAME "hashed"' in text, text
        built = re.search('HASH "([0-9a-f]{16})"', text).group(1)
        printed = subprocess.run([sys.executable, f"{MODULES}/code_hash.py", self.data], check=True, capture_output=True, text=True).stdout.strip()
        assert printed == built, f"the header has {built}, the script prints {printed}"
        return built


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        project = Project(folder / "first")
        first = project.hash()
        assert Project(folder / "elsewhere" / "second").hash() == first, "the folder enters the hash"

        written = project.header.stat().st_mtime_ns
        (project.data / "b.h").touch()
        assert project.hash() == first and project.header.stat().st_mtime_ns == written, "written anew for nothing"

        seen = {first}
        def changed(what):
            now = project.hash()
            assert now not in seen, f"{what} does not change the hash"
            seen.add(now)

        (project.data / "b.h").write_text("// about\n\n  one  /* the first */\n")
        assert project.hash() == first and project.header.stat().st_mtime_ns == written, "a comment changes the hash"

        (project.data / "b.h").write_text("one, changed\n")
        changed("another content")
        (project.data / "c.h").write_text("three\n")
        changed("a file more")
        (project.data / "c.h").rename(project.data / "d.h")
        changed("another name")
        (project.data / "d.h").unlink()
        (project.data / "b.h").write_text("one\n")
        assert project.hash() == first, "a file that is gone is still in the hash"
        shutil.rmtree(project.data / "deep")
        changed("a file less")


main()
