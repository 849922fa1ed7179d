// All decisions of a sketch of a built-in space, or of one of its modules, give legal programs: a draw that a
// primitive refuses is lost to the search.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "extended.h"
#include "golden/drawn_programs.h"
#include "tunesmith/space/space.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/random.h"
#include "tunesmith/workload/library.h"

namespace tunesmith::golden {
namespace {

/// The parameters of a workload that are drawn: up to a number, or with any extent.
struct Family {
  const char* text;
  std::vector<std::pair<const char*, uint64_t>> drawn;
};

constexpr uint64_t kAny = 0;
constexpr int64_t kExtents[] = {1,  1,  1,  2,  3,  4,  5,  7,   8,   13,  16,  17,  24,
                                31, 32, 37, 48, 64, 65, 97, 100, 128, 191, 256, 509, 3072};
constexpr uint64_t kDrawsOfASketch = 3;

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"gmm:", {{"b", 3}, {"n", kAny}, {"m", kAny}, {"k", kAny}}},
      {"gmm:constant_b=1,", {{"n", kAny}, {"m", kAny}, {"k", kAny}}},
      {"gmm:dtype=f16,acc=f32,", {{"b", 3}, {"n", kAny}, {"m", kAny}, {"k", kAny}}},
      {"gmm:dtype=u8,b_dtype=i8,acc=i32,constant_b=1,", {{"n", kAny}, {"m", kAny}, {"k", kAny}}},
      {"gram:", {{"n", kAny}, {"k", kAny}}},
      {"dense_bias:", {{"n", kAny}, {"m", kAny}, {"k", kAny}}},
      {"dense_bias_gelu:", {{"n", kAny}, {"m", kAny}, {"k", kAny}}},
      {"attention_scores:", {{"seq", kAny}, {"heads", 4}, {"dim", kAny}}},
      {"conv1d:", {{"l", kAny}, {"ci", kAny}, {"co", kAny}, {"stride", 2}}},
      {"conv2d:", {{"h", 12}, {"w", 30}, {"ci", kAny}, {"co", kAny}, {"stride", 2}}},
      {"conv2d:kernel=1,padding=0,", {{"h", 12}, {"w", 30}, {"ci", kAny}, {"co", kAny}}},
      {"conv2d:groups=2,ci=6,co=10,", {{"h", 12}, {"w", 30}}},
      {"conv3d:", {{"d", 4}, {"h", 5}, {"w", 9}, {"ci", kAny}, {"co", kAny}}},
      {"conv_bias_bn_relu:", {{"h", 12}, {"w", 30}, {"ci", kAny}, {"co", kAny}}},
      {"capsule_conv2d:", {{"h", 5}, {"w", 9}, {"ci", 6}, {"co", 6}, {"stride", 2}}},
      {"depthwise_conv2d:", {{"h", 12}, {"w", 30}, {"c", kAny}, {"stride", 2}}},
      {"transposed_conv2d:", {{"h", 6}, {"w", 9}, {"ci", kAny}, {"co", kAny}}},
      {"avg_pool2d:", {{"h", 12}, {"w", 30}, {"c", kAny}}},
      {"max_pool2d:", {{"h", 12}, {"w", 30}, {"c", kAny}}},
      {"norm:", {{"b", 3}, {"m", kAny}, {"n", kAny}}},
      {"softmax:", {{"m", kAny}, {"n", kAny}}},
      {"layer_norm:", {{"m", kAny}, {"n", kAny}}},
      {"elementwise_chain:", {{"n", kAny}, {"m", kAny}}},
      {"relu:", {{"n", kAny}, {"m", kAny}}},
      {"reduce_sum_1d:", {{"n", kAny}}},
      {"reduce_sum_2d:", {{"m", kAny}, {"n", kAny}}}};
  return all;
}

uint64_t seed() {
  const char* const given = std::getenv("TUNESMITH_FUZZ_SEED");
  return given == nullptr ? 47 : std::stoull(given);
}

std::string text_of(const Family& family, RandomStream& random) {
  std::string text = family.text;
  for (const auto& [name, most] : family.drawn) {
    const int64_t extent = most == kAny ? kExtents[random.below(std::size(kExtents))]
                                        : static_cast<int64_t>(1 + random.below(most));
    text += fmt::format("{}{}={}", text.back() == ':' || text.back() == ',' ? "" : ",", name, extent);
  }
  return text;
}

/// The workload with a drawn shape that it accepts.
Workload draw_workload(const Family& family, RandomStream& random) {
  while (true) {
    try {
      return WorkloadLibrary().load(text_of(family, random));
    } catch (const UserError&) {  // such as a window larger than the image
    }
  }
}

class DrawnShapes : public testing::Test {
 protected:
  void draw(const Space& space, const std::string& name, const Workload& workload) {
    const SketchSet set = space.generate(workload.program);
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      const Trace sketch = set.sketches[i].trace().with_open_decisions();
      for (uint64_t draw = 0; draw < kDrawsOfASketch; ++draw) {
        const auto candidate = space.materialise(workload.program, sketch, RandomStream(draw, i));
        ++drawn_;
        if (candidate || candidate.error().cause != FailureCause::IllegalSchedule) continue;
        auto& [count, first] = refused_[fmt::format("{}: {}", name, candidate.error().message)];
        if (count++ == 0)
          first = fmt::format("{}, sketch {}, draw {}: {}", workload.key, i, draw, candidate.error().detail);
      }
    }
  }

  /// Draws `shapes` shapes of each family, of which the suite takes one in `share`.
  void draw_all(const Machine& machine, const SpaceSpec& spec, const std::string& name, uint64_t shapes,
                uint64_t share) {
    std::unique_ptr<Space> space;
    try {
      space = make_space(machine, spec, registry_);
    } catch (const EnvironmentError&) {  // other tests report what this machine lacks
      return;
    }
    for (size_t family = 0; family < families().size(); ++family) {
      for (uint64_t shape = 0; shape < shapes; ++shape) {
        if (!test::is_extended() && taken_++ % share != 0) continue;
        RandomStream random(seed(), family * 1000 + shape);
        draw(*space, name, draw_workload(families()[family], random));
      }
    }
  }

  void expect_none_refused() const {
    EXPECT_GT(drawn_, 0);
    for (const auto& [reason, found] : refused_)
      ADD_FAILURE() << found.first << " times " << reason << " (" << found.second << ")";
  }

  PluginRegistry registry_;
  uint64_t taken_ = 0;
  int64_t drawn_ = 0;
  std::map<std::string, std::pair<int64_t, std::string>> refused_;  // how often, and the first refusal
};

TEST_F(DrawnShapes, OfTheBuiltInSpacesAreLegal) {
  for (const Machine& machine : machines())
    draw_all(machine, space_of(machine), machine.space, test::usual_or_extended(1, 12), 5);
  expect_none_refused();
}

// Alone, a module also gets blocks that another module would have claimed.
TEST_F(DrawnShapes, OfEachModuleAloneAreLegal) {
  for (const Machine& machine : machines()) {
    const SpaceSpec spec = space_of(machine);
    for (const PluginUse& module : spec.modules) {
      SpaceSpec alone = spec;
      std::erase_if(alone.modules, [&](const PluginUse& other) {
        return other.id != module.id && !other.id.starts_with("rewrite_") && other.id != "cooperative_fetch";
      });
      draw_all(machine, alone, fmt::format("{} alone in {}", module.id, machine.space),
               test::usual_or_extended(1, 3), 11);
    }
  }
  expect_none_refused();
}

}  // namespace
}  // namespace tunesmith::golden
