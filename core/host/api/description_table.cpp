#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/handles.h"

namespace tunesmith::api {
namespace {

std::vector<std::string>& list_of(ModuleDescription& description, uint32_t relation) {
  switch (relation) {
    case TUNESMITH_RELATION_MAKES:
      return description.makes;
    case TUNESMITH_RELATION_CONSUMES:
      return description.consumes;
    case TUNESMITH_RELATION_PARTNER:
      return description.partners;
    case TUNESMITH_RELATION_BEFORE:
      return description.before;
    default:
      throw Unsupported(fmt::format("unknown module relation {}", relation));
  }
}

tunesmith_error* add(tunesmith_description* description, uint32_t relation, tunesmith_text name) noexcept {
  return guarded(
      [&] { list_of(given(description, "description.add").description, relation).emplace_back(view(name)); });
}

}  // namespace

const tunesmith_description_table k_description_table = {sizeof(tunesmith_description_table), add};

}  // namespace tunesmith::api
