#include "current_target.h"

#include "tunesmith/target/target_identity.h"

namespace tunesmith {
namespace {

constexpr std::string_view kLowering1 = "3c00fae1729327e0";
constexpr std::string_view kGenerators1[] = {"e65e9aa27b6103d0",   // llvm
                                             "f804afff01eb1534"};  // cuda

}  // namespace

std::string current_target(const std::string& text) {
  TargetIdentity identity = TargetIdentity::parse(text);
  bool changed = identity.lowering == kLowering1;
  if (changed) identity.lowering = "1";
  for (const std::string_view hash : kGenerators1) {
    // The versions of libraries stand behind the comma.
    if (identity.generator.substr(0, identity.generator.find(',')) != hash) continue;
    identity.generator.replace(0, hash.size(), "1");
    changed = true;
  }
  return changed ? identity.str() : text;
}

}  // namespace tunesmith
