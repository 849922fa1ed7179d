#include "reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/support/error.h"

namespace tunesmith::operators_onnx {
namespace {

template <typename T>
T read_element(const Constant& constant, int64_t position) {
  T value;
  std::memcpy(&value, constant.bytes.data() + static_cast<size_t>(position) * sizeof(T), sizeof(T));
  return value;
}

int64_t integer_at(const Constant& constant, int64_t position) {
  if (constant.dtype == kI64) return read_element<int64_t>(constant, position);
  if (constant.dtype == kI32) return read_element<int32_t>(constant, position);
  if (constant.dtype == kI16) return read_element<int16_t>(constant, position);
  if (constant.dtype == kU16) return read_element<uint16_t>(constant, position);
  if (constant.dtype == kU32) return read_element<uint32_t>(constant, position);
  if (constant.dtype == kU64) return static_cast<int64_t>(read_element<uint64_t>(constant, position));
  if (constant.dtype == kI8) return read_element<int8_t>(constant, position);
  return read_element<uint8_t>(constant, position);
}

}  // namespace

std::vector<int64_t> integer_elements(const Constant& constant) {
  if (constant.dtype.is_float())
    throw UserError(fmt::format("expected integers, these are {}", constant.dtype.str()));
  std::vector<int64_t> values;
  for (int64_t i = 0; i < element_count(constant.shape); ++i) values.push_back(integer_at(constant, i));
  return values;
}

std::vector<double> number_elements(const Constant& constant) {
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(constant.shape); ++i) {
    if (constant.dtype == kF32) {
      values.push_back(read_element<float>(constant, i));
    } else if (constant.dtype == kF64) {
      values.push_back(read_element<double>(constant, i));
    } else if (!constant.dtype.is_float()) {
      values.push_back(static_cast<double>(integer_at(constant, i)));
    } else {
      throw UserError(fmt::format("numbers of the type {} cannot be read here", constant.dtype.str()),
                      "expected f32");
    }
  }
  return values;
}

std::shared_ptr<const Constant> make_constant(DType dtype, Shape shape, std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return std::make_shared<Constant>(Constant{dtype, std::move(shape), *owner, owner});
}

std::shared_ptr<const Constant> make_constant(DType dtype, Shape shape,
                                              const std::vector<int64_t>& integers) {
  const auto width = static_cast<size_t>(dtype.bytes());
  std::vector<std::byte> bytes(integers.size() * width);
  // Little-endian, as all machines that programs are compiled for: the low bytes come first.
  for (size_t i = 0; i < integers.size(); ++i) std::memcpy(bytes.data() + i * width, &integers[i], width);
  return make_constant(dtype, std::move(shape), std::move(bytes));
}

size_t NodeReader::input_count() const {
  size_t count = view_.inputs.size();
  while (count > 0 && !view_.inputs[count - 1]) --count;
  return count;
}

size_t NodeReader::own_count() const {
  size_t count = view_.inputs.size();
  for (const network::Body& body : view_.node.bodies)
    for (const size_t input : body.captured) count = std::min(count, input);
  return count;
}

const network::Body& NodeReader::body(std::string_view attribute) const {
  const auto found = std::ranges::find(view_.node.bodies, attribute, &network::Body::name);
  if (found == view_.node.bodies.end()) refuse(fmt::format("attribute '{}' is missing", attribute));
  return *found;
}

const std::vector<network::TensorIndex>& NodeReader::elements(size_t input) const {
  if (!is_sequence(input)) refuse(fmt::format("input {} is no sequence, or one of unknown length", input));
  return *view_.inputs[input]->elements;
}

const TensorType& NodeReader::type(size_t input) const {
  if (!has(input)) refuse(fmt::format("input {} is missing", input));
  if (is_sequence(input)) refuse(fmt::format("input {} is a sequence or an optional value", input));
  return view_.inputs[input]->type;
}

std::optional<int64_t> NodeReader::highest(size_t input) const {
  const Constant* known = has(input) ? view_.inputs[input]->highest : nullptr;
  return known && element_count(known->shape) == 1 ? std::optional(integer_elements(*known)[0])
                                                   : std::nullopt;
}

const Constant* NodeReader::constant(size_t input) const {
  return has(input) ? view_.inputs[input]->constant : nullptr;
}

