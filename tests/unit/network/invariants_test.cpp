#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_network.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

TEST(NetworkInvariants, HoldForASoundNetwork) { check_invariants(small_network()); }

struct Damage {
  const char* fault;
  std::function<void(Network&)> damage;
};

void set_constant(Network& network, DType dtype, Shape shape, size_t bytes) {
  network.tensors[1].constant = std::make_shared<Constant>(
      Constant{dtype, std::move(shape), two_numbers()->bytes.first(bytes), nullptr});
}

TEST(NetworkInvariants, NameWhatIsBroken) {
  const std::vector<Damage> damages = {
      {"network 'small': an input is not a tensor", [](Network& n) { n.inputs = {4}; }},
      {"the input 'W' is duplicate or a constant", [](Network& n) { n.inputs = {0, 1}; }},
      {"an output is not a tensor", [](Network& n) { n.outputs = {kAbsent}; }},
      {"the output 'Z 1' is duplicate", [](Network& n) { n.outputs = {3, 3}; }},
      {"the output 'Z 1' is neither an input nor computed", [](Network& n) { n.nodes.pop_back(); }},
      {"a tensor has no name", [](Network& n) { n.tensors[2].name.clear(); }},
      {"the tensor 'X' is duplicate", [](Network& n) { n.tensors[2].name = "X"; }},
      {"the tensor 'X' has an extent below 0", [](Network& n) { n.tensors[0].shape->at(1) = -1; }},
      {"the node 'add' is duplicate", [](Network& n) { n.nodes[1].name = "add"; }},
      {"a node has no name", [](Network& n) { n.nodes[1].name.clear(); }},
      {"the node 'add' reads an undefined tensor", [](Network& n) { n.nodes[0].inputs = {17}; }},
      {"the node 'clip' reads a tensor that no node before it computes",
       [](Network& n) { std::swap(n.nodes[0], n.nodes[1]); }},
      {"the node 'clip' computes a tensor twice", [](Network& n) { n.nodes[1].outputs = {1}; }},
      {"the node 'clip' computes an undefined tensor", [](Network& n) { n.nodes[1].outputs = {-2}; }},
      {"the constant 'W' has a wrong number of bytes for its shape",
       [](Network& n) { set_constant(n, kF32, {2}, 4); }},
      {"the constant 'W' differs in type from its tensor", [](Network& n) { set_constant(n, kI32, {2}, 8); }},
      {"the constant 'W' differs in shape from its tensor",
       [](Network& n) { set_constant(n, kF32, {1, 2}, 8); }},
      {"a count does not belong to a result", [](Network& n) { n.counted = {{0, 0, 1}}; }},
      {"the counted result 'Z 1' has no such axis", [](Network& n) { n.counted = {{0, 2, 0}}; }},
      {"the count 'Z 1' is not one i64",
       [](Network& n) {
         n.tensors[3].shape = std::vector<Extent>{int64_t{2}, int64_t{2}};
         n.counted = {{0, 1, 0}};
       }},
      {"the constant 'W' has too many elements",
       [](Network& n) { set_constant(n, kF32, {int64_t{1} << 40, int64_t{1} << 40}, 8); }},
  };
  for (const Damage& damage : damages) {
    Network network = small_network();
    damage.damage(network);
    try {
      check_invariants(network);
      ADD_FAILURE() << damage.fault;
    } catch (const InternalError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(damage.fault));
    }
  }
}

}  // namespace
}  // namespace tunesmith::network
