// Adds a quantity, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <atomic>
#include <limits>
#include <stdexcept>

#include <tunesmith/ir/visit.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/extension_file.h>
#include <tunesmith/target/target.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::atomic<int> descriptions;

constexpr const char* kUnit = R"(extension: bad_unit
target: llvm
setup:
  process: |
    ret i32 0
intrinsics:
  - name: bad_axpy_2
    semantics: |
      inputs: {A: {shape: [1], dtype: f64}, B: {shape: [2], dtype: f64}}
      compute: |
        C[j<2] = sum(k<1) A[k] * B[j]
      outputs: [C]
    implementation:
      arguments: [C, A, B]
      fragment: |
        %a0 = insertelement <2 x double> poison, double %A, i32 0
        %a1 = insertelement <2 x double> %a0, double %A, i32 1
        %p = fmul <2 x double> %a1, %B
        %r = fadd <2 x double> %C, %p
        ret <2 x double> %r
  - name: bad_transpose
    semantics: |
      inputs: {X: {shape: [2, 3], dtype: f32}}
      compute: |
        O[i<3, j<2] = X[j, i]
      outputs: [O]
    operands: {X: {strides: [1, 2], scope: local}}
    implementation: {arguments: [X], fragment: "ret <6 x float> %X"}
  - name: bad_rows
    semantics: |
      inputs: {X: {shape: [2, 4], dtype: f32}}
      compute: |
        O[i<2, j<4] = X[i, j]
      outputs: [O]
    operands: {X: {strides: [4n, 1], pass: address}, O: {strides: [2n, 1]}}
    implementation:
      arguments: [X]
      fragment: |
        %second = getelementptr float, ptr %X, i64 %X_stride
        %x0 = load <4 x float>, ptr %X, align 4
        %x1 = load <4 x float>, ptr %second, align 4
        %r = shufflevector <4 x float> %x0, <4 x float> %x1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
        ret <8 x float> %r
  - name: bad_axpy_i32
    semantics: |
      inputs: {A: {shape: [1], dtype: i32}, B: {shape: [2], dtype: i32}}
      compute: |
        C[j<2] = sum(k<1) A[k] * B[j]
      outputs: [C]
    implementation:
      arguments: [C, A, B]
      fragment: |
        declare <2 x i32> @llvm.sadd.sat.v2i32(<2 x i32>, <2 x i32>)
        %a0 = insertelement <2 x i32> poison, i32 %A, i32 0
        %a1 = insertelement <2 x i32> %a0, i32 %A, i32 1
        %l = shl <2 x i32> %a1, <i32 16, i32 16>
        %h = ashr <2 x i32> %l, <i32 16, i32 16>
        %p = mul <2 x i32> %a1, %B
        %r = add <2 x i32> %C, %p
        ret <2 x i32> %r
  - name: bad_relu_4
    semantics: |
      inputs: {X: {shape: [4], dtype: f32}}
      compute: |
        O[i<4] = relu(X[i])
      outputs: [O]
    implementation:
      arguments: [X]
      fragment: |
        %c = fcmp ogt <4 x float> %X, zeroinitializer
        %r = select <4 x i1> %c, <4 x float> %X, <4 x float> zeroinitializer
        %b = fcmp olt <4 x float> %r, <float 6.0, float 6.0, float 6.0, float 6.0>
        %s = select <4 x i1> %b, <4 x float> %r, <4 x float> <float 6.0, float 6.0, float 6.0, float 6.0>
        ret <4 x float> %r
)";

