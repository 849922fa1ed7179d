"""The correct packs in which mistakes are made: each unit's file, a workload that it can compute, and a schedule that calls it."""
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Unit:
    semantics: str  # of acme_op
    arguments: str
    fragment: str
    workload: str  # its output is O, 8 x 32
    head: str = ""  # lines before `intrinsics:`
    operands: str = ""
    script: str = ""  # after i, j = get_loops(block)
    intrinsic: str = ""  # an intrinsic of LLVM in the place of a fragment

    def text(self):
        """acme.yaml"""
        if self.intrinsic:
            code = f"    implementation: {{intrinsic: {self.intrinsic}, arguments: [{self.arguments}]}}\n"
        else:
            code = f"    implementation:\n      arguments: [{self.arguments}]\n      fragment: |\n" + indented(self.fragment, 8)
        return f"""extension: acme
description: An instruction of Acme's.
target: llvm
{self.head}intrinsics:
  - name: acme_op
    semantics: |
{indented(self.semantics, 8)}{self.operands}{code}"""

    def workload_text(self):
        return f"name: acme_work\n{self.workload}outputs: [O]\n"


def indented(text, columns):
    return "".join(" " * columns + line + "\n" for line in text.strip("\n").split("\n"))


LANES = """
v0, v1 = sample_perfect_tile(i, n=2, max_innermost=4)
i0, i1 = split(i, [v0, v1])
j0, j1 = split(j, [None, 16])
t = tensorize(j1, "acme_op")
parallel(i0)
"""
TILES = """
i0, i1 = split(i, [None, 4])
j0, j1 = split(j, [None, 16])
reorder([j0, i1, j1])
t = tensorize(i1, "acme_op")
parallel(i0)
"""
STEPS = """
j0, j1 = split(j, [None, 16])
k0, k1 = split(k, [None, 4])
reorder([k0, j1, k1])
init = decompose_reduction(block, k0)
t = tensorize(j1, "acme_op")
parallel(i)
"""


def of_lanes(inputs, compute, dtype, fragment, **more):
    """A unit with one vector of 16 for each input, and a workload that does the same to matrices."""
    wide = compute.replace("[j]", "[i, j]")
    return Unit(
        semantics="inputs: {" + ", ".join(f"{name}: {{shape: [16], dtype: {dtype}}}" for name in inputs) + "}\n"
                  + f"compute: |\n  O[j<16] = {compute}\noutputs: [O]",
        arguments=", ".join(inputs), fragment=fragment, script=LANES,
        workload="inputs: {" + ", ".join(f"{name}: {{shape: [8, 32], dtype: {dtype}}}" for name in inputs) + "}\n"
                 + f"compute: |\n  O[i<8, j<32] = {wide}\n", **more)


def of_steps(a, b, widen_a, widen_b):
    """A unit that adds four steps of products to 16 sums."""
    lines = [f"%bw = {widen_b} <64 x {b[0]}> %B to <64 x i32>", f"%aw = {widen_a} <4 x {a[0]}> %A to <4 x i32>"]
    for k in range(4):
        b_lanes = ", ".join(f"i32 {4 * j + k}" for j in range(16))
        a_lanes = ", ".join([f"i32 {k}"] * 16)
        lines += [f"%b{k} = shufflevector <64 x i32> %bw, <64 x i32> poison, <16 x i32> <{b_lanes}>",
                  f"%a{k} = shufflevector <4 x i32> %aw, <4 x i32> poison, <16 x i32> <{a_lanes}>",
                  f"%p{k} = mul <16 x i32> %a{k}, %b{k}"]
    lines += ["%s0 = add <16 x i32> %C, %p0", "%s1 = add <16 x i32> %s0, %p1", "%s2 = add <16 x i32> %s1, %p2",
              "%r = add <16 x i32> %s2, %p3", "ret <16 x i32> %r"]
    return Unit(
        semantics=f"inputs: {{A: {{shape: [4], dtype: {a[1]}}}, B: {{shape: [16, 4], dtype: {b[1]}}}}}\n"
                  "compute: |\n  C[j<16] = sum(k<4) i32(A[k]) * i32(B[j, k])\noutputs: [C]",
        arguments="C, A, B", fragment="\n".join(lines), script=STEPS,
        workload=f"inputs: {{A: {{shape: [8, 16], dtype: {a[1]}}}, B: {{shape: [2, 4, 16, 4], dtype: {b[1]}}}}}\n"
                 "compute: |\n  O[i<8, j<32] = sum(k<16) i32(A[i, k]) * i32(B[j // 16, k // 4, j % 16, k % 4])\n")


