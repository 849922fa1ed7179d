"""Every public name has a docstring, and tools/python-api prints it."""
import inspect
import os
import pathlib
import runpy

import pytest

import tunesmith as ts

SOURCES = os.environ.get("TUNESMITH_SOURCES")


def undocumented():
    """Dotted names without a docstring; a signature or a base class's docstring does not count."""
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
def test_the_reference_has_every_name():
    page = runpy.run_path(str(pathlib.Path(SOURCES) / "tools/python-api"))["page"]()
    missing = [name for name in ts.__all__ if f"### {name}\n" not in page and f"`{name}`" not in page and f"`tunesmith.{name}`" not in page]
    assert missing == [] and inspect.getdoc(ts.tune).partition(":")[0] in page
