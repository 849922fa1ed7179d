// A network from a model's messages.
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

  /// Throws UserError with all that is refused. Called once.
  network::Network build();

 private:
  using Attributes = std::map<std::string, const onnx::AttributeProto*>;

  /// Where names mean something: the graph, or one use of a function.
  struct Scope {
    std::string prefix;                       ///< of the names of what is made in it
    std::map<std::string, int64_t> versions;  ///< of the operator sets, by domain
    std::unordered_map<std::string, network::TensorIndex>
        tensors;            ///< kAbsent: an input that the use leaves out
    Attributes attributes;  ///< of the use, by name
    const onnx::FunctionProto* function = nullptr;
    const Scope* user = nullptr;
    int depth = 0;              ///< of functions and branches in each other
    Scope* around = nullptr;    ///< of a branch: where names mean what they do not mean in it
    std::set<std::string> own;  ///< the names that a branch gives
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
  /// Both branches become nodes of the network, and what they give inputs of the node.
  void read_branches(Scope& scope, const onnx::NodeProto& node, std::string name);
  std::vector<network::TensorIndex> read_branch(Scope& scope, const onnx::GraphProto& graph,
                                                const std::string& prefix);
  /// Throws UserError when functions make too much.
  void count_of_functions(size_t bytes);
  std::string name_in(const Scope& scope, const std::string& name);
  void map_outputs(Scope& scope, const onnx::NodeProto& node, Scope& inner);
  void read_constant_node(Scope& scope, const onnx::NodeProto& node, const std::string& title);
  void read_operator(Scope& scope, const onnx::NodeProto& node, std::string name);
  void add_identity(Scope& scope, network::TensorIndex from, network::TensorIndex to);
  Attributes attributes_in(const Scope& scope, const onnx::NodeProto& node, const std::string& title);
  int64_t version_in(const Scope& scope, const std::string& domain, const std::string& title);
  /// The tensor of that name, which is made where it is new.
  network::TensorIndex tensor_in(Scope& scope, const std::string& name);
  void set_constant(network::TensorIndex index, std::shared_ptr<const network::Constant> constant);
  void mark_known(network::TensorIndex index, const std::string& title);
  void check_reads();

  /// Of the model, too: it lives as long as constants whose values lie in its messages.
  std::shared_ptr<const FunctionTable> functions_;
  ExternalFiles files_;
  Faults faults_;
  Scope graph_scope_;
  std::unordered_map<std::string, const onnx::TypeProto*> types_;  ///< that the graph says, by tensor
  UniqueNames tensor_names_, node_names_;
  network::Network network_;
  std::set<network::TensorIndex> packed_;  ///< constants that the file has in fewer than 8 bits
  std::vector<bool> known_;                ///< by tensor: given, constant or computed
  int64_t nodes_ = 0;                      ///< that were read, those of functions as often as they are used
  size_t function_bytes_ = 0;              ///< of what functions made so far, as the file has it
};

}  // namespace tunesmith::onnx_reader
