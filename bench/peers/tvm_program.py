"""Translates a program as `tunesmith workloads show` prints it to TVMScript, with the same loops; TVM may re-lay constant inputs."""
import re

TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "i8": "int8", "u8": "uint8", "bool": "bool"}
FUNCTIONS = {"select": "T.if_then_else", "exp": "T.exp", "log": "T.log", "tanh": "T.tanh", "erf": "T.erf", "sqrt": "T.sqrt", "rsqrt": "T.rsqrt",
             "sigmoid": "T.sigmoid", "abs": "T.abs", "max": "T.max", "min": "T.min", "floor": "T.floor", "ceil": "T.ceil", "pow": "T.pow"}
ARRAY = r"(\w+): (\w+)\[([\d, ]*)\]( constant)?"


def buffer(text):
    name, dtype, shape, constant = re.fullmatch(ARRAY, text.strip()).groups()
    return name, TYPES[dtype], f"({shape},)", bool(constant)


def expression(text, dtype, arrays):
    """Literals take `dtype`, the type of the written array, except whole numbers in comparisons of indices."""
    def word(match):
        name, after = match.group(1), match.group(2)
        if name in arrays and after == "[":
            return f"b_{name}["
        if after == "(" and name in TYPES:
            return f"T.Cast('{TYPES[name]}', "
        if after == "(" and name in FUNCTIONS:
            return f"{FUNCTIONS[name]}("
        if name == "inf":
            return f"T.{dtype}('inf'){after}"
        return match.group(0)
    text = re.sub(r"\b([A-Za-z_]\w*)\b([\[(]?)", word, text)
    text = re.sub(r"(?<![\w.'])(\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+)", rf"T.{dtype}(\1)", text)
    if "int" in dtype:
        text = re.sub(r", (\d+)\)$", rf", T.{dtype}(\1))", text)
    return text


def block(lines, arrays):
    """The loops and the block of one nest as lines of TVMScript."""
    loops = [re.match(r"for (\w+) in 0\.\.(\d+):", line.strip()).groups() for line in lines if line.strip().startswith("for ")]
    head = next(line.strip() for line in lines if line.strip().startswith("block "))
    name, axes = re.match(r"block (\w+)\((.*)\):", head).groups()
    kinds = "".join("S" if kind == "spatial" else "R" for kind in re.findall(r"\w+: (spatial|reduction) ", axes))
    variables = re.findall(r"(\w+): (?:spatial|reduction) \d+ = (\w+)", axes)
    body = [line.strip() for line in lines[[line.strip() for line in lines].index(head) + 1:]]
    out = [f"for {', '.join(loop for loop, _ in loops)} in T.grid({', '.join(extent for _, extent in loops)}):", f"    with T.sblock('{name}'):",
           f"        {', '.join(variable for variable, _ in variables)} = T.axis.remap('{kinds}', [{', '.join(loop for _, loop in variables)}])"]
    dtype = arrays[re.match(r"(\w+)\[", body[-1]).group(1)]
    for number, line in enumerate(body):
        if line == "init:":
            out.append("        with T.init():")
            continue
        left, _, right = line.partition(" = ")
        indent = "            " if number and body[number - 1] == "init:" else "        "
        value = f"T.{dtype}({right})" if re.fullmatch(r"\d+", right) else expression(right, dtype, arrays)
        out.append(f"{indent}{expression(left, dtype, arrays)} = {value}")
    return out


def nests(lines):
    """Splits the lines after the arrays where outermost loops begin."""
    found = []
    for line in lines:
        if line.startswith("  for "):
            found.append([])
        found[-1].append(line)
    return found


def script(program):
    """The source of a function `main` in TVMScript."""
    lines = [line for line in program.splitlines() if line.strip()]
    inputs, outputs = re.match(r"program \w+\((.*?)\) -> \((.*)\)", lines[0]).groups()
    given = [buffer(match.group(0)) for match in re.finditer(ARRAY, inputs)]
    result = buffer(outputs)
    between = [buffer(line.strip().removeprefix("intermediate ")) for line in lines[1:] if line.strip().startswith("intermediate ")]
    arrays = {name: dtype for name, dtype, _, _ in [*given, result, *between]}
    free = [number for number, (_, _, _, constant) in enumerate(given) if constant]
    out = ["@T.prim_func(s_tir=True)",
           f"def main({', '.join(f'b_{name}: T.Buffer({shape}, {dtype!r})' for name, dtype, shape, _ in [*given, result])}):",
           f"    T.func_attr({{'tirx.noalias': True, 'global_symbol': 'main', 'layout_free_buffers': {free}}})", "    with T.sblock('root'):"]
    out += [f"        b_{name} = T.sblock_alloc_buffer({shape}, {dtype!r})" for name, dtype, shape, _ in between]
    for nest in nests([line for line in lines[1:] if not line.strip().startswith("intermediate ")]):
        out += ["        " + line for line in block(nest, arrays)]
    return "\n".join(out) + "\n"
