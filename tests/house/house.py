#!/usr/bin/env python3
"""Rules of the house that no compiler checks. Usage: house.py ROOT TEST [ARGUMENTS...]

Each check first shows that it finds what it looks for: a search that finds nothing anywhere proves nothing."""
import concurrent.futures
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])

# Hardware, searchers, cost models and task schedulers: names that core/ must not know, in code, messages or comments.
NAMES = r"""
    multiprocessors? sms? sm_\d+\w? warps? warpgroups? wavefronts? simt smem tma mbarriers? wgmma cp_async
    llvm nvvm nvptx ptx cuda cudnn nvidia rocm opencl vulkan spirv amdgpu gpu xeon epyc skylake sapphire zen\d? cortex hexagon hopper
    mmx sse\d* avx vnni amx neon sve\d? wmma mma tensor_?cores? tpu npu
    xgboost lightgbm gbdt evolutionary genetic elitist annealed annealing metropolis bayesian gaussian thompson droplet exhaustive analytical
""".split()
# Modules for one kind of machine; and names of a device's levels and memories, as literals.
MODULES = "cooperative_fetch bulk_fetch cross_thread_reduction auto_bind"
LITERALS = r'"((?:shared|thread|block|cluster)\.[xyz]|shared)"'
# The fictional vendor of the kernel's manual.
FICTIONAL = "acme_npu"
# The kernel must know its architecture to read ELF files and /proc/cpuinfo, to pause in loops, and to fill registers.
ARCHITECTURES = r"x86(_64)?|i[36]86|amd64|aarch64|arm(64|v\d\w*)?|riscv\w*|ppc\w*|intel|amd"
KNOW_ARCHITECTURES = {"host/plugin/elf_file.cpp", "host/include/tunesmith/plugin/exact_note.h"}

# What a folder of the kernel may include besides itself. Each names only folders above it, so no two include each other.
ARROWS = {
    "support": "",
    "plugin": "support",
    "ir": "support",
    "affine": "ir support",
    "analysis": "affine ir support",
    "workload": "affine ir support",
    "intrinsics": "analysis affine ir support",
    "trace": "intrinsics analysis affine ir support",
    "primitives": "trace intrinsics analysis affine ir support",
    "sampling": "primitives trace analysis affine ir support",
    "lower": "intrinsics analysis affine ir support",
    "target": "lower intrinsics workload ir plugin support",
    "measure": "target trace workload analysis affine ir plugin support",
    "search": "measure target lower trace workload ir plugin support",
    "space": "search measure target trace analysis intrinsics workload ir plugin support",
    "api": "space search lower trace intrinsics analysis ir plugin support",
}

# The kernel's two libraries.
KERNEL = ("core/compiler", "core/host")

# The libraries beside the kernel, and which others each may include. All may include the kernel, which includes none of them. Each has a
# folder of its name; the kit's is in sdk/.
LIBRARIES = {
    "process": "",
    "runtime": "",
    "verification": "runtime",
    "tiling": "",
    "grid": "verification",
    "performance": "grid verification",
    "proposals": "",
    "schema": "",
    "records": "schema",
    "measuring": "records schema performance verification runtime",
    "tuning": "measuring records proposals",
    "evaluation": "tuning measuring records schema verification",
    "network": "performance verification runtime",
    "conformance": "network tuning measuring performance verification runtime",
}
# The kernel may include it.
UNDER_KERNEL = {"process"}
# Includes the stable interface and nothing else of the kernel.
OVER_STABLE = {"tiling"}
LIBRARY_FOLDERS = [{"conformance": "sdk/conformance"}.get(library, library) for library in LIBRARIES]

# What a folder of the command may include besides itself.
COMMAND_ARROWS = {
    "progress": "",
    "session": "progress",
    "report": "",
    "common": "session progress",
    "spaces": "common session progress",
    "plugins": "common session progress",
    "programs": "common session progress",
    "model": "common session progress",
    "prior": "model common session progress",
    "compare": "common session progress",
    "records": "report common session progress",
    "measure": "common session progress",
    "fleet": "common session progress",
    "tune": "common session progress",
    "network": "tune common session progress",
    "command_line": "network tune fleet measure records compare prior model programs plugins spaces common session progress",
}

# What a folder of targets/cuda may include besides itself. The emulated device is a library without the rest of the target.
CUDA_ARROWS = {
    "support": "",
    "machine": "support",
    "text": "machine",
    "nvrtc": "text machine support",
    "driver": "machine support",
    "emulation": "machine support",
    "candidates": "nvrtc driver emulation text machine support",
}


