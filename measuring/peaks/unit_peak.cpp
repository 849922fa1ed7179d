#include "peaks/unit_peak.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/intrinsics/call_nest.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

constexpr double kCycles = 2e6;  // about half a millisecond
/// For a unit that does not specify a call's duration.
constexpr double kOperationsPerCycle = 256.0;
constexpr int64_t kLine = 64;

/// The elements from the first to the last.
int64_t span_of(const TensorOperand& operand, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < strides.size(); ++d) last += (operand.buffer->shape[d] - 1) * strides[d];
  return last + 1;
}

/// The operand's strides; a free one is as small as possible.
std::vector<int64_t> strides_of(const TensorOperand& operand) {
  std::vector<int64_t> strides = operand.strides;
  const size_t free = operand.free_dimension();
  if (free < strides.size()) {
    const int64_t row = operand.buffer->elements() / operand.buffer->shape[free];
    strides[free] = (row + operand.stride_multiple - 1) / operand.stride_multiple * operand.stride_multiple;
  }
  return strides;
}

/// Rounds up, so that the next operand begins at a cache line.
int64_t in_lines(int64_t elements, DType type) {
  const int64_t step = std::max<int64_t>(kLine / type.bytes(), 1);
  return (elements + step - 1) / step * step;
}

class PeakProgram {
 public:
  PeakProgram(TensorIntrinsicPtr called, int threads)
      : called_(std::move(called)), intrinsic_(*called_), threads_(threads) {}

  UnitPeak make() {
    UnitPeak peak;
    Program& program = peak.program.program;
    program.name = intrinsic_.name + "_peak";
    const double of_one = count_flops(intrinsic_.semantics);
    const double cycles = intrinsic_.cycles > 0.0 ? intrinsic_.cycles : of_one / kOperationsPerCycle;
    const auto sums = static_cast<double>(intrinsic_.peak_sums);
    const auto rounds = std::max<int64_t>(static_cast<int64_t>(kCycles / sums / std::max(cycles, 1.0)), 100);

    const TensorOperand& output = intrinsic_.operands[0];
    const std::vector<int64_t> strides = strides_of(output);
    const int64_t span = in_lines(span_of(output, strides), output.buffer->dtype);
    const Buffer held = make_buffer("sums", output.buffer->dtype, {span * intrinsic_.peak_sums}, scope_of(0));
    IntrinsicMatch match;
    match.operands.push_back({held, {Expr(unrolled_) * span}, strides});
    std::vector<StmtPtr> statements;
    for (size_t i = 1; i < intrinsic_.operands.size(); ++i) statements.push_back(factor(i, peak, match));
    statements.push_back(each_sum(program, *held, span, [&](const Expr& at) -> StmtPtr {
      const Expr zero =
          cast(held->dtype.with_lanes(static_cast<int>(span)), broadcast(int_imm(0), static_cast<int>(span)));
      return std::make_unique<Store>(held, std::vector<Expr>{at}, zero);
    }));
    StmtPtr calls = program.make_loop(unrolled_, intrinsic_.peak_sums, call_nest(program, called_, match));
    calls->as<Loop>()->loop_kind = LoopKind::Unrolled;
    statements.push_back(program.make_loop(Var("round"), rounds, std::move(calls)));
    const Buffer out = in_workspace("out", held->dtype, span * intrinsic_.peak_sums, peak.program);
    statements.push_back(each_sum(program, *held, span, [&](const Expr& at) -> StmtPtr {
      const Expr to =
          ramp(thread_ * (span * intrinsic_.peak_sums) + Expr(unrolled_) * span, 1, static_cast<int>(span));
      return std::make_unique<Store>(out, std::vector<Expr>{to}, load(held, {at}));
    }));
    StmtPtr body = std::make_unique<Allocate>(held, std::make_unique<Seq>(std::move(statements)));
    auto parallel = program.make_loop(thread_, threads_, std::move(body));
    parallel->loop_kind = LoopKind::Parallel;
    program.root().append(std::move(parallel));
    peak.operations = of_one * sums * static_cast<double>(rounds) * threads_;
    return peak;
  }

 private:
  std::string scope_of(size_t position) const {
    const std::string& wanted = intrinsic_.operands[position].scope;
    if (!wanted.empty()) return wanted;
    return std::string(position == 0 ? kScopeLocal : kScopeGlobal);
  }

  /// A buffer in the workspace with `elements` elements for each thread.
  Buffer in_workspace(const std::string& name, DType type, int64_t elements, LoweredProgram& lowered,
                      const std::string& scope = std::string(kScopeGlobal)) const {
    const Buffer buffer = make_buffer(name, type, {in_lines(elements, type) * threads_}, scope);
    lowered.program.intermediates.push_back(buffer);
    lowered.workspace.push_back({buffer, lowered.workspace_bytes});
    lowered.workspace_bytes += (buffer->bytes() + kLine - 1) / kLine * kLine;
    return buffer;
  }

  /// The statement that fills an input with zeros and ones that the compiler does not know.
  StmtPtr factor(size_t position, UnitPeak& peak, IntrinsicMatch& match) {
    const TensorOperand& operand = intrinsic_.operands[position];
    const std::vector<int64_t> strides = strides_of(operand);
    const int64_t elements = span_of(operand, strides);
    const DType type = operand.buffer->dtype;
    const Buffer buffer =
        in_workspace(operand.buffer->name, type, elements, peak.program, scope_of(position));
    const Expr first = thread_ * in_lines(elements, type);
    match.operands.push_back({buffer, {first}, strides});
    const Var e("e");
    const Expr value = cast(type, floormod(thread_ + e, int_imm(2)));
    return peak.program.program.make_loop(
        e, elements, std::make_unique<Store>(buffer, std::vector<Expr>{first + e}, value));
  }

  template <typename Make>
  StmtPtr each_sum(Program& program, const BufferNode& /*held*/, int64_t span, const Make& make) {
    auto loop = program.make_loop(unrolled_, intrinsic_.peak_sums,
                                  make(ramp(Expr(unrolled_) * span, 1, static_cast<int>(span))));
    loop->loop_kind = LoopKind::Unrolled;
    return loop;
  }

  const TensorIntrinsicPtr called_;
  const TensorIntrinsic& intrinsic_;
  const int threads_;
  const Var thread_{"thread"};
  const Var unrolled_{"sum"};
};

}  // namespace

UnitPeak unit_peak(const TensorIntrinsicPtr& intrinsic, int threads) {
  return PeakProgram(intrinsic, threads).make();
}

bool is_peak_of(const TensorIntrinsic& intrinsic, const Program& program) {
  if (intrinsic.peak_sums == 0 || !intrinsic.level.empty()) return false;
  return std::all_of(
      intrinsic.operands.begin() + 1, intrinsic.operands.end(), [&](const TensorOperand& operand) {
        return std::ranges::any_of(
            program.inputs, [&](const Buffer& input) { return input->dtype == operand.buffer->dtype; });
      });
}

}  // namespace tunesmith
