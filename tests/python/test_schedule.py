"""Schedules, traces and programs: built, printed, compared, run."""
import pickle

import numpy
import pytest

import tunesmith as ts


def tiled():
    schedule = ts.Schedule("gmm:n=16,m=16,k=8")
    block = schedule.get_block("C")
    loops = schedule.get_loops(block)
    outer, inner = schedule.split(loops[1], [None, 4])
    schedule.parallel(outer)
    return schedule, block, loops, (outer, inner)


def operands():
    random = numpy.random.default_rng(0)
    return [random.random(shape, dtype="float32") for shape in ((1, 16, 8), (1, 8, 16))]


def test_primitives_are_methods():
    schedule, block, loops, (outer, inner) = tiled()
    assert isinstance(block, ts.Block) and isinstance(outer, ts.Loop) and len(loops) == 4
    assert "parallel" in str(schedule.program) and "split" in str(schedule.trace)
    assert len(schedule.execute("get_loops", block)) == 5
    assert {"split", "tensorize", "sample_perfect_tile"} <= set(dir(schedule)) and "split" in ts.primitives()
    assert "loop" in ts.Schedule.help("split")


def test_every_primitive_is_reachable():
    schedule = ts.Schedule("gmm:n=16,m=16,k=8")
    for name in ts.primitives():
        assert callable(getattr(schedule, name)) and name in dir(schedule) and f"{name}(self" in getattr(ts.Schedule, name).__doc__
        assert ts.Schedule.help(name).startswith(name)


def test_names_and_keywords():
    schedule = ts.Schedule("gmm:n=16,m=16,k=8")
    loops = schedule.get_loops(schedule.get_block("C"))
    factors = schedule.sample_perfect_tile(loops[1], n=2, max_innermost=8, decision=[4, 4])
    assert [schedule.value(factor) for factor in factors] == [4, 4]
    schedule.split(loops[1], factors)
    assert "@ [4, 4]" in str(schedule.trace)
    numbers = [schedule.value(factor) for factor in schedule.sample_perfect_tile(loops[2], 2, 8)]
    assert numbers[0] * numbers[1] == 16


def test_it_computes_what_it_did():
    A, B = operands()
    schedule, *_ = tiled()
    C = schedule.program.run(A, B)
    assert C.shape == (1, 16, 16) and C.dtype == numpy.float32
    numpy.testing.assert_allclose(C, A @ B, rtol=1e-5)
    numpy.testing.assert_array_equal(C, ts.Workload("gmm:n=16,m=16,k=8").program.run(A, B))


def test_traces_replay():
    schedule, *_ = tiled()
    trace = schedule.trace
    assert trace.schedule().program == schedule.program
    parsed = ts.Trace.parse(str(trace))
    assert parsed == trace and hash(parsed) == hash(trace) and len(parsed) == len(parsed.lines) == 4
    with pytest.raises(ts.UserError, match="name the workload"):
        parsed.schedule()
    continued = parsed.schedule("gmm:n=16,m=16,k=8")
    continued.unroll(continued.get_loops(continued.get_block("C"))[-1])
    assert continued.trace != trace and "+" in trace.diff(continued.trace)
    assert continued.program != schedule.program
    assert pickle.loads(pickle.dumps(trace)).schedule().program == schedule.program


def test_copies_are_independent():
    schedule, block, loops, (outer, inner) = tiled()
    copy = schedule.copy()
    copy.unroll(inner)
    assert copy.program != schedule.program
    before = str(schedule.program)
    program = schedule.program
    schedule.unroll(inner)
    assert str(program) == before


def test_what_is_refused_leaves_the_schedule_as_it_was():
    schedule, block, loops, _ = tiled()
    before = str(schedule.program), str(schedule.trace)
    with pytest.raises(ts.ScheduleError) as caught:
        schedule.parallel(loops[-1])
    assert caught.value.primitive == "parallel" and caught.value.reason and "^" in str(caught.value)
    assert (str(schedule.program), str(schedule.trace)) == before
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_mistakes_are_said_in_words():
    schedule, block, loops, (outer, inner) = tiled()
    other = ts.Schedule("gmm:n=16,m=16,k=8")
    with pytest.raises(ts.UserError, match="another schedule"):
        other.parallel(outer)
    with pytest.raises(AttributeError, match="did you mean 'parallel'"):
        schedule.paralel(outer)
    with pytest.raises(ts.UserError, match="split.*lacks 'factors'"):
        schedule.split(outer)
    with pytest.raises(ts.UserError, match="has no 'factor'.*factors"):
        schedule.split(outer, [2], factor=3)
    with pytest.raises(ts.UserError, match="did you mean 'split'"):
        schedule.execute("splt", outer)
    with pytest.raises(ts.ScheduleMisuse):
        schedule.split(loops[1], [2, 2])
    with pytest.raises(ts.UserError, match="trace:2:") as caught:
        ts.Trace.parse("# tunesmith trace 2\nb0 = get_blok(\"C\")\n")
    assert str(caught.value).splitlines()[-1].strip() == "^"


def test_the_interpreter_takes_what_fits():
    program = ts.Workload("gmm:n=16,m=16,k=8").program
    A, B = operands()
    with pytest.raises(ts.UserError, match=r"argument 2, 'B': expected f32\[1, 8, 16\], not f64\[1, 8, 16\]"):
        program.run(A, B.astype("float64"))
    with pytest.raises(ts.UserError, match="expected 2 arrays"):
        program.run(A)


def test_html():
    schedule, *_ = tiled()
    assert schedule.trace._repr_html_().startswith("<pre># tunesmith trace")
    assert "<pre>" in schedule.program._repr_html_() and "parallel" in schedule.program._repr_html_()
