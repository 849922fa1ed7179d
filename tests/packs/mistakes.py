"""Mistakes that a vendor makes in good faith: each changes the text of a correct pack, and says what must happen."""
from dataclasses import dataclass

from units import UNITS


@dataclass(frozen=True)
class Mistake:
    kind: str  # edge, width, memory, mode, state, line
    name: str
    unit: str
    edits: tuple  # (right, wrong) texts; the right one occurs once in the unit's fields
    refused: tuple  # the possible causes for candidates that call the instruction; or ("lint",): no candidate may call it
    says: str = ""  # in the message
    line: str = ""  # the text of the named line; "": the fragment's first line
    verified: str = "intrinsics"  # the check of `plugins verify` that fails; "": none can see it
    why: str = ""  # why no check sees it
    mcpu: str = "native"
    threads: int = 1
    options: tuple = ()  # of tune
    limit: int = 60  # seconds for each check of the kit

    def text(self):
        text = UNITS[self.unit].text()
        for right, wrong in self.edits:
            assert text.count(right) == 1, (self.name, right, text)
            text = text.replace(right, wrong)
        return text

    def place(self):
        """acme.yaml:LINE"""
        lines = self.text().split("\n")
        if self.line:
            return f"acme.yaml:{next(i for i, line in enumerate(lines, 1) if self.line in line)}"
        return f"acme.yaml:{max(i for i, line in enumerate(lines, 1) if line.strip() == 'fragment: |') + 1}"


WRONG = ("wrong_result",)
LANE_15 = "i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14"


def before_return(unit, code):
    """Inserts `code` before the last line of the unit's fragment."""
    last = UNITS[unit].fragment.strip("\n").split("\n")[-1]
    return ((" " * 8 + last, "".join(f"        {line}\n" for line in code.strip("\n").split("\n")) + "        " + last),)


def result(unit, code, of):
    """The fragment returns %w instead, which `code` makes of the right result."""
    last = UNITS[unit].fragment.strip("\n").split("\n")[-1]
    return ((" " * 8 + last, "".join(f"        {line}\n" for line in code.strip("\n").split("\n")) + f"        ret <16 x {of}> %w"),)


def mode(code):
    return before_return("relu", "%m = alloca i32\n" + code)


