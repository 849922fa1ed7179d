"""Mistakes in the fragments of a warp's matrix unit: a damaged copy of the built-in tensor_core, on the emulated device."""
import json
import pathlib
from dataclasses import dataclass

import cli
import run_pack

SPACES = """version: 1
default: acme
spaces:
  acme:
    extends: cuda
    target: {with+: [acme]}
    modules+: [{use: tensor_core, before: multi_level_tiling, options: {unit: acme}}]
    search: {kind: random, max_empty_draws: 400}
    cost_model: {kind: random}
"""
ZERO = "for (int e = 0; e < 8; ++e) C[e] = 0;"
STORE = "wmma_store<0>(O, C, O_stride);"


@dataclass(frozen=True)
class Damage:
    name: str
    right: str
    wrong: str
    cause: str
    says: str  # in the run's message
    verified: bool = True
    why: str = ""  # why the kit does not see it

    def text(self):
        text = right()
        assert text.count(self.right) > 0, self
        return text.replace(self.right, self.wrong)


def right():
    return (pathlib.Path(__file__).parents[2] / "packs/tensor_core/tensor_core.yaml").read_text().replace("tensor_core", "acme")


DAMAGES = [
    Damage("results lie as if columns were rows", STORE, "wmma_store<1>(O, C, O_stride);", "wrong_result", "reference"),
    Damage("one register of the sums is not cleared", ZERO, ZERO.replace("e < 8", "e < 7"), "wrong_result", "reference"),
    Damage("no register of the sums is cleared", ZERO, "(void)C;", "wrong_result", "reference"),
    Damage("rows of results are taken to be together", STORE, "wmma_store<0>(O, C, 16);", "wrong_result", "race",
           verified=False, why="in the one program that the kit makes they are together"),
    Damage("a thread writes what others write before they have done", STORE, f"for (int i = 0; i < 16; ++i) (O)[i] = 0; {STORE}", "wrong_result", "race"),
    Damage("a function is misspelt", STORE, STORE.replace("store", "stor"), "compile_error", "wmma_stor"),
]


def tune(folder, text):
    run_pack.write_pack(folder, {"acme": text})
    (folder / "spaces.yaml").write_text(SPACES)
    (folder / "work.yaml").write_text("name: product\ninputs: {A: {shape: [32, 32], dtype: f16}, B: {shape: [32, 32], dtype: f16}}\n"
                                      "compute: |\n  C[i<32, j<32] = sum(k<32) f32(A[i, k]) * f32(B[k, j])\noutputs: [C]\n")
    return run_pack.tune(folder, trials=8)


def check(folder, table):
    good = tune(folder / "right", right())
    assert good.code == 0 and good.called and good.plain and not good.result["failures"], good
    for number, damage in enumerate(DAMAGES):
        at = folder / str(number)
        tuned = tune(at, damage.text())
        context = (damage.name, tuned.code, tuned.result.get("first_failures"), tuned.said[-2000:])
        assert tuned.code == 0 and tuned.plain == good.plain and not tuned.plain_failed, context
        assert not tuned.called and tuned.refused == {damage.cause: len(good.called)}, (tuned.called, tuned.refused, context)
        line = next(i for i, text in enumerate(damage.text().split("\n"), 1) if damage.wrong in text)
        said = tuned.result["first_failures"][damage.cause]
        assert damage.says in said and f"acme.yaml:{line}: tensor intrinsic acme_" in said, (line, context)
        outcome = "not asked"
        if damage.verified:
            code, failed = run_pack.verify(at)
            assert code == 4 and f"acme.yaml:{line}: " in failed["intrinsics"], (damage.name, line, failed)
            outcome = "failed: intrinsics"
        table(damage.name, f"{damage.cause} {len(good.called)}", outcome)
