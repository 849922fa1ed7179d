// What stands in the headers of messages, as it is written on one side and read on the other.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "measure/data_sets.h"
#include "measure/disturbance.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// All of a kernel but its code, which is an attachment.
nlohmann::json kernel_header(const CompiledKernel& kernel);
CompiledKernel kernel_from(const nlohmann::json& header, const std::string& object);

nlohmann::json options_json(const std::vector<RawOption>& options);
std::vector<RawOption> options_from(const nlohmann::json& list);

nlohmann::json fill_json(const Fill& fill);
Fill fill_from(DataKind kind, const nlohmann::json& fill);

nlohmann::json reading_json(const Reading& reading);
/// The one in a header.
Reading reading_from(const nlohmann::json& header);

}  // namespace tunesmith