SETUP = """setup:
  process: |
    @acme_ready = linkonce_odr global i32 0
    store i32 1, ptr @acme_ready
    ret i32 0
"""
UNITS = {
    "relu": of_lanes("X", "max(X[j], 0)", "f32", """
%z = fcmp ogt <16 x float> %X, zeroinitializer
%r = select <16 x i1> %z, <16 x float> %X, <16 x float> zeroinitializer
ret <16 x float> %r"""),
    "copy": of_lanes("X", "X[j]", "f32", """
ret <16 x float> %X"""),
    "product_i32": of_lanes("XY", "X[j] * Y[j]", "i32", """
%r = mul <16 x i32> %X, %Y
ret <16 x i32> %r"""),
    "product_i64": of_lanes("XY", "X[j] * Y[j]", "i64", """
%r = mul <16 x i64> %X, %Y
ret <16 x i64> %r"""),
    "difference": of_lanes("XY", "X[j] - Y[j]", "f32", """
%r = fsub <16 x float> %X, %Y
ret <16 x float> %r"""),
    "absolute": of_lanes("X", "abs(X[j])", "f32", """
declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
%r = call <16 x float> @llvm.fabs.v16f32(<16 x float> %X)
ret <16 x float> %r"""),
    "widen": of_lanes("X", "i32(X[j])", "i8", """
%r = sext <16 x i8> %X to <16 x i32>
ret <16 x i32> %r"""),
    "dot_i32": of_steps(("i32", "i32"), ("i32", "i32"), "bitcast", "bitcast"),
    "dot_u8i8": of_steps(("i8", "u8"), ("i8", "i8"), "zext", "sext"),
    "tile": Unit(
        semantics="inputs: {M: {shape: [4, 16], dtype: f32}}\ncompute: |\n  O[i<4, j<16] = M[i, j] + M[i, j]\noutputs: [O]",
        arguments="O, M", operands="    operands: {M: {strides: [1n, 1], pass: address}, O: {strides: [1n, 1], pass: address}}\n",
        fragment="""
br label %start
start:
br label %row
row:
%i = phi i64 [ 0, %start ], [ %next, %row ]
%from = mul i64 %i, %M_stride
%to = mul i64 %i, %O_stride
%m = getelementptr float, ptr %M, i64 %from
%o = getelementptr float, ptr %O, i64 %to
%v = load <16 x float>, ptr %m, align 4
%w = fadd <16 x float> %v, %v
store <16 x float> %w, ptr %o, align 4
%next = add i64 %i, 1
%more = icmp ult i64 %next, 4
br i1 %more, label %row, label %done
done:
ret void""", script=TILES,
        workload="inputs: {M: {shape: [8, 32], dtype: f32}}\ncompute: |\n  O[i<8, j<32] = M[i, j] + M[i, j]\n"),
    "switched_on": of_lanes("X", "max(X[j], 0)", "f32", """
@acme_ready = linkonce_odr global i32 0
%on = load i32, ptr @acme_ready
%is = icmp eq i32 %on, 1
%z = fcmp ogt <16 x float> %X, zeroinitializer
%r = select <16 x i1> %z, <16 x float> %X, <16 x float> zeroinitializer
%s = select i1 %is, <16 x float> %r, <16 x float> zeroinitializer
ret <16 x float> %s""", head=SETUP),
}
UNITS["vnni"] = replace(UNITS["dot_u8i8"], intrinsic="llvm.x86.avx512.vpdpbusd.512", head="requires: [avx512vnni]\n")
UNITS["by_address"] = replace(UNITS["copy"], arguments="O, X", operands="    operands: {X: {pass: address}, O: {pass: address}}\n", fragment="""
%x = load <16 x float>, ptr %X, align 4
store <16 x float> %x, ptr %O, align 4
ret void""")
