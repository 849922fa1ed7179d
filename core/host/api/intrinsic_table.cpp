#include <algorithm>
#include <utility>
#include <vector>

#include "api/handles.h"

namespace tunesmith::api {
namespace {

tunesmith_error* of_extension(const tunesmith_context* context, tunesmith_text extension,
                              tunesmith_span* intrinsics) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "intrinsic.of_extension";
    const tunesmith_context& at = given(context, kCall);
    tunesmith_span& out = given(intrinsics, kCall);
    std::vector<tunesmith_intrinsic>& list = at.intrinsic_lists.emplace_back();
    for (const TensorIntrinsicPtr& each : at.context->intrinsics(view(extension)))
      list.push_back(at.intrinsics.emplace_back(each).facts());
    out = span_of(list);
  });
}

tunesmith_error* find_intrinsic(const tunesmith_schedule* schedule, tunesmith_text name,
                                const tunesmith_intrinsic** intrinsic) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "intrinsic.find";
    const tunesmith_schedule& at = given(schedule, kCall);
    const tunesmith_intrinsic*& out = given(intrinsic, kCall);
    out = nullptr;
    TensorIntrinsicPtr found = at.schedule.intrinsics().find(view(name));
    if (found == nullptr) return;
    const auto known = std::ranges::find(at.intrinsics, found, &IntrinsicFacts::intrinsic);
    out = known != at.intrinsics.end() ? &known->facts() : &at.intrinsics.emplace_back(found).facts();
  });
}

}  // namespace

const tunesmith_intrinsic_table k_intrinsic_table = {sizeof(tunesmith_intrinsic_table), of_extension,
                                                     find_intrinsic};

}  // namespace tunesmith::api
