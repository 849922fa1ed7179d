// The values of tensors, from each of the fields that may hold them.
#include <cstring>

#include <fmt/format.h>

#include "model_text.h"

namespace tunesmith::onnx_reader {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

onnx::ModelProto with_weight(const std::string& tensor) {
  return model_with("initializer {name: \"W\" " + tensor + "} output {name: \"W\"}");
}

/// The bytes of the only constant, in hexadecimal, after its type and shape.
std::string constant_of(const onnx::ModelProto& model) {
  const network::Network network = import(model);
  const network::Constant& constant =
      *network.tensors.at(static_cast<size_t>(network.outputs.at(0))).constant;
  std::string text = constant.dtype.str() + "[";
  for (const int64_t extent : constant.shape) text += std::to_string(extent) + ",";
  text += "]";
  for (const std::byte byte : constant.bytes) text += fmt::format(" {:02x}", static_cast<int>(byte));
  return text;
}

TEST(OnnxValues, EachTypeFromBytesAndFromItsField) {
  const std::pair<const char*, const char*> tensors[] = {
      {R"(data_type: 1 dims: 1 raw_data: "\000\000\200\077")", "f32[1,] 00 00 80 3f"},
      {"data_type: 1 dims: 1 float_data: 1", "f32[1,] 00 00 80 3f"},
      {"data_type: 1 float_data: 1", "f32[] 00 00 80 3f"},
      {"data_type: 11 dims: 1 double_data: 1", "f64[1,] 00 00 00 00 00 00 f0 3f"},
      {"data_type: 10 dims: 2 int32_data: 15360 int32_data: 65535", "f16[2,] 00 3c ff ff"},
      {"data_type: 16 dims: 1 int32_data: 16256", "bf16[1,] 80 3f"},
      {R"(data_type: 16 dims: 1 raw_data: "\200\077")", "bf16[1,] 80 3f"},
      {"data_type: 3 dims: 1 dims: 2 int32_data: -1 int32_data: 2", "i8[1,2,] ff 02"},
      {"data_type: 2 dims: 2 int32_data: 255 int32_data: 2", "u8[2,] ff 02"},
      {"data_type: 4 dims: 2 int32_data: 65535 int32_data: 2", "u16[2,] ff ff 02 00"},
      {"data_type: 5 dims: 1 int32_data: -2", "i16[1,] fe ff"},
      {"data_type: 12 dims: 1 uint64_data: 4294967295", "u32[1,] ff ff ff ff"},
      {"data_type: 13 dims: 1 uint64_data: 18446744073709551615", "u64[1,] ff ff ff ff ff ff ff ff"},
      {"data_type: 6 dims: 1 int32_data: -2", "i32[1,] fe ff ff ff"},
      {"data_type: 7 dims: 1 int64_data: -2", "i64[1,] fe ff ff ff ff ff ff ff"},
      {"data_type: 9 dims: 2 int32_data: 1 int32_data: 0", "bool[2,] 01 00"},
      {R"(data_type: 9 dims: 2 raw_data: "\001\000")", "bool[2,] 01 00"},
      {"data_type: 1 dims: 0", "f32[0,]"},
  };
  for (const auto& [tensor, bytes] : tensors) EXPECT_EQ(constant_of(with_weight(tensor)), bytes) << tensor;
}

TEST(OnnxValues, WhatDoesNotFitIsRefused) {
  const std::pair<const char*, const char*> tensors[] = {
      {"data_type: 14 dims: 1 float_data: 1", "the element type complex64 is unsupported"},
      {"data_type: 8 dims: 1 string_data: \"a\"", "the element type string is unsupported"},
      {"data_type: 99 dims: 1", "the element type type 99 is unsupported"},
      {"data_type: 1 dims: 2 float_data: 1", "its shape takes 8 bytes, and there are 4"},
      {"data_type: 1 dims: 1 raw_data: \"abc\"", "its shape takes 4 bytes, and there are 3"},
      {"data_type: 1 dims: -1", "an extent is -1"},
      {"data_type: 1 dims: 4294967296 dims: 4294967296", "it has more elements than any machine has memory"},
      {"data_type: 1 dims: 1000000000000", "its shape takes 4000000000000 bytes, and there are 0"},
      {"data_type: 12 dims: 1 uint64_data: 4294967296", "the value 4294967296 is out of its type's range"},
      {"data_type: 3 dims: 1 int32_data: 128", "the value 128 is out of its type's range"},
      {"data_type: 10 dims: 1 int32_data: 65536", "the value 65536 is out of its type's range"},
      {R"(data_type: 9 dims: 1 raw_data: "\002")", "expected 0 or 1 for a bool"},
      {"data_type: 1 dims: 1 segment {begin: 0 end: 1}", "values in segments are unsupported"},
  };
  for (const auto& [tensor, fault] : tensors)
    EXPECT_THAT(refusal(with_weight(tensor)), StartsWith(std::string("tensor 'W': ") + fault)) << tensor;
}

TEST(OnnxValues, AConstantNodeIsATensor) {
  const std::pair<const char*, const char*> attributes[] = {
      {"name: \"value\" type: TENSOR t {data_type: 7 dims: 1 int64_data: 5}",
       "i64[1,] 05 00 00 00 00 00 00 00"},
      {"name: \"value_int\" type: INT i: 5", "i64[] 05 00 00 00 00 00 00 00"},
      {"name: \"value_ints\" type: INTS ints: 5", "i64[1,] 05 00 00 00 00 00 00 00"},
      {"name: \"value_float\" type: FLOAT f: 1", "f32[] 00 00 80 3f"},
      {"name: \"value_floats\" type: FLOATS floats: 1", "f32[1,] 00 00 80 3f"},
  };
  for (const auto& [attribute, bytes] : attributes) {
    const onnx::ModelProto model =
        model_with(std::string("node {op_type: \"Constant\" output: \"C\" attribute {") + attribute +
                   "}} output {name: \"C\"}");
    EXPECT_EQ(constant_of(model), bytes) << attribute;
    EXPECT_TRUE(import(model).nodes.empty());
  }
  EXPECT_THAT(
      refusal(model_with(
          R"(node {name: "c" op_type: "Constant" output: "C" attribute {name: "value_string" s: "a"}})")),
      HasSubstr("node 'c' (Constant): attribute 'value_string': it is unsupported; supported are value,"));
  EXPECT_THAT(refusal(model_with(R"(node {name: "c" op_type: "Constant" output: "C"})")),
              HasSubstr("node 'c' (Constant): it has 1 outputs and 0 attributes"));
}

TEST(OnnxValues, ValuesOfInputsMakeThemConstants) {
  const network::Network network =
      import(model_with(value("input", "W", {"dim_value: 1"}) + value("input", "X", {}) +
                        "initializer {name: \"W\" data_type: 1 dims: 1 float_data: 1} output {name: \"W\"}"));
  ASSERT_EQ(network.inputs.size(), 1U);
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.inputs[0])].name, "X");
}