def sources(folder):
    return [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".cpp", ".c") or path.name == "CMakeLists.txt"]


def fail_if(faults, what):
    assert not faults, what + ":\n" + "\n".join(faults)


def plugin_ids():
    """The ids of this tree's plugins, except words of the language."""
    ids = {match for folder in ("searchers", "costmodels", "task_schedulers", "importers", "runners", "targets", "packs") for path in (ROOT / folder).rglob("*.cpp")
           for match in re.findall(r'TUNESMITH_PLUGIN\([^;]*?PluginKind::\w+,\s*"(\w+)"', path.read_text())}
    assert {"random", "llvm", "evolutionary", "round_robin"} <= ids, ids
    return ids - {"random", "language", "local"}  # also words of the language; the first two are looked for as literals


def found_names(text, where, ids=frozenset()):
    """Lines that name what the kernel must not know. CamelCase and snake_case are split into words."""
    words = re.compile(rf"(?<![a-z])({'|'.join(NAMES + MODULES.split() + sorted(ids))})(?![a-z])")
    architectures = re.compile(rf"(?<![a-z])({ARCHITECTURES})(?![a-z0-9])")
    faults = []
    for number, line in enumerate(text.replace(FICTIONAL, "").splitlines(), 1):
        split = re.sub(r"([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\2 ", line).lower()
        match = words.search(split) or re.search('("random"|"language")', line) or re.search(LITERALS, line) or (where not in KNOW_ARCHITECTURES and architectures.search(split))
        if match:
            faults.append(f"core/{where}:{number}: '{match.group(1)}': {line.strip()}")
    return faults


def core_names_no_hardware():
    """Adding hardware, a searcher, a model or a scheduler touches no file of core/: it names none."""
    for line in ["// as LLVM does", "if (avx512f)", "class CudaTarget", "LLVMContext", "kind: xgboost", "has_vnni()", "an x86 machine", '"tensor_core"', "AMX tiles",
                 'find("random")', 'get("warp_size")', "of a warpgroup", "a warp of 32", "by TMA", "each multiprocessor", "as cooperative_fetch does", 'scope == "shared"',
                 'bind(loop, "block.x")', "smem"]:
        assert found_names(line, "x.cpp"), line
    for line in ["harmless", "llvmish", "example", "alarm(3)", "a shared warping", "get_param(\"block\")", "sample", "summarise", "a random stream", FICTIONAL]:
        assert not found_names(line, "x.cpp"), line
    assert found_names("as my_searcher does", "x.cpp", {"my_searcher"})
    assert not found_names("x86_64", "host/plugin/elf_file.cpp")
    ids = plugin_ids()
    fail_if([fault for path in sources("core") for fault in found_names(path.read_text(), path.relative_to(ROOT / "core").as_posix(), ids)],
            "core/ names hardware, a searcher, a cost model or a task scheduler")


# What may name a pack, besides its own folder.
MAY_NAME_PACKS = {"packs", "tests", "docs", "bench", "spaces.yaml", "README.md", "CHANGELOG.md", "build", ".git"}


def named_packs(text, packs):
    """The packs that a text names, itself or by an instruction."""
    return re.findall(rf"(?<![\w-])(?:{'|'.join(sorted(packs))})(?:_\w+)?(?![\w-])", text)


def nobody_knows_the_packs():
    """A folder of packs/ can be removed or added, since no file outside names it. Packs may name those that they require."""
    packs = {path.parent.name for path in (ROOT / "packs").glob("*/CMakeLists.txt")}
    assert {"tensor_core", "tensor_core_mma", "hopper", "vnni", "bf16_dot", "amx_dot"} <= packs, packs
    for text in ["if(TARGET vnni_pack)", 'has_extension("hopper")', "// as tensor_core does", "with: [bf16_dot?]", 'tensorize(j, "vnni_dot_16x4")', "packs/hopper"]:
        assert named_packs(text, packs), text
    for text in ['machine.has("avx512vnni")', "emulation_hopper.h", "space cuda-hopper", "a tensor core"]:
        assert not named_packs(text, packs), text
    files = [ROOT / "packs/CMakeLists.txt"]
    # Untracked files, such as reports, are not the project's.
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if pathlib.Path(name).parts[0] not in MAY_NAME_PACKS and (ROOT / name).is_file():
            files.append(ROOT / name)
    files = [path for path in files if ROOT / "sdk/examples" not in path.parents]
    assert len(files) > 500, len(files)
    fail_if([f"{path.relative_to(ROOT)}: {name}" for path in sorted(files) for name in named_packs(path.read_text(errors="ignore"), packs)],
            "a file outside of its folder names a pack")


