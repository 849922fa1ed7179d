#include "measure/message_parts.h"

#include <utility>

namespace tunesmith {
namespace {

using nlohmann::json;

}  // namespace

json kernel_header(const CompiledKernel& kernel) {
  json header{{"symbol", kernel.symbol}, {"workspace_bytes", kernel.workspace_bytes}};
  if (const auto& step = kernel.prepare) {
    header["prepare"] = {
        {"symbol", step->symbol}, {"bytes", step->bytes}, {"reads", step->reads}, {"unread", step->unread}};
  }
  return header;
}

CompiledKernel kernel_from(const json& header, const std::string& object) {
  CompiledKernel kernel;
  kernel.object = object;
  kernel.symbol = header.at("symbol");
  kernel.workspace_bytes = header.at("workspace_bytes");
  if (header.contains("prepare")) {
    const json& step = header.at("prepare");
    kernel.prepare = PrepareStep{step.at("symbol"), step.at("bytes"), step.at("reads"), step.at("unread")};
  }
  return kernel;
}

json options_json(const std::vector<RawOption>& options) {
  json list = json::array();
  for (const RawOption& option : options) {
    json values = json::array();
    for (const RawScalar& value : option.values)
      values.push_back({{"text", value.text}, {"quoted", value.quoted}});
    list.push_back({{"name", option.name}, {"shape", static_cast<int>(option.shape)}, {"values", values}});
  }
  return list;
}

std::vector<RawOption> options_from(const json& list) {
  std::vector<RawOption> options;
  for (const json& entry : list) {
    RawOption option;
    option.name = entry.at("name");
    option.shape = static_cast<RawOption::Shape>(entry.at("shape").get<int>());
    for (const json& value : entry.at("values")) {
      RawScalar scalar;
      scalar.text = value.at("text");
      scalar.quoted = value.at("quoted");
      option.values.push_back(std::move(scalar));
    }
    options.push_back(std::move(option));
  }
  return options;
}

json fill_json(const Fill& fill) {
  return {{"largest", fill.largest},       {"positive", fill.positive}, {"terms", fill.terms},
          {"background", fill.background}, {"noise", fill.noise},       {"all_sparse", fill.all_sparse},
          {"balanced", fill.balanced},     {"draws", fill.draws},       {"peaks", fill.peaks}};
}

Fill fill_from(DataKind kind, const json& fill) {
  return {kind,
          fill.at("largest"),
          fill.at("positive"),
          fill.at("terms"),
          fill.at("background"),
          fill.at("noise"),
          fill.at("all_sparse"),
          fill.at("balanced"),
          fill.at("draws"),
          fill.at("peaks")};
}

json reading_json(const Reading& reading) {
  return {{"calibration", reading.calibration}, {"waited", reading.waited}};
}

Reading reading_from(const json& header) {
  const json& reading = header.at("reading");
  return {reading.at("calibration"), reading.at("waited")};
}

}  // namespace tunesmith
