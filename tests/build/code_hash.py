#!/usr/bin/env python3
"""cmake/code_hash.py: what counts as a change of code. Usage: code_hash.py MODULES"""
import sys

sys.path.insert(0, sys.argv[1])
import code_hash  # noqa: E402  in the folder above

SAME = {
    "a comment": ("int a;  // one\n", "int a;\n"),
    "a comment in a line": ("int /* the first */ a;\n", "int a;\n"),
    "a comment of several lines": ("/* one\n * two **/ int a;\n", "int a;\n"),
    "a comment that continues": ("int a;  // one \\\n int b;\n", "int a;\n"),
    "a comment in a comment": ("int a;  // /* one\nint b;  // */\n", "int a;\nint b;\n"),
    "white space": ("int  f( int a )\n{\n  return a;\n}", "int f(int a) { return a; }\n"),
    "a comment behind a macro": ("#define A 1  // one\nint a;\n", "#define A 1\nint a;\n"),
    "where a macro's lines end": ("#define A(b) b \\\n  + 1\n", "#define A(b) b    \\\n+ 1\n"),
    "the indent of a directive": ("#if A\n#  define B\n#endif\n", "#if A\n# define B\n#endif\n"),
}
OTHER = {
    "a name": ("int a;", "int b;"),
    "a number": ("int a = 1'000;", "int a = 1'001;"),
    "a string behind a number with a separator": ("f(1'0, '\"', \" // b\");", "f(1'0, '\"', \" // c\");"),
    "white space in a string": ('f("a  b");', 'f("a b");'),
    "what looks like a comment in a string": ('f("a // b");', 'f("a // c");'),
    "a string behind a quoted quote": (r'f("\"", "// b");', r'f("\"", "// c");'),
    "a quote that is a character": ("f('\"'); // b\nint a;", "f('\"'); int b;"),
    "what looks like a comment in a raw string": ('f(R"(a // b)");', 'f(R"(a // c)");'),
    "a quote in a short raw string": ('f(R"(" // b)");', 'f(R"(" // c)");'),
    "a quote in a raw string": ('f(R"x(" )" // b)x"); int a;', 'f(R"x(" )" // c)x"); int a;'),
    "a raw string with a prefix": ('f(u8R"(a /* b */)");', 'f(u8R"(a /* c */)");'),
    "the prefix of a string": ('f(u8"a");', 'f(u8 "a");'),
    "operators that touch": ("a = b + +c;", "a = b ++c;"),
    "shifts and brackets": ("a > > b", "a >> b"),
    "code that becomes a comment": ("int a; int b;", "int a; // int b;"),
    "where a macro ends": ("#define A 1\nint a;\n", "#define A 1 int a;\n"),
    "a macro's parameters": ("#define A(b) b\n", "#define A (b) b\n"),
    "what is included": ("#include <a/b.h>\n", "#include <a/c.h>\n"),
    "an order": ("int a; int b;", "int b; int a;"),
}

for what, (one, other) in SAME.items():
    assert code_hash.normalised(one) == code_hash.normalised(other), f"{what} counts: {code_hash.normalised(one)!r}, {code_hash.normalised(other)!r}"
for what, (one, other) in OTHER.items():
    assert code_hash.normalised(one) != code_hash.normalised(other), f"{what} does not count: {code_hash.normalised(one)!r}"

included = code_hash.included(code_hash.normalised('// #include <a.h>\n#include <b/c.h>  // d\n#  include "e.h"\n/* #include <f.h> */\nint a;\n#include G\n'))
assert included == ["b/c.h", "e.h"], included