def quantities_in(text):
    """The quantities that code sets or reads of a device model."""
    return set(re.findall(r'(?:\bdevice_?(?:\(\))?(?:\.|->)(?:set|get|get_or|find)|(?<![.\w])get)\(\s*"(\w+)"', text))


def the_docs_list_the_quantities():
    """docs/targets.md lists them, since the kernel has no list."""
    assert quantities_in('device.set("cores", 1); context.device().get_or("a", 0); get("b"); json.get("c")') == {"cores", "a", "b"}
    used = {name for folder in ("targets", "plugins", "costmodels", "tiling", "performance", "grid") for path in sources(folder)
            for name in quantities_in(path.read_text()) if path.suffix != ".txt"}
    assert {"cores", "warp_size", "core_parts"} <= used, used
    section = (ROOT / "docs/targets.md").read_text().split("## Quantities of machines")[1].split("\n## ")[0]
    listed = {name for row in re.findall(r"^\| (`.*?) \|", section, re.M) for name in re.findall(r"`(\w+)`", row)}
    fail_if([f"used and not listed: {name}" for name in sorted(used - listed)] + [f"listed and not used: {name}" for name in sorted(listed - used)],
            "docs/targets.md")


def wrong_arrows(folder, text):
    """The folders that a file of `folder` includes and may not."""
    allowed = {folder, *ARROWS[folder].split()}
    return [included for included in re.findall(r'^#include ["<](?:tunesmith/)?(\w+)/', text, re.M) if included in ARROWS and included not in allowed]


def folders_include_in_one_direction():
    order = list(ARROWS)
    for folder, arrows in ARROWS.items():
        for other in arrows.split():
            assert order.index(other) < order.index(folder), f"{folder}/ may include {other}/, which stands below it: the two could include each other"
    assert wrong_arrows("ir", '#include "affine/order.h"\n') == ["affine"]
    assert wrong_arrows("lower", '#pragma once\n#include "tunesmith/trace/schedule.h"\n#include <tunesmith/space/space.h>\n') == ["trace", "space"]
    assert wrong_arrows("primitives", '#include "lower/passes.h"\n') == ["lower"] and wrong_arrows("lower", '#include "primitives/primitives.h"\n') == ["primitives"]
    assert not wrong_arrows("lower", '#include "lower/passes.h"\n#include "analysis/buffer_uses.h"\n#include <linux/futex.h>\n')
    faults = []
    for path in sources("core"):
        inside = path.relative_to(ROOT / "core").parts[1:]
        if len(inside) < 2:
            continue  # a CMakeLists.txt
        folder = inside[2] if inside[0] == "include" else inside[0]
        assert folder in ARROWS, f"core/{folder} has no place in the order of folders"
        faults += [f"{path.relative_to(ROOT)} includes {included}/" for included in wrong_arrows(folder, path.read_text())]
    fail_if(faults, "a folder of the kernel includes what it may not")


def unknown_to_a_library(library, text):
    """The Tunesmith headers that a library, or the kernel ("core"), includes although they belong neither to it nor to a library below it."""
    kernel = {"stable"} if library in OVER_STABLE else {*ARROWS, "stable"}
    allowed = {*kernel, library, *UNDER_KERNEL, *LIBRARIES.get(library, "").split()}
    return [name for name in re.findall(r'^#include ["<]tunesmith/(\w+)/', text, re.M) if name not in allowed]


def libraries_stand_above_the_kernel():
    order = list(LIBRARIES)
    for library, below in LIBRARIES.items():
        assert all(order.index(other) < order.index(library) for other in below.split()), library
    assert unknown_to_a_library("core", '#include "tunesmith/evaluation/table.h"\n#include "tunesmith/ir/expr.h"\n') == ["evaluation"]
    assert unknown_to_a_library("evaluation", '#include "tunesmith/conformance/verify.h"\n#include "tunesmith/evaluation/table.h"\n') == ["conformance"]
    assert unknown_to_a_library("tiling", '#include "tunesmith/stable/schedule.h"\n#include "tunesmith/ir/expr.h"\n') == ["ir"]
    fail_if([f"{path.relative_to(ROOT)} includes tunesmith/{name}/" for folder in ("core", *LIBRARY_FOLDERS) for path in sources(folder)
             for name in unknown_to_a_library(pathlib.Path(folder).name, path.read_text())], "the kernel or a library includes what stands above it")


