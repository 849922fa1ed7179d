// Programs that call a built library, for people to begin with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tunesmith/ir/program.h>

namespace tunesmith::cli {

/// Writes NAME_example.c and NAME_example.py, which needs no package, into the folder of a library that the
/// target `llvm` has built: each calls it once, says what came, and times it. Answers their paths. Throws
/// EnvironmentError where a file cannot be written.
std::vector<std::string> write_examples(const Program& program, const std::string& name, bool prepares,
                                        const std::filesystem::path& folder);

}  // namespace tunesmith::cli
