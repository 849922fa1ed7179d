// A network of two nodes, for tests to print and to damage.
#pragma once

#include <array>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

inline std::shared_ptr<const Constant> two_numbers() {
  static const std::array<float, 2> kNumbers{1.0F, 2.0F};
  return std::make_shared<Constant>(Constant{kF32, {2}, std::as_bytes(std::span(kNumbers)), nullptr});
}

/// Z = Clip(Add(X, W), nothing, nothing).
inline Network small_network() {
  Network network;
  network.name = "small";
  network.tensors = {{"X", kF32, std::vector<Extent>{"batch", int64_t{2}}, nullptr},
                     {"W", kF32, std::vector<Extent>{int64_t{2}}, two_numbers()},
                     {"Y", kF32, std::nullopt, nullptr},
                     {"Z 1", std::nullopt, std::nullopt, nullptr}};
  network.nodes = {{"add", "Add", 14, {}, {0, 1}, {2}},
                   {"clip",
                    "Clip",
                    13,
                    {{"ranges", std::vector<double>{0, 6.5}}, {"axis", int64_t{1}}, {"mode", "a\n"}},
                    {2, kAbsent, kAbsent},
                    {3}}};
  network.inputs = {0};
  network.outputs = {3};
  return network;
}

}  // namespace tunesmith::network
