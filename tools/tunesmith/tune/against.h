// `tune --against`: times a library that is called from Python beside the best program.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/tuning/tuner.h>

#include "commands.h"

namespace tunesmith::cli {

/// Throws UserError if the library cannot be timed for the workload, and EnvironmentError if there is no
/// Python with the package.
void require_against(const TuneArguments& arguments, const Workload& workload);

/// The answer of `python -m tunesmith.against`: `text`, `seconds`, `libraries`, ... Throws as above.
nlohmann::json time_against(const Common& common, const TuneArguments& arguments, const TuneResult& result);

}  // namespace tunesmith::cli
