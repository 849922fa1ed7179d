#include "random_definition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tunesmith/ir/dtype.h>

namespace tunesmith::fuzz {
namespace {

/// The type represents all integers up to this.
double exact_limit(DType type) {
  if (!type.is_float()) return INFINITY;
  return 1 / unit_roundoff(type);
}

/// The magnitude of integer inputs (random_workload.cpp), and of values that are cut back.
constexpr int kSmall = 2;

struct Array {
  std::string name;
  std::vector<int64_t> shape;
  DType type;
  double bound = kSmall;  // of |element|, if a floating array has integers only
  bool read = false;
};

struct Axis {
  std::string name;
  int64_t extent = 1;
};

/// An expression of the language, and a bound of its magnitude.
struct Value {
  std::string text;
  double bound = kSmall;
};

/// Writes statements, each of which reads inputs and earlier arrays.
class Writer {
 public:
  Writer(RandomStream& random, Numbers numbers) : random_(random), exact_(numbers == Numbers::Exact) {}

  std::string text() {
    if (exact_) main_type_ = random_type();
    const size_t inputs = 1 + below(3);
    for (size_t i = 0; i < inputs; ++i)
      arrays_.push_back({fmt::format("X{}", i), random_shape(3, 7), some_type()});
    std::string compute;
    const size_t stages = 1 + below(4);
    for (size_t i = 0; i < stages; ++i) compute += "  " + stage(i) + "\n";

    std::string text = "name: random\ninputs:\n";
    for (size_t i = 0; i < inputs; ++i) {
      if (!arrays_[i].read) continue;
      text += fmt::format("  {}: {{shape: [{}], dtype: {}{}}}\n", arrays_[i].name,
                          fmt::join(arrays_[i].shape, ", "), arrays_[i].type.str(),
                          below(4) == 0 ? ", constant: true" : "");
    }
    // Arrays that nothing reads are outputs, and now and then another one is.
    std::vector<std::string> outputs;
    for (size_t i = inputs; i < arrays_.size(); ++i) {
      if (!arrays_[i].read || below(6) == 0) outputs.push_back(arrays_[i].name);
    }
    text += "compute: |\n" + compute + fmt::format("outputs: [{}]\n", fmt::join(outputs, ", "));
    return text + strides(text, inputs, outputs);
  }

 private:
  /// Adds gaps to some inputs and outputs. Depends on the text, so that later draws are the same without
  /// them.
  std::string strides(const std::string& definition, size_t inputs,
                      const std::vector<std::string>& outputs) const {
    RandomStream random(
        std::accumulate(definition.begin(), definition.end(), uint64_t{7},
                        [](uint64_t sum, char c) { return sum * 31 + static_cast<uint64_t>(c); }));
    std::string text;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const Array& array = arrays_[i];
      const bool argument = i < inputs ? array.read : std::ranges::find(outputs, array.name) != outputs.end();
      if (!argument || array.shape.size() < 2 || random.below(4) != 0) continue;
      std::vector<int64_t> made(array.shape.size(), 1);
      for (size_t d = made.size(); d-- > 1;)
        made[d - 1] = made[d] * array.shape[d] + static_cast<int64_t>(random.below(4));
      text += fmt::format("  {}: [{}]\n", array.name, fmt::join(made, ", "));
    }
    return text.empty() ? "" : "strides:\n" + text;
  }

  uint64_t below(uint64_t bound) { return random_.below(bound); }
  template <typename T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  DType random_type() {
    return pick(std::vector<DType>{kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8});
  }
  DType some_type() { return exact_ && below(5) == 0 ? random_type() : main_type_; }

  std::vector<int64_t> random_shape(size_t max_dimensions, uint64_t most) {
    std::vector<int64_t> shape;
    const size_t dimensions = 1 + below(max_dimensions);
    for (size_t d = 0; d < dimensions; ++d) shape.push_back(static_cast<int64_t>(1 + below(most)));
    // Extents with whole vectors and a remainder.
    if (below(4) == 0) shape.back() = static_cast<int64_t>(1 + below(20));
    return shape;
  }

  /// Cuts a value back if it might leave its type's exact range.
  Value limited(const Value& value, DType type) const {
    if (!exact_ || value.bound <= exact_limit(type)) return value;
    return {fmt::format("max(min({}, {}), -{})", value.text, kSmall, kSmall), kSmall};
  }

  /// Converts between types such that both represent the value exactly or wrap around.
  Value converted(const Value& value, DType from, DType to) const {
    if (from == to) return value;
    if (!from.is_float() && to.is_float())
      return {fmt::format("{}(({}) % {})", to.str(), value.text, kSmall + 1), kSmall};
    const bool fits = !to.is_float() || value.bound <= exact_limit(to);
    const Value source =
        fits ? value : Value{fmt::format("max(min({}, {}), -{})", value.text, kSmall, kSmall), kSmall};
    return {fmt::format("{}({})", to.str(), source.text), source.bound};
  }

