#include "tunesmith/target/extension_file.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/support/error.h"
#include "unit/target/complaint.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHead = "extension: test\ntarget: llvm\n";
constexpr const char* kSemantics =
    "    semantics: |\n      inputs: {X: {shape: [2, 4], dtype: f32}}\n      compute: |\n"
    "        O[i<2, j<4] = X[i, j]\n      outputs: [O]\n";
constexpr const char* kImplementation = "    implementation: {intrinsic: llvm.some, arguments: [X]}\n";

std::shared_ptr<ExtensionFile> load(const std::string& text) {
  const test::TemporaryFolder folder;
  const auto path = folder / "extension.yaml";
  std::ofstream(path) << text;
  return ExtensionFile::load(path);
}

std::string with_semantics(const std::string& inputs, const std::string& compute) {
  return std::string(kHead) + "intrinsics:\n  - name: one\n    semantics: |\n      inputs: " + inputs +
         "\n      compute: |\n        " + compute + "\n      outputs: [O]\n" + kImplementation;
}

TEST(ExtensionFile, SaysItsSchema) {
  const std::string rest = std::string(kHead) + "quantities: {test_rows: 4}\n";
  EXPECT_EQ(complaint(rest), "accepted");
  EXPECT_EQ(complaint("schema: 1\n" + rest), "accepted");
  EXPECT_EQ(load("schema: 1\n" + rest)->content_hash(), load(rest)->content_hash());
  EXPECT_THAT(complaint("schema: one\n" + rest),
              HasSubstr("1:9: schema: expected a whole number, found 'one'"));
  EXPECT_THAT(complaint("schema: 0\n" + rest), HasSubstr("schema: expected a whole number, found '0'"));
}

/// Its other keys are unknown here, so they are not reported.
TEST(ExtensionFile, OfANewerSchemaIsRefusedWithBothNumbers) {
  EXPECT_THAT(complaint(std::string(kHead) + "registers_of_its_own: 4\nschema: 12\n"),
              HasSubstr("4:9: schema: the file has schema 12, this Tunesmith reads up to 1"));
}

