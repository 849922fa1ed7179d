#!/usr/bin/env python3
"""Builds plugins against an installed Tunesmith without the packages that the exact tier needs.
Usage: no_packages.py --prefix PREFIX --sources ROOT [--launcher L] [--flags F] module|task_scheduler"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

PACKAGES = ("Boost", "fmt", "tl-expected")


def run(*command, cwd, code=0):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=250)
    assert (done.returncode == 0) == (code == 0), f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return " ".join((done.stdout + done.stderr).split())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--launcher", default="")
    parser.add_argument("--flags", default="")
    parser.add_argument("kind")
    arguments = parser.parse_args()
    prefix, templates = (pathlib.Path(path).resolve() for path in (arguments.prefix, arguments.sources + "/sdk/templates"))
    without = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in PACKAGES]
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_FLAGS={arguments.flags}",
               *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}"] if arguments.launcher else [])]
    with tempfile.TemporaryDirectory(prefix="tunesmith-no-packages-") as folder:
        run("cmake", "-S", templates / arguments.kind, "-B", "stable", *options, *without, cwd=folder)
        # None of their headers are read, so they need not be installed.
        run("cmake", "--build", "stable", cwd=folder)
        read = "".join(file.read_text() for file in pathlib.Path(folder, "stable").rglob("*.d"))
        assert "tunesmith/stable/plugin.h" in read and not any(f"/{name}/" in read for name in ("boost", "fmt", "tl")), read
        plugins = json.loads(run(prefix / "bin/tunesmith", "plugins", "list", "--plugin-path", "stable/plugins", "--json", cwd=folder))
        assert f"null_{arguments.kind}" in {plugin["id"] for plugin in plugins["plugins"]}, plugins

        # A plugin of the exact tier names what is missing: one package, or all.
        for package, missing in zip(PACKAGES, without):
            said = run("cmake", "-S", templates / "searcher", "-B", f"without-{package}", *options, missing, cwd=folder, code=1)
            assert f"tunesmith_add_plugin(null_searcher): a plugin of the tier EXACT needs the package {package}" in said, said
        # Also works if a folder above the plugin's looked for Tunesmith.
        above = pathlib.Path(folder) / "above"
        shutil.copytree(templates / "searcher", above / "searcher")
        (above / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(above VERSION 0.1.0 LANGUAGES CXX)\n"
                                              "find_package(tunesmith REQUIRED)\nadd_subdirectory(searcher)\n")
        below = above / "searcher/CMakeLists.txt"
        below.write_text(re.sub(r"find_package.*", "", below.read_text()))
        run("cmake", "-S", above, "-B", "exact", *options, cwd=folder)

        # find_package reports the missing component.
        project = pathlib.Path(folder) / "program"
        project.mkdir()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(program LANGUAGES CXX)\n"
                                                "find_package(tunesmith REQUIRED COMPONENTS ${TIER})\n")
        for tier in ("stable", "exact"):
            run("cmake", "-S", project, "-B", tier + "-asked", f"-DTIER={tier}", *options, *without, cwd=folder, code=tier == "exact")
        run("cmake", "-S", project, "-B", "exact-found", "-DTIER=exact", *options, cwd=folder)
        said = run("cmake", "-S", project, "-B", "other", "-DTIER=other", *options, cwd=folder, code=1)
        assert "other" in said, said


if __name__ == "__main__":
    main()
