// `tune --against`: a library that is called from Python, timed beside the best program.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/tuning/tuner.h>

#include "commands.h"

namespace tunesmith::cli {

/// Throws UserError where the library cannot be timed beside programs of the workload, and EnvironmentError
/// where there is no Python with the package.
void require_against(const TuneArguments& arguments, const Workload& workload);

/// As `python -m tunesmith.against` answers it: `text`, `seconds`, `libraries`, ... Throws as above.
nlohmann::json time_against(const Common& common, const TuneArguments& arguments, const TuneResult& result);

}  // namespace tunesmith::cli