TEST(ExtensionFile, MakesItsIntrinsicsKnown) {
  const auto extension =
      load(std::string(kHead) + "requires: [fast]\nintrinsics:\n  - name: extension_file_test\n" +
           kSemantics + "    operands: {X: {strides: [1, 2], scope: local}}\n" + kImplementation);
  ASSERT_EQ(extension->intrinsics().size(), 1U);
  const TensorIntrinsicPtr known = TensorIntrinsics::global().find("extension_file_test");
  ASSERT_EQ(known, extension->intrinsics()[0]);
  ASSERT_EQ(known->operands.size(), 2U);
  EXPECT_EQ(known->operands[0].buffer->name, "O");
  EXPECT_EQ(known->operands[0].strides, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(known->operands[1].strides, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(known->operands[1].scope, "local");
  EXPECT_EQ(known->implementations.at("llvm").arguments, (std::vector<size_t>{1}));
  LowerOptions options;
  extension->adapt(options);
  EXPECT_EQ(options.intrinsics, extension->intrinsics());
}

TEST(ExtensionFile, Mistakes) {
  EXPECT_THAT(complaint("extension: test\n"), HasSubstr("expected the key 'target'"));
  EXPECT_THAT(complaint(std::string(kHead) + "intrinsic: []\n"), HasSubstr("intrinsic"));
  const std::string begin = std::string(kHead) + "intrinsics:\n  - name: one\n" + kSemantics;
  EXPECT_THAT(complaint(begin), HasSubstr("expected the key 'implementation'"));
  EXPECT_THAT(complaint(begin + "    implementation: {arguments: [X]}\n"),
              HasSubstr("expected either 'intrinsic' or 'fragment'"));
  EXPECT_THAT(complaint(begin + "    implementation: {intrinsic: a, arguments: [Y]}\n"),
              HasSubstr("unknown array 'Y' in the semantics"));
  EXPECT_THAT(complaint(begin + "    operands: {X: {strides: [5, 1]}}\n" + kImplementation),
              HasSubstr("expected one stride for each dimension of"));
  EXPECT_THAT(complaint(begin + "    operands: {X: {stride: [4, 1]}}\n" + kImplementation),
              HasSubstr("stride"));
  EXPECT_THAT(complaint(begin + kImplementation + "  - name: one\n" + kSemantics + kImplementation),
              HasSubstr("duplicate intrinsic 'one'"));
}

TEST(ExtensionFile, ABulkCopyCopies) {
  const std::string bulk =
      with_semantics("{X: {shape: [2], dtype: f32}}", "O[i<2] = X[i]") + "    bulk_copy: ";
  ASSERT_EQ(load(bulk + "true\n")->intrinsics().size(), 1u);
  EXPECT_TRUE(load(bulk + "true\n")->intrinsics()[0]->bulk_copy);
  EXPECT_THAT(complaint(bulk + "maybe\n"), HasSubstr("bulk_copy: expected true, found 'maybe'"));
  EXPECT_THAT(complaint(with_semantics("{X: {shape: [2], dtype: f32}}", "O[i<2] = X[i] * X[i]") +
                        "    bulk_copy: true\n"),
              HasSubstr("the semantics of a bulk copy must copy"));
}

TEST(ExtensionFile, ABulkCopyMayReadOutside) {
  const std::string copy = with_semantics("{X: {shape: [2], dtype: f32}}", "O[i<2] = X[i]");
  const std::string bulk = copy + "    bulk_copy: true\n";
  EXPECT_TRUE(load(bulk + "    operands: {X: {outside: zero}}\n")->intrinsics()[0]->operands[1].zero_outside);
  EXPECT_THAT(complaint(bulk + "    operands: {X: {outside: one}}\n"),
              HasSubstr("outside: expected zero, found 'one'"));
  for (const std::string& other :
       {bulk + "    operands: {O: {outside: zero}}\n", copy + "    operands: {X: {outside: zero}}\n"})
    EXPECT_THAT(complaint(other), HasSubstr("outside: only the source of a bulk copy may exceed"));
}

TEST(ExtensionFile, SemanticsThatNoInstructionHas) {
  EXPECT_THAT(complaint(with_semantics("{X: {shape: [4], dtype: f32}}", "O[i<2] = X[i + 1]")),
              HasSubstr("an index of the semantics must be an axis by itself"));
  EXPECT_THAT(complaint(with_semantics("{X: {shape: [2, 2], dtype: f32}}", "O[i<2] = X[i, i]")),
              HasSubstr("an index of the semantics must be an axis by itself"));
  EXPECT_THAT(
      complaint(with_semantics("{X: {shape: [2, 2], dtype: f32}}", "O[i<2, j<2] = X[i, j] + X[j, i]")),
      HasSubstr("must read each array in one way"));
  EXPECT_THAT(complaint(with_semantics("{X: {shape: [2], dtype: f32}}",
                                       "B[i<2] = X[i]\n        O[i<2] = B[i] + X[i]")),
              HasSubstr("the semantics must be one statement"));
}

TEST(ExtensionFile, SaysWhatGroupsHoldOfAllIntrinsics) {
  const auto extension = ExtensionFile::parse(R"(extension: acme
target: t
level: squad
variants:
  - {type: f16, types: half, row: 8n}
  - {type: i8, types: bytes, row: 16n}
operands:
  A: {scope: tile, layout: a, registers: "u32[4]"}
  M: {strides: [$row, 1], alignment: 32}
intrinsics:
  - name: acme_load_$types
    cycles: 2.5
    semantics: {inputs: {M: {shape: [4, 8], dtype: $type}}, compute: "A[i<4, j<8] = M[i, j]", outputs: [A]}
    implementation: {fragment: "load_$type(A, M, M_stride);"}
)",
                                              "a.yaml");
  ASSERT_EQ(extension->intrinsics().size(), 2U);
  const TensorIntrinsic& half = *extension->intrinsics()[0];
  EXPECT_EQ(half.name, "acme_load_half");
  EXPECT_EQ(half.level, "squad");
  EXPECT_EQ(half.cycles, 2.5);
  ASSERT_EQ(half.operands.size(), 2U);
  EXPECT_EQ(half.operands[0].layout, "a");
  EXPECT_EQ(half.operands[0].registers, "u32[4]");
  EXPECT_EQ(half.operands[0].free_dimension(), 2U);
  EXPECT_EQ(half.operands[1].strides, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(half.operands[1].stride_multiple, 8);
  EXPECT_EQ(half.operands[1].alignment, 32);
  EXPECT_EQ(half.operands[1].free_dimension(), 0U);
  EXPECT_EQ(half.operands[1].buffer->dtype, kF16);
  EXPECT_EQ(half.implementations.at("t").text, "load_f16(A, M, M_stride);");
  EXPECT_EQ(half.implementations.at("t").arguments, (std::vector<size_t>{0, 1}));
  const TensorIntrinsic& bytes = *extension->intrinsics()[1];
  EXPECT_EQ(bytes.name, "acme_load_bytes");
  EXPECT_EQ(bytes.operands[1].stride_multiple, 16);
  EXPECT_EQ(bytes.operands[1].buffer->dtype, kI8);
}

TEST(ExtensionFile, MistakesInWhatGroupsHold) {
  const std::string begin = std::string(kHead) + "intrinsics:\n  - name: one\n" + kSemantics;
  const auto with = [&](const std::string& operand) {
    return complaint(begin + "    operands: {X: " + operand + "}\n" + kImplementation);
  };
  EXPECT_THAT(with("{layout: a}"), HasSubstr("expected 'layout' and 'registers' together"));
  for (const char* bytes : {"-1", "0", "3", "48"}) {
    EXPECT_THAT(with(fmt::format("{{alignment: {}}}", bytes)),
                HasSubstr(fmt::format("alignment: expected a power of two of bytes, found '{}'", bytes)));
  }
  EXPECT_THAT(with("{strides: [8n, 4n]}"), HasSubstr("expected one stride for each dimension of"));
  EXPECT_THAT(with("{strides: [3, 8n]}"), HasSubstr("expected one stride for each dimension of"));
  EXPECT_THAT(with("{strides: [n, 1]}"), HasSubstr("expected a positive integer, found 'n'"));
  EXPECT_EQ(with("{strides: [8n, 1]}"), "accepted");
  EXPECT_THAT(complaint(std::string(kHead) + "variants: [{a: 1}, {a: 2}]\nintrinsics:\n  - name: one\n" +
                        kSemantics + kImplementation),
              HasSubstr("duplicate intrinsic 'one'"));
}

constexpr const char* kOrders = R"yaml(extension: acme
target: t
level: squad
variants:
  - [{type: f16}, {type: i8}]
  - [{of: "", at: "i, j"}, {of: _turned, at: "j, i"}]
operands:
  A: {scope: tile, layout: a$of, registers: "u32[4]"}
intrinsics:
  - name: acme_load$of_$type
    semantics: {inputs: {M: {shape: [4, 4], dtype: $type}}, compute: "A[i<4, j<4] = M[$at]", outputs: [A]}
    implementation: {fragment: "load$of(A, M);"}
  - name: acme_zero_$type
    semantics: {compute: "C[i<4] = $type(0)", outputs: [C]}
    implementation: {fragment: "zero(C);"}
  - name: acme_one
    variants: [{type: f16, at: "i, j"}]
    semantics: {inputs: {M: {shape: [4, 4], dtype: $type}}, compute: "O[i<4, j<4] = M[$at]", outputs: [O]}
    implementation: {fragment: "one(O, M);"}
)yaml";

TEST(ExtensionFile, VariantsMayBeChosenFromSeveralLists) {
  const auto extension = ExtensionFile::parse(kOrders, "a.yaml");
  std::vector<std::string> names;
  for (const TensorIntrinsicPtr& intrinsic : extension->intrinsics()) names.push_back(intrinsic->name);
  EXPECT_THAT(names,
              testing::ElementsAre("acme_load_f16", "acme_load_turned_f16", "acme_load_i8",
                                   "acme_load_turned_i8", "acme_zero_f16", "acme_zero_i8", "acme_one"));
  EXPECT_EQ(extension->intrinsics()[1]->operands[0].layout, "a_turned");
  EXPECT_EQ(extension->intrinsics()[1]->implementations.at("t").text, "load_turned(A, M);");
}

TEST(ExtensionFile, VariantsOfSeveralListsThatDifferHaveTheirOwnNames) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text = kOrders;
    text.replace(text.find(from), from.size(), to);
    return complaint(text);
  };
  EXPECT_THAT(with("acme_load$of_$type", "acme_load_$type"),
              HasSubstr("duplicate intrinsic 'acme_load_f16'"));
  EXPECT_THAT(with("{of: \"\", at", "{type: f32, of: \"\", at"), HasSubstr("two lists have the key 'type'"));
  EXPECT_THAT(with("[{type: f16}, {type: i8}]\n  - ", "[{type: f16}]\n  - {a: 1}\n  - "),
              HasSubstr("expected a list of mappings"));
}