def undeclared_exports(symbols, headers):
    """Exported functions and variables, as nm prints them, that no public header names."""
    faults = []
    for symbol in symbols:
        if symbol.startswith(("vtable for ", "typeinfo ", "guard variable ")):
            symbol = symbol.split(" for ", 1)[1]
        names = re.findall(r"~?\w+", re.sub(r"\(.*|<.*|\[abi:\w+\]", "", symbol.replace("operator", "operator_")))
        if names and names[-1].lstrip("~") not in headers:
            faults.append(symbol)
    return faults


def is_exported(text):
    """Does a header export its declarations?"""
    return "namespace tunesmith" not in text or "#pragma GCC visibility push(default)" in text


def public_headers_are_exported():
    """Without it, declarations of shared libraries link only within the library."""
    assert not is_exported("namespace tunesmith {\nvoid f();\n}\n") and is_exported("extern \"C\" {\n}\n")
    shared = [folder for folder in (*KERNEL, *LIBRARY_FOLDERS) if re.search(r"tunesmith_add_(kernel_library\(|library\(\w+ SHARED)", (ROOT / folder / "CMakeLists.txt").read_text())]
    assert len(shared) > 7, shared
    fail_if([path.relative_to(ROOT).as_posix() for folder in shared for path in (ROOT / folder / "include").rglob("*.h") if not is_exported(path.read_text())],
            "a public header of a shared library does not export what it declares")


def the_compiler_exports_its_public_headers(library):
    headers = set(re.findall(r"\w+", "\n".join(path.read_text() for path in (ROOT / "core/compiler/include").rglob("*.h")))) | {"operator_"}
    assert undeclared_exports(["tunesmith::lower(tunesmith::Program const&)", "tunesmith::winograd_kind()", "vtable for tunesmith::StepPlan"], headers) \
        == ["tunesmith::winograd_kind()", "tunesmith::StepPlan"]
    exported = subprocess.run(["nm", "-DC", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split(" ", 2)[2] for line in exported.splitlines()]
    assert len(symbols) > 400, len(symbols)
    fail_if([symbol for symbol in symbols if "tunesmith::" not in symbol] + undeclared_exports(symbols, headers), f"{library} exports what no public header declares")


def started_processes(text):
    """The functions that start processes, where code calls them."""
    return re.findall(r"(?<![\w.>])(?:::|std::)?(v?fork|posix_spawnp?|popen|system|exec[lv]p?e?)\s*\(", re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S))


def processes_are_started_in_one_place():
    assert started_processes("// fork()\nif (::fork() == 0) execv(a, b);\nschedule.fork(); r->system(); std::system (c);\n") == ["fork", "execv", "system"]
    folders = ("core", *LIBRARY_FOLDERS, "plugins", "targets", "searchers", "costmodels", "task_schedulers", "importers", "runners", "operators", "tools", "packs", "python/src")
    files = [path for folder in folders for path in sources(folder) if path.suffix != ".txt"]
    found = {path.relative_to(ROOT).as_posix() for path in files if started_processes(path.read_text())}
    assert found == {"process/child_process.cpp"}, found


def the_docs_list_the_libraries():
    table = (ROOT / "docs/architecture.md").read_text().split("## Libraries beside the kernel")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w/]+)/`", table, re.M)
    assert rows == LIBRARY_FOLDERS, f"docs/architecture.md lists {rows}, the order is {LIBRARY_FOLDERS}"


def files_named(page):
    """Files that a page names in backticks, by whole paths or their ends."""
    return [name for name in re.findall(r"`([\w/.*-]+\.(?:cpp|h|py|txt|yaml|program|map|trace|dict))`", page) if "*" not in name and "NAME" not in name]


def the_map_names_files_that_are_there():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    paths = {"/".join(parts[start:]) for parts in (path.split("/") for path in tracked) for start in range(len(parts))}
    assert files_named("`ir/a.cpp`, `x.h` and `*_kind.cpp`") == ["ir/a.cpp", "x.h"]
    named = files_named((ROOT / "docs/map.md").read_text())
    assert len(named) > 60, len(named)
    fail_if([name for name in named if name not in paths], "docs/map.md names no file of the tree")


def the_docs_list_the_folders_in_this_order():
    table = (ROOT / "docs/architecture.md").read_text().split("## Folders of the kernel")[1].split("\n## ")[0]
    rows = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)/`", row)]
    assert rows == list(ARROWS), f"docs/architecture.md lists {rows}, the order is {list(ARROWS)}"


def private_includes(text, path):
    """The headers that a plugin's file includes although they are neither in the SDK, nor beside it, nor in the plugin's folder (or generated there)."""
    folders = [path.parent, *(folder for folder in path.parents if ROOT in folder.parents and folder.parent != ROOT)]
    return [name for name in re.findall(r'^ *#include "([^"\n]+)"', text, re.M)
            if not (name.startswith("tunesmith/") and any((ROOT / folder / "include" / name).exists() for folder in (*KERNEL, *LIBRARY_FOLDERS)))
            and not any((folder / file).exists() for folder in folders for file in (name, name + ".in")) and "@" not in name]


