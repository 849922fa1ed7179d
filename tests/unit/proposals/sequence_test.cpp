#include "tunesmith/proposals/sequence.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "tunesmith/support/error.h"
#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

DeviceModel machine() {
  DeviceModel device;
  device.set("cores", 2);
  device.set("l1_bytes", 32768);
  device.set("peak_fraction", 0.75);
  return device;
}

/// Each kind of decision once.
Schedule decided(const Program& program, uint64_t seed) {
  Schedule schedule(program, RandomStream(seed));
  const BlockRV block = schedule.get_block("C");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<IntRV> tile = schedule.sample_perfect_tile(loops[0], 3, 16);
  schedule.split(loops[0], {tile[0], tile[1], tile[2]});
  schedule.sample_partitioned_tile(loops[1], 3, 1, 4);
  schedule.sample_categorical({0, 16, 48}, {0.5, 0.0, 0.5});
  schedule.sample_compute_location(schedule.get_block("B"));
  return schedule;
}

Sequence sequence_of(const Program& program, uint64_t seed) {
  return make_sequence(program, machine(), decided(program, seed));
}

std::string read(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Priors name the version of sequences that they learned from. Whoever changes sequences raises
/// kSequenceVersion and adds a file of the new version; the files of earlier versions stay.
TEST(Sequence, SaysWhatItsVersionSays) {
  const std::string file =
      TUNESMITH_SOURCE_DIR "/tests/unit/proposals/sequence-" + std::to_string(kSequenceVersion) + ".txt";
  ASSERT_TRUE(std::filesystem::exists(file)) << "write this version's text into " << file;
  const Sequence sequence = sequence_of(test::make_chain(64, 48), 5);
  EXPECT_EQ(to_text(sequence), read(file));
  EXPECT_EQ(parse_sequence(read(file), file), sequence);
}

TEST(Sequence, ReadsBack) {
  const Program chain = test::make_chain(64, 48);
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Schedule schedule = decided(chain, seed);
    const Sequence sequence = make_sequence(chain, machine(), schedule);
    const Sequence back = parse_sequence(to_text(sequence));
    EXPECT_EQ(back, sequence);
    EXPECT_EQ(trace_of(back), schedule.trace());
  }
  const Program product = test::make_gmm(8, 4, 2);
  const Sequence undecided = make_sequence(product, machine(), Schedule(product));
  EXPECT_EQ(parse_sequence(to_text(undecided)), undecided);
}

/// Visits all ways through the steps of a decision, which end at each legal decision once.
void visit_all(const SamplingPoint& point, std::vector<int64_t>& decided_before, std::set<Decision>& ends) {
  if (decided_before.size() == steps_of(point.domain)) {
    const Decision decision = decision_of(point.domain, decided_before);
    EXPECT_EQ(point.kind->repair(point.domain, decision), decision) << "what can be chosen is legal";
    EXPECT_TRUE(ends.insert(decision).second);
    return;
  }
  const SequenceStep step = next_step(point, decided_before);
  EXPECT_FALSE(step.choices.empty()) << "what was chosen can be completed";
  for (const int64_t choice : step.choices) {
    decided_before.push_back(choice);
    visit_all(point, decided_before, ends);
    decided_before.pop_back();
  }
}

TEST(Sequence, ChoicesAreThoseOfTheKind) {
  for (const int64_t extent : {1, 7, 12, 48, 360}) {
    Schedule schedule(test::make_chain(extent, 48));
    const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("C"));
    schedule.sample_perfect_tile(loops[0], 4, 16);
    schedule.sample_perfect_tile(loops[0], 2, 64);
    schedule.sample_partitioned_tile(loops[1], 4, 2, 12);
    schedule.sample_partitioned_tile(loops[1], 3, 0, 1);
    schedule.sample_categorical({4, 8, 8, 2}, {0.25, 0.25, 0.5, 0.0});
    schedule.sample_compute_location(schedule.get_block("B"));
    for (const SamplingPoint& point : schedule.sampling_points()) {
      std::vector<int64_t> none;
      std::set<Decision> ends;
      visit_all(point, none, ends);
      EXPECT_EQ(ends.size(), point.kind->count(point.domain)) << point.kind->name() << " of " << extent;
    }
  }
}

TEST(Sequence, DescribesWhatIsComputedWithoutNames) {
  const SequenceTask task = describe_task(test::make_gmm(8, 4, 2), machine());
  ASSERT_EQ(task.arrays.size(), 3U);
  EXPECT_EQ(task.arrays[2].role, SequenceArray::Role::Output);
  ASSERT_EQ(task.blocks.size(), 1U);
  const SequenceBlock& block = task.blocks.front();
  EXPECT_THAT(block.iterators, testing::ElementsAre(SequenceIterator{IterKind::Spatial, 8},
                                                    SequenceIterator{IterKind::Spatial, 4},
                                                    SequenceIterator{IterKind::Reduction, 2}));
  EXPECT_THAT(block.accesses,
              testing::ElementsAre(SequenceAccess{true, 2, "i0, i1"}, SequenceAccess{false, 0, "i0, i2"},
                                   SequenceAccess{false, 1, "i2, i1"}));
  EXPECT_THAT(block.operations,
              testing::ElementsAre(SequenceOperation{"add", kF32, 1}, SequenceOperation{"mul", kF32, 1}));
}

std::string refusal_of(const std::string& text) {
  try {
    parse_sequence(text, "a.txt");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Sequence, SaysWhatIsWrongAndWhere) {
  const std::string text = to_text(sequence_of(test::make_chain(64, 48), 5));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    EXPECT_NE(changed.find(from), std::string::npos) << from;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(refusal_of(""), testing::HasSubstr("expected '# tunesmith sequence 1'"));
  EXPECT_THAT(refusal_of(with("sequence 1", "sequence 99")),
              testing::AllOf(testing::HasSubstr("a.txt:1:22"), testing::HasSubstr("version 99")));
  EXPECT_THAT(refusal_of(with("machine cores 2", "machine cores two")),
              testing::AllOf(testing::HasSubstr("a.txt:2:15"), testing::HasSubstr("found 'two'")));
  EXPECT_THAT(refusal_of(with("array input", "array inptu")), testing::HasSubstr("did you mean 'input'"));
  EXPECT_THAT(refusal_of(with("spatial 64", "spatail 64")), testing::HasSubstr("did you mean 'spatial'"));
  EXPECT_THAT(refusal_of(with("write 2", "write 9")), testing::HasSubstr("there are 3 arrays"));
  EXPECT_THAT(refusal_of(with("get_block", "got_block")),
              testing::AllOf(testing::HasSubstr("a.txt:22:6"), testing::HasSubstr("get_block")));
  EXPECT_THAT(refusal_of(text.substr(0, text.find("decisions"))),
              testing::HasSubstr("expected 'decisions', found the end of the text"));
  EXPECT_THAT(refusal_of(text + "  2.0 3 of 1 2 4\n"), testing::HasSubstr("none of the choices"));
  EXPECT_THAT(refusal_of(text.substr(0, text.rfind("\n  ") + 1)), testing::HasSubstr("is not decided"));
}

}  // namespace
}  // namespace tunesmith