EDGES = [
    Mistake("edge", "a relu is clamped at 6", "relu",
            result("relu", "%c = fcmp olt <16 x float> %r, splat (float 6.0)\n%w = select <16 x i1> %c, <16 x float> %r, <16 x float> splat (float 6.0)", "float"), WRONG),
    Mistake("edge", "a relu passes NaN on", "relu", (("fcmp ogt <16 x float> %X, zeroinitializer", "fcmp ugt <16 x float> %X, zeroinitializer"),), WRONG),
    Mistake("edge", "a product of the low 16 bits", "product_i32",
            (("%r = mul <16 x i32> %X, %Y", "%x = trunc <16 x i32> %X to <16 x i16>\n        %y = trunc <16 x i32> %Y to <16 x i16>\n"
              "        %xw = sext <16 x i16> %x to <16 x i32>\n        %yw = sext <16 x i16> %y to <16 x i32>\n        %r = mul <16 x i32> %xw, %yw"),), WRONG),
    Mistake("edge", "a product of the low 24 bits", "product_i32",
            (("%r = mul <16 x i32> %X, %Y", "%xs = shl <16 x i32> %X, splat (i32 8)\n        %x = ashr <16 x i32> %xs, splat (i32 8)\n"
              "        %ys = shl <16 x i32> %Y, splat (i32 8)\n        %y = ashr <16 x i32> %ys, splat (i32 8)\n        %r = mul <16 x i32> %x, %y"),), WRONG),
    Mistake("edge", "a product of the low 32 bits", "product_i64",
            (("%r = mul <16 x i64> %X, %Y", "%x = trunc <16 x i64> %X to <16 x i32>\n        %y = trunc <16 x i64> %Y to <16 x i32>\n"
              "        %xw = sext <16 x i32> %x to <16 x i64>\n        %yw = sext <16 x i32> %y to <16 x i64>\n        %r = mul <16 x i64> %xw, %yw"),), WRONG),
    Mistake("edge", "sums saturate", "dot_i32",
            (("%r = add <16 x i32> %s2, %p3", "declare <16 x i32> @llvm.sadd.sat.v16i32(<16 x i32>, <16 x i32>)\n"
              "        %r = call <16 x i32> @llvm.sadd.sat.v16i32(<16 x i32> %s2, <16 x i32> %p3)"),), WRONG),
    Mistake("edge", "pairs of products saturate at 16 bits", "dot_u8i8",
            (("%s0 = add <16 x i32> %C, %p0\n        %s1 = add <16 x i32> %s0, %p1",
              "declare <16 x i32> @llvm.smin.v16i32(<16 x i32>, <16 x i32>)\n        %q = add <16 x i32> %p0, %p1\n"
              "        %m = call <16 x i32> @llvm.smin.v16i32(<16 x i32> %q, <16 x i32> splat (i32 32767))\n        %s1 = add <16 x i32> %C, %m"),), WRONG),
    Mistake("edge", "an unsigned factor is taken as signed", "dot_u8i8", (("zext <4 x i8>", "sext <4 x i8>"),), WRONG),
    Mistake("edge", "a signed factor is taken as unsigned", "dot_u8i8", (("sext <64 x i8>", "zext <64 x i8>"),), WRONG),
    Mistake("edge", "a signed number is widened as unsigned", "widen", (("sext", "zext"),), WRONG),
    Mistake("edge", "the largest unsigned byte becomes 254", "dot_u8i8",
            (("%aw = zext <4 x i8> %A to <4 x i32>", "%az = zext <4 x i8> %A to <4 x i32>\n        %at = icmp eq <4 x i32> %az, splat (i32 255)\n"
              "        %aw = select <4 x i1> %at, <4 x i32> splat (i32 254), <4 x i32> %az"),), WRONG),
    Mistake("edge", "floats go through bf16", "copy",
            (("ret <16 x float> %X", "%b = bitcast <16 x float> %X to <16 x i32>\n        %h = and <16 x i32> %b, splat (i32 -65536)\n"
              "        %w = bitcast <16 x i32> %h to <16 x float>\n        ret <16 x float> %w"),), WRONG),
    Mistake("edge", "floats go through f16", "copy",
            (("ret <16 x float> %X", "%b = fptrunc <16 x float> %X to <16 x half>\n        %w = fpext <16 x half> %b to <16 x float>\n        ret <16 x float> %w"),), WRONG),
    Mistake("edge", "subnormal numbers become zero", "copy",
            (("ret <16 x float> %X", "declare <16 x float> @llvm.fabs.v16f32(<16 x float>)\n        %a = call <16 x float> @llvm.fabs.v16f32(<16 x float> %X)\n"
              "        %d = fcmp olt <16 x float> %a, splat (float 0x3810000000000000)\n"
              "        %w = select <16 x i1> %d, <16 x float> zeroinitializer, <16 x float> %X\n        ret <16 x float> %w"),), WRONG),
    Mistake("edge", "an absolute value keeps its sign", "absolute", result("absolute", "%w = fadd <16 x float> %X, zeroinitializer", "float"), WRONG),
    Mistake("edge", "an infinity becomes the largest number", "copy",
            (("ret <16 x float> %X", "%i = fcmp oeq <16 x float> %X, splat (float 0x7FF0000000000000)\n"
              "        %w = select <16 x i1> %i, <16 x float> splat (float 0x47EFFFFFE0000000), <16 x float> %X\n        ret <16 x float> %w"),), WRONG),
    Mistake("edge", "lanes are off by one", "copy",
            (("ret <16 x float> %X", f"%w = shufflevector <16 x float> %X, <16 x float> poison, <16 x i32> <{LANE_15[7:]}, i32 15, i32 0>\n        ret <16 x float> %w"),), WRONG),
    Mistake("edge", "the last lane is the one before it", "copy",
            (("ret <16 x float> %X", f"%w = shufflevector <16 x float> %X, <16 x float> poison, <16 x i32> <{LANE_15}, i32 14>\n        ret <16 x float> %w"),), WRONG),
    Mistake("edge", "the sums so far are ignored", "dot_i32", (("add <16 x i32> %C, %p0", "add <16 x i32> zeroinitializer, %p0"),), WRONG),
    Mistake("edge", "the sums so far are added twice", "dot_i32", (("add <16 x i32> %s2, %p3", "add <16 x i32> %s2, %p3\n        %t = add <16 x i32> %r, %C"),
                                                                   ("ret <16 x i32> %r", "ret <16 x i32> %t")), WRONG),
    Mistake("edge", "a step is left out", "dot_u8i8", (("add <16 x i32> %s2, %p3", "add <16 x i32> %s2, zeroinitializer"),), WRONG),
    Mistake("edge", "a difference is taken the other way", "difference", (("fsub <16 x float> %X, %Y", "fsub <16 x float> %Y, %X"),), WRONG),
]

