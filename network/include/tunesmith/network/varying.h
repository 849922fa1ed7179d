// Varying extents of a network, whose values a call of its library gives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/network/network.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

struct VaryingExtent {
  std::string name;       ///< its name in the network's file
  std::string parameter;  ///< its name in workloads
  ParamRange range;
};

/// An extent as an affine function of the varying ones.
struct ExtentForm {
  int64_t constant = 0;
  std::vector<int64_t> factors;  ///< one for each varying extent

  bool operator==(const ExtentForm& other) const = default;
  bool varies() const;
  int64_t at(std::span<const int64_t> values) const;
  /// For example "batch", "(2 * batch + 1)". `names`: of the varying extents.
  std::string text(std::span<const std::string> names) const;
};

/// One form for each axis of a tensor; empty for a tensor of fixed shape.
using ShapeForm = std::vector<ExtentForm>;

/// Returns `shape` if `form` is empty.
Shape shape_at(const Shape& shape, const ShapeForm& form, std::span<const int64_t> values);

/// "batch=7, tokens=128".
std::string text_of_values(std::span<const VaryingExtent> varying, std::span<const int64_t> values);

/// A program with just the parameters of the workloads.
Program parameters_of(std::span<const VaryingExtent> varying);

/// Fits affine forms to extents that were computed at several values. The first of `values` has the highest
/// of all varying extents; each following one, one per extent, differs in just that extent.
class FormFinder {
 public:
  explicit FormFinder(std::vector<std::vector<int64_t>> values) : values_(std::move(values)) {}
  const std::vector<std::vector<int64_t>>& values() const { return values_; }
  /// Nothing if no affine form gives all of `computed`.
  std::optional<ExtentForm> find(std::span<const int64_t> computed) const;

 private:
  std::vector<std::vector<int64_t>> values_;
};

}  // namespace tunesmith::network
#pragma GCC visibility pop
