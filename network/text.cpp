#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/network/network.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::network {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./:-").find(c) != std::string_view::npos;
}

/// Quotes the text and escapes terminal control characters.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Quotes a name if it could be mistaken for something else, such as "-", an omitted tensor.
std::string name_text(std::string_view name) {
  return name != "-" && std::ranges::all_of(name, is_plain) ? std::string(name) : in_quotes(name);
}

/// With a decimal point or an exponent, so that it does not look like an integer.
std::string number_text(double value) {
  const std::string text = fmt::format("{}", value);
  return std::isfinite(value) && text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string extent_text(const Extent& extent) {
  if (const auto* name = std::get_if<std::string>(&extent)) return name_text(*name);
  return fmt::format("{}", std::get<int64_t>(extent));
}

template <typename Values, typename Text>
std::string list_text(const Values& values, const Text& text) {
  std::string result = "[";
  for (const auto& value : values) result += (result.size() > 1 ? ", " : "") + text(value);
  return result + "]";
}

std::string type_text(const Tensor& tensor) {
  static constexpr std::string_view kCodes[] = {
      "", "i4", "u4", "i2", "u2", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "f4e2m1"};
  const std::string_view code = kCodes[static_cast<size_t>(tensor.code)];
  return (!code.empty()  ? std::string(code)
          : tensor.dtype ? tensor.dtype->str()
                         : "?") +
         (tensor.shape ? list_text(*tensor.shape, extent_text) : "[...]") +
         (tensor.order.empty() ? "" : fmt::format("{{{}}}", fmt::join(tensor.order, ", ")));
}

std::string constant_text(const Constant& constant) {
  const std::string_view bytes(reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size());
  return constant.dtype.str() + fmt::format("[{}] #", fmt::join(constant.shape, ", ")) +
         sha256_hex(bytes).substr(0, 16);
}

struct AttributeText {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return in_quotes(value); }
  std::string operator()(const std::vector<int64_t>& values) const { return list_text(values, *this); }
  std::string operator()(const std::vector<double>& values) const { return list_text(values, *this); }
  std::string operator()(const std::vector<std::string>& values) const { return list_text(values, *this); }
  std::string operator()(const std::shared_ptr<const Constant>& value) const { return constant_text(*value); }
};

std::string typed_name(const Network& network, TensorIndex index) {
  const Tensor& tensor = network.tensor(index);
  std::string text = name_text(tensor.name) + ": " + type_text(tensor);
  if (tensor.part)
    text += fmt::format(" in {} at {} by [{}]", name_text(network.tensor(tensor.part->whole).name),
                        tensor.part->begin, fmt::join(tensor.part->strides, ", "));
  if (tensor.part && tensor.part->advance != 0)
    text += fmt::format(" and {:+} a trip, of {}", tensor.part->advance, tensor.part->period);
  return text;
}

std::string loop_text(const Network& network, const Loop& loop) {
  const auto name = [&](TensorIndex index) {
    return index == kAbsent ? "-" : name_text(network.tensor(index).name);
  };
  std::string text = fmt::format("repeat {} times\n", loop.trips);
  for (const Loop::Carried& carried : loop.carried)
    text += fmt::format("carry {} from {} to {} for {}\n", typed_name(network, carried.before),
                        name(carried.first), name(carried.last), name(carried.after));
  for (const Loop::Slice& read : loop.read) text += fmt::format("read {}\n", typed_name(network, read.part));
  for (const Loop::Slice& written : loop.written)
    text += fmt::format("write {} to {}\n", typed_name(network, written.part), name(written.whole));
  return text;
}

std::string node_text(const Network& network, const Node& node) {
  std::string outputs;
  for (const TensorIndex output : node.outputs)
    outputs += (outputs.empty() ? "" : ", ") + (output == kAbsent ? "-" : typed_name(network, output));
  std::string inputs;
  for (const TensorIndex input : node.inputs)
    inputs +=
        (inputs.empty() ? "" : ", ") + (input == kAbsent ? "-" : name_text(network.tensors[input].name));
  std::string attributes;
  for (const auto& [name, value] : node.attributes)
    attributes +=
        (attributes.empty() ? " {" : ", ") + name_text(name) + " = " + std::visit(AttributeText(), value);
  std::string text =
      fmt::format("{}: {} = {}@{}({}){}{}\n", name_text(node.name), outputs, name_text(node.op), node.version,
                  inputs, attributes, attributes.empty() ? "" : "}");
  for (const Body& body : node.bodies)
    text += fmt::format("{} of {}, captured [{}]: {}end\n", name_text(body.name), name_text(node.name),
                        fmt::join(body.captured, ", "), to_text(*body.network));
  return text;
}

}  // namespace

std::string to_text(const Network& network, const std::map<size_t, std::string>& refused) {
  std::string text = fmt::format("network {}\n", name_text(network.name));
  for (const TensorIndex input : network.inputs)
    text += fmt::format("input {}\n", typed_name(network, input));
  for (const Tensor& tensor : network.tensors)
    if (tensor.constant)
      text += fmt::format("constant {}: {}\n", name_text(tensor.name), constant_text(*tensor.constant));
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const Loop* loop = loop_of(network, i);
    if (loop != nullptr && loop->first_node == i) text += loop_text(network, *loop);
    text += node_text(network, network.nodes[i]);
    if (const auto why = refused.find(i); why != refused.end())
      text += fmt::format("  refused: {}\n", why->second);
    if (loop != nullptr && loop->end_node == i + 1) text += "end\n";
  }
  for (const TensorIndex output : network.outputs)
    text += fmt::format("output {}\n", typed_name(network, output));
  for (const CountedOutput& each : network.counted)
    text += fmt::format("count {}: axis {} of {}\n", typed_name(network, network.outputs[each.by]), each.axis,
                        name_text(network.tensors[network.outputs[each.output]].name));
  return text;
}

}  // namespace tunesmith::network
