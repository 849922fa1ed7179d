#include "worker/failure_replies.h"

#include <fmt/format.h>

namespace tunesmith {
namespace {

FailureCause cause_of(const KernelFault& fault) {
  switch (fault.kind) {
    case KernelFault::Kind::Mistake:
      return FailureCause::WrongResult;
    case KernelFault::Kind::OutOfBounds:
      return FailureCause::OutOfBounds;
    case KernelFault::Kind::TimeOut:
      return FailureCause::TimeOut;
    case KernelFault::Kind::NotSetUp:
      return FailureCause::LoadError;
    case KernelFault::Kind::Crash:
      break;
  }
  return FailureCause::Crash;
}

}  // namespace

tl::unexpected<FailureReply> failure_reply(FailureCause cause, const std::string& message) {
  return tl::make_unexpected(FailureReply{cause, message});
}

tl::unexpected<FailureReply> no_memory(const CompiledKernel& kernel, const EnvironmentError& error) {
  return failure_reply(
      FailureCause::OutOfMemory,
      fmt::format("a workspace of {} bytes and prepared memory of {}: {}", kernel.workspace_bytes,
                  kernel.prepare ? kernel.prepare->bytes : 0, error.what()));
}

tl::unexpected<FailureReply> failure_of(const KernelFault& fault) {
  return tl::make_unexpected(FailureReply{cause_of(fault), fault.message, fault.device_lost});
}

}  // namespace tunesmith
