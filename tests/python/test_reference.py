"""Every public name has a docstring, and docs/python-api.md is what they say."""
import inspect
import os
import pathlib
import runpy

import pytest

import tunesmith as ts

SOURCES = os.environ.get("TUNESMITH_SOURCES")


def undocumented():
    """Dotted names without a text of their own: a signature, or what a base class says, is none."""
    for name in ts.__all__:
        thing = getattr(ts, name)
        if type(thing).__name__ == "DataType":
            assert inspect.getdoc(thing)
        else:
            yield from undocumented_in(name, thing)


def undocumented_in(name, thing):
    if not text_of(thing):
        yield name
    for member, value in vars(thing).items() if isinstance(thing, type) or inspect.ismodule(thing) else ():
        function = value.__func__ if isinstance(value, staticmethod) else value
        if member.startswith("_") or not (callable(function) or isinstance(value, property)):
            continue
        if not inspect.ismodule(thing):
            if not text_of(function):
                yield f"{name}.{member}"
        elif function.__module__ == thing.__name__:
            yield from undocumented_in(f"{name}.{member}", function)


def text_of(thing):
    text = (getattr(thing, "__doc__", None) or "").strip()
    lines = [line for line in text.splitlines() if not line.startswith(f"{getattr(thing, '__name__', ' ')}(")]
    return "\n".join(lines).strip()


def test_every_public_name_has_a_docstring():
    assert list(undocumented()) == []


@pytest.mark.skipif(SOURCES is None, reason="TUNESMITH_SOURCES does not name the sources")
def test_the_page_is_what_they_say():
    tool = runpy.run_path(str(pathlib.Path(SOURCES) / "tools/python-api"))
    page = (pathlib.Path(SOURCES) / "docs/python-api.md").read_text()
    assert tool["page"]() == page, "docs/python-api.md is not up to date: python tools/python-api > docs/python-api.md, with the package installed"
