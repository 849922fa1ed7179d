#pragma once

#include <string>

#include "tunesmith/plugin/options.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Another text whenever programs for the extended target may come out, or be compiled, otherwise: of a file
/// the hash of what it says, of a library those of its options and of all bytes that it loads from its pack.
/// `library` is null for a file that is in no pack.
std::string extension_identity(const TargetExtension& extension, const Options& options,
                               const PluginInfo* library);

/// The same of a target that does not come with the kernel, whose fingerprint is its author's word; "" of one
/// that does.
std::string foreign_target_identity(const PluginInfo& library);

}  // namespace tunesmith
