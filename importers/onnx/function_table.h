// A model's own functions, which nodes call like operators.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace onnx {
class AttributeProto;
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// "" for ONNX's own domain, which has two names.
std::string domain_of(const std::string& domain);

/// Owns the model, so that values in its messages stay valid.
class FunctionTable {
 public:
  struct Function {
    const onnx::FunctionProto* proto = nullptr;
    /// The defaults of optional attributes; they belong to the table's model.
    std::map<std::string, const onnx::AttributeProto*> defaults;
  };

  /// Throws UserError if a function is defined twice.
  explicit FunctionTable(std::shared_ptr<const onnx::ModelProto> model);
  ~FunctionTable();
  FunctionTable(const FunctionTable&) = delete;
  FunctionTable& operator=(const FunctionTable&) = delete;

  const onnx::ModelProto& model() const { return *model_; }
  /// Null if the node does not call a function of the model.
  const Function* find(const onnx::NodeProto& node) const;

 private:
  std::shared_ptr<const onnx::ModelProto> model_;
  std::map<std::tuple<std::string, std::string, std::string>, Function>
      functions_;  ///< by domain, name, overload
  std::deque<onnx::AttributeProto> defaults_;
};

}  // namespace tunesmith::onnx_reader
