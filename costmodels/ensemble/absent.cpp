#include "../xgboost/absent.h"

#include "options.h"

TUNESMITH_PLUGIN(tunesmith::xgboost::Absent, tunesmith::PluginKind::CostModel, "ensemble", "0.1.0",
                 "left out of this build: libxgboost-dev was not installed",
                 tunesmith::ensemble::option_specs());
