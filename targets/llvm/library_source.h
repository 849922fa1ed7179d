// The C texts of a built library: its header, and the code between callers and the kernel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tunesmith/target/packaging.h"

namespace tunesmith::llvm_target {

/// Is it a reserved word of C, C++ or GNU C, or the name of a program's own function?
bool is_reserved(const std::string& word);

std::string library_header(const LibraryRequest& request);
/// `features`: names for __builtin_cpu_supports; a processor
/// without one of them is refused, instead of crashing.
std::string library_source(const LibraryRequest& request, const std::vector<std::string>& features);
/// The library's own entry points.
std::vector<std::string> library_functions(const LibraryRequest& request);
/// Exports these and nothing else.
std::string version_script(std::span<const std::string> exported);
/// The function tunesmith_runs_here of LinkRequest::source.
std::string runs_here_source(const std::vector<std::string>& features);

}  // namespace tunesmith::llvm_target
