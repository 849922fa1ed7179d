// Loop nodes: each has a body, which passes transform like any network. place_loops, the last pass, replaces
// them by a Loop of nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tunesmith/network/operator.h"

namespace tunesmith::network {

Node repeat_node(std::string name, const Repetition& repetition, std::vector<TensorIndex> inputs,
                 std::vector<TensorIndex> outputs);
bool is_repetition(const Node& node);
/// `node`: is_repetition.
Repetition repetition_of(const Node& node);

/// The number of the body's inputs that are rows.
inline size_t sliced_inputs(const Repetition& repetition) {
  return repetition.backwards.size() - (repetition.body->outputs.size() - repetition.carried);
}

void change_body(Node& node, const std::function<void(Network&)>& change);
/// Moves constant loop-invariant inputs into the body.
void give_constants(const Network& network, Node& node);
/// Removes outputs of rows that nothing reads.
void drop_unread_outputs(Node& node);

}  // namespace tunesmith::network