LINT = ("lint",)
WIDTHS = [
    Mistake("width", "half a vector is returned", "relu", (("ret <16 x float> %r", "%h = shufflevector <16 x float> %r, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>\n        ret <8 x float> %h"),),
            LINT, "<8 x float>", "ret <8 x float>"),
    Mistake("width", "arguments in another order", "vnni", (("[C, A, B]", "[C, B, A]"),), WRONG, line="intrinsic: llvm"),
    Mistake("width", "an argument of an intrinsic is missing", "vnni", (("[C, A, B]", "[C, A]"),), LINT, "", "intrinsic: llvm"),
    Mistake("width", "an argument is missing", "difference", (("arguments: [X, Y]", "arguments: [X]"),), LINT, "Y", "%r = fsub"),
    Mistake("width", "semantics of another type", "relu", (("shape: [16], dtype: f32", "shape: [16], dtype: i32"),), LINT),
]

COPIED = {"verified": "", "why": "the kit copies operands whose rows may be any distance apart to the middle of its own memory"}
MEMORY = [
    Mistake("memory", "the distance of rows is ignored", "tile", (("mul i64 %i, %M_stride", "mul i64 %i, 16"),), WRONG),
    Mistake("memory", "the distance of rows is taken in bytes", "tile", (("getelementptr float, ptr %M", "getelementptr i8, ptr %M"),), WRONG),
    Mistake("memory", "a row more is read", "tile",
            (("done:\n", "done:\n        %beyond = mul i64 4, %M_stride\n        %bp = getelementptr float, ptr %M, i64 %beyond\n        %bv = load volatile <16 x float>, ptr %bp, align 4\n"),),
            ("out_of_bounds",), **COPIED),
    Mistake("memory", "an element more is written", "tile",
            (("done:\n", "done:\n        %beyond = mul i64 3, %O_stride\n        %one = add i64 %beyond, 16\n        %bp = getelementptr float, ptr %O, i64 %one\n        store float 7.0, ptr %bp, align 4\n"),),
            ("out_of_bounds", "wrong_result"), **COPIED),
    Mistake("memory", "an input is written", "tile", (("store <16 x float> %w, ptr %o, align 4", "store <16 x float> %w, ptr %o, align 4\n        store <16 x float> %w, ptr %m, align 4"),),
            ("out_of_bounds", "wrong_result"), **COPIED),
    Mistake("memory", "a lane more is read", "by_address", before_return("by_address", "%n = getelementptr float, ptr %X, i64 16\n%v = load volatile float, ptr %n, align 4"), ("out_of_bounds",)),
    Mistake("memory", "a lane more is written", "by_address", before_return("by_address", "%n = getelementptr float, ptr %O, i64 16\nstore float 7.0, ptr %n, align 4"),
            ("out_of_bounds", "wrong_result")),
    Mistake("memory", "an input is cleared", "by_address", before_return("by_address", "store <16 x float> zeroinitializer, ptr %X, align 4"), ("out_of_bounds", "wrong_result")),
    Mistake("memory", "the output is added to", "by_address", (("store <16 x float> %x, ptr %O", "%o = load <16 x float>, ptr %O, align 4\n        %s = fadd <16 x float> %o, %x\n        store <16 x float> %s, ptr %O"),), WRONG),
    Mistake("memory", "an aligned load of what is not aligned", "tile", (("load <16 x float>, ptr %m, align 4", "load <16 x float>, ptr %m, align 256"),), ("crash",)),
]

STATE = ("process_state",)
MODES = [
    Mistake("mode", "rounding is left upwards", "relu", before_return("relu", "declare void @llvm.set.rounding(i32)\ncall void @llvm.set.rounding(i32 2)"), STATE, "floating-point mode"),
    Mistake("mode", "rounding of vectors is left upwards", "relu",
            mode("declare void @llvm.x86.sse.ldmxcsr(ptr)\nstore i32 24448, ptr %m\ncall void @llvm.x86.sse.ldmxcsr(ptr %m)"), STATE, "floating-point mode"),
    Mistake("mode", "subnormal numbers are left flushed", "relu",
            mode("declare void @llvm.x86.sse.ldmxcsr(ptr)\nstore i32 40896, ptr %m\ncall void @llvm.x86.sse.ldmxcsr(ptr %m)"), STATE, "floating-point mode"),
    Mistake("mode", "the x87 unit is left in single precision", "relu",
            mode("store i32 127, ptr %m\ncall void asm sideeffect \"fldcw $0\", \"*m,~{dirflag},~{fpsr},~{flags}\"(ptr elementtype(i16) %m)"), STATE, "floating-point mode"),
    Mistake("mode", "exceptions are left to trap", "relu",
            mode("declare void @llvm.x86.sse.ldmxcsr(ptr)\nstore i32 6528, ptr %m\ncall void @llvm.x86.sse.ldmxcsr(ptr %m)"), STATE, "floating-point mode"),
]

