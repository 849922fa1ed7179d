#!/usr/bin/env python3
"""Which public headers each kind of plugin reaches, and a hash of them: what a plugin in C++ fits.

plugin_headers.py ROOT                                        prints the hash of each kind, in the order of the kinds' numbers
plugin_headers.py ROOT TEMPLATE OUTPUT LIST DEPENDENCIES      writes OUTPUT: TEMPLATE with the hashes for @HASH_<KIND>@; LIST:
                                                              "kind: header..." with all that the kind may include; and
                                                              DEPENDENCIES, a depfile
ROOT is the source tree. core/host/plugin_headers.txt says where each kind begins.
"""
import pathlib
import re
import sys

import code_hash

KINDS = ("module", "target", "extension", "searcher", "cost_model", "task_scheduler", "importer", "runner")
ROOTS = "core/host/plugin_headers.txt"


class Tree:
    def __init__(self, root):
        self.root = root
        self.texts = {}  # path: normalised text, of all files that were read

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = code_hash.normalised(path.read_text())
        return self.texts[path]

    def reached(self, begin, folders):
        """All files below `folders` that `begin` includes, and includes in turn, itself among them."""
        seen, waiting = set(), list(begin)
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            for name in code_hash.included(self.text(path)):
                waiting += [candidate for candidate in [folder / name for folder in (*folders, path.parent)] if candidate.is_file()][:1]
        return seen

    def kinds(self):
        """kind: (headers that it names, libraries)"""
        lines = [line for line in (self.root / ROOTS).read_text().splitlines() if not line.startswith("#")]
        kinds = {}
        for kind, words in re.findall(r"(\w+):([^:]*)(?=\n\w+:|$)", "\n".join(lines)):
            headers, _, libraries = words.partition("+")
            kinds[kind] = (headers.split(), libraries.split())
        if sorted(kinds) != sorted(KINDS):
            sys.exit(f"{ROOTS}: has {', '.join(kinds)}; the kinds are {', '.join(KINDS)}")
        return kinds

    def of_kind(self, kind, headers, libraries):
        """What a kind may include, and the files whose code its hash is of: the kernel's, by their names below their library of core/, and those of libraries whose
        headers the kind itself names, by theirs below the tree."""
        kernel_folders = [self.root / "core" / library for library in ("compiler", "host")]
        public = [folder / "include" for folder in kernel_folders]
        beside = [path / "include" for path in sorted(self.root.iterdir()) if (path / "include/tunesmith").is_dir()]
        begin = []
        for header in headers:
            found = [folder / "tunesmith" / header for folder in (*public, *beside) if (folder / "tunesmith" / header).is_file()]
            if not found:
                sys.exit(f"{ROOTS}: {kind} names {header}, which is in no folder of public headers")
            begin.append(found[0])
        own = self.reached(begin, [*public, *beside])
        may_include = {path.relative_to(folder).as_posix() for path in own for folder in (*public, *beside) if path.is_relative_to(folder)}
        kernel = set(own)
        for library in libraries:
            folder = self.root / library
            sources = sorted([*folder.rglob("*.cpp"), *folder.rglob("*.h")])
            if not sources:
                sys.exit(f"{ROOTS}: {kind} uses {library}, and there are no sources in {folder}")
            may_include |= {path.relative_to(folder / "include").as_posix() for path in (folder / "include").rglob("*.h")}
            kernel |= self.reached(sources, [*public, *beside, folder])
        counted = {}
        for path in kernel:
            within = next((folder for folder in kernel_folders if path.is_relative_to(folder)), None)
            if within is not None or path in own:
                counted[path.relative_to(within or self.root).as_posix()] = path
        return sorted(may_include), {name: self.text(counted[name]).encode() for name in sorted(counted)}


def main(root, template=None, output=None, header_list=None, dependencies=None):
    tree = Tree(pathlib.Path(root))
    lists, hashes = {}, {}
    for kind, (headers, libraries) in tree.kinds().items():
        lists[kind], contents = tree.of_kind(kind, headers, libraries)
        hashes[kind] = code_hash.digest(contents)
    if template is None:
        print(" ".join(hashes[kind] for kind in KINDS))
        return
    text = pathlib.Path(template).read_text()
    for kind in KINDS:
        text = text.replace(f"@HASH_{kind.upper()}@", hashes[kind])
    code_hash.write_if_other(pathlib.Path(output), text)
    code_hash.write_if_other(pathlib.Path(header_list), "".join(f"{kind}: {' '.join(lists[kind])}\n" for kind in KINDS))
    read = [tree.root / ROOTS, *sorted(tree.texts)]
    pathlib.Path(dependencies).write_text(f"{output}: " + " ".join(str(path).replace(" ", "\\ ") for path in read) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
