// Shared memory that a kernel declares with its size, which the device's compiler bounds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith::cuda {

/// The bytes of static shared memory in an object file of kernel text (device/tunesmith_emulation.h), without
/// what belongs to functions with C linkage other than `kernels`, and without alignment. Throws
/// EnvironmentError for what is no object file of this machine.
size_t declared_shared_bytes(const std::filesystem::path& object, const std::vector<std::string>& kernels);

}  // namespace tunesmith::cuda
