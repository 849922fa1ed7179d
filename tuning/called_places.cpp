#include "tunesmith/tuning/called_places.h"

#include <map>

#include <fmt/format.h>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// The line where the implementation begins; unknown if it was not read from a file.
SourceLocation implementation_place(const TensorIntrinsic& intrinsic) {
  for (const auto& [target, implementation] : intrinsic.implementations) {
    if (implementation.location.line == 0) continue;
    SourceLocation place = implementation.location;
    place.column = 0;
    return place;
  }
  return {};
}

}  // namespace

std::string called_places(const Program& lowered) {
  std::map<std::string, SourceLocation> called;
  for (const Loop* loop : collect<Loop>(lowered.root())) {
    const auto content = loop->annotations.find(kTensorContent);
    if (content == loop->annotations.end()) continue;
    const auto intrinsic = TensorIntrinsics::global().find_content(std::get<std::string>(content->second));
    if (intrinsic != nullptr) called.try_emplace(intrinsic->name, implementation_place(*intrinsic));
  }
  std::string text;
  for (const auto& [name, place] : called) {
    text += fmt::format("{}{}{}tensor intrinsic {}", text.empty() ? "" : ", ", place.str(),
                        place.line == 0 ? "" : ": ", name);
  }
  return text;
}

std::string with_called_places(std::string message, const Program& lowered) {
  if (message.find(": tensor intrinsic ") != std::string::npos) return message;
  if (const std::string called = called_places(lowered); !called.empty())
    message += "; the program calls " + called;
  return message;
}

}  // namespace tunesmith
