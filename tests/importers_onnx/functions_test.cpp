// A model's own functions are expanded where they are used.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model_text.h"

namespace tunesmith::onnx_reader {
namespace {

using testing::HasSubstr;

onnx::ModelProto with_functions(const std::string& graph, const std::string& functions) {
  return model_of(
      "ir_version: 8 opset_import {version: 17} opset_import {domain: \"own\" version: 1} graph {name: "
      "\"g\" " +
      value("input", "X", {}) + value("output", "Y", {}) + graph + "}" + functions);
}

const std::string kScaled =
    R"(functions {domain: "own" name: "Scaled" opset_import {version: 15} input: "a" input: "b" output: "r" attribute: "by"
  node {op_type: "Constant" output: "c" attribute {name: "value_float" type: FLOAT ref_attr_name: "by"}}
  node {name: "m" op_type: "Mul" input: "a" input: "c" output: "t"}
  node {op_type: "Clip" input: "t" input: "b" output: "r" attribute {name: "mode" type: STRING ref_attr_name: "mode"}}})";

TEST(OnnxFunctions, AreExpandedWithNamesOfTheirOwn) {
  const std::string text = to_text(import(with_functions(
      R"(node {name: "first" domain: "own" op_type: "Scaled" input: "X" output: "T" attribute {name: "by" type: FLOAT f: 2}}
         node {domain: "own" op_type: "Scaled" input: "T" input: "X" output: "Y" attribute {name: "by" type: FLOAT f: 3}
               attribute {name: "mode" type: STRING s: "up"}})",
      kScaled)));
  EXPECT_EQ(without_hashes(text),
            "network g\n"
            "input X: f32[]\n"
            "constant first/c: f32[] #\n"
            "constant Scaled/c: f32[] #\n"
            "first/m: first/t: ?[...] = Mul@15(X, first/c)\n"
            "first/Clip: T: ?[...] = Clip@15(first/t, -)\n"
            "Scaled/m: Scaled/t: ?[...] = Mul@15(T, Scaled/c)\n"
            "Scaled/Clip: Y: f32[] = Clip@15(Scaled/t, X) {mode = \"up\"}\n"
            "output Y: f32[]\n");
}

/// A field that the parser does not know.
template <typename Message>
void add_unknown(Message& message, int number, const std::string& bytes) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(number, bytes);
}

TEST(OnnxFunctions, HaveDefaultsAndOverloadsOfNewerVersions) {
  onnx::ModelProto model = with_functions(
      R"(node {name: "n" domain: "own" op_type: "Scaled" input: "X" output: "Y"})", kScaled + kScaled);
  onnx::AttributeProto by;
  by.set_name("by");
  by.set_type(onnx::AttributeProto::FLOAT);
  by.set_f(7);
  EXPECT_THAT(refusal(model), HasSubstr("function 'Scaled' of the domain 'own' is there twice"));
  add_unknown(*model.mutable_functions(1), 13, "other");
  model.mutable_functions(1)->mutable_node(1)->set_name("of_other");
  EXPECT_THAT(refusal(model), HasSubstr("node 'n/Constant' (Constant): it has 1 outputs and 0 attributes"));
  for (int i = 0; i < 2; ++i) add_unknown(*model.mutable_functions(i), 11, by.SerializeAsString());
  EXPECT_THAT(refusal(model), HasSubstr("n/m: "));
  add_unknown(*model.mutable_graph()->mutable_node(0), 8, "other");
  EXPECT_THAT(refusal(model), HasSubstr("n/of_other: "));
}

