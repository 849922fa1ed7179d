// Builds a network from a model's messages.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <tunesmith/network/network.h>

#include "external_files.h"
#include "faults.h"
#include "function_table.h"
#include "unique_names.h"

namespace onnx {
class GraphProto;
class TypeProto;
class ValueInfoProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

class NetworkBuilder {
 public:
  NetworkBuilder(std::shared_ptr<const onnx::ModelProto> model, const std::filesystem::path& folder);

  /// Throws UserError with all faults. Call it once.
  network::Network build();

 private:
  static constexpr int kMaxFunctionDepth = 100;
  using Attributes = std::map<std::string, const onnx::AttributeProto*>;

  /// A graph: the model's, or a node's attribute.
  struct Level {
    network::Network network;
    std::vector<bool> known;  ///< by tensor: is it an input, a constant, or computed?
    std::map<network::TensorIndex, network::TensorIndex> captured;  ///< tensors here, by enclosing tensor
    std::vector<network::TensorIndex> captures;  ///< the captured tensors of the enclosing level
  };

  /// A scope of names: a graph, or one call of a function.
  struct Scope {
    Level* level = nullptr;
    std::string prefix;                       ///< prefix of the names of nodes and tensors made in it
    std::map<std::string, int64_t> versions;  ///< of the operator sets, by domain
    std::unordered_map<std::string, network::TensorIndex> tensors;  ///< kAbsent: an input that the call omits
    Attributes attributes;                                          ///< the call's, by name
    const onnx::FunctionProto* function = nullptr;
    const Scope* user = nullptr;
    int depth = 0;              ///< nesting depth of functions and bodies
    Scope* around = nullptr;    ///< the enclosing scope of a body, for names that the body does not define
    std::set<std::string> own;  ///< the names that a body defines
  };

  template <typename OpsetImports>
  std::map<std::string, int64_t> versions_of(const OpsetImports& imports, const std::string& whose);
  void read_initializers(Scope& scope, const onnx::GraphProto& graph);
  void read_inputs(const onnx::GraphProto& graph);
  void read_outputs(const onnx::GraphProto& graph);
  void read_node(Scope& scope, const onnx::NodeProto& node);
  void use_function(Scope& scope, const onnx::NodeProto& node, const FunctionTable::Function& function,
                    const std::string& name);
  bool may_use(const Scope& scope, const onnx::NodeProto& node, const onnx::FunctionProto& function,
               const std::string& title);
  /// Appends what the body captures to the node's inputs.
  void read_body(Scope& scope, const std::string& attribute, const onnx::GraphProto& graph,
                 network::Node& node);
  void read_body_outputs(Scope& inner, const onnx::GraphProto& graph);
  network::TensorIndex make_tensor(Scope& scope, const std::string& name);
  /// The body's tensor that represents a tensor of the enclosing scope.
  network::TensorIndex capture(Scope& scope, network::TensorIndex outer, const std::string& name);
  /// Throws UserError if functions expand to too many nodes or bytes.
  void count_of_functions(size_t bytes);
  std::string name_in(const Scope& scope, const std::string& name);
  void map_outputs(Scope& scope, const onnx::NodeProto& node, Scope& inner);
  void read_constant_node(Scope& scope, const onnx::NodeProto& node, const std::string& title);
  void read_operator(Scope& scope, const onnx::NodeProto& node, std::string name);
  void add_identity(Scope& scope, network::TensorIndex from, network::TensorIndex to);
  Attributes attributes_in(const Scope& scope, const onnx::NodeProto& node, const std::string& title);
  int64_t version_in(const Scope& scope, const std::string& domain, const std::string& title);
  /// The tensor with this name, created if new.
  network::TensorIndex tensor_in(Scope& scope, const std::string& name);
  /// `type`: ONNX's number.
  void set_constant(Scope& scope, network::TensorIndex index,
                    std::shared_ptr<const network::Constant> constant, int32_t type);
  void mark_known(Scope& scope, network::TensorIndex index, const std::string& title);
  void check_reads(const Level& level);

  /// Also owns the model: it must live as long as constants in its messages.
  std::shared_ptr<const FunctionTable> functions_;
  ExternalFiles files_;
  Faults faults_;
  Level graph_level_;
  Scope graph_scope_;
  std::unordered_map<std::string, const onnx::TypeProto*> types_;  ///< declared by the graph, by tensor
  UniqueNames tensor_names_, node_names_;
  int64_t nodes_ = 0;          ///< number of nodes read, counting those of functions at each call
  size_t function_bytes_ = 0;  ///< bytes of the file that functions have expanded to so far
};

}  // namespace tunesmith::onnx_reader
