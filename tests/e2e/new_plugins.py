#!/usr/bin/env python3
"""plugins new: each kind is created, built against an installed package, loaded and used.
Usage: new_plugins.py --prefix PREFIX [--launcher COMPILER_LAUNCHER] [--yaml] KIND"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile


def run(*command, cwd, code=0):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=500)
    assert done.returncode == code, f"{command}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--launcher", default="")
    parser.add_argument("--flags", default="")
    parser.add_argument("--yaml", action="store_true")
    parser.add_argument("kind")
    arguments = parser.parse_args()
    new = ("plugins", "new", *(["--yaml"] if arguments.yaml else []))
    kind, name = arguments.kind, f"acme_{arguments.kind}"
    tunesmith = pathlib.Path(arguments.prefix) / "bin" / "tunesmith"
    with tempfile.TemporaryDirectory(prefix="tunesmith-new-") as folder:
        os.environ["XDG_DATA_HOME"] = folder
        written = json.loads(run(tunesmith, *new, kind, name, "--json", cwd=folder).stdout)
        assert {pathlib.Path(file).name for file in written["files"]} == {"CMakeLists.txt", "README.md", f"{name}.yaml" if arguments.yaml else f"{name}.cpp", *(["spaces.yaml"] if kind != "importer" else [])}, written
        pack = pathlib.Path(folder) / name
        for file in pack.iterdir():
            assert "null" not in file.read_text().replace("nullptr", "").replace("NULL", ""), f"{file} is still the null plugin's"

        # Existing files are not overwritten, and invalid names are refused.
        assert "exists and is not empty" in run(tunesmith, *new, kind, name, cwd=folder, code=2).stderr
        assert "did you mean" in run(tunesmith, "plugins", "new", kind + "s", "x", cwd=folder, code=2).stderr
        assert "is not a valid plugin id" in run(tunesmith, "plugins", "new", kind, "../x", cwd=folder, code=2).stderr

        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}"] if arguments.launcher else []
        run("cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={arguments.prefix}", f"-DCMAKE_CXX_FLAGS={arguments.flags}", *launcher, cwd=pack)
        run("cmake", "--build", "build", cwd=pack)
        run("ctest", "--test-dir", "build", "--output-on-failure", cwd=pack)
        plugins = json.loads(run(tunesmith, "plugins", "list", "--plugin-path", "build/plugins", "--json", cwd=pack).stdout)["plugins"]
        assert [plugin["kind"] for plugin in plugins if plugin["id"] == name] == [kind], plugins
        if kind == "importer":
            (pack / f"some.{name}").write_text("any")
            assert "input X: f32[n]" in run(tunesmith, "network", "show", f"some.{name}", "--plugin-path", "build/plugins", cwd=pack).stdout
        else:
            run(tunesmith, "spaces", "sample", "gmm:n=16,m=16,k=16" if arguments.yaml else "relu", "--spaces", "spaces.yaml", "--plugin-path", "build/plugins", cwd=pack)

        if arguments.yaml:
            assert "did you mean" in run(tunesmith, "plugins", "new", "--yaml", "extensoin", "x", cwd=folder, code=2).stderr
            assert "only extensions can" in run(tunesmith, "plugins", "new", "--yaml", "module", "x", cwd=folder, code=2).stderr
            return
        # The plugin must not include headers that may change without the kernel refusing the plugin.
        source = pack / f"{name}.cpp"
        stable = kind in ("module", "task_scheduler")
        header = "support/version.h" if stable else "tuning/tuner.h" if kind == "runner" else "records/record_store.h"
        source.write_text(f"#include <tunesmith/{header}>\n" + source.read_text())
        built = subprocess.run(["cmake", "--build", "build"], cwd=pack, capture_output=True, text=True, timeout=500)
        output = built.stdout + built.stderr
        why = "A plugin of the stable tier includes" if stable else f"Plugins of the kind {kind} do not reach"
        assert built.returncode != 0 and f"{source}: includes <tunesmith/{header}>" in output and why in output, output


if __name__ == "__main__":
    main()