const Constant& NodeReader::values(size_t input, std::string_view what) const {
  type(input);
  if (const Constant* found = constant(input)) return *found;
  throw network::NeedsConstant(
      input, fmt::format("the values of input {} ('{}') must be known before the network runs", input, what));
}

std::vector<int64_t> NodeReader::integers_of(size_t input, std::string_view what) const {
  return integer_elements(values(input, what));
}

int64_t NodeReader::integer_of(size_t input, std::string_view what) const {
  const std::vector<int64_t> found = integers_of(input, what);
  refuse_unless(found.size() == 1, fmt::format("input {} ('{}') is not a single value", input, what));
  return found[0];
}

std::vector<double> NodeReader::numbers_of(size_t input, std::string_view what) const {
  return number_elements(values(input, what));
}

bool NodeReader::has_attribute(std::string_view name) const {
  return view_.node.attributes.contains(std::string(name));
}

template <typename T>
const T* NodeReader::find(std::string_view name, std::string_view kind) const {
  asked_.emplace(name);
  const auto found = view_.node.attributes.find(std::string(name));
  if (found == view_.node.attributes.end()) return nullptr;
  const T* value = std::get_if<T>(&found->second);
  if (!value)
    refuse(fmt::format("attribute '{}' is of another type", name), fmt::format("expected {}", kind));
  return value;
}

int64_t NodeReader::integer(std::string_view name, int64_t otherwise) const {
  const auto* value = find<int64_t>(name, "an integer");
  return value ? *value : otherwise;
}

double NodeReader::number(std::string_view name, double otherwise) const {
  const auto* value = find<double>(name, "a number");
  return value ? *value : otherwise;
}

std::string NodeReader::text(std::string_view name, std::string_view otherwise) const {
  const auto* value = find<std::string>(name, "a text");
  return value ? *value : std::string(otherwise);
}

std::string NodeReader::choice(std::string_view name, std::initializer_list<std::string_view> values) const {
  const std::string value = text(name, *values.begin());
  refuse_unless(std::ranges::find(values, value) != values.end(),
                fmt::format("attribute '{}' is '{}'", name, value));
  return value;
}

std::optional<std::vector<int64_t>> NodeReader::integers(std::string_view name) const {
  const auto* value = find<std::vector<int64_t>>(name, "a list of integers");
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<double>> NodeReader::numbers(std::string_view name) const {
  const auto* value = find<std::vector<double>>(name, "a list of numbers");
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::vector<std::string>> NodeReader::texts(std::string_view name) const {
  const auto* value = find<std::vector<std::string>>(name, "a list of texts");
  return value ? std::optional(*value) : std::nullopt;
}

std::shared_ptr<const Constant> NodeReader::tensor(std::string_view name) const {
  const auto* value = find<std::shared_ptr<const Constant>>(name, "a tensor");
  return value ? *value : nullptr;
}

size_t NodeReader::axis(int64_t given, size_t rank) const {
  const auto count = static_cast<int64_t>(rank);
  if (given < -count || given >= count)
    refuse(fmt::format("there is no axis {}", given), fmt::format("the input has {} axes", rank));
  return static_cast<size_t>(given < 0 ? given + count : given);
}

std::vector<size_t> NodeReader::axes(const std::optional<std::vector<int64_t>>& given, size_t rank) const {
  std::vector<size_t> found(given ? given->size() : rank);
  for (size_t i = 0; i < found.size(); ++i) found[i] = given ? axis((*given)[i], rank) : i;
  std::vector<size_t> sorted = found;
  std::ranges::sort(sorted);
  refuse_unless(std::ranges::adjacent_find(sorted) == sorted.end(), "an axis is named twice");
  return found;
}

void NodeReader::refuse(const std::string& what, const std::string& remedy) const {
  throw UserError(what, remedy);
}

void NodeReader::refuse_unread_attributes() const {
  for (const auto& [name, value] : view_.node.attributes) {
    if (!asked_.contains(name))
      refuse(fmt::format("attribute '{}' is not known in version {}", name, version()),
             asked_.empty() ? "" : fmt::format("known: {}", fmt::join(asked_, ", ")));
  }
}

void NodeReader::refuse_outputs_after(size_t count, std::string_view what) const {
  for (size_t i = count; i < output_count(); ++i)
    if (wants(i)) refuse(fmt::format("its output '{}' is not there yet", what));
}

}  // namespace tunesmith::operators_onnx
