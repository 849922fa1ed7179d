#!/usr/bin/env python3
"""What C and C++ say to a compiler, without comments and white space, and a hash of it: for the headers that plugins are compiled with."""
import hashlib
import re
import sys

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


def digest(contents):
    """The hash of {name: bytes}."""
    lines = (f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in sorted(contents))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def write_if_other(path, text):
    """What is built from a file stays as it is while the file's contents do."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
