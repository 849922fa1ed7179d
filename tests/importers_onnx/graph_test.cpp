// Inputs, outputs, nodes, attributes, order, and what is refused of them.
#include "model_text.h"

namespace tunesmith::onnx_reader {
namespace {

using testing::HasSubstr;

const std::string kInput = value("input", "X", {"dim_param: \"batch\"", "dim_value: 3", ""});
const std::string kOutput = value("output", "Y", {"dim_param: \"batch\"", "dim_value: 3"});

TEST(OnnxGraph, HasInputsNodesAndOutputs) {
  onnx::ModelProto model =
      model_with(kInput + kOutput + value("value_info", "T", {"dim_value: 7"}) +
                 R"(node {name: "clip" op_type: "Clip" input: "X" input: "" input: "" output: "T"
               attribute {name: "i" type: INT i: 3} attribute {name: "f" type: FLOAT f: 1.5}
               attribute {name: "s" type: STRING s: "same"} attribute {name: "is" type: INTS ints: 1 ints: -2}
               attribute {name: "fs" type: FLOATS floats: 2} attribute {name: "ss" type: STRINGS strings: "a"}
               attribute {name: "t" type: TENSOR t {data_type: 7 dims: 1 int64_data: 5}}}
         node {op_type: "Gelu" domain: "com.microsoft" input: "T" output: "Y" output: ""})");
  model.add_opset_import()->set_domain("com.microsoft");
  model.mutable_opset_import(1)->set_version(1);
  const network::Network network = import(model);
  EXPECT_EQ(
      without_hashes(to_text(network)),
      "network g\n"
      "input X: f32[batch, 3, X.2]\n"
      "clip: T: f32[7] = Clip@17(X, -, -) {f = 1.5, fs = [2.0], i = 3, is = [1, -2], s = \"same\", ss = "
      "[\"a\"], t = i64[1] #}\n"
      "Gelu: Y: f32[batch, 3], - = com.microsoft.Gelu@1(T)\n"
      "output Y: f32[batch, 3]\n");
}

TEST(OnnxGraph, WhatIsNoNameIsAnExtentOfItsOwn) {
  const std::vector<std::string> dims{R"(dim_param: "?")", R"(dim_param: "?")", R"(dim_param: "-1")",
                                      R"(dim_param: "None")", R"(dim_param: "N")"};
  const std::string text = to_text(import(model_with(value("input", "X", dims) + value("output", "Y", dims) +
                                                     R"(node {op_type: "Relu" input: "X" output: "Y"})")));
  EXPECT_THAT(text, HasSubstr("input X: f32[X.0, X.1, X.2, X.3, N]"));
  EXPECT_THAT(text, HasSubstr("Y: f32[...] = Relu"));
}

TEST(OnnxGraph, NodesAreOrderedAndNamedOnce) {
  const std::string text = to_text(import(model_with(kInput + kOutput +
                                                     R"(node {name: "n" op_type: "Exp" input: "B" output: "Y"}
                                                        node {name: "n" op_type: "Neg" input: "A" output: "B"}
                                                        node {op_type: "Abs" input: "X" output: "A"})")));
  EXPECT_THAT(text, HasSubstr("Abs: A: ?[...] = Abs@17(X)\n"
                              "n_1: B: ?[...] = Neg@17(A)\n"
                              "n: Y: f32[batch, 3] = Exp@17(B)\n"));
}

TEST(OnnxGraph, AllThatIsRefusedIsSaidAtOnce) {
  const std::string said = refusal(model_with(
      kInput + kOutput + value("output", "Y", {}) + value("output", "Q", {}) +
      R"(node {name: "branch" op_type: "If" input: "X" output: "Y" attribute {name: "then_branch" type: GRAPH g {node {op_type: "Neg" input: "K" output: "M"} output {name: "M"}}}}
         node {name: "sparse" op_type: "Foo" input: "Z" output: "A" attribute {name: "v" type: SPARSE_TENSOR}}
         node {name: "again" op_type: "Neg" input: "X" output: "Y"}
         node {name: "other" op_type: "Bar" domain: "nobody" input: "X" output: "B"}
         node {name: "twice" op_type: "Bar" input: "X" output: "C" attribute {name: "a" i: 1} attribute {name: "a" i: 1}}
         node {name: "left" op_type: "Neg" input: "R" output: "L"} node {name: "right" op_type: "Neg" input: "L" output: "R"}
         input {name: "seq" type {sequence_type {}}} input {name: "u" type {tensor_type {elem_type: 14}}}
         input {name: "X" type {}} sparse_initializer {values {name: "few"}})"));
  for (const char* fault :
       {"14 faults:", "node 'branch' (If): nothing computes its input 'K'",
        "node 'sparse' (Foo): attribute 'v': its type, number 11 of ONNX's, is unsupported",
        "node 'sparse' (Foo): nothing computes its input 'Z'",
        "node 'again' (Neg): the tensor 'Y' has its values from elsewhere",
        "node 'other' (Bar): the file says no version of the operators of 'nobody'",
        "node 'twice' (Bar): attribute 'a' is there twice",
        "node 'left' (Neg): it reads what follows from its own outputs", "node 'right' (Neg): it reads",
        "input 'seq': it is a sequence, expected a dense tensor",
        "input 'u': the element type complex64 is unsupported; supported are float4e2m1",
        "input 'X': it is there twice", "output 'Y': it is there twice", "output 'Q': nothing computes it",
        "tensor 'few': sparse values are unsupported"})
    EXPECT_THAT(said, HasSubstr(fault));
}

/// A body is a separate network; the tensors that it reads of the graph around it become inputs of the node.
TEST(OnnxGraph, BodiesCaptureWhatTheyRead) {
  const std::string inner =
      R"(attribute {name: "else_branch" type: GRAPH g {name: "e" output {name: "w"}
           initializer {name: "w" data_type: 1 dims: 1 float_data: 3}}})";
  const network::Network network = import(model_with(
      kInput + kOutput +
      R"(node {name: "C" op_type: "Cast" input: "X" output: "c"} node {name: "first" op_type: "If" input: "c" output: "Y"
           attribute {name: "then_branch" type: GRAPH g {name: "t" output {name: "X2"} output {name: "X2"}
             node {name: "n" op_type: "If" input: "c" output: "X2" )" +
      inner + R"( attribute {name: "then_branch" type: GRAPH g {name: "i" output {name: "s"}
               node {name: "a" op_type: "Add" input: "X" input: "X" output: "s"}}}}}} )" +
      inner + "}"));
  EXPECT_EQ(without_hashes(to_text(network)),
            "network g\n"
            "input X: f32[batch, 3, X.2]\n"
            "C: c: ?[...] = Cast@17(X)\n"
            "first: Y: f32[batch, 3] = If@17(c, c, X)\n"
            "else_branch of first, captured []: network else_branch\n"
            "constant w: f32[1] #\n"
            "output w: f32[1]\n"
            "end\n"
            "then_branch of first, captured [1, 2]: network then_branch\n"
            "input c_1: ?[...]\n"
            "input X_1: ?[...]\n"
            "n: X2: ?[...] = If@17(c_1, X_1)\n"
            "else_branch of n, captured []: network else_branch\n"
            "constant w_1: f32[1] #\n"
            "output w_1: f32[1]\n"
            "end\n"
            "then_branch of n, captured [1]: network then_branch\n"
            "input X_2: ?[...]\n"
            "a: s: ?[...] = Add@17(X_2, X_2)\n"
            "output s: ?[...]\n"
            "end\n"
            "Identity: X2_1: ?[...] = Identity@17(X2)\n"
            "output X2: ?[...]\n"
            "output X2_1: ?[...]\n"
            "end\n"
            "output Y: f32[batch, 3]\n");
}

