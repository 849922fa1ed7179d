// The base of tests of one module: a space of few modules on a processor that every machine has, and the
// module's answers for blocks.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>

namespace tunesmith_test {

class ModuleTest : public testing::Test {
 protected:
  explicit ModuleTest(std::string module) : module_(std::move(module)) {}

  /// `modules`: as a list in a spaces file.
  void use(const std::string& modules, int vector_bits = 128) {
    const std::string text = fmt::format(
        "version: 1\nspaces:\n  s:\n    target: {{kind: llvm, mcpu: x86-64-v2, vector_bits: {}}}\n"
        "    modules: [{}]\n    search: {{kind: random}}\n    cost_model: {{kind: random}}\n",
        vector_bits, modules);
    space_ = std::make_unique<tunesmith::Space>(
        tunesmith::SpacesFile::parse(text, module_ + ".yaml").space(""), registry_);
  }
  /// "applied", why the module declined, or "not asked".
  std::string reason(const tunesmith::SketchSet& set, const std::string& block) const {
    for (const tunesmith::ModuleEvent& event : set.events) {
      if (event.module == module_ && event.block == block)
        return event.status == tunesmith::ModuleResult::Status::Applied ? "applied" : event.reason;
    }
    return "not asked";
  }

  std::string module_;
  tunesmith::PluginRegistry registry_;
  std::unique_ptr<tunesmith::Space> space_;
};

}  // namespace tunesmith_test