def stable_headers_stand_alone(*compilers):
    """They compile with every compiler and no other folder of headers."""
    folders = [ROOT / folder / "include" for folder in ("stable", *OVER_STABLE)]
    headers = sorted(path.relative_to(folder).as_posix() for folder in folders for path in folder.rglob("*.h"))
    assert len(headers) > 20
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda pair: compile_unit(pair[1], folders, [pair[0]]), [(header, compiler) for header in headers for compiler in compilers])
        fail_if(list(filter(None, done)), "a header of the stable interface does not stand by itself")


def plugins_include_the_sdk_only():
    beside = ROOT / "plugins/none.cpp"
    assert private_includes('#include "trace/kinds.h"\n', beside) and private_includes('#include "tunesmith/no_such.h"\n', beside)
    assert not private_includes('#include "tunesmith/trace/schedule.h"\n#include <vector>\n', beside)
    fail_if([f'{path.relative_to(ROOT)} includes "{name}"' for folder in ("plugins", "packs", "targets", "searchers", "costmodels", "task_schedulers", "importers", "runners", "sdk/templates", "sdk/examples")
             for path in sources(folder) for name in private_includes(path.read_text(), path)], "a plugin includes a private header")


def the_stable_interface_is_generated():
    """The headers are generated from api.yaml, and what was released has not changed; things were only appended."""
    generate = ROOT / "tools/generate-api"
    subprocess.run([sys.executable, generate, "--check"], check=True)
    with tempfile.TemporaryDirectory() as folder:  # a tree in which a function has moved
        tree = pathlib.Path(folder)
        for name in ("tools", "stable"):
            shutil.copytree(ROOT / name, tree / name, ignore=lambda at, names: [each for each in names if at.endswith("tools") and each != "generate-api"])
        text = (tree / "stable/api.yaml").read_text()
        for old, new in (("{name: clone, thread: owner,", "{name: copied, thread: owner,"), ("barrier: {value: 7}", "barrier: {value: 17}"),
                         ("{name: kind, thread: any,", "{name: kind, thread: owner,"), ("{name: compute_inline, args: [block block]", "{name: compute_inline, args: [loop loop]")):
            change = text.replace(old, new)
            assert change != text, old
            (tree / "stable/api.yaml").write_text(change)
            done = subprocess.run([sys.executable, tree / "tools/generate-api", "--check"], capture_output=True, text=True)
            assert done.returncode != 0 and "changes what was released" in done.stderr, done


def wrong_cuda_arrows(folder, text):
    """The folders of targets/cuda that a file of `folder` includes and may not."""
    allowed = {folder, *CUDA_ARROWS[folder].split()}
    return [name for name in re.findall(r'^#include "(\w+)/', text, re.M) if name in CUDA_ARROWS and name not in allowed]


def the_cuda_target_has_a_folder_for_each_question():
    order = list(CUDA_ARROWS)
    for folder, below in CUDA_ARROWS.items():
        assert all(order.index(other) < order.index(folder) for other in below.split()), folder
    assert wrong_cuda_arrows("emulation", '#include "text/kernel_text.h"\n#include "machine/launch.h"\n') == ["text"]
    for folder in CUDA_ARROWS:
        assert len(sources(f"targets/cuda/{folder}")) > 3, folder
    fail_if([f"{path.relative_to(ROOT)} includes {name}/" for folder in CUDA_ARROWS for path in sources(f"targets/cuda/{folder}")
             for name in wrong_cuda_arrows(folder, path.read_text())], "a folder of targets/cuda includes what stands above it")


def beside_its_own(folder, text):
    """The folders of the command that a file of `folder` includes and may not."""
    allowed = {folder, *COMMAND_ARROWS[folder].split()}
    return [name for name in re.findall(r'^#include "(\w+)/', text, re.M) if name in COMMAND_ARROWS and name not in allowed]


def commands_have_folders():
    """No command includes another's files, only the command line uses CLI11, and JSON is printed in one way, which repairs invalid UTF-8."""
    home = ROOT / "tools/tunesmith"
    assert beside_its_own("records", '#include "tune/tune_many.h"\n#include "common/exit_codes.h"\n') == ["tune"]
    assert {path.parent.name for path in home.glob("*/*.cpp")} == set(COMMAND_ARROWS) and not list(home.glob("*.cpp")), home
    for folder in COMMAND_ARROWS:
        for path in sources(f"tools/tunesmith/{folder}"):
            text = path.read_text()
            assert not beside_its_own(folder, text), f"{path.relative_to(ROOT)} includes {beside_its_own(folder, text)}"
            assert folder == "command_line" or "CLI/CLI.hpp" not in text, f"{path.relative_to(ROOT)} includes CLI11"
            assert ".dump(" not in text or path.name in ("print_json.cpp", "page.cpp"), f"{path.relative_to(ROOT)}: common/print_json.h writes JSON"


