#include "network_builder.h"

#include <unordered_set>

#include <fmt/format.h>
#include <operators_onnx/find_operator.h>

#include <tunesmith/support/error.h>

#include "attributes.h"
#include "constant_node.h"
#include "constants.h"
#include "element_types.h"
#include "order.h"
#include "proto.h"
#include "value_types.h"

namespace tunesmith::onnx_reader {
namespace {

using network::kAbsent;
using network::TensorIndex;

// Limits the nodes of functions: functions that each call another one twice make exponentially many.
constexpr int64_t kMaxNodes = 200'000;
constexpr size_t kMaxFunctionBytes = size_t{64} << 20;
// The oldest version of ONNX's operator set that its tests use. Operators themselves say which of their
// versions are known.
constexpr int64_t kMinVersion = 6;

/// "node 'conv1' (Conv)", as faults call it.
std::string title_of(const std::string& name, const onnx::NodeProto& node) {
  return fmt::format("node '{}' ({})", name, node.op_type());
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::shared_ptr<const onnx::ModelProto> model,
                               const std::filesystem::path& folder)
    : functions_(std::make_shared<FunctionTable>(std::move(model))), files_(folder) {}

network::Network NetworkBuilder::build() {
  const onnx::ModelProto& model = functions_->model();
  if (!model.has_graph()) throw UserError("no graph in the file: truncated, or not a model");
  const onnx::GraphProto& graph = model.graph();
  graph_scope_.level = &graph_level_;
  network::Network& network = graph_level_.network;
  network.name = graph.name();
  graph_scope_.versions = versions_of(model.opset_import(), "the model");
  for (const auto* values : {&graph.value_info(), &graph.output()})
    for (const auto& value : *values)
      if (value.has_type()) types_[value.name()] = &value.type();
  read_initializers(graph_scope_, graph);
  read_inputs(graph);
  read_outputs(graph);
  for (const auto& node : graph.node()) read_node(graph_scope_, node);
  check_reads(graph_level_);
  order_nodes(network, faults_);
  faults_.throw_if_any();
  return std::move(network);
}

template <typename OpsetImports>
std::map<std::string, int64_t> NetworkBuilder::versions_of(const OpsetImports& imports,
                                                           const std::string& whose) {
  std::map<std::string, int64_t> versions;
  for (const auto& import : imports) {
    const std::string domain = domain_of(import.domain());
    versions[domain] = import.version();
    if (domain.empty() &&
        (import.version() < kMinVersion || import.version() > operators_onnx::kNewestVersion))
      faults_.add(fmt::format("{}: version {} of ONNX's operators is unsupported; supported are {} to {}",
                              whose, import.version(), kMinVersion, operators_onnx::kNewestVersion));
  }
  return versions;
}

void NetworkBuilder::read_initializers(Scope& scope, const onnx::GraphProto& graph) {
  for (const auto& sparse : graph.sparse_initializer())
    faults_.add(fmt::format("tensor '{}': sparse values are unsupported", sparse.values().name()));
  for (const auto& initializer : graph.initializer()) {
    const std::string title = fmt::format("tensor '{}'", initializer.name());
    if (initializer.name().empty()) {
      faults_.add("a tensor with values has no name");
      continue;
    }
    const TensorIndex index = tensor_in(scope, initializer.name());
    mark_known(scope, index, title);
    try {
      set_constant(scope, index, read_constant(initializer, functions_, files_), initializer.data_type());
    } catch (const UserError& error) {
      faults_.add(fmt::format("{}: {}", title, error.what()));
    }
  }
}

void NetworkBuilder::read_inputs(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> given;
  for (const auto& input : graph.input()) {
    const std::string title = fmt::format("input '{}'", input.name());
    if (input.name().empty() || !given.insert(input.name()).second) {
      faults_.add(title + (input.name().empty() ? ": it has no name" : ": it is there twice"));
      continue;
    }
    // An initial value that a call could replace is taken as a constant.
    if (graph_scope_.tensors.contains(input.name())) continue;
    const TensorIndex index = tensor_in(graph_scope_, input.name());
    mark_known(graph_scope_, index, title);
    network::Network& network = graph_level_.network;
    network.inputs.push_back(index);
    try {
      set_type(network.tensor(index), input.type(), true);
    } catch (const UserError& error) {
      faults_.add(fmt::format("{}: {}", title, error.what()));
    }
  }
}

void NetworkBuilder::read_outputs(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> returned;
  for (const auto& output : graph.output()) {
    const std::string title = fmt::format("output '{}'", output.name());
    if (output.name().empty() || !returned.insert(output.name()).second) {
      faults_.add(title + (output.name().empty() ? ": it has no name" : ": it is there twice"));
      continue;
    }
    graph_level_.network.outputs.push_back(tensor_in(graph_scope_, output.name()));
    if (output.has_type() && !output.type().has_tensor_type())
      faults_.add(title + ": " + no_tensor(output.type()));
  }
}

void NetworkBuilder::read_node(Scope& scope, const onnx::NodeProto& node) {
  if (++nodes_ > kMaxNodes)
    throw UserError(
        fmt::format("there are more than {} nodes, those of functions counted at each use", kMaxNodes));
  std::string name = node_names_.make(name_in(scope, node.name().empty() ? node.op_type() : node.name()));
  if (node.op_type().empty()) {
    faults_.add(fmt::format("node '{}': it names no operator", name));
    return;
  }
  if (const FunctionTable::Function* function = functions_->find(node)) {
    use_function(scope, node, *function, name);
  } else if (node.op_type() == "Constant" && domain_of(node.domain()).empty()) {
    read_constant_node(scope, node, title_of(name, node));
  } else {
    read_operator(scope, node, std::move(name));
  }
}

bool NetworkBuilder::may_use(const Scope& scope, const onnx::NodeProto& node,
                             const onnx::FunctionProto& function, const std::string& title) {
  const auto refuse = [&](const std::string& fault) {
    faults_.add(fmt::format("{}: {}", title, fault));
    return false;
  };
  for (const Scope* user = &scope; user; user = user->user)
    if (user->function == &function) return refuse("the function uses itself");
  if (scope.depth == kMaxFunctionDepth)
    return refuse(fmt::format("it is a function in more than {} others", kMaxFunctionDepth));
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return refuse(fmt::format("the function has {} inputs and {} outputs", function.input_size(),
                              function.output_size()));
  count_of_functions(function.ByteSizeLong());
  return true;
}

void NetworkBuilder::count_of_functions(size_t bytes) {
  function_bytes_ += bytes;
  if (function_bytes_ > kMaxFunctionBytes)
    throw UserError(fmt::format("what the functions make takes more than {} bytes", kMaxFunctionBytes));
}

std::string NetworkBuilder::name_in(const Scope& scope, const std::string& name) {
  if (scope.function) count_of_functions(scope.prefix.size() + name.size());
  return scope.prefix + name;
}

void NetworkBuilder::use_function(Scope& scope, const onnx::NodeProto& node,
                                  const FunctionTable::Function& function, const std::string& name) {
  const onnx::FunctionProto& proto = *function.proto;
  const std::string title = title_of(name, node);
  if (!may_use(scope, node, proto, title)) return;
  Scope inner;
  inner.level = scope.level;
  inner.prefix = name + "/";
  inner.versions = versions_of(proto.opset_import(), fmt::format("function '{}'", proto.name()));
  inner.attributes = attributes_in(scope, node, title);
  inner.attributes.insert(function.defaults.begin(), function.defaults.end());
  inner.function = &proto;
  inner.user = &scope;
  inner.depth = scope.depth + 1;
  for (int i = 0; i < proto.input_size(); ++i) {
    const bool given = i < node.input_size() && !node.input(i).empty();
    inner.tensors[proto.input(i)] = given ? tensor_in(scope, node.input(i)) : kAbsent;
  }
  map_outputs(scope, node, inner);
  for (const auto& each : proto.node()) read_node(inner, each);
}

void NetworkBuilder::map_outputs(Scope& scope, const onnx::NodeProto& node, Scope& inner) {
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const TensorIndex outer = tensor_in(scope, node.output(i));
    const auto [place, is_new] = inner.tensors.try_emplace(inner.function->output(i), outer);
    // The function returns an input, or one tensor twice.
    if (!is_new && outer != kAbsent && place->second != kAbsent) add_identity(inner, place->second, outer);
  }
}

void NetworkBuilder::add_identity(Scope& scope, TensorIndex from, TensorIndex to) {
  network::Node identity;
  identity.name = node_names_.make(name_in(scope, "Identity"));
  identity.op = "Identity";
  identity.version = version_in(graph_scope_, "", fmt::format("node '{}' (Identity)", identity.name));
  identity.inputs = {from};
  identity.outputs = {to};
  mark_known(scope, to, fmt::format("node '{}' (Identity)", identity.name));
  scope.level->network.nodes.push_back(std::move(identity));
}

void NetworkBuilder::read_constant_node(Scope& scope, const onnx::NodeProto& node, const std::string& title) {
  const Attributes attributes = attributes_in(scope, node, title);
  if (node.output_size() != 1 || node.output(0).empty() || attributes.size() != 1) {
    faults_.add(fmt::format("{}: it has {} outputs and {} attributes, and has one of each", title,
                            node.output_size(), attributes.size()));
    return;
  }
  const TensorIndex index = tensor_in(scope, node.output(0));
  if (index == kAbsent) return;
  mark_known(scope, index, title);
  const auto& [name, attribute] = *attributes.begin();
  try {
    set_constant(scope, index, constant_of_node(name, *attribute, functions_, files_),
                 attribute->t().data_type());
  } catch (const UserError& error) {
    faults_.add(fmt::format("{}: attribute '{}': {}", title, name, error.what()));
  }
}

void NetworkBuilder::read_operator(Scope& scope, const onnx::NodeProto& node, std::string name) {
  const std::string title = title_of(name, node);
  const std::string domain = domain_of(node.domain());
  network::Node made;
  made.name = std::move(name);
  made.op = domain.empty() ? node.op_type() : fmt::format("{}.{}", domain, node.op_type());
  made.version = version_in(scope, domain, title);
  for (const std::string& input : node.input())
    made.inputs.push_back(input.empty() ? kAbsent : tensor_in(scope, input));
  for (const std::string& output : node.output()) {
    made.outputs.push_back(output.empty() ? kAbsent : tensor_in(scope, output));
    if (made.outputs.back() != kAbsent) mark_known(scope, made.outputs.back(), title);
  }
  for (const auto& [key, attribute] : attributes_in(scope, node, title)) {
    if (attribute->has_g()) {
      read_body(scope, key, attribute->g(), made);
      continue;
    }
    try {
      made.attributes.emplace(key, read_attribute(*attribute, functions_, files_));
    } catch (const UserError& error) {
      faults_.add(fmt::format("{}: attribute '{}': {}", title, key, error.what()));
    }
  }
  scope.level->network.nodes.push_back(std::move(made));
}

NetworkBuilder::Attributes NetworkBuilder::attributes_in(const Scope& scope, const onnx::NodeProto& node,
                                                         const std::string& title) {
  Attributes attributes;
  for (const auto& attribute : node.attribute()) {
    const onnx::AttributeProto* meant = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      const auto found = scope.attributes.find(attribute.ref_attr_name());
      if (found == scope.attributes.end()) continue;  // the call omits it
      meant = found->second;
    }
    if (!attributes.emplace(attribute.name(), meant).second)
      faults_.add(fmt::format("{}: attribute '{}' is there twice", title, attribute.name()));
  }
  return attributes;
}

