// Nodes that stand for loops, until place_loops lays these out.
//
// Such a node has a body that passes change as any network. What all trips read is no input of a body where
// it is constant.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tunesmith/network/operator.h"

namespace tunesmith::network {

Node repeat_node(std::string name, const Repetition& repetition, std::vector<TensorIndex> inputs,
                 std::vector<TensorIndex> outputs);
bool is_repetition(const Node& node);
/// Of such a node.
Repetition repetition_of(const Node& node);

/// How many inputs of the body are one of the trips'.
inline size_t sliced_inputs(const Repetition& repetition) {
  return repetition.backwards.size() - (repetition.body->outputs.size() - repetition.carried);
}

void change_body(Node& node, const std::function<void(Network&)>& change);
/// What all trips read is constant in the body, too, where it is one.
void give_constants(const Network& network, Node& node);
/// Removes what nothing reads from what has all trips.
void drop_unread_outputs(Node& node);

}  // namespace tunesmith::network
