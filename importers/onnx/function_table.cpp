#include "function_table.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tunesmith/support/error.h>

#include "proto.h"

namespace tunesmith::onnx_reader {
namespace {

// Fields since ONNX 1.13, which an older parser keeps as unknown fields.
constexpr int kNodeOverload = 8;
constexpr int kFunctionAttributeProto = 11;
constexpr int kFunctionOverload = 13;

template <typename Message>
std::vector<std::string> unknown_field(const Message& message, int number) {
  std::vector<std::string> values;
  const auto& fields = message.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      values.push_back(field.length_delimited());
  }
  return values;
}

template <typename Message>
std::string overload_of(const Message& message, int number) {
  const std::vector<std::string> values = unknown_field(message, number);
  return values.empty() ? "" : values.back();
}

}  // namespace

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

FunctionTable::FunctionTable(std::shared_ptr<const onnx::ModelProto> model) : model_(std::move(model)) {
  for (const auto& proto : model_->functions()) {
    Function function{&proto, {}};
    for (const std::string& bytes : unknown_field(proto, kFunctionAttributeProto)) {
      if (!defaults_.emplace_back().ParseFromString(bytes))
        throw UserError(fmt::format("function '{}': the default of an attribute is damaged", proto.name()));
      function.defaults[defaults_.back().name()] = &defaults_.back();
    }
    if (!functions_
             .try_emplace({domain_of(proto.domain()), proto.name(), overload_of(proto, kFunctionOverload)},
                          std::move(function))
             .second)
      throw UserError(
          fmt::format("function '{}' of the domain '{}' is there twice", proto.name(), proto.domain()));
  }
}

FunctionTable::~FunctionTable() = default;

const FunctionTable::Function* FunctionTable::find(const onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto found =
      functions_.find({domain_of(node.domain()), node.op_type(), overload_of(node, kNodeOverload)});
  return found == functions_.end() ? nullptr : &found->second;
}

}  // namespace tunesmith::onnx_reader
