#!/usr/bin/env python3
"""Do headers of the stable interface keep what stable/released.txt says was released? Compilers are asked, and abidiff where there is one: neither
knows api.yaml, nor the script that writes headers from it. Usage: released.py ROOT GROWN COMPILER...
GROWN are headers as a later kernel might have them (grown_interface.py)."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
SCALARS = {"void": "void", "char": "char", "double": "double", "const": "const"}


class Released:
    """The lines of released.txt, as C."""

    def __init__(self, text):
        self.structs = {}  # name: [(offset, field, type)]
        self.enums = {}  # name: [(value, number)]
        for line in text.splitlines():
            what = line.split(" ", 1)[1]
            if match := re.fullmatch(r"(\w+)\+(\d+) (\w+): (.+?)(?: on \w+)?", what):
                self.structs.setdefault(match[1], []).append((int(match[2]), match[3], match[4]))
            elif match := re.fullmatch(r"enum (\w+)\.(\w+) = (\d+)", what):
                self.enums.setdefault(match[1], []).append((match[2], int(match[3])))
            else:
                assert re.match(r"table \w+ = |primitive \w+\(", what), line
        assert len(self.structs) > 20 and len(self.enums) > 10

    def type(self, text):
        def word(match):
            name = match[0]
            return SCALARS.get(name) or (f"{name}_t" if re.fullmatch(r"u?int\d+", name) else f"tunesmith_{name}")
        return re.sub(r"\w+", word, text)

    def declared(self, kind, name):
        """A declaration with this type."""
        if kind.startswith("union "):
            members = [member.split(":", 1) for member in re.split(r" (?=\w+:)", kind.removeprefix("union "))]
            return f"union {{ {' '.join(f'{self.type(inner)} {member};' for member, inner in members)} }} {name}"
        if match := re.fullmatch(r"(.+?)\((.*)\)", kind):
            arguments = ", ".join(self.type(re.sub(r" \w+$", "", argument)) for argument in match[2].split(", ") if argument)
            return f"{self.type(match[1])} (*{name})({arguments or 'void'})"
        if match := re.fullmatch(r"(\w+)(\[\d+\])", kind):
            return f"{self.type(match[1])} {name}{match[2]}"
        return f"{self.type(kind)} {name}"

    def names(self):
        return sorted(f"tunesmith_{name}" for name in [*self.structs, *self.enums])

    def assertions(self):
        """A file that compiles only if everything in the headers has its old place and type."""
        out = ["#include <stddef.h>", '#define SAME(a, b) _Static_assert(__builtin_types_compatible_p(a, b), "the type of " #a)']
        for name, fields in self.structs.items():
            for offset, field, kind in fields:
                out.append(f'_Static_assert(offsetof(tunesmith_{name}, {field}) == {offset}, "{name}.{field} has moved");')
                if not kind.startswith("union "):
                    out += [f"typedef {self.declared(kind, f'released_{name}_{field}')};",
                            f"SAME(__typeof__(((tunesmith_{name}*)0)->{field}), released_{name}_{field});"]
        out += [f'_Static_assert(TUNESMITH_{name.upper()}_{value.upper()} == {number}, "{name}.{value} is another number");'
                for name, values in self.enums.items() for value, number in values]
        return "\n".join(out) + "\n"

    def headers(self):
        """The released types, written from the list alone."""
        used = {f"tunesmith_{name}" for fields in self.structs.values() for _, _, kind in fields for name in re.findall(r"[a-z]\w*", kind)}
        known = self.assertions()
        opaque = sorted(name for name in used if re.search(rf"\b{name}\b", known) and name.removeprefix("tunesmith_") not in {*self.structs, *self.enums})
        out = ["#include <stdint.h>", *(f"typedef struct {name} {name};" for name in [*opaque, *(f"tunesmith_{name}" for name in self.structs)])]
        for name, values in self.enums.items():
            inside = ", ".join(f"TUNESMITH_{name.upper()}_{value.upper()} = {number}" for value, number in values)
            out.append(f"typedef enum tunesmith_{name} {{ {inside} }} tunesmith_{name};")
        waiting = dict(self.structs)
        while waiting:  # what a struct contains by value stands before it
            name = next(name for name, fields in waiting.items() if not any(kind in waiting for _, _, kind in fields))
            out.append(f"struct tunesmith_{name} {{ {' '.join(self.declared(kind, field) + ';' for _, field, kind in waiting.pop(name))} }};")
        return "\n".join(out) + "\n"


def headers_in(include):
    parts = sorted(path.name for path in (pathlib.Path(include) / "tunesmith/stable/c").glob("*.h"))
    return "#define TUNESMITH_STABLE_KERNEL\n" + "".join(f'#include "tunesmith/stable/c/{part}"\n' for part in parts)


def compiled(compiler, text, folder, *flags):
    source = folder / "interface.c"
    source.write_text(text)
    return subprocess.run([compiler, "-std=c11", *flags, source], capture_output=True, text=True)


def faults(compiler, released, include, folder):
    done = compiled(compiler, headers_in(include) + released.assertions(), folder, f"-I{include}", "-Wall", "-Werror", "-Wno-unused-local-typedefs", "-fsyntax-only")
    return done.stderr if done.returncode else ""


# Lines that abidiff prints if things were appended.
APPENDED = re.compile(r"""\s* (?: | (?:Functions|Variables)\ changes\ summary:\ 0\ Removed.* | \d+\ functions?\ with\ some\ indirect\ sub-type\ changes?:
  | \[C\]\ 'function\ .*\ has\ some\ indirect\ sub-type\ changes: | parameter\ 1\ of\ type\ .*\ has\ sub-type\ changes: | in\ pointed\ to\ type\ .*:
  | underlying\ type\ .*\ changed: | type\ size\ (?:changed\ from\ (?P<old>\d+)\ to\ \d+\ \(in\ bits\)|hasn't\ changed) | \d+\ data\ member\ insertions?:
  | '.*',\ at\ offset\ (?P<offset>\d+)\ \(in\ bits\).* | no\ data\ member\ changes?.* | \d+\ enumerator\ insertions?: | '.*'\ value\ '\d+' | \d+\ Added\ functions?: | \[A\]\ .* )""", re.VERBOSE)


def moved(report):
    """The lines of a report that report more than appended things."""
    size, found = 0, []
    for line in report.splitlines():
        match = APPENDED.fullmatch(line)
        if match and match["old"]:
            size = int(match["old"])
        if not match or (match["offset"] and int(match["offset"]) < size):
            found.append(line)
    return "\n".join(found)


def abidiff(compiler, released, include, folder):
    functions = "".join(f"void of_{name}({name}* it) {{ (void)it; }}\n" for name in released.names())
    libraries = []
    for name, text in (("before", released.headers()), ("now", headers_in(include))):
        libraries.append(folder / f"{name}.so")
        done = compiled(compiler, text + functions, folder, f"-I{include}", "-g", "-shared", "-fPIC", "-o", libraries[-1])
        assert done.returncode == 0, done.stderr
    done = subprocess.run(["abidiff", *libraries], capture_output=True, text=True)
    assert not done.returncode & 3, done.stderr  # its own errors
    return moved(done.stdout)


# Changes of headers, each of which breaks built plugins.
BROKEN = [
    ("tables", r"(struct tunesmith_schedule_table \{.*?)(  ///[^\n]*\n  [^\n]*\(\*clone\))", r"\1  void (*added)(uint32_t number);\n\2"),  # in the middle
    ("tables", r"(struct tunesmith_answer_table \{\n  uint64_t size;[^\n]*\n)", r"\1  uint64_t flags;\n"),  # at the beginning
    ("tables", r"\(\*has_quantity\)\(const tunesmith_context\* context, tunesmith_text name\)", r"(*has_quantity)(const tunesmith_context* context, const char* name)"),
    ("tables", r"uint32_t \(\*has_quantity\)", r"uint64_t (*has_quantity)"),
    ("program", r"uint32_t loop_kind;", r"uint64_t loop_kind;"),
    ("program", r"(struct tunesmith_statement \{\n.*?)  uint32_t parent;[^\n]*\n", r"\1"),  # taken away
    ("values", r"(TUNESMITH_ERROR_KIND_USER = )3", r"\g<1>30"),
]


def main():
    released = Released((ROOT / "stable/released.txt").read_text())
    ways = [("compiler", lambda include, folder: "".join(faults(compiler, released, include, folder) for compiler in sys.argv[3:]))]
    if shutil.which("abidiff"):
        ways.append(("abidiff", lambda include, folder: abidiff(sys.argv[3], released, include, folder)))
    for way, check in ways:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for include in (ROOT / "stable/include", pathlib.Path(sys.argv[2])):
                said = check(include, folder)
                assert not said, f"{way}: {include} does not keep what was released:\n{said}"
            for number, (part, old, new) in enumerate(BROKEN):
                include = folder / str(number)
                shutil.copytree(ROOT / "stable/include", include)
                header = include / f"tunesmith/stable/c/{part}.h"
                text, times = re.subn(old, new, header.read_text(), flags=re.DOTALL)
                assert times == 1, f"{part}.h: {old} is there {times} times"
                header.write_text(text)
                assert check(include, folder), f"{way} does not notice: {old} -> {new}"
        print(f"{way}: everything is where it was, and {len(BROKEN)} changes are noticed")


if __name__ == "__main__":
    main()