TEST(OnnxValues, StayInTheMessageWhileTheNetworkLives) {
  std::string weights(1 << 16, 'w');
  onnx::ModelProto model = with_weight("data_type: 2 dims: 65536");
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(weights);
  const network::Network network = import(model);
  const auto bytes = network.tensors[0].constant->bytes;
  ASSERT_EQ(bytes.size(), weights.size());
  EXPECT_EQ(std::memcmp(bytes.data(), weights.data(), bytes.size()), 0);
}

/// The first value of a single tensor, or why it is refused.
std::string single_tensor(const std::string& bytes) {
  try {
    const auto constant = read_tensor(std::as_bytes(std::span(bytes)));
    float first = 0;
    std::memcpy(&first, constant->bytes.data(), sizeof first);
    return fmt::format("{}[{}] {}", constant->dtype.str(), constant->shape.at(0), first);
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(OnnxValues, OfATensorByItselfAreItsOwn) {
  onnx::TensorProto tensor;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "data_type: 1 dims: 2 float_data: 1.5 float_data: 2", &tensor));
  const std::string whole = tensor.SerializeAsString();
  EXPECT_EQ(single_tensor(whole), "f32[2] 1.5");
  EXPECT_THAT(single_tensor(whole.substr(0, whole.size() - 1)), HasSubstr("not a tensor"));
  tensor.add_dims(3);
  EXPECT_THAT(single_tensor(tensor.SerializeAsString()), HasSubstr("takes 24 bytes"));
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_THAT(single_tensor(tensor.SerializeAsString()), HasSubstr("no external data"));
}

}  // namespace
}  // namespace tunesmith::onnx_reader