  /// Combines the last array element-wise with something, like a bias.
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
    const Value with = operand(axes, last.type, &none);
    const std::string element = fmt::format("{}[{}]", last.name, fmt::join(names, ", "));
    const bool sum = below(2) == 0;
    const Value value =
        limited({fmt::format(fmt::runtime(sum ? "{} + {}" : "max({}, {})"), element, with.text),
                 sum ? last.bound + with.bound : std::max(last.bound, with.bound)},
                last.type);
    arrays_.push_back({fmt::format("S{}", number), last.shape, last.type, value.bound});
    return fmt::format("{}[{}] = {}", arrays_.back().name, declared(axes), value.text);
  }

  /// Combines an array with its elements two rows on, so that a row's values are used twice.
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
    const Value sum = limited(
        {fmt::format("{0}[{1}{2}] + {0}[{1} + 2{2}]", array.name, axes[0].name, rest), 2 * array.bound},
        array.type);
    arrays_.push_back({name, shape, array.type, sum.bound});
    return fmt::format("{}[{}] = {}", name, declared(axes), sum.text);
  }

  std::string stage(size_t number) {
    if (number > 0 && below(6) == 0) return epilogue(number);
    if (below(6) == 0) {
      if (std::string statement = window(number); !statement.empty()) return statement;
    }
    const std::string name = fmt::format("S{}", number);
    const DType type = some_type();
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
    Value value = operand(all, type, &unused);
    const uint64_t operands = 1 + below(3);
    for (uint64_t i = 1; i < operands; ++i)
      value = limited(combine(value, operand(all, type, &unused), type), type);
    // Every reduction axis must be used: as a value if no index uses it.
    for (const std::string& axis : unused) {
      const double bound = value.bound * 5;  // the greatest extent of a reduction
      value = limited(
          {fmt::format("({}) * ({}({}) + {})", value.text, type.str(), axis, exact_ ? "1" : "1.5"), bound},
          type);
    }
    if (below(3) == 0) {
      const std::vector<std::string> functions = exact_ ? std::vector<std::string>{"abs", "relu"}
                                                        : std::vector<std::string>{"tanh", "abs", "sigmoid"};
      value.text = fmt::format("{}({})", pick(functions), value.text);
    }
    if (!reduced.empty()) value = limited(reduce(value, reduced, type), type);
    std::string statement = fmt::format("{}[{}] = {}", name, declared(spatial), value.text);
    arrays_.push_back({name, shape, type, value.bound});
    return statement;
  }

  Value reduce(Value term, const std::vector<Axis>& axes, DType type) {
    const std::string kind = pick(std::vector<std::string>{"sum", "sum", "max", "min", "prod"});
    double terms = 1;
    for (const Axis& axis : axes) terms *= static_cast<double>(axis.extent);
    if (kind == "sum") {
      // No partial sum may be rounded.
      if (exact_ && term.bound * terms > exact_limit(type))
        term = {fmt::format("max(min({}, {}), -{})", term.text, kSmall, kSmall), kSmall};
      term.bound *= terms;
    }
    // The terms of a product are at most one, to stay in the type's exact range.
    if (kind == "prod" && exact_ && type.is_float())
      term = {fmt::format("max(min({}, 1), -1)", term.text), 1};
    return {fmt::format("{}({}) ({})", kind, declared(axes), term.text), term.bound};
  }

  static std::string declared(const std::vector<Axis>& axes) {
    std::string text;
    for (const Axis& axis : axes)
      text += fmt::format("{}{}<{}", text.empty() ? "" : ", ", axis.name, axis.extent);
    return text;
  }

  Value combine(const Value& a, const Value& b, DType type) {
    const double larger = std::max(a.bound, b.bound);
    if (exact_ && !type.is_float() && below(6) == 0) {
      const std::string function =
          pick(std::vector<std::string>{"bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"});
      return {fmt::format("{}({}, {})", function, a.text, b.text), larger};
    }
    switch (below(4)) {
      case 0:
        return {fmt::format("({} + {})", a.text, b.text), a.bound + b.bound};
      case 1:
        return {fmt::format("{} * {}", a.text, b.text), a.bound * b.bound};
      case 2:
        return {fmt::format("max({}, {})", a.text, b.text), larger};
      default:
        if (!exact_) return {fmt::format("select({} < 0.25, {}, 0.5)", a.text, b.text), larger};
        // For integers, a condition on indices that always holds: the next one is greater.
        if (!type.is_float() && below(2) == 0)
          return {fmt::format("select({0} + 1 > {0}, {1}, 1)", a.text, b.text), larger};
        return {fmt::format("select({} < 1, {}, 1)", a.text, b.text), larger};
    }
  }

  std::string padding() { return exact_ ? std::to_string(below(kSmall + 1)) : std::string("0.5"); }

  Value operand(const std::vector<Axis>& axes, DType type, std::vector<std::string>* unused) {
    // Prefers later arrays, since placement moves chains.
    Array& array = arrays_[std::max(below(arrays_.size()), below(arrays_.size()))];
    array.read = true;
    std::vector<std::string> indices;
    bool padded = false;
    for (size_t d = 0; d < array.shape.size(); ++d)
      indices.push_back(index(array.shape[d], d, axes, &padded));
    std::string condition;
    if (below(6) == 0) {
      const size_t d = below(array.shape.size());
      if (std::string gathered = data_index(array.shape[d], axes); !gathered.empty())
        indices[d] = std::move(gathered);
    } else if (below(5) == 0) {
      const size_t d = below(array.shape.size());
      std::tie(indices[d], condition) = masked_index(array.shape[d], axes);
    }
    for (const std::string& text : indices) {
      std::erase_if(*unused, [&](const std::string& axis) { return text.find(axis) != std::string::npos; });
    }
    Value value{fmt::format("{}[{}]", array.name, fmt::join(indices, ", ")),
                std::max<double>(array.bound, kSmall)};
    if (padded) value.text = fmt::format("inside({}, {})", value.text, padding());
    if (!condition.empty()) value.text = fmt::format("select({}, {}, {})", condition, value.text, padding());
    return converted(value, array.type, type);
  }

  /// An index loaded from an array, mostly inside [0, extent); "" if no array has integers.
  std::string data_index(int64_t extent, const std::vector<Axis>& axes) {
    std::vector<Array*> known;
    for (Array& array : arrays_) {
      // A different order of rounding must not change the index, so reals come from inputs.
      if (!array.type.is_float() || (!exact_ && array.name[0] == 'X')) known.push_back(&array);
    }
    if (known.empty()) return "";
    Array& array = *pick(known);
    array.read = true;
    std::vector<std::string> indices;
    bool padded = false;
    for (size_t d = 0; d < array.shape.size(); ++d)
      indices.push_back(index(array.shape[d], d, axes, &padded));
    std::string element = fmt::format("{}[{}]", array.name, fmt::join(indices, ", "));
    if (padded) element = fmt::format("inside({}, 1)", element);
    if (array.type.is_float()) return fmt::format("at(i64({} * {} + 1))", element, extent);
    return below(4) == 0 ? fmt::format("at({})", element)
                         : fmt::format("at({} % {} - 1)", element, std::min<int64_t>(extent + 2, 100));
  }

  /// An index that is read only if it is inside, with that condition; "" if it always is.
  std::pair<std::string, std::string> masked_index(int64_t extent, const std::vector<Axis>& axes) {
    const Axis& axis = pick(axes);
    const auto offset = static_cast<int64_t>(below(4));
    const std::string at = offset == 0 ? axis.name : fmt::format("{} - {}", axis.name, offset);
    std::string condition;
    if (offset > 0) condition = fmt::format("{} >= {}", axis.name, offset);
    if (axis.extent - offset > extent)
      condition += fmt::format("{}{} < {}", condition.empty() ? "" : " and ", axis.name, extent + offset);
    return {at, condition};
  }

  /// An index within [0, extent), or one that may leave it, and then sets `padded`.
  std::string index(int64_t extent, size_t dimension, const std::vector<Axis>& axes, bool* padded) {
    // The axis at the same position is the usual case and must stay the most frequent.
    if (dimension < axes.size() && axes[dimension].extent <= extent && below(2) == 0)
      return axes[dimension].name;
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Axis& a = pick(axes);
      const Axis& b = pick(axes);
      const bool two = a.name != b.name;
      switch (below(10)) {
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
        case 7: {
          *padded = true;
          const uint64_t offset = 1 + below(3);
          return two && below(2) == 0 ? fmt::format("{} + {} - {}", a.name, b.name, offset)
                                      : fmt::format("{} - {}", a.name, offset);
        }
        case 8: {  // rises and falls
          *padded = true;
          const uint64_t period = 2 + below(3);
          return fmt::format("{0}*{1} - {0} // {2}*{3} + {4}", a.name, 1 + below(4), period,
                             1 + below(8 * period), below(static_cast<uint64_t>(extent)));
        }
        default:
          if (extent > 1 && below(2) == 0) return fmt::format("{} % {}", a.name, extent);
          return fmt::format("{}", below(static_cast<uint64_t>(extent)));
      }
    }
    return "0";
  }

  RandomStream& random_;
  const bool exact_;
  DType main_type_ = kF64;
  std::vector<Array> arrays_;
};

}  // namespace

std::string random_definition(RandomStream& random, Numbers numbers) {
  return Writer(random, numbers).text();
}

}  // namespace tunesmith::fuzz
