"""Type checkers: the stub is complete, and the code of README, pages and notebooks passes."""
import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

SOURCES = os.environ.get("TUNESMITH_SOURCES")
#: Names that pages do not define.
GIVEN = """from typing import Any

images: Any = ...
model: Any = ...
torch: Any = ...
x: Any = ...

"""
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```", re.M | re.S)
#: A plugin's file that the code writes.
FILE = re.compile(r"""Path\("(\w+\.py)"\)\.write_text\('''\n(.*?)'''\)""", re.S)
#: Lines that every checker refuses.
WRONG = ["import tunesmith as ts", "schedule = ts.Schedule('gmm')", "loop = schedule.get_loops(schedule.get_block('C'))[0]"]
REFUSED = [
    "schedule.splitt(loop, [None, 4])", "schedule.split(loop)", "schedule.split('i', [None, 4])", "schedule.parallel(schedule.get_block('C'), 1)", "ts.tune('gmm', trials='many')",
    "ts.tune(['gmm', 'softmax']).best", "ts.tune('gmm').best.seconds + 1", "ts.tune(['gmm'], goal='each')", "ts.tune('gmm', candidate_timeout=1)", "ts.Task('gmm', trails=3)", "ts.Space('cpu').sketchs('gmm')",
    "ts.Records('r.db').best(3)", "ts.network.read('model.onnx').tune()",
]

pytestmark = pytest.mark.skipif(SOURCES is None, reason="TUNESMITH_SOURCES does not name the sources")


def programs():
    """Name and text of each program: the blocks of a page, or the cells of a notebook."""
    root = pathlib.Path(SOURCES)
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        blocks = BLOCK.findall(page.read_text())
        if blocks:
            yield from with_files(page.stem.replace("-", "_").lower(), GIVEN + "\n".join(blocks))
    for book in sorted((root / "docs/notebooks").glob("*.ipynb")):
        cells = [cell for cell in json.loads(book.read_text())["cells"] if cell["cell_type"] == "code"]
        yield from with_files(book.stem.replace("-", "_"), "\n".join("".join(cell["source"]) for cell in cells))


def with_files(name, text):
    yield name, text
    for file, plugin in FILE.findall(text):
        yield f"{name}_{file.removesuffix('.py')}", plugin


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """A folder with all programs."""
    folder = tmp_path_factory.mktemp("code")
    for name, text in programs():
        (folder / f"{name}.py").write_text(text)
    assert {"readme", "python", "first_kernel", "python_rows", "own_module_rows", "searchers_climb"} <= {file.stem for file in folder.iterdir()}
    return folder


CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-incremental", "--cache-dir=/dev/null"],
    "pyright": ["pyright"],
}


def checked(checker, folder, *arguments):
    """Runs a checker there; returns its exit code and output."""
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    # Pyright asks the first Python in PATH where packages are.
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, "-m", *CHECKERS[checker], *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=600, env=environment)
    if checker == "pyright" and done.returncode not in (0, 1):
        pytest.skip(f"pyright cannot be run here: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_pages_show_is_accepted(checker, code):
    status, said = checked(checker, code, *sorted(code.glob("*.py")))
    assert status == 0, said


@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_found(checker, tmp_path):
    (tmp_path / "wrong.py").write_text("\n".join([*WRONG, *REFUSED]) + "\n")
    status, said = checked(checker, tmp_path, "wrong.py")
    lines = {int(line) - len(WRONG) for line in re.findall(r"wrong\.py:(\d+):.* error\b", said)}
    assert status == 1 and lines == set(range(1, len(REFUSED) + 1)), said


def test_the_package_passes_itself(package, tmp_path):
    unchecked = [] if importlib.util.find_spec("torch") else ["torch_backend.py", "_torch_steps.py"]
    (tmp_path / "tunesmith").mkdir()
    for file in [*package.glob("*.py"), package / "_tunesmith.pyi", package / "py.typed"]:
        if file.name not in unchecked:
            shutil.copy(file, tmp_path / "tunesmith")
    status, said = checked("mypy", tmp_path, "--ignore-missing-imports", "--disable-error-code=import-untyped", "-p", "tunesmith")
    assert status == 0, said


def test_all_that_is_public_has_a_type(tmp_path):
    status, said = checked("pyright", tmp_path, "--verifytypes", "tunesmith", "--ignoreexternal")
    assert "completeness score: 100%" in said, said


def members(cls):
    """The public names of a class or module."""
    return {name for name in vars(cls) if not name.startswith("_")}


def test_the_stub_is_of_this_extension(package):
    from tunesmith import _tunesmith

    tree = ast.parse((package / "_tunesmith.pyi").read_text())
    classes = {node.name: {getattr(one, "name", getattr(getattr(one, "target", None), "id", "_")) for one in node.body} for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {*classes, *functions} == members(_tunesmith)
    for name, listed in classes.items():
        assert {one for one in listed if not one.startswith("_")} == members(getattr(_tunesmith, name)), name


def test_every_primitive_has_its_signature(package):
    import tunesmith as ts

    stub = (package / "_tunesmith.pyi").read_text()
    schedule = stub[stub.index("class Schedule:"):]
    for name in ts.primitives():
        assert f"    def {name}(self" in schedule, name
    assert "def split(self, loop: Loop, " in schedule and "-> list[Loop]:" in schedule