int64_t NetworkBuilder::version_in(const Scope& scope, const std::string& domain, const std::string& title) {
  const auto found = scope.versions.find(domain);
  if (found != scope.versions.end()) return found->second;
  faults_.add(fmt::format("{}: the file says no version of the operators of '{}'", title,
                          domain.empty() ? "ai.onnx" : domain));
  return 0;
}

TensorIndex NetworkBuilder::make_tensor(Scope& scope, const std::string& name) {
  Level& level = *scope.level;
  level.network.tensors.push_back(
      {tensor_names_.make(name_in(scope, name)), std::nullopt, std::nullopt, nullptr});
  level.known.push_back(false);
  return static_cast<TensorIndex>(level.network.tensors.size() - 1);
}

TensorIndex NetworkBuilder::tensor_in(Scope& scope, const std::string& name) {
  if (scope.around != nullptr && !scope.own.contains(name))
    return capture(scope, tensor_in(*scope.around, name), name);
  if (const auto found = scope.tensors.find(name); found != scope.tensors.end()) return found->second;
  const TensorIndex made = make_tensor(scope, name);
  scope.tensors.emplace(name, made);
  const auto type = &scope == &graph_scope_ ? types_.find(name) : types_.end();
  if (type != types_.end() && type->second->has_tensor_type()) {
    try {
      set_type(scope.level->network.tensors.back(), *type->second, false);
    } catch (const UserError& error) {
      faults_.add(fmt::format("tensor '{}': {}", name, error.what()));
    }
  }
  return made;
}

