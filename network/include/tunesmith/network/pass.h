// The passes that run on a network between import and tuning, each in a file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Null for an unknown operator.
using FindOperator = std::function<const Operator*(std::string_view op, int64_t version)>;

struct PassOptions {
  FindOperator find_operator;
  std::map<std::string, int64_t> dimensions;  ///< values of named extents
  std::set<std::string> kept = {};            ///< names of nodes to keep although their output is their input
};

/// A node needs the values of one of the network's inputs in advance, such as a shape.
class UnknownValues : public UserError {
 public:
  UnknownValues(TensorIndex tensor, const std::string& message) : UserError(message), tensor_(tensor) {}
  TensorIndex tensor() const { return tensor_; }

 private:
  TensorIndex tensor_;
};

/// A refused node, or several nodes with one unknown operator.
struct Refusal {
  std::string op;
  std::string what;           ///< without the node's name
  std::vector<size_t> nodes;  ///< places in RefusedNodes::network().nodes
};

/// One error for all refused nodes.
class RefusedNodes : public UserError {
 public:
  RefusedNodes(const std::string& message, std::vector<Refusal> refusals, const Network& network)
      : UserError(message),
        refusals_(std::move(refusals)),
        network_(std::make_shared<const Network>(network)) {}
  const std::vector<Refusal>& refusals() const { return refusals_; }
  /// The network with the types and shapes that are known in spite of the refused nodes.
  const Network& network() const { return *network_; }

 private:
  std::vector<Refusal> refusals_;
  std::shared_ptr<const Network> network_;
};

/// Throws RefusedNodes for contents of the network that Tunesmith does not support.
struct Pass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  void (*run)(Network& network, const PassOptions& options);
};

/// In the order of execution.
std::span<const Pass> passes();

/// Runs all passes, with check_invariants after each; calls `after`, if given, after each pass.
void run_passes(Network& network, const PassOptions& options,
                const std::function<void(const Pass&, const Network&)>& after = {});

}  // namespace tunesmith::network
#pragma GCC visibility pop
