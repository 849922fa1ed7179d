"""Spaces: the built-in ones, and those of a file."""
import numpy
import pytest

import tunesmith as ts


def test_a_file_of_spaces(spaces):
    file = ts.Space.load(spaces)
    assert list(file) == ["mine"] and len(file) == 1 and "mine" in file and "yours" not in file
    space = file["mine"]
    assert space.name == "mine" and space.description == "what the tests tune" and "multi_level_tiling" in space.modules
    assert "mine" in repr(space) and space.target


def test_the_spaces_that_come_along():
    assert {"cpu", "cpu-paper"} <= set(ts.Space.load())
    assert ts.Space().name == "cpu" and "target:llvm" in ts.Space("cpu").plugins


def test_sketches_are_schedules():
    space = ts.Space("cpu")
    sketches = space.sketches("gmm:n=32,m=32,k=32")
    assert len(sketches) > 1 and all(isinstance(sketch, ts.Schedule) for sketch in sketches)
    A, B = (numpy.random.default_rng(seed).random((1, 32, 32), dtype="float32") for seed in (1, 2))
    for sketch in sketches:
        again = sketch.trace.schedule()
        assert again.program == sketch.program
        lowered = space.lower(sketch.trace)
        assert lowered.is_lowered
        numpy.testing.assert_allclose(lowered.run(A, B), A @ B, rtol=1e-4)


def test_it_says_why_a_module_declined():
    events = ts.Space("cpu").explain("softmax")
    assert {event["status"] for event in events} == {"applied", "declined"}
    assert all(event["reason"] for event in events if event["status"] == "declined")


def test_mistakes_are_said_in_words(tmp_path, spaces):
    with pytest.raises(ts.UserError, match="did you mean 'cpu'"):
        ts.Space("cpv")
    with pytest.raises(ts.UserError, match="mine"):
        ts.Space.load(spaces)["mime"]
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(spaces.read_text().replace("extends: cpu", "extend: cpu"))
    with pytest.raises(ts.UserError) as caught:
        ts.Space.load(wrong)
    assert caught.value.line == 6 and str(caught.value).splitlines()[-1].strip() == "^"


def test_packs_that_pip_left_writable_by_the_group_are_trusted(package, python):
    """Under umask 002, pip makes the whole package writable by the group."""
    changed = [path for path in (package, *package.rglob("*")) if not path.is_symlink()]
    modes = {path: path.stat().st_mode for path in changed}
    try:
        for path, mode in modes.items():
            path.chmod(mode | 0o020)
        assert python('import tunesmith as ts; print(len(ts.Space("cpu").sketches("softmax")) > 0)') == "True\n"
        # Others must not be able to write it, even in the kernel's folder.
        plugin = package / "lib/tunesmith/plugins/llvm.so"
        plugin.chmod(modes[plugin] | 0o002)
        script = """
import tunesmith as ts
try:
    ts.Space("cpu")
except ts.Error as error:
    print("everybody" in str(error))
"""
        assert python(script) == "True\n"
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
