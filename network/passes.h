// The passes, one in each file.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/network/pass.h"

namespace tunesmith::network {

void resolve(Network& network, const PassOptions& options);
void fix_shapes(Network& network, const PassOptions& options);
void move_dequantization(Network& network, const PassOptions& options);
void multiply_integers(Network& network, const PassOptions& options);
void fold_constants(Network& network, const PassOptions& options);
void drop_identities(Network& network, const PassOptions& options);
void eliminate_common_subexpressions(Network& network, const PassOptions& options);
void eliminate_dead_code(Network& network, const PassOptions& options);
void move_scales(Network& network, const PassOptions& options);
void merge_products(Network& network, const PassOptions& options);
void copy_results(Network& network, const PassOptions& options);
void choose_layouts(Network& network, const PassOptions& options);
void join_in_place(Network& network, const PassOptions& options);
void place_loops(Network& network, const PassOptions& options);

/// Collects the refusals of several nodes.
class Refusals {
 public:
  void add(Refusal refusal, const std::string& message) {
    refusals_.push_back(std::move(refusal));
    messages_.push_back(message);
  }
  void remark(const std::string& message) { messages_.push_back(message); }
  /// Throws RefusedNodes if there are any.
  void raise(const std::string& summary, const Network& network) const;

 private:
  std::vector<Refusal> refusals_;
  std::vector<std::string> messages_;
};

/// Removes constant outputs from nodes, and nodes without other outputs.
void remove_constant_nodes(Network& network);

}  // namespace tunesmith::network
