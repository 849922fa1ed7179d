// The arguments of `tune`, and what runs them.
#pragma once

#include "session.h"
#include "tune_arguments.h"

namespace tunesmith::cli {

int run_tune(const Common& common, const TuneArguments& arguments);

}  // namespace tunesmith::cli
