// Shared memory that a kernel declares with its size, which the device's compiler bounds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith::cuda {

/// The bytes of static shared memory in an object file of kernel text (device/tunesmith_emulation.h), without
/// alignment: of the functions `kernels` and of what they may call, or, where there are other kernels, whose
/// those may be, only of what is declared in `kernels` themselves. Throws EnvironmentError for what is no
/// object file of this machine.
size_t declared_shared_bytes(const std::filesystem::path& object, const std::vector<std::string>& kernels,
                             bool only_theirs);

}  // namespace tunesmith::cuda
