// A compiled kernel in a header, without its code, which is an attachment.
#pragma once

#include <string>

#include "tunesmith/schema/field.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

nlohmann::json kernel_fields(const CompiledKernel& kernel);
/// `buffers`: how many arguments the program has, to which positions of a PrepareStep refer.
CompiledKernel read_kernel(const Field& fields, std::string object, size_t buffers);

}  // namespace tunesmith