TEST(ExtensionFile, OperandsMayBePassedByTheirAddress) {
  const std::string begin = std::string(kHead) + "intrinsics:\n  - name: one\n" + kSemantics;
  const auto with = [&](const std::string& operands, const std::string& implementation) {
    return begin + "    operands: " + operands + "\n    implementation: " + implementation + "\n";
  };
  const char* fragment = "{fragment: ret void}";
  const auto extension = load(with("{X: {pass: address, strides: [4n, 1]}, O: {pass: value}}", fragment));
  EXPECT_TRUE(extension->intrinsics()[0]->operands[1].by_address);
  EXPECT_FALSE(extension->intrinsics()[0]->operands[0].by_address);
  EXPECT_THAT(complaint(with("{X: {pass: pointer}}", fragment)),
              HasSubstr("pass: expected address or value, found 'pointer'"));
  EXPECT_THAT(complaint(with("{X: {pass: address, layout: a, registers: r}}", fragment)),
              HasSubstr("an operand in a group's registers has no address"));
  EXPECT_THAT(complaint(with("{X: {pass: address}}", "{intrinsic: llvm.some, arguments: [X]}")),
              HasSubstr("an intrinsic of the back end takes values, not addresses"));
  EXPECT_THAT(complaint(with("{O: {pass: address}}", "{fragment: ret void, arguments: [X]}")),
              HasSubstr("'O' is written through its address, so it must be an argument"));
}

