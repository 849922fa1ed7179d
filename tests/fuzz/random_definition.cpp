#include "random_definition.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace tunesmith::fuzz {
namespace {

struct Array {
  std::string name;
  std::vector<int64_t> shape;
  bool read = false;
};

struct Axis {
  std::string name;
  int64_t extent = 1;
};

/// Writes one statement after the other; each reads inputs and what stands before it.
class Writer {
 public:
  explicit Writer(RandomStream& random) : random_(random) {}

  std::string text() {
    const size_t inputs = 1 + below(3);
    for (size_t i = 0; i < inputs; ++i) arrays_.push_back({fmt::format("X{}", i), random_shape(3, 7), false});
    std::string compute;
    const size_t stages = 1 + below(4);
    for (size_t i = 0; i < stages; ++i) compute += "  " + stage(i) + "\n";

    std::string text = "name: random\ninputs:\n";
    for (size_t i = 0; i < inputs; ++i) {
      if (!arrays_[i].read) continue;
      text += fmt::format("  {}: {{shape: [{}], dtype: f64{}}}\n", arrays_[i].name,
                          fmt::join(arrays_[i].shape, ", "), below(4) == 0 ? ", constant: true" : "");
    }
    // What nothing reads is a result; now and then something else is, too.
    std::vector<std::string> outputs;
    for (size_t i = inputs; i < arrays_.size(); ++i) {
      if (!arrays_[i].read || below(6) == 0) outputs.push_back(arrays_[i].name);
    }
    return text + "compute: |\n" + compute + fmt::format("outputs: [{}]\n", fmt::join(outputs, ", "));
  }

 private:
  uint64_t below(uint64_t bound) { return random_.below(bound); }
  template <typename T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  std::vector<int64_t> random_shape(size_t most_dimensions, uint64_t most) {
    std::vector<int64_t> shape;
    const size_t dimensions = 1 + below(most_dimensions);
    for (size_t d = 0; d < dimensions; ++d) shape.push_back(static_cast<int64_t>(1 + below(most)));
    return shape;
  }

  /// The array that stands last, element by element, combined with something: as a bias is added.
  std::string epilogue(size_t number) {
    const Array last = arrays_.back();
    std::vector<Axis> axes;
    std::vector<std::string> names;
    for (size_t d = 0; d < last.shape.size(); ++d) {
      names.push_back(fmt::format("a{}_{}", number, d));
      axes.push_back({names.back(), last.shape[d]});
    }
    arrays_.back().read = true;
    std::vector<std::string> none;
    const std::string with = operand(axes, &none);
    const std::string value = fmt::format("{}[{}]", last.name, fmt::join(names, ", "));
    arrays_.push_back({fmt::format("S{}", number), last.shape, false});
    return fmt::format(
        fmt::runtime(pick(std::vector<std::string>{"{}[{}] = {} + {}", "{}[{}] = max({}, {})"})),
        arrays_.back().name, declared(axes), value, with);
  }

  /// Elements of an array together with those two rows on: what is computed for one row serves another.
  std::string window(size_t number) {
    Array& array = arrays_[std::max(below(arrays_.size()), below(arrays_.size()))];
    if (array.shape[0] < 3) return "";
    array.read = true;
    std::vector<Axis> axes;
    std::string rest;
    std::vector<int64_t> shape = array.shape;
    shape[0] -= 2;
    for (size_t d = 0; d < shape.size(); ++d) {
      axes.push_back({fmt::format("a{}_{}", number, d), shape[d]});
      if (d > 0) rest += ", " + axes.back().name;
    }
    const std::string name = fmt::format("S{}", number);
    const std::string from = array.name;
    arrays_.push_back({name, shape, false});
    return fmt::format("{0}[{1}] = {2}[{3}{4}] + {2}[{3} + 2{4}]", name, declared(axes), from, axes[0].name,
                       rest);
  }