TEST(OnnxFunctions, KeepDefaultsThatAreTensors) {
  onnx::ModelProto model = with_functions(
      R"(node {name: "n" domain: "own" op_type: "Known" input: "X" output: "Y"})",
      R"(functions {domain: "own" name: "Known" opset_import {version: 15} input: "a" output: "r"
  node {op_type: "Constant" output: "c" attribute {name: "value" type: TENSOR ref_attr_name: "by"}}
  node {name: "m" op_type: "Add" input: "a" input: "c" output: "r"}})");
  // Large enough that freeing it unmaps the memory.
  const std::vector<float> numbers(1 << 20, 2.5F);
  onnx::AttributeProto by;
  by.set_name("by");
  by.set_type(onnx::AttributeProto::TENSOR);
  by.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  by.mutable_t()->add_dims(static_cast<int64_t>(numbers.size()));
  by.mutable_t()->set_raw_data(numbers.data(), numbers.size() * sizeof(float));
  add_unknown(*model.mutable_functions(0), 11, by.SerializeAsString());
  const network::Network network = import(model);
  const auto constant = std::ranges::find(network.tensors, "n/c", &network::Tensor::name);
  ASSERT_NE(constant, network.tensors.end());
  EXPECT_EQ(std::memcmp(constant->constant->bytes.data(), numbers.data(), numbers.size() * sizeof(float)), 0);
}

TEST(OnnxFunctions, MayReturnWhatTheyAreGiven) {
  const std::string text = to_text(import(with_functions(
      R"(node {name: "n" domain: "own" op_type: "Same" input: "X" output: "Y"})",
      R"(functions {domain: "own" name: "Same" opset_import {version: 15} input: "a" output: "a"})")));
  EXPECT_THAT(text, HasSubstr("n/Identity: Y: f32[] = Identity@17(X)\n"));
}

TEST(OnnxFunctions, ThatDoNotEndAreRefused) {
  const std::string use = R"(node {name: "n" domain: "own" op_type: "F0" input: "X" output: "Y"})";
  EXPECT_THAT(refusal(with_functions(use, R"(functions {domain: "own" name: "F0" input: "a" output: "b"
                node {domain: "own" op_type: "F0" input: "a" output: "b"}})")),
              HasSubstr("node 'n/F0' (F0): the function uses itself"));
  // Each uses the next one twice: 2^40 nodes.
  std::string functions;
  for (int i = 0; i < 40; ++i) {
    functions += fmt::format(
        "functions {{domain: \"own\" name: \"F{0}\" input: \"a\" output: \"b\" "
        "node {{domain: \"own\" op_type: \"F{1}\" input: \"a\" output: \"c\"}} "
        "node {{domain: \"own\" op_type: \"F{1}\" input: \"c\" output: \"b\"}}}}",
        i, i + 1);
  }
  EXPECT_THAT(refusal(with_functions(use, functions)),
              testing::AnyOf(HasSubstr("what the functions make takes more than"),
                             HasSubstr("there are more than 200000 nodes")));
  // Each uses the next one once.
  functions.clear();
  for (int i = 0; i < 200; ++i) {
    functions += fmt::format(
        "functions {{domain: \"own\" name: \"F{0}\" input: \"a\" output: \"b\" "
        "node {{domain: \"own\" op_type: \"F{1}\" input: \"a\" output: \"b\"}}}}",
        i, i + 1);
  }
  EXPECT_THAT(refusal(with_functions(use, functions)), HasSubstr("it is a function in more than 100 others"));
  // One of a megabyte, used often.
  std::string uses;
  for (int i = 0; i < 70; ++i) uses += R"(node {domain: "own" op_type: "Large" input: "X" output: "Z"})";
  onnx::ModelProto large =
      with_functions(uses, R"(functions {domain: "own" name: "Large" input: "a" output: "b"})");
  large.mutable_functions(0)->set_doc_string(std::string(1 << 20, 'd'));
  EXPECT_THAT(refusal(large), HasSubstr("what the functions make takes more than 67108864 bytes"));
  EXPECT_THAT(
      refusal(with_functions(
          R"(node {name: "n" domain: "own" op_type: "Scaled" input: "X" input: "X" input: "X" output: "Y"})",
          kScaled)),
      HasSubstr("node 'n' (Scaled): the function has 2 inputs and 1 outputs"));
}

}  // namespace
}  // namespace tunesmith::onnx_reader
