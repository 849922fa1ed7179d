// Example programs that call a built library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tunesmith/ir/program.h>

namespace tunesmith::cli {

/// Writes NAME_example.c and NAME_example.py (without dependencies) into the folder of a library built by the
/// target `llvm`. Each calls the library once, prints the result, and times it. Returns their paths. Throws
/// EnvironmentError if a file cannot be written.
std::vector<std::string> write_examples(const Program& program, const std::string& name, bool prepares,
                                        const std::filesystem::path& folder);

}  // namespace tunesmith::cli
