#!/usr/bin/env python3
"""What keeps the kernel small, checked on its text. Usage: house.py --source FOLDER --library LIBTUNESMITH TEST"""
import argparse
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path()
LIBRARY = ""

# Hardware, searchers and cost models: names that core/ must not know, in code, messages or comments.
NAMES = r"""
    llvm nvvm nvptx ptx cuda cudnn nvidia rocm opencl vulkan spirv amdgpu gpu xeon epyc skylake sapphire zen\d? cortex hexagon
    mmx sse\d* avx vnni amx neon sve\d? wmma mma tensor_?cores? tpu npu
    xgboost lightgbm gbdt evolutionary genetic elitist annealed annealing metropolis bayesian gaussian thompson droplet exhaustive analytical
""".split()
# A vendor of nowhere is what examples in the kernel's manual are about.
FICTIONAL = "acme_npu"
# The kernel must know its own architecture where it reads ELF files, /proc/cpuinfo and the byte order of a loop's pause.
ARCHITECTURES = r"x86(_64)?|i[36]86|amd64|aarch64|arm(64|v\d\w*)?|riscv\w*|ppc\w*|intel|amd"
KNOW_ARCHITECTURES = {"plugin/elf_note.cpp", "include/tunesmith/plugin/note.h", "measure/environment.cpp",
                      "include/tunesmith/measure/environment.h", "runtime/pool.c"}

# A folder may include what stands in its own row or above.
ROWS = ["support plugin", "ir", "arith", "workload schedule", "lower interp", "target runtime", "measure records search", "space", "tune"]


def files(*folders):
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".c") or path.name == "CMakeLists.txt":
                yield path


def found_names(text, where):
    """Lines that name what the kernel must not know. CamelCase and snake_case are split into words."""
    words = re.compile(rf"(?<![a-z])({'|'.join(NAMES)})(?![a-z])")
    architectures = re.compile(rf"(?<![a-z])({ARCHITECTURES})(?![a-z0-9])")
    faults = []
    for number, line in enumerate(text.replace(FICTIONAL, "").splitlines(), 1):
        split = re.sub(r"([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\2 ", line).lower()
        match = words.search(split) or (where not in KNOW_ARCHITECTURES and architectures.search(split))
        if match:
            faults.append(f"core/{where}:{number}: '{match.group(1)}': {line.strip()}")
    return faults


def core_names_no_hardware(_):
    # The search itself first: a search that finds nothing anywhere proves nothing.
    for line in ["// as LLVM does", "if (avx512f)", "class CudaTarget", "LLVMContext", "kind: xgboost", "has_vnni()", "an x86 machine", '"tensor_core"', "AMX tiles"]:
        assert found_names(line, "x.cpp"), line
    for line in ["harmless", "llvmish", "example", "alarm(3)", "a warp of charm", "sample", "summarise", FICTIONAL]:
        assert not found_names(line, "x.cpp"), line
    faults = [fault for path in files("core") for fault in found_names(path.read_text(), path.relative_to(SOURCE / "core").as_posix())]
    assert not faults, "core/ names hardware, a searcher or a cost model:\n" + "\n".join(faults)


def folders_include_in_one_direction(_):
    row = {folder: number for number, names in enumerate(ROWS) for folder in names.split()}
    faults = []
    for path in files("core"):
        if path.name == "CMakeLists.txt":
            continue
        folder = re.match(r"(?:include/tunesmith/)?(\w+)/", path.relative_to(SOURCE / "core").as_posix()).group(1)
        assert folder in row, f"core/{folder} has no place in the order of folders"
        for included in re.findall(r'^#include "(?:tunesmith/)?(\w+)/', path.read_text(), re.M):
            if row.get(included, len(ROWS)) > row[folder]:
                faults.append(f"{path.relative_to(SOURCE)} includes {included}/")
    assert not faults, "\n".join(faults)


def plugins_include_the_sdk_only(_):
    faults = []
    for path in files("plugins", "targets", "searchers", "costmodels"):
        for included in re.findall(r'^#include "([\w./]+)"', path.read_text(), re.M):
            if not included.startswith("tunesmith/") and not (path.parent / included).exists():
                faults.append(f'{path.relative_to(SOURCE)} includes "{included}"')
    assert not faults, "\n".join(faults)


def the_kernel_links_no_code_generator(_):
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout)
    assert any(name.startswith("libstdc++") for name in needed), needed
    bad = [name for name in needed if re.search("llvm|clang|cuda|nvrtc|xgboost", name, re.I)]
    assert not bad, bad


def main():
    global SOURCE, LIBRARY
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("test")
    arguments = parser.parse_args()
    SOURCE, LIBRARY = pathlib.Path(arguments.source), arguments.library
    globals()[arguments.test](arguments)


if __name__ == "__main__":
    sys.exit(main())