TEST(ExtensionFile, SetUpBelongsToAllItsIntrinsics) {
  const std::string end = "intrinsics:\n  - name: one\n" + std::string(kSemantics) + kImplementation;
  const auto extension = load(std::string(kHead) + "setup:\n  thread: |\n    ret i32 0\n" + end);
  const UnitSetup& setup = extension->intrinsics()[0]->implementations.at("llvm").setup;
  EXPECT_EQ(setup.extension, "test");
  EXPECT_EQ(setup.process.text, "");
  EXPECT_EQ(setup.thread.text, "ret i32 0\n");
  EXPECT_EQ(setup.thread.location.line, 5);
  EXPECT_THAT(complaint(std::string(kHead) + "setup: {process: [a]}\n" + end),
              HasSubstr("process: expected a text, found"));
  EXPECT_THAT(complaint(std::string(kHead) + "setup: always\n" + end),
              HasSubstr("setup: expected a mapping, found"));
}

TEST(ExtensionFile, PeaksNameInstructionsThatAddUp) {
  const std::string sum =
      "intrinsics:\n  - name: one\n    semantics: |\n      inputs: {X: {shape: [4, 2], dtype: f32}}\n"
      "      compute: |\n        O[i<4] = sum(k<2) X[i, k]\n      outputs: [O]\n" +
      std::string(kImplementation);
  const std::string copy = "intrinsics:\n  - name: one\n" + std::string(kSemantics) + kImplementation;
  const auto with = [&](const std::string& peak, const std::string& intrinsics) {
    return std::string(kHead) + "peak: " + peak + "\n" + intrinsics;
  };
  EXPECT_EQ(load(with("{one: 12}", sum))->intrinsics()[0]->peak_sums, 12);
  EXPECT_EQ(load(std::string(kHead) + sum)->intrinsics()[0]->peak_sums, 0);
  EXPECT_THAT(complaint(with("one", sum)), HasSubstr("peak: expected a mapping"));
  EXPECT_THAT(complaint(with("{one: 0}", sum)), HasSubstr("peak: one: expected how many sums"));
  EXPECT_THAT(complaint(with("{on: 4}", sum)), HasSubstr("peak: unknown intrinsic 'on'"));
  EXPECT_THAT(complaint(with("{one: 4}", copy)), HasSubstr("peak: one does not accumulate"));
  EXPECT_THAT(complaint(with("{one: 4}", "level: squad\n" + sum)), HasSubstr("is a group instruction"));
}

