// Extents of a network that vary: their values come with each call of its library.
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
  std::string name;       ///< in the network's file
  std::string parameter;  ///< in workloads
  ParamRange range;
};

/// An extent as a sum: of a number, and of those that vary, each times a factor.
struct ExtentForm {
  int64_t constant = 0;
  std::vector<int64_t> factors;  ///< one for each extent that varies

  bool operator==(const ExtentForm& other) const = default;
  bool varies() const;
  int64_t at(std::span<const int64_t> values) const;
  /// "batch", "(2 * batch + 1)", where `names` are those of what varies.
  std::string text(std::span<const std::string> names) const;
};

/// Of a tensor, one form for each axis; empty where none of them varies.
using ShapeForm = std::vector<ExtentForm>;

/// `shape` where it does not vary.
Shape shape_at(const Shape& shape, const ShapeForm& form, std::span<const int64_t> values);

/// The parameters of the workloads alone.
Program parameters_of(std::span<const VaryingExtent> varying);

/// For an extent that has been computed at some of the values, the form which gives these. The first `values`
/// has the highest of all that varies, and after it stands one for each, in which that alone is another.
class FormFinder {
 public:
  explicit FormFinder(std::vector<std::vector<int64_t>> values) : values_(std::move(values)) {}
  const std::vector<std::vector<int64_t>>& values() const { return values_; }
  /// Nothing where no form gives all of them.
  std::optional<ExtentForm> find(std::span<const int64_t> computed) const;

 private:
  std::vector<std::vector<int64_t>> values_;
};

}  // namespace tunesmith::network
#pragma GCC visibility pop
