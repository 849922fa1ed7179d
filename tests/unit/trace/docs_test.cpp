// docs/schedule.md: its examples are tests, and it names every instruction.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <tunesmith/target/extension_file.h>
#include <tunesmith/workload/workload.h>

#include "packs/pack_file.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

/// A fenced block: the text behind the fence, and the lines inside.
struct Fenced {
  std::string info;
  std::string text;
};

std::string page() {
  std::ifstream file(TUNESMITH_SOURCE_DIR "/docs/schedule.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Fenced> fenced_blocks() {
  std::istringstream lines(page());
  std::vector<Fenced> found;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) {
      if (!inside) found.push_back({line.substr(3), ""});
      inside = !inside;
    } else if (inside) {
      found.back().text += line + "\n";
    }
  }
  return found;
}

/// The program's text without the head and its indentation.
std::string body_text(const Program& program) {
  std::istringstream lines(to_string(program));
  std::string text;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) text += line.substr(2) + "\n";
  return text;
}

TEST(ScheduleDocs, ExamplesAreAsShown) {
  ExtensionFile::load(pack_file("vnni"));
  std::map<std::string, Workload> workloads;
  std::set<std::string> shown;
  size_t programs = 0;
  for (const Fenced& block : fenced_blocks()) {
    if (block.info == "yaml") {
      Workload workload = WorkloadDefinition::parse(block.text, "schedule.md").instantiate();
      workloads.emplace(workload.name, std::move(workload));
    }
    if (block.info.rfind("program ", 0) == 0) {
      EXPECT_EQ(body_text(workloads.at(block.info.substr(8)).program), block.text);
      ++programs;
    }
    if (block.info.rfind("example ", 0) != 0) continue;
    const Program& program = workloads.at(block.info.substr(8)).program;
    const size_t end = block.text.find("---\n");
    ASSERT_NE(end, std::string::npos) << block.text;
    const Trace trace = Trace::parse(block.text.substr(0, end), "schedule.md");
    const auto schedule = replay(program, trace);
    ASSERT_TRUE(schedule.has_value()) << schedule.error().what();
    EXPECT_EQ(body_text(schedule->program()), block.text.substr(end + 4));
    test::expect_same_results(program, schedule->program(), 1e-5);
    for (size_t i = 0; i < trace.size(); ++i) shown.insert(trace[i].kind->name());
  }
  EXPECT_GE(programs, 2u);
  const std::string text = page();
  for (const std::string& name : InstructionRegistry::global().names()) {
    if (name.rfind("test_", 0) == 0) continue;  // registered by another test
    EXPECT_NE(text.find("`" + name + "("), std::string::npos) << name << " has no row";
    if (InstructionRegistry::global().find(name)->sort() == InstructionSort::Transformation) {
      EXPECT_TRUE(shown.contains(name)) << name << " has no example";
    }
  }
}

}  // namespace
}  // namespace tunesmith