TEST(ExtensionFile, SetsQuantitiesOfTheDevice) {
  const auto extension = ExtensionFile::parse(
      "extension: acme\ntarget: t\nquantities: {acme_rows: 16, acme_rate: 0.5}\n", "a.yaml");
  DeviceModel device;
  extension->describe(device);
  EXPECT_EQ(device.all(),
            (std::map<std::string, double, std::less<>>{{"acme_rate", 0.5}, {"acme_rows", 16}}));
  EXPECT_TRUE(extension->intrinsics().empty());
  for (const char* wrong : {"x", "nan", "1e999", "[1]"}) {
    EXPECT_THROW(ExtensionFile::parse(
                     fmt::format("extension: acme\ntarget: t\nquantities: {{a: {}}}\n", wrong), "a.yaml"),
                 UserError)
        << wrong;
  }
}

TEST(ExtensionFile, NoOperandIsInRegisters) {
  const char* text = R"(extension: acme
target: t
intrinsics:
  - name: acme_copy
    semantics: |
      inputs: {X: {shape: [4], dtype: f32}}
      compute: |
        O[i<4] = X[i]
      outputs: [O]
    operands: {X: {scope: register}}
    implementation: {arguments: [X], fragment: "ret <4 x float> %X"}
)";
  EXPECT_THAT([&] { ExtensionFile::parse(text, "a.yaml"); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("a.yaml:10:27: scope: no operand")));
}

