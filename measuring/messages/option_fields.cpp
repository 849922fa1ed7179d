#include "messages/option_fields.h"

#include <nlohmann/json.hpp>

#include "messages/limits.h"

namespace tunesmith {
namespace {

using nlohmann::json;

RawScalar read_scalar(const Field& value) {
  RawScalar scalar;
  scalar.text = value["text"].text(kMaxText);
  scalar.quoted = value["quoted"].boolean();
  return scalar;
}

RawOption read_option(const Field& entry) {
  RawOption option;
  option.name = entry["name"].text(kMaxName);
  option.shape =
      static_cast<RawOption::Shape>(entry["shape"].integer(0, static_cast<int64_t>(RawOption::Shape::Null)));
  const Field values = entry["values"];
  option.values = values.list(0, kMaxOptions, read_scalar);
  if (option.shape == RawOption::Shape::Scalar && option.values.size() != 1)
    values.wrong("of a scalar has exactly one element");
  return option;
}

}  // namespace

json option_fields(const std::vector<RawOption>& options) {
  json list = json::array();
  for (const RawOption& option : options) {
    json values = json::array();
    for (const RawScalar& value : option.values)
      values.push_back({{"text", value.text}, {"quoted", value.quoted}});
    list.push_back({{"name", option.name}, {"shape", static_cast<int>(option.shape)}, {"values", values}});
  }
  return list;
}

std::vector<RawOption> read_options(const Field& list) { return list.list(0, kMaxOptions, read_option); }

}  // namespace tunesmith
