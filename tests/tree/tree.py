#!/usr/bin/env python3
"""Rules about the tree itself. Usage: tree.py ROOT TEST [COMPILER...]"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
HARDWARE = ["cuda", "ptx", "amx", "avx", "sse2", "vnni", "neon", "sve", "xeon", "epyc", "nvidia", "intel", "tensor_core", "wmma", "hopper", "llvm"]
MODELS = ["xgboost", "bayesian", "droplet", "exhaustive", "gaussian", "annealed", "elitist"]


def sources(folder):
    return [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cpp", ".c") or path.name == "CMakeLists.txt"]


def core_names_nobody():
    """Adding hardware, a searcher or a model touches no file of core/: it names none."""
    ids = {match for folder in ("searchers", "costmodels", "targets") for path in (ROOT / folder).rglob("*.cpp")
           for match in re.findall(r'TUNESMITH_PLUGIN\([^;]*?PluginKind::\w+,\s*"(\w+)"', path.read_text())}
    assert {"random", "llvm", "evolutionary"} <= ids, ids
    ids.remove("random")  # also a word of the language; looked for as a literal below
    words = re.compile(r"(?<![a-z])(" + "|".join(sorted(ids | set(HARDWARE) | set(MODELS))) + r")(?![a-z])", re.IGNORECASE)
    found = [f"{path}:{number}: {line.strip()}" for path in sources("core") for number, line in enumerate(path.read_text().splitlines(), 1)
             if words.search(line) or '"random"' in line]
    assert not found, "\n".join(found)


def plugins_use_the_public_headers_only():
    """A plugin includes <tunesmith/...> and its own folder's headers; of core/ it sees nothing else."""
    found = []
    for folder in ("plugins", "targets", "searchers", "costmodels", "templates", "examples"):
        for path in sources(folder):
            for name in re.findall(r'#include "([^"]+)"', path.read_text()):
                public = name.startswith("tunesmith/") and (ROOT / "core/include" / name).exists()
                if not public and not (path.parent / name).exists() and "@" not in name:
                    found.append(f'{path}: "{name}"')
    assert not found, "\n".join(found)


def core_includes_in_order():
    """Arrows between the kernel's folders point one way."""
    order = [["support"], ["plugin", "ir"], ["arith"], ["workload", "schedule"], ["lower", "interp"], ["runtime", "target"],
             ["space", "search", "measure", "records"], ["tune"]]
    level = {folder: number for number, folders in enumerate(order) for folder in folders}
    found = []
    for path in sources("core"):
        inside = path.relative_to(ROOT / "core").parts
        folder = inside[2] if inside[0] == "include" else inside[0]
        if folder not in level:
            continue
        for name in re.findall(r'#include "(?:tunesmith/)?(\w+)/', path.read_text()):
            if level.get(name, 0) > level[folder]:
                found.append(f"{path}: {name}/ comes after {folder}/")
    assert not found, "\n".join(found)


def headers_compile_alone(*compilers):
    """Each public header alone, and all of them in both orders, with each compiler and the flags of a stranger."""
    roots = [ROOT / "core/include", ROOT / "conformance/include"]
    headers = sorted(str(path.relative_to(root)) for root in roots for path in root.rglob("*.h"))
    assert len(headers) > 40
    units = [[header] for header in headers] + [headers, headers[::-1]]
    with tempfile.TemporaryDirectory() as folder:
        def compile_unit(job):
            number, (compiler, unit) = job
            file = pathlib.Path(folder) / f"unit{number}.cpp"
            file.write_text("".join(f"#include <{header}>\n" for header in unit))
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-DFMT_SHARED",
                                   *(f"-I{root}" for root in roots), str(file)], capture_output=True, text=True)
            return f"{compiler}, {unit[0]}{' and all after it' if len(unit) > 1 else ''}:\n{done.stderr}" if done.returncode else None
        jobs = enumerate((compiler, unit) for compiler in compilers for unit in units)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = [fault for fault in pool.map(compile_unit, jobs) if fault]
    assert not found, "\n".join(found)


def a_matrix_unit_in_82_lines():
    """The paper's measure of how much a new matrix unit costs: the intrinsic and the module that uses it."""
    pack = ROOT / "examples/vendor_pack"
    lines = sum(len((pack / name).read_text().splitlines()) for name in ("acme_npu.yaml", "acme_tile.cpp"))
    assert lines <= 82, f"{lines} lines"
    assert f"with the extension {lines} lines" in (pack / "README.md").read_text(), f"README.md does not say {lines} lines"


def main():
    globals()[sys.argv[2]](*sys.argv[3:])


if __name__ == "__main__":
    main()