void NetworkBuilder::set_constant(Scope& scope, TensorIndex index,
                                  std::shared_ptr<const network::Constant> constant, int32_t type) {
  network::Tensor& tensor = scope.level->network.tensor(index);
  tensor.dtype = constant->dtype;
  tensor.shape = std::vector<network::Extent>(constant->shape.begin(), constant->shape.end());
  tensor.constant = std::move(constant);
  if (const auto element = element_type(type)) tensor.code = element->code;
}

void NetworkBuilder::mark_known(Scope& scope, TensorIndex index, const std::string& title) {
  Level& level = *scope.level;
  if (level.known[static_cast<size_t>(index)])
    faults_.add(fmt::format("{}: the tensor '{}' has its values from elsewhere", title,
                            level.network.tensor(index).name));
  level.known[static_cast<size_t>(index)] = true;
}

void NetworkBuilder::check_reads(const Level& level) {
  const auto unknown = [&](TensorIndex index) {
    return index != kAbsent && !level.known[static_cast<size_t>(index)];
  };
  const auto name_of = [&](TensorIndex index) { return level.network.tensor(index).name; };
  for (const network::Node& node : level.network.nodes)
    for (const TensorIndex input : node.inputs)
      if (unknown(input))
        faults_.add(fmt::format("node '{}' ({}): nothing computes its input '{}'", node.name, node.op,
                                name_of(input)));
  for (const TensorIndex output : level.network.outputs)
    if (unknown(output)) faults_.add(fmt::format("output '{}': nothing computes it", name_of(output)));
}

}  // namespace tunesmith::onnx_reader
