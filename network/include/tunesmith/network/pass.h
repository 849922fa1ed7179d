// What is done to a network between its import and its tuning: a list of passes, each a file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

/// Null for what is not known.
using FindOperator = std::function<const Operator*(std::string_view op, int64_t version)>;

struct PassOptions {
  FindOperator find_operator;
  std::map<std::string, int64_t> dimensions;  ///< values of named extents
  std::set<std::string> kept = {};            ///< names of nodes that stay though their output is their input
};

/// A node needs the values of an input of the network ahead, such as a shape that a call gives.
class UnknownValues : public UserError {
 public:
  UnknownValues(TensorIndex tensor, const std::string& message) : UserError(message), tensor_(tensor) {}
  TensorIndex tensor() const { return tensor_; }

 private:
  TensorIndex tensor_;
};

/// One node, or several of an operator that is not known.
struct Refusal {
  std::string op;
  std::string what;  ///< without the node's name
};

/// Nodes are refused: all of them, in one error.
class RefusedNodes : public UserError {
 public:
  RefusedNodes(const std::string& message, std::vector<Refusal> refusals)
      : UserError(message), refusals_(std::move(refusals)) {}
  const std::vector<Refusal>& refusals() const { return refusals_; }

 private:
  std::vector<Refusal> refusals_;
};

/// Throws RefusedNodes for what the network has and Tunesmith does not take.
struct Pass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  void (*run)(Network& network, const PassOptions& options);
};

/// In the order in which they run.
std::span<const Pass> passes();

/// Runs all of them, with check_invariants after each; `after`, where it is given, sees what each has made.
void run_passes(Network& network, const PassOptions& options,
                const std::function<void(const Pass&, const Network&)>& after = {});

}  // namespace tunesmith::network
#pragma GCC visibility pop
