// A worker's answers for failed candidates.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "messages/failure.h"
#include "tunesmith/support/error.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

tl::unexpected<FailureReply> failure_reply(FailureCause cause, const std::string& message);
/// For want of memory that the kernel needs.
tl::unexpected<FailureReply> no_memory(const CompiledKernel& kernel, const EnvironmentError& error);
/// For a fault that a watching device reported.
tl::unexpected<FailureReply> failure_of(const KernelFault& fault);

}  // namespace tunesmith
