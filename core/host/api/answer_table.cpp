#include <memory>
#include <string>

#include <fmt/format.h>

#include "api/handles.h"

namespace tunesmith::api {
namespace {

tunesmith_error* add(tunesmith_answer* answer, tunesmith_schedule* schedule) noexcept {
  std::unique_ptr<tunesmith_schedule> taken(schedule);
  return guarded([&] {
    given(taken.get(), "answer.add");
    given(answer, "answer.add").schedules.push_back(std::move(taken));
  });
}

tunesmith_error* finish(tunesmith_answer* answer, uint32_t status, tunesmith_text reason) noexcept {
  return guarded([&] {
    tunesmith_answer& to = given(answer, "answer.finish");
    if (status < TUNESMITH_STATUS_APPLIED || status > TUNESMITH_STATUS_BROKEN)
      throw Unsupported(fmt::format("unknown answer status {}", status));
    to.status = status;
    to.reason = view(reason);
  });
}

}  // namespace

const tunesmith_answer_table k_answer_table = {sizeof(tunesmith_answer_table), add, finish};

}  // namespace tunesmith::api
