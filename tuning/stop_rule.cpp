#include "stop_rule.h"

namespace tunesmith {

StopRule::Step::Step(StopRule& rule)
    : rule_(rule),
      watch_(rule.result_.times.wall),
      waiting_(rule.result_.times.wait, rule.options_.machine.get()) {
  rule.step_ = this;
}

std::string_view StopRule::why_ended() const {
  if (stopped()) return "interrupted";
  if (late()) return "time limit";
  return enough() ? "trials" : "nothing left to propose";
}

}  // namespace tunesmith