  std::string stage(size_t number) {
    if (number > 0 && below(6) == 0) return epilogue(number);
    if (below(6) == 0) {
      if (std::string statement = window(number); !statement.empty()) return statement;
    }
    const std::string name = fmt::format("S{}", number);
    std::vector<Axis> spatial;
    std::vector<int64_t> shape;
    if (below(3) == 0) {
      shape = pick(arrays_).shape;
    } else {
      shape = random_shape(3, 6);
    }
    for (size_t d = 0; d < shape.size(); ++d) spatial.push_back({fmt::format("a{}_{}", number, d), shape[d]});
    std::vector<Axis> reduced;
    const uint64_t reductions = below(2) == 0 ? 0 : 1 + below(2);
    for (uint64_t i = 0; i < reductions; ++i) {
      reduced.push_back({fmt::format("r{}_{}", number, i), static_cast<int64_t>(1 + below(5))});
    }
    std::vector<Axis> all = spatial;
    all.insert(all.end(), reduced.begin(), reduced.end());

    std::vector<std::string> unused;
    for (const Axis& axis : reduced) unused.push_back(axis.name);
    std::string value = operand(all, &unused);
    const uint64_t operands = 1 + below(3);
    for (uint64_t i = 1; i < operands; ++i) value = combine(value, operand(all, &unused));
    // Every reduction axis must be used: as a value when no index happens to.
    for (const std::string& axis : unused) value = fmt::format("{} * (f64({}) + 1.5)", value, axis);
    if (below(3) == 0)
      value = fmt::format("{}({})", pick(std::vector<std::string>{"tanh", "abs", "sigmoid"}), value);
    if (!reduced.empty()) {
      value = fmt::format("{}({}) ({})", pick(std::vector<std::string>{"sum", "sum", "max", "min"}),
                          declared(reduced), value);
    }
    std::string statement = fmt::format("{}[{}] = {}", name, declared(spatial), value);
    arrays_.push_back({name, shape, false});
    return statement;
  }

  static std::string declared(const std::vector<Axis>& axes) {
    std::string text;
    for (const Axis& axis : axes)
      text += fmt::format("{}{}<{}", text.empty() ? "" : ", ", axis.name, axis.extent);
    return text;
  }

  std::string combine(const std::string& a, const std::string& b) {
    switch (below(4)) {
      case 0:
        return fmt::format("({} + {})", a, b);
      case 1:
        return fmt::format("{} * {}", a, b);
      case 2:
        return fmt::format("max({}, {})", a, b);
      default:
        return fmt::format("select({} < 0.25, {}, 0.5)", a, b);
    }
  }

  std::string operand(const std::vector<Axis>& axes, std::vector<std::string>* unused) {
    // Later arrays more often: chains are what placement moves.
    Array& array = arrays_[std::max(below(arrays_.size()), below(arrays_.size()))];
    array.read = true;
    std::vector<std::string> indices;
    bool padded = false;
    for (size_t d = 0; d < array.shape.size(); ++d) {
      indices.push_back(index(array.shape[d], d, axes, &padded));
      std::erase_if(*unused,
                    [&](const std::string& axis) { return indices.back().find(axis) != std::string::npos; });
    }
    const std::string access = fmt::format("{}[{}]", array.name, fmt::join(indices, ", "));
    return padded ? fmt::format("inside({}, 0.5)", access) : access;
  }

  /// An index that stays within [0, extent), or one that may leave it, for which it sets `padded`.
  std::string index(int64_t extent, size_t dimension, const std::vector<Axis>& axes, bool* padded) {
    // The axis at the same position is the plain case; it must stay the most frequent one.
    if (dimension < axes.size() && axes[dimension].extent <= extent && below(2) == 0)
      return axes[dimension].name;
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Axis& a = pick(axes);
      const Axis& b = pick(axes);
      const bool two = a.name != b.name;
      switch (below(8)) {
        case 0:
        case 1:
          if (a.extent <= extent) return a.name;
          break;
        case 2:
          if (a.extent <= extent) return fmt::format("{} - {}", extent - 1, a.name);
          break;
        case 3:
          if (two && a.extent + b.extent - 1 <= extent) return fmt::format("{} + {}", a.name, b.name);
          break;
        case 4:
          if (two && (a.extent - 1) * 2 + b.extent <= extent) return fmt::format("{}*2 + {}", a.name, b.name);
          break;
        case 5:
          if ((a.extent - 1) / 2 < extent) return fmt::format("{} // 2", a.name);
          break;
        case 6:
          *padded = true;
          return two ? fmt::format("{} + {} - 1", a.name, b.name) : fmt::format("{} - 1", a.name);
        default:
          if (extent > 1 && below(2) == 0) return fmt::format("{} % {}", a.name, extent);
          return fmt::format("{}", below(static_cast<uint64_t>(extent)));
      }
    }
    return "0";
  }

  RandomStream& random_;
  std::vector<Array> arrays_;
};

}  // namespace

std::string random_definition(RandomStream& random) { return Writer(random).text(); }

}  // namespace tunesmith::fuzz