def code_generators(dynamic_section):
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic_section)
    assert any(name.startswith("libstdc++") for name in needed), needed
    return [name for name in needed if re.search("llvm|clang|cuda|nvrtc|xgboost", name, re.I)]


def the_kernel_links_no_code_generator(library):
    assert code_generators("(NEEDED) Shared library: [libstdc++.so.6]\n(NEEDED) Shared library: [libLLVM-19.so.1]\n") == ["libLLVM-19.so.1"]
    fail_if(code_generators(subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout), library)


def lines_of(path):
    return len(path.read_text().splitlines())


def public_headers_are_short():
    """The headers are the manual: one question each, at most 300 lines. A module includes at most twelve of the kernel's."""
    headers = [path for folder in (*KERNEL, "stable", *LIBRARY_FOLDERS) for path in (ROOT / folder / "include").rglob("*.h")]
    assert len(headers) > 80 and max(map(lines_of, headers)) > 100
    fail_if([f"{path.relative_to(ROOT)}: {lines_of(path)} lines" for path in headers if lines_of(path) > 300], "a public header has more than 300 lines")
    modules = [path for folder in ("plugins", "sdk/templates/module") for path in sources(folder) if path.suffix == ".cpp"]
    counts = {path: len(re.findall(r'^#include ["<]tunesmith/', path.read_text(), re.M)) for path in modules}
    assert len(modules) > 15 and max(counts.values()) > 1
    fail_if([f"{path.relative_to(ROOT)}: {count}" for path, count in counts.items() if count > 12], "a module includes more than 12 public headers")


def reached_headers(header, text_of):
    """The header, and all Tunesmith headers that it includes, directly or indirectly."""
    reached, waiting = set(), [header]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += re.findall(r'^#include ["<](tunesmith/[^">]+)', text_of(name), re.M)
    return reached


def a_module_reaches_12_stable_headers():
    """An author who includes the header of a module or of a task scheduler reaches few headers of the stable tier."""
    chain = {f"tunesmith/{i}.h": f'#include "tunesmith/{i + 1}.h"\n#include <tunesmith/{i + 1}.h>\n' for i in range(13)} | {"tunesmith/13.h": "#include <vector>\n"}
    assert len(reached_headers("tunesmith/0.h", chain.get)) == 14 and len(reached_headers("tunesmith/2.h", chain.get)) == 12
    reached = {name: reached_headers(f"tunesmith/stable/{name}", lambda header: (ROOT / "stable/include" / header).read_text()) for name in ("module.h", "task_scheduler.h")}
    assert all("tunesmith/stable/c/values.h" in headers for headers in reached.values()), reached
    fail_if([f"<tunesmith/stable/{name}>: {len(headers)}: {', '.join(sorted(headers))}" for name, headers in reached.items() if len(headers) > 12],
            "a header of the stable tier reaches more than 12")


def compile_unit(compiler, includes, unit):
    """The compiler's messages for a file that includes `unit`, with strict flags; "" if there are none."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write("".join(f"#include <{header}>\n" for header in unit))
        file.flush()
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-DFMT_SHARED",
                               *(f"-I{folder}" for folder in includes), file.name], capture_output=True, text=True)
    return f"{compiler}, {unit[0]}{' and all after it' if len(unit) > 1 else ''}:\n{done.stderr}" if done.returncode else ""


def public_headers(generated):
    includes = [*(ROOT / folder / "include" for folder in (*KERNEL, *LIBRARY_FOLDERS) if folder not in OVER_STABLE), pathlib.Path(generated)]
    headers = sorted(str(path.relative_to(folder)) for folder in includes for path in folder.rglob("*.h"))
    assert len(headers) > 40
    return includes, headers


def headers_compile_alone(compiler, generated):
    """Each public header compiles alone. One compiler suffices: whether an include is missing depends on the standard library."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "incomplete.h").write_text("#pragma once\nstd::string name();\n")
        assert "incomplete.h" in compile_unit(compiler, [folder], ["incomplete.h"])
    includes, headers = public_headers(generated)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        fail_if(list(filter(None, pool.map(lambda header: compile_unit(compiler, includes, [header]), headers))),
                "a public header does not stand by itself")