SET_UP = "    store i32 1, ptr @acme_ready\n    ret i32 0\n"
THREAD = """  thread: |
    @acme_first = linkonce_odr global i64 0
    declare i64 @pthread_self()
    %self = call i64 @pthread_self()
    %was = cmpxchg ptr @acme_first, i64 0, i64 %self seq_cst seq_cst
    %old = extractvalue { i64, i1 } %was, 0
    %none = icmp eq i64 %old, 0
    %same = icmp eq i64 %old, %self
    %fine = or i1 %none, %same
    %answer = select i1 %fine, i32 0, i32 11
    ret i32 %answer
"""
STATES = [
    Mistake("state", "the set-up fails", "switched_on", ((SET_UP, "    store i32 1, ptr @acme_ready\n    ret i32 22\n"),), ("load_error",), "22", "@acme_ready = linkonce_odr"),
    Mistake("state", "the set-up is missing", "switched_on",
            (("setup:\n  process: |\n    @acme_ready = linkonce_odr global i32 0\n" + SET_UP, ""),), WRONG),
    Mistake("state", "the set-up forgets the flag", "switched_on", ((SET_UP, "    ret i32 0\n"),), WRONG),
    Mistake("state", "the set-up works in the first thread alone", "switched_on", ((SET_UP, SET_UP + THREAD),), ("load_error",), "11", "@acme_first", threads=2),
]

LINES = [
    Mistake("line", "requires is forgotten", "vnni", (("requires: [avx512vnni]\n", ""),), LINT, "requires: [avx512vnni]", "intrinsic: llvm", mcpu="x86-64-v3"),
    Mistake("line", "an intrinsic is misspelt", "vnni", (("vpdpbusd", "vpdpbuds"),), LINT, "vpdpbuds", "intrinsic: llvm"),
    Mistake("line", "an intrinsic of a fragment is misspelt", "absolute", (("declare <16 x float> @llvm.fabs.v16f32", "declare <16 x float> @llvm.fabbs.v16f32"),
                                                                          ("call <16 x float> @llvm.fabs.v16f32", "call <16 x float> @llvm.fabbs.v16f32")), ("load_error",)),
    Mistake("line", "a value is misspelt", "relu", (("ret <16 x float> %r", "ret <16 x float> %rr"),), LINT, "%rr", "ret <16 x float>"),
    Mistake("line", "an unknown mnemonic", "relu", before_return("relu", "call void asm sideeffect \"vmaxxps %xmm0, %xmm0, %xmm0\", \"\"()"), LINT, "vmaxxps", "vmaxxps"),
    Mistake("line", "ud2", "relu", before_return("relu", "call void asm sideeffect \"ud2\", \"\"()"), ("illegal_instruction",)),
    Mistake("line", "a loop without an end", "dot_i32",
            (("ret <16 x i32> %r", "br label %spin\n        spin:\n        call void asm sideeffect \"\", \"\"()\n        br i1 true, label %spin, label %done\n"
              "        done:\n        ret <16 x i32> %r"),), ("time_out",), options=("--candidate-time-out", "1"), limit=4),
    Mistake("line", "a null pointer is read", "relu", before_return("relu", "%n = load volatile i32, ptr null"), ("crash",)),
    Mistake("line", "it calls abort", "relu", before_return("relu", "declare void @abort()\ncall void @abort()"), ("crash",)),
    Mistake("line", "it calls exit", "relu", before_return("relu", "declare void @exit(i32)\ncall void @exit(i32 0)"), ("worker_lost",)),
    Mistake("line", "it calls what no library has", "relu", before_return("relu", "declare void @acme_runtime()\ncall void @acme_runtime()"), ("load_error",)),
]

MISTAKES = EDGES + WIDTHS + MEMORY + MODES + STATES + LINES