TEST(OnnxGraph, VersionsOfOperatorsAreThoseOf6To28) {
  for (const int version : {6, 28}) {
    onnx::ModelProto model = model_with(kInput + kOutput + R"(node {op_type: "Neg" input: "X" output: "Y"})");
    model.mutable_opset_import(0)->set_version(version);
    EXPECT_EQ(import(model).nodes[0].version, version);
  }
  for (const int version : {5, 29}) {
    onnx::ModelProto model = model_with(kInput);
    model.mutable_opset_import(0)->set_version(version);
    EXPECT_THAT(refusal(model), HasSubstr(" of ONNX's operators is unsupported; supported are 6 to 28"));
  }
  onnx::ModelProto model =
      model_with(kInput + kOutput + R"(node {domain: "ai.onnx" op_type: "Neg" input: "X" output: "Y"})");
  EXPECT_EQ(import(model).nodes[0].op, "Neg") << "ONNX's own operators have two names";
}

TEST(OnnxGraph, WhatATerminalObeysIsNotPrinted) {
  const std::string said =
      refusal(model_with(R"(node {name: "a\033[2J" op_type: "Neg" input: "B" output: "C"})"));
  EXPECT_THAT(said, HasSubstr("node 'a?[2J' (Neg): nothing computes its input 'B'"));
}

}  // namespace
}  // namespace tunesmith::onnx_reader