def headers_compile_together(compiler, generated):
    """All public headers compile together, in both orders, without warnings of this compiler."""
    includes, headers = public_headers(generated)
    fail_if(list(filter(None, [compile_unit(compiler, includes, order) for order in (headers, headers[::-1])])),
            "the public headers do not compile together")


def a_matrix_unit_in_82_lines():
    """The paper's measure of a new matrix unit's cost: the lines of the intrinsic and of the module that uses it."""
    pack = ROOT / "sdk/examples/vendor_pack"
    lines = sum(len((pack / name).read_text().splitlines()) for name in ("acme_npu.yaml", "acme_tile.cpp"))
    assert lines <= 82, f"{lines} lines"
    assert f"with the extension {lines} lines" in (pack / "README.md").read_text(), f"README.md does not say {lines} lines"


# Build files that may hash files: for the headers of plugins (P2), and for the libraries in manifests.
MAY_HASH = {"cmake/code_hash.py", "cmake/plugin_headers.py", "cmake/TunesmithManifest.cmake", "core/host/CMakeLists.txt"}


def hashing_lines(text):
    """Lines of a build file that hash files or texts, or fill in a hash."""
    return [line.strip() for line in text.splitlines() if re.search(r"code_hash|hashlib|\b(MD5|SHA\d+)\b|sha\d+sum|@\w*HASH\w*@|git +(log|describe|rev-parse)", line)]


def identity_reads_no_sources():
    """Renaming a local variable orphans no record: tasks name versions, and no build file hashes sources for them."""
    for line in ["import code_hash", "file(SHA256 ${file} sum)", 'string(MD5 sum "${text}")', 'inline constexpr const char* kHash = "@CONTENT_HASH@";', "execute_process(COMMAND git describe)"]:
        assert hashing_lines(line), line
    assert not hashing_lines("configure_file(page.h.in page.h)  # the hash of a record")
    folders = ["cmake", "core", *LIBRARY_FOLDERS, "targets", "packs", "plugins", "stable", "sdk", "tools", "python"]
    files = [ROOT / "CMakeLists.txt"] + [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))
                                         if path.name == "CMakeLists.txt" or path.suffix in (".cmake", ".in") or (folder == "cmake" and path.suffix == ".py")]
    assert len(files) > 40 and MAY_HASH <= {path.relative_to(ROOT).as_posix() for path in files}
    fail_if([f"{path.relative_to(ROOT)}: {line}" for path in files for line in hashing_lines(path.read_text())
             if path.relative_to(ROOT).as_posix() not in MAY_HASH and path.name != "api_version.h.in"], "a build file hashes sources")
    # Only the header for plugins' notes has such hashes.
    users = [path for folder in ("core", "targets", "grid", "performance") for path in sources(folder) if re.search(r"#include .*api_version\.h", path.read_text())]
    assert users, "nobody includes api_version.h"
    fail_if([path.relative_to(ROOT).as_posix() for path in users if "plugin" not in path.parts], "what is no plugin's note reads hashes of headers")


def tests_not_run(script, cmake):
    """The tests of an end-to-end script (functions that take a folder) that CMakeLists.txt does not name."""
    words = set(re.findall(r"\w+", cmake))
    return [name for name in re.findall(r"^def (\w+)\(folder\):", script, re.MULTILINE) if name not in words]


def every_end_to_end_test_is_run():
    assert tests_not_run("def one(folder):\n\n\ndef other(folder):\n", "foreach(name one)") == ["other"]
    folder = ROOT / "tests/e2e"
    cmake = (folder / "CMakeLists.txt").read_text()
    scripts = sorted(folder.glob("*.py"))
    assert len(scripts) > 4
    fail_if([f"{script.name}: {name}" for script in scripts for name in tests_not_run(script.read_text(), cmake)],
            "a test is written and never run")


def shared_paths(text):
    """Lines of a test that use a path which another, concurrent test may use."""
    return [line.strip() for line in text.splitlines() if re.search(r"TempDir\(|temp_directory_path|mk[ds]temp|\"/tmp/\w", line)]


def tests_share_no_file():
    """CTest runs tests concurrently; if two write to one place, they fail now and then."""
    for line in ['fs::path(testing::TempDir()) / "scripts"', 'fs::temp_directory_path() / name', "mkdtemp(name.data())", 'std::ofstream("/tmp/one")']:
        assert shared_paths(line), line
    assert not shared_paths("const test::TemporaryFolder folder;")
    helper = ROOT / "tests/temporary_folder.h"
    assert shared_paths(helper.read_text())
    paths = [path for path in sources("tests") if path != helper]
    assert len(paths) > 300
    fail_if([f"{path.relative_to(ROOT)}: {line}" for path in paths for line in shared_paths(path.read_text())],
            "a test takes a path that others may take; tests/temporary_folder.h makes one of its own")