/// Changes every field of every part separately.
TEST(ExtensionFile, TheContentOfAnIntrinsicIsAllThatItSays) {
  const auto extension =
      load(std::string(kHead) + "intrinsics:\n  - name: extension_content\n" + kSemantics + kImplementation);
  const TensorIntrinsic& one = *extension->intrinsics().front();
  const auto copy = [&] {
    TensorIntrinsic other{one.name,     one.level,          one.bulk_copy,
                          one.cycles,   one.peak_sums,      one.semantics.clone(),
                          one.operands, one.implementations};
    return other;
  };
  std::set<std::string> contents{content_of(one)};
  EXPECT_EQ(content_of(copy()), content_of(one));
  size_t changes = 0;
  const auto changed = [&](auto change) {
    TensorIntrinsic other = copy();
    change(other);
    EXPECT_TRUE(contents.insert(content_of(other)).second) << "change " << changes;
    ++changes;
  };
  changed([](TensorIntrinsic& i) { i.name = "other"; });
  changed([](TensorIntrinsic& i) { i.level = "warp"; });
  changed([](TensorIntrinsic& i) { i.bulk_copy = true; });
  changed([](TensorIntrinsic& i) { i.cycles = 2.0; });
  changed([](TensorIntrinsic& i) { i.peak_sums = 2; });
  changed([](TensorIntrinsic& i) {
    i.semantics = load(std::string(kHead) + "intrinsics:\n  - name: extension_content\n    semantics: |\n" +
                       "      inputs: {X: {shape: [2, 4], dtype: f32}}\n      compute: |\n" +
                       "        O[i<2, j<4] = X[i, j] + 1\n      outputs: [O]\n" + kImplementation)
                      ->intrinsics()
                      .front()
                      ->semantics.clone();
  });
  changed([](TensorIntrinsic& i) { i.operands.pop_back(); });
  changed([](TensorIntrinsic& i) { i.operands[0].buffer = make_buffer("P", kF32, {2, 4}); });
  changed([](TensorIntrinsic& i) { i.operands[0].strides = {1, 2}; });
  changed([](TensorIntrinsic& i) { i.operands[0].stride_multiple = 8; });
  changed([](TensorIntrinsic& i) { i.operands[0].by_address = true; });
  changed([](TensorIntrinsic& i) { i.operands[0].alignment = 16; });
  changed([](TensorIntrinsic& i) { i.operands[0].swizzled = TensorOperand::Swizzled::Any; });
  changed([](TensorIntrinsic& i) { i.operands[0].swizzled = TensorOperand::Swizzled::Always; });
  changed([](TensorIntrinsic& i) { i.operands[0].zero_outside = true; });
  changed([](TensorIntrinsic& i) { i.operands[0].scope = "local"; });
  changed([](TensorIntrinsic& i) { i.operands[0].layout = "local"; });
  changed([](TensorIntrinsic& i) { i.operands[0].registers = "local"; });
  changed([](TensorIntrinsic& i) { i.implementations["other"] = i.implementations.at("llvm"); });
  const auto code_changed = [&](auto change) {
    changed([&](TensorIntrinsic& i) { change(i.implementations.at("llvm")); });
  };
  code_changed([](TensorImplementation& i) { i.form = TensorImplementation::Form::Fragment; });
  code_changed([](TensorImplementation& i) { i.text = "llvm.other"; });
  code_changed([](TensorImplementation& i) { i.after = "wait"; });
  code_changed([](TensorImplementation& i) { i.setup.extension = "other"; });
  code_changed([](TensorImplementation& i) { i.setup.process.text = "ret i32 0"; });
  code_changed([](TensorImplementation& i) { i.setup.thread.text = "ret i32 0"; });
  code_changed([](TensorImplementation& i) { i.before_barrier = "wait"; });
  code_changed([](TensorImplementation& i) { i.arguments = {0, 1}; });
  TensorIntrinsic elsewhere = copy();
  elsewhere.implementations.at("llvm").location.line += 1;
  EXPECT_EQ(content_of(elsewhere), content_of(one)) << "a place is not what it says";
}

/// Different variants of one name are refused, not merged.
TEST(ExtensionFile, VariantsThatDifferAreNotDropped) {
  const auto with = [](const std::string& operand, const std::string& code) {
    return std::string(kHead) + "variants:\n  - [{v: any}, {v: always}]\n  - [{w: one}]\nintrinsics:\n" +
           "  - name: extension_variants\n" + kSemantics + "    operands: {X: {" + operand +
           "}}\n    implementation: {fragment: code" + code + "}\n";
  };
  EXPECT_EQ(complaint(with("", "")), "accepted");
  const char* twice = "duplicate intrinsic 'extension_variants'";
  EXPECT_THAT(complaint(with("swizzle: $v", "")), HasSubstr(twice));
  EXPECT_THAT(complaint(with("", ", after: wait $v")), HasSubstr(twice));
  EXPECT_THAT(complaint(with("", ", before_barrier: wait $v")), HasSubstr(twice));
}

}  // namespace
}  // namespace tunesmith
