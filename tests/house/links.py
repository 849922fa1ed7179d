#!/usr/bin/env python3
"""Do the links of the documentation lead somewhere? Usage: links.py ROOT

Checks every link in every Markdown file: the file exists, and so does the section that the anchor names. Checks, too, that pages which
the sources name (`docs/NAME.md`, with or without an anchor) exist. Addresses on other machines are not visited."""
import os
import pathlib
import re
import sys
import urllib.parse

FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
INLINE_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]: +<?(\S+?)>?(?: .*)?$", re.MULTILINE)
HTML_LINK = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]+)\"")
HTML_ANCHOR = re.compile(r"<a\b[^>]*?\b(?:id|name)=\"([^\"]+)\"")
HEADING = re.compile(r"^ {0,3}#{1,6} +(.*?)(?: +#+)? *$", re.MULTILINE)
NAMED_PAGE = re.compile(r"(?<![\w/.-])docs/[\w-]+\.md(?:#[\w-]+)?")
SOURCES = {".h", ".c", ".cpp", ".cu", ".cuh", ".in", ".py", ".sh", ".txt", ".cmake", ".yaml", ".yml", ".trace", ""}


def without_code(text):
    return COMMENT.sub("", FENCE.sub("", text))


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(text):
    plain = without_code(text)
    found = set(HTML_ANCHOR.findall(plain))
    count = {}
    for heading in HEADING.findall(plain):
        name = slug(heading)
        count[name] = count.get(name, -1) + 1
        found.add(f"{name}-{count[name]}" if count[name] else name)
    return found


def links(text):
    plain = without_code(text)
    prose = INLINE_CODE.sub("", plain)
    # A link's text may be code, so that only what is wholly inside of code is no link.
    return [*INLINE_LINK.findall(re.sub(r"`([^`\n]*)`", lambda code: code[0] if "](" not in code[0] else "", plain)),
            *REFERENCE.findall(prose), *HTML_LINK.findall(prose)]


def fault(page, target, root):
    """What is wrong with a link of `page`, or None."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    file = page if not path else (root / path[1:] if path.startswith("/") else page.parent / path)
    if not file.exists():
        return f"there is no {os.path.relpath(file, root)}"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
        return f"{os.path.relpath(file, root)} has no section '#{anchor}'"
    return None


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git" and not (folder == str(root) and name.startswith(("build", "install"))))
        yield from (pathlib.Path(folder) / name for name in sorted(names))


def faults(root):
    found, pages = [], 0
    for path in files(root):
        if path.suffix == ".md":
            pages += 1
            found += [f"{path.relative_to(root)}: {target}: {said}" for target in links(path.read_text()) if (said := fault(path, target, root))]
        elif path.suffix in SOURCES and path != pathlib.Path(__file__).resolve():
            text = path.read_bytes().decode(errors="ignore")
            found += [f"{path.relative_to(root)}: {name}: {said}" for name in sorted(set(NAMED_PAGE.findall(text)))
                      if (said := fault(root / "page", name, root))]
    return found, pages


def finds_what_it_looks_for():
    assert slug("The `cuda` target: what, and why?") == "the-cuda-target-what-and-why" and slug("A [link](x.md) in it") == "a-link-in-it"
    assert anchors("# One\n## Two\n## Two\n```\n# not\n```\n<a id=\"three\"></a>") == {"one", "two", "two-1", "three"}
    assert links("see [a](b.md#c), [`d`](e.md) and ![f](g.svg)\n```\n[no](no.md)\n```\n`[no](no.md)` <img src=\"h.png\">\n[i]: j.md\n") == [
        "b.md#c", "e.md", "g.svg", "j.md", "h.png"]
    root = pathlib.Path(__file__).resolve().parent
    here = root / "page.md"
    assert fault(here, "no_such.md", root) and not fault(here, "links.py", root) and not fault(here, "https://example.org/x", root)
    assert NAMED_PAGE.findall("// docs/devices.md#twins says it; share/docs/other.md does not") == ["docs/devices.md#twins"]


if __name__ == "__main__":
    finds_what_it_looks_for()
    broken, seen = faults(pathlib.Path(sys.argv[1]).resolve())
    assert seen > 25, f"only {seen} pages were found"
    assert not broken, "broken links:\n" + "\n".join(broken)
    print(f"the links of {seen} pages lead somewhere")
