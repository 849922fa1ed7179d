#include "trace/kind_builder.h"

namespace tunesmith {

KindPtr enter_finishing_kind() {
  return make_loop_transformation("enter_finishing", {}, ResultType::None,
                                  [](Program&, const Arguments&) -> std::vector<Value> { return {}; });
}

void Schedule::enter_finishing() { execute(kind("enter_finishing"), {}); }

}  // namespace tunesmith
