// The tables by name, which a plugin requests from the kernel.
#include <string_view>
#include <utility>

#include "api/handles.h"
#include "api/host.h"

namespace tunesmith::api {
namespace {

const void* table(tunesmith_text id) noexcept {
  static constexpr std::pair<std::string_view, const void*> kTables[] = {
#define TABLE(name, id) {id, &k_##name},
#include "api/table_list.inc"
#undef TABLE
  };
  for (const auto& [name, found] : kTables) {
    if (name == view(id)) return found;
  }
  return nullptr;
}

}  // namespace

const tunesmith_host k_host = {sizeof(tunesmith_host), table};

}  // namespace tunesmith::api