class BadExtension final : public TargetExtension {
 public:
  ProbeResult probe(const Target& /*base*/) const override {
    misbehave("probe");
    if (mistake("probe_throws")) throw std::runtime_error("boom in probe");
    return {mistake("not_here") ? "the flux unit" : ""};
  }
  void describe(DeviceModel& device) const override {
    misbehave("describe");
    device.set("bad_units", mistake("infinite_quantity") ? std::numeric_limits<double>::infinity() : 1.0);
    if (mistake("describes_anew")) device.set("descriptions", descriptions++);
  }
  void adapt(LowerOptions& options) const override {
    misbehave("adapt");
    if (mistake("impossible_vectors")) options.vector_bits = 3;
    const auto& brought = unit_->intrinsics();
    options.intrinsics.insert(options.intrinsics.end(), brought.begin(), brought.end());
  }
  void extend(Pipeline& pipeline) const override {
    misbehave("extend");
    pipeline.insert_before("plan_memory", program_step("bad_step", [](Program&) { misbehave("bad_step"); }));
    if (mistake("pass_shrinks_loops")) {
      pipeline.insert_before("plan_memory", program_step("shrink_loops", [](Program& program) {
                               for (Loop* loop : collect<Loop>(program.root())) loop->extent = int_imm(1);
                             }));
    }
  }
  std::vector<AddedColumn> feature_columns() const override {
    misbehave("feature_columns");
    FeatureColumn column{"bad_loops", "loops", "around the store, as the unit counts them"};
    if (mistake("column_without_meaning")) column.meaning.clear();
    if (mistake("column_is_taken")) column.name = "depth";
    if (mistake("column_with_spaces")) column.name = "bad loops";
    return {{std::move(column), [](const FeatureStore& store) {
               misbehave("bad_loops");
               if (mistake("column_is_no_number")) return std::numeric_limits<double>::quiet_NaN();
               const bool anew = mistake("column_counts_calls");
               return static_cast<double>(anew ? descriptions++ : static_cast<int>(store.loops.size()));
             }}};
  }

 private:
  /// kUnit, one of whose instructions makes the mistake.
  static std::string unit() {
    std::string text = kUnit;
    const auto change = [&](const char* name, const std::string& from, const char* to) {
      if (mistake(name)) text.replace(text.find(from), from.size(), to);
    };
    change("wrong_letter", "fadd", "fsub");
    change("forgets_the_sum", "ret <2 x double> %r", "ret <2 x double> %p");
    change("does_not_parse", "ret <2", "rett <2");
    change("wrong_return_type", "ret <2 x double> %r", "ret double %A");
    change("missing_argument", "[C, A, B]", "[C, A]");
    change("wrong_layout", "strides: [1, 2]", "strides: [3, 1]");
    const std::string begin = "      fragment: |\n";
    change("illegal_instruction", begin,
           "      fragment: |\n        call void asm sideeffect \"ud2\", \"\"()\n");
    change("hangs_in_code", begin,
           "      fragment: |\n        br label %again\n        again:\n        br label %again\n        "
           "never:\n");
    // An instruction of another processor, which the compiler refuses here.
    change("ends_the_compiler", begin,
           "      fragment: |\n        declare <2 x double> @llvm.aarch64.neon.fmax.v2f64(<2 x double>, <2 x "
           "double>)\n");
    change("ends_the_compiler", "fmul <2 x double> %a1, %B",
           "call <2 x double> @llvm.aarch64.neon.fmax.v2f64(<2 x double> %a1, <2 x double> %B)");
    change("no_such_mnemonic", begin,
           "      fragment: |\n        call void asm sideeffect \"no_such_mnemonic\", \"\"()\n");
    change("ignores_the_stride", "i64 %X_stride", "i64 4");
    change("cuts_the_stride", "%second = getelementptr float, ptr %X, i64 %X_stride",
           "%cut = and i64 %X_stride, 511\n        %second = getelementptr float, ptr %X, i64 %cut");
    change("cannot_be_set_up", "ret i32 0", "ret i32 22");
    change("saturates", "add <2 x i32> %C, %p",
           "call <2 x i32> @llvm.sadd.sat.v2i32(<2 x i32> %C, <2 x i32> %p)");
    change("multiplies_low_halves", "mul <2 x i32> %a1", "mul <2 x i32> %h");
    change("clamps_at_6", "ret <4 x float> %r", "ret <4 x float> %s");
    const std::string normal = "float 0x3810000000000000";
    change("flushes_denormals", "fcmp ogt <4 x float> %X, zeroinitializer",
           ("fcmp oge <4 x float> %X, <" + normal + ", " + normal + ", " + normal + ", " + normal + ">")
               .c_str());
    change("keeps_a_nan", "fcmp ogt", "fcmp ugt");
    return text;
  }

  std::shared_ptr<ExtensionFile> unit_ = ExtensionFile::parse(unit(), "unit.yaml");
};

}  // namespace

TUNESMITH_PLUGIN(BadExtension, PluginKind::Extension, "bad_extension", "1.0.0",
                 "makes the mistake that it is asked for");
