#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

using test::expect_refused;

TEST(Annotate, LoopsBlocksAndTheProgram) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const BlockRV block = schedule.get_block("C");
  const auto loops = schedule.get_loops(block);
  const IntRV number = schedule.sample_categorical({16, 64}, {0, 1});
  schedule.annotate("unroll", number);
  schedule.annotate(block, "name", "text");
  schedule.annotate(loops[1], "ratio", 0.5);
  EXPECT_EQ(schedule.program().annotations, (Annotations{{"unroll", int64_t{64}}}));
  EXPECT_EQ(schedule.block(block).annotations, (Annotations{{"name", "text"}}));
  EXPECT_EQ(schedule.loop(loops[1]).annotations, (Annotations{{"ratio", 0.5}}));
  test::expect_replays(program, schedule);

  schedule.unannotate("unroll");
  schedule.unannotate(block, "name");
  schedule.unannotate(loops[1], "ratio");
  EXPECT_EQ(test::text_of(schedule), to_string(program));
  test::expect_replays(program, schedule);
}

TEST(Annotate, Refusals) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const BlockRV block = schedule.get_block("C");
  schedule.annotate(block, "key", int64_t{1});
  expect_refused(schedule, "annotate", "the key already exists",
                 [&] { schedule.annotate(block, "key", 2.0); });
  expect_refused(schedule, "annotate", "the key is empty", [&] { schedule.annotate(block, "", 2.0); });
  expect_refused(schedule, "annotate", "the value is not a finite number",
                 [&] { schedule.annotate("key", std::numeric_limits<double>::infinity()); });
  const LoopRV loop = schedule.get_loops(block)[0];
  expect_refused(schedule, "annotate", "the key is reserved for an instruction",
                 [&] { schedule.annotate(block, "storage_align", "axis 0, factor 4, offset 3"); });
  expect_refused(schedule, "annotate", "the key is for loops",
                 [&] { schedule.annotate("prefetch", int64_t{1}); });
  expect_refused(schedule, "annotate", "the value is not a number of iterations between 1 and 2^20",
                 [&] { schedule.annotate(loop, "prefetch", int64_t{0}); });
  expect_refused(schedule, "annotate", "the key is for loops",
                 [&] { schedule.annotate(block, "nontemporal", int64_t{1}); });
  expect_refused(schedule, "annotate", "the value is neither 0 nor 1",
                 [&] { schedule.annotate(loop, "nontemporal", int64_t{2}); });
  expect_refused(schedule, "annotate", "the key is for loops",
                 [&] { schedule.annotate(block, "prefetch_behind", int64_t{1}); });
  expect_refused(schedule, "annotate", "the value is neither 0 nor 1",
                 [&] { schedule.annotate(loop, "prefetch_behind", int64_t{2}); });
  expect_refused(schedule, "annotate",
                 "no block under the loop writes each element of an output once that no block reads",
                 [&] { schedule.annotate(loop, "nontemporal", int64_t{1}); });
  expect_refused(schedule, "annotate", "the key is for blocks",
                 [&] { schedule.annotate(loop, "double_buffer", int64_t{1}); });
  expect_refused(schedule, "annotate", "the block does not write exactly one intermediate buffer",
                 [&] { schedule.annotate(block, "double_buffer", int64_t{1}); });
  const BlockRV written = schedule.cache_write(block, 0, "local");
  schedule.annotate(schedule.get_loops(written)[0], "nontemporal", int64_t{1});
  const BlockRV copy = schedule.cache_read(block, 0, "local");
  expect_refused(schedule, "annotate", "the value is not 1",
                 [&] { schedule.annotate(copy, "double_buffer", int64_t{2}); });
  expect_refused(schedule, "unannotate", "unknown annotation", [&] { schedule.unannotate(block, "kay"); });
}

/// The keys that the header of keys defines.
std::vector<std::string> known_keys() {
  std::ifstream file(TUNESMITH_SOURCE_DIR "/core/compiler/include/tunesmith/ir/annotation_keys.h");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::regex definition("constexpr const char\\* k\\w+ = \"(\\w+)\"");
  std::vector<std::string> keys;
  for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at)
    keys.push_back((*at)[1]);
  return keys;
}

TEST(Annotate, NoKeyOfLoweringTakesWhatItDoesNotUnderstand) {
  const std::vector<std::string> keys = known_keys();
  EXPECT_GE(keys.size(), 6u);
  for (const std::string& key : keys) {
    Schedule schedule(test::make_gmm(6, 8, 4));
    const BlockRV block = schedule.get_block("C");
    const LoopRV loop = schedule.get_loops(block)[0];
    EXPECT_THROW(schedule.annotate(block, key, "x"), ScheduleError) << key;
    EXPECT_THROW(schedule.annotate(loop, key, "x"), ScheduleError) << key;
    EXPECT_THROW(schedule.annotate(key, "x"), ScheduleError) << key;
  }
  Schedule schedule(test::make_gmm(6, 8, 4));
  const LoopRV loop = schedule.get_loops(schedule.get_block("C"))[0];
  for (const char* key : {"tensor_content", "together_along"})
    expect_refused(schedule, "annotate", "the key is reserved for lowering",
                   [&] { schedule.annotate(loop, key, "x"); });
}

}  // namespace
}  // namespace tunesmith
