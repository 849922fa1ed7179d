// Compares the wrapper's typed functions, which stable/api.yaml describes, with the kernel's kinds of
// instructions.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "tunesmith/trace/instruction.h"
#include "tunesmith/trace/trace.h"

namespace tunesmith {
namespace {

const std::map<std::string, ParamType> kParameters = {{"block", ParamType::Block},
                                                      {"loop", ParamType::Loop},
                                                      {"loops", ParamType::Loops},
                                                      {"text", ParamType::String},
                                                      {"int", ParamType::Int},
                                                      {"ints", ParamType::Ints},
                                                      {"reals", ParamType::Doubles},
                                                      {"number", ParamType::Int},
                                                      {"numbers", ParamType::Ints},
                                                      {"factors", ParamType::OptionalInts},
                                                      {"annotation", ParamType::Scalar},
                                                      {"loop_or_block", ParamType::LoopOrBlock},
                                                      {"block_loop_or_root", ParamType::BlockOrRootOrLoop}};
const std::map<std::string, ResultType> kResults = {
    {"none", ResultType::None}, {"block", ResultType::Block}, {"blocks", ResultType::Blocks},
    {"loop", ResultType::Loop}, {"loops", ResultType::Loops}, {"int", ResultType::Int},
    {"ints", ResultType::Ints}};

TEST(StablePrimitives, AreTheKernelsInstructions) {
  const YAML::Node api = YAML::LoadFile(TUNESMITH_SOURCE_DIR "/stable/api.yaml");
  std::set<std::string> described;
  for (const YAML::Node& primitive : api["primitives"]) {
    const auto name = primitive["name"].as<std::string>();
    described.insert(name);
    const InstructionKind* kind = InstructionRegistry::global().find(name);
    ASSERT_NE(kind, nullptr) << name;
    EXPECT_EQ(kind->result(), kResults.at(primitive["result"].as<std::string>())) << name;
    ASSERT_EQ(kind->params().size(), primitive["args"].size()) << name;
    for (size_t i = 0; i < kind->params().size(); ++i) {
      const auto arg = primitive["args"][i].as<std::string>();
      EXPECT_EQ(kind->params()[i].type, kParameters.at(arg.substr(0, arg.find(' ')))) << name << ": " << arg;
      EXPECT_EQ(kind->params()[i].name, arg.substr(arg.find(' ') + 1)) << name;
    }
  }
  for (const std::string& name : InstructionRegistry::global().names())
    EXPECT_TRUE(described.contains(name) || name == kFinishingMarker) << name << " is not described";
}

}  // namespace
}  // namespace tunesmith
