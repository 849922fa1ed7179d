#include "absent.h"

#include "settings.h"

TUNESMITH_PLUGIN(tunesmith::xgboost::Absent, tunesmith::PluginKind::CostModel, "xgboost", "0.1.0",
                 "left out of this build: libxgboost-dev was not installed",
                 tunesmith::xgboost::option_specs());
