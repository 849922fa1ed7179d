// The C texts of a network's library.
#pragma once

#include <string>

#include "tunesmith/network/write_library.h"

namespace tunesmith::network {

std::string library_header(const LibraryPlan& plan);
/// `hash`: the hash of the weights.
std::string library_source(const LibraryPlan& plan, uint64_t hash);
std::string main_program(const LibraryPlan& plan);
/// The functions of the source that programs may call.
std::vector<std::string> exported_functions(const LibraryPlan& plan);

}  // namespace tunesmith::network
