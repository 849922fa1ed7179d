#include <tunesmith/plugin/plugin.h>

#include "llvm_target.h"

TUNESMITH_PLUGIN(tunesmith::llvm_target::LlvmTarget, tunesmith::PluginKind::Target, "llvm", "0.1.0",
                 "compiles for this machine's processor with LLVM",
                 tunesmith::llvm_target::TargetOptions::specs());