def folders_of_a_machine(command):
    """Words of a command line that make sense on one machine only, and the program if it is a path."""
    return [word for place, word in enumerate(command.split()) if word.startswith("/") or (place == 0 and "/" in word)]


def recorded_tables_name_no_machine():
    """Published tables do not contain anybody's paths."""
    assert folders_of_a_machine("build/bin/tunesmith tables record gmm --spaces /home/me/spaces.yaml -o new/gmm.table.gz") == [
        "build/bin/tunesmith", "/home/me/spaces.yaml"]
    tables = sorted((ROOT / "bench/tables").glob("*.table.gz"))
    assert len(tables) > 5
    fail_if([f"{table.name}: {word}" for table in tables
             for word in folders_of_a_machine(json.loads(gzip.open(table, "rt").readline())["command"])],
            "a recorded table names folders of a machine")


def blanked(text):
    """C++ with comments, literals and lines for the preprocessor replaced by blanks, line by line the same."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*'
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.S | re.M)


def functions(text):
    """(first line, last line, head) of each function in a namespace or a class; lambdas are parts of functions."""
    code = blanked(text)
    found, scopes, head, begin, first = [], [], "", 0, True
    for at, sign in enumerate(code):
        outside = all(kind == "scope" for kind, *_ in scopes)
        if sign == "{":
            after = head[head.rfind(")"):]
            if not outside:
                scopes.append(("part",))
            elif re.search(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$", head) or head.strip() == "":
                scopes.append(("scope",))
                head = ""
            elif not re.fullmatch(r"\)[\s}]*(?:(?:const|noexcept|override|final|mutable|&&?|try)\s*|requires\b.*|->.*|:.*[)}]\s*)*", after, re.S):
                scopes.append(("part",))  # an initialiser, of a variable or of a member
            else:
                scopes.append(("function", code.count("\n", 0, begin) + 1, " ".join(head.split())))
            if not outside:
                continue
        elif sign == "}" and scopes:
            kind, *what = scopes.pop()
            if kind == "function":
                found.append((what[0], code.count("\n", 0, at) + 1, what[1]))
            head = head + sign if kind == "part" else ""
        elif outside and (sign == ";" or (sign == ":" and head.strip() in ("public", "private", "protected"))):
            head = ""
        elif outside:
            if not head.strip() and not sign.isspace():
                begin, head = at, ""
            head += sign
    return found


def no_function_over_60_lines():
    """This holds for all code, tests and benchmarks included."""
    long = "int f(int a) {\n" + "  a += [] { return 1; }();\n" * 59 + "  return a;\n}\n"
    short = "int f(int a) {\n" + "  a += 1;\n" * 57 + "  return a;\n}\n"
    for text in (long, "namespace n {\nclass C {\n  C() : a_{1}, b_(2) {\n" + "    call();\n" * 59 + "  }\n};\n}\n", 'TEST(A, B) {\n' + '  use("}");\n' * 60 + "}\n"):
        assert [last - first + 1 > 60 for first, last, _ in functions(text)] == [True], functions(text)
    assert functions("struct A {\n  A() : a_{1} {}\n  auto b() const -> int { return {}; }\n  X<f(1)> c{\n  };\n};\n") == [(2, 2, "A() : a_}"), (3, 3, "auto b() const -> int")]
    for text in (short, short * 3, "// {\n" + short, "const int table[] = {\n" + "  1,\n" * 80 + "};\n", "namespace n {\n" + "void f();\n" * 80 + "}\n", 'const char* t = R"({\n' + "\n" * 80 + ')";\n'):
        assert all(last - first + 1 <= 60 for first, last, _ in functions(text)), functions(text)
    files = [path for folder in ("core", *LIBRARY_FOLDERS[:-1], "plugins", "targets", "searchers", "costmodels", "task_schedulers", "runners", "tools", "tests", "bench", "sdk", "packs", "python")
             for path in sources(folder) if path.suffix in (".h", ".cpp", ".c")]
    assert len(files) > 500
    fail_if([f"{path.relative_to(ROOT)}:{first}: {last - first + 1} lines: {head[:80]}" for path in files for first, last, head in functions(path.read_text()) if last - first + 1 > 60],
            "a function has more than 60 lines")


if __name__ == "__main__":
    globals()[sys.argv[2]](*sys.argv[3:])
