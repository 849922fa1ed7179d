#!/usr/bin/env python3
"""A hash of what files say to a compiler: of C and C++ without comments and white space, of anything else byte by byte.

code_hash.py FOLDER                        prints the hash of all files below FOLDER
code_hash.py FOLDER LIST TEMPLATE OUTPUT   writes OUTPUT: TEMPLATE with the hash of the files that LIST names, below FOLDER,
                                           for @CONTENT_HASH@
A hash is the first 16 hexadecimal digits of a SHA-256 over names and contents, in the order of the names: the same on every
machine and in every folder.
"""
import hashlib
import pathlib
import re
import sys

CODE = (".c", ".cpp", ".cu", ".cuh", ".h", ".hpp")

# Longer punctuators first: `a ++b` and `a + +b` are different code.
TOKEN = re.compile(r"""
    (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
  | (?P<space>(?:\\\n|[^\S\n])+)
  | (?P<newline>\n)
  | (?P<code>
      (?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)"\w*
    | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"\w*
    | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'\w*
    | \.?\d(?:[eEpP][+-]|'\w|[\w.])*
    | [^\W\d]\w*
    | <=>|<<=|>>=|\.\.\.|->\*|::|\.\*|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#
    | .
  )""", re.VERBOSE | re.DOTALL)


def normalised(text):
    """The code of `text`: a token in a line, but a directive of the preprocessor, where white space may count, in one line."""
    out, directive, line_begins, gap = [], False, True, False
    for match in TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "mark" else "code"
        if kind == "newline":
            if directive:
                out.append("\n")
            directive, line_begins, gap = False, True, False
        elif kind == "code":
            directive = directive or (line_begins and match.group() == "#")
            out.append((" " if gap else "") + match.group() if directive else match.group() + "\n")
            line_begins, gap = False, False
        else:
            gap = directive
    return "".join(out)


def included(text):
    """The headers that a normalised text includes, as it names them."""
    return re.findall(r'^# ?include ?[<"]([^>"\n]+)[>"]', text, re.MULTILINE)


def content(path):
    """What counts of a file."""
    if path.suffix in CODE or path.name.endswith(".h.in"):
        return normalised(path.read_text()).encode()
    return path.read_bytes()


def digest(contents):
    """The hash of {name: bytes}."""
    lines = (f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in sorted(contents))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def write_if_other(path, text):
    """What is built from a file stays as it is while the file's contents do."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main(folder, names=None, template=None, output=None):
    base = pathlib.Path(folder)
    if names is None:
        files = [path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_file()]
    else:
        files = pathlib.Path(names).read_text().split("\n")[:-1]
    result = digest({name: content(base / name) for name in files})
    if template is None:
        print(result)
    else:
        write_if_other(pathlib.Path(output), pathlib.Path(template).read_text().replace("@CONTENT_HASH@", result))


if __name__ == "__main__":
    main(*sys.argv[1:])
