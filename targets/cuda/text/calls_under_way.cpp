#include "text/calls_under_way.h"

#include "text/written_steps.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {

std::string left_under_way(const Loop& loop) {
  std::string after;
  size_t called = 0;
  for (const Loop* call : collect<Loop>(loop, is_call)) {
    after = tensor_call(*call).intrinsic->implementations.at("cuda").after;
    if (after.empty()) return "";
    called += collect<Store>(*call).size();
  }
  const bool waits = has_barrier(loop) || find_first<AsyncWait>(loop) != nullptr;
  return waits || called != collect<Store>(loop).size() ? "" : after;
}

std::string text_before_barriers(const Stmt& launch) {
  for (const Loop* loop : collect<Loop>(launch, is_call)) {
    const auto& texts = tensor_call(*loop).intrinsic->implementations;
    const auto own = texts.find("cuda");
    if (own != texts.end() && !own->second.before_barrier.empty()) return own->second.before_barrier;
  }
  return "";
}

}  // namespace tunesmith::cuda
