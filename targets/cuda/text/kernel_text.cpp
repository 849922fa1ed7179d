#include "text/kernel_text.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine/execution.h"
#include "text/async_copy_text.h"
#include "text/call_text.h"
#include "text/calls_under_way.h"
#include "text/expr_text.h"
#include "text/produced_loop.h"
#include "text/vector_text.h"
#include "text/wrapped_counters.h"
#include "text/written_steps.h"
#include "tunesmith/grid/launches.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

bool has_half(const Stmt& stmt) {
  const auto is_half = [](DType type) { return type.is_float() && type.bits == 16; };
  bool found = false;
  walk_accesses(
      stmt, [&](const Stmt&, const AccessSite& access) { found = found || is_half(access.buffer->dtype); });
  walk_exprs(stmt, [&](const Expr& expr) { found = found || is_half(expr.dtype().scalar()); });
  return found;
}

/// Alignment of the block of shared memory.
constexpr int64_t kBlockAlignment = 128;

bool is_of_header(const Expr& expr) {
  const CallNode* call = expr.as<CallNode>();
  return call != nullptr && call->op == MathOp::RoundTf32;
}

bool is_of_angle(const Expr& expr) {
  const CallNode* call = expr.as<CallNode>();
  return call != nullptr && (call->op == MathOp::Sin || call->op == MathOp::Cos);
}
/// The larger of the two f64 functions: they share this memory.
constexpr size_t kStackOfAngles = 40;

/// Writes one statement of the root as a kernel.
class KernelWriter {
 public:
  KernelWriter(const LoweredProgram& lowered, const ExecutionModel& execution, int64_t static_shared_bytes,
               const Stmt& stmt, std::string name, TextForm form)
      : lowered_(lowered),
        execution_(execution),
        static_shared_bytes_(static_shared_bytes),
        root_(stmt),
        form_(form),
        exprs_(names_) {
    kernel_.name = std::move(name);
  }

  KernelText write() {
    for (const Buffer& buffer : used_buffers()) {
      if (buffer->span() > std::numeric_limits<int32_t>::max())
        throw LowerError("cuda", "a buffer is too large for 32-bit indices", buffer->name);
      names_.set(buffer.get(), names_.fresh(buffer->name));
      kernel_.arguments.push_back(buffer);
    }
    depth_ = 1;
    before_barrier_ = text_before_barriers(root_);
    plan_shared();
    stmt(root_);
    kernel_.needs_header =
        has_half(root_) || any_of_exprs(root_, is_of_header) || find_first<Loop>(root_, is_call) != nullptr ||
        find_first<AsyncWait>(root_) != nullptr || find_first<AsyncGroup>(root_) != nullptr;
    if (any_of_exprs(root_, is_of_angle)) kernel_.stack_bytes = kStackOfAngles;
    kernel_.helpers = exprs_.helpers();
    kernel_.maps = std::move(copies_.maps);
    std::vector<std::string> parameters;
    for (const Buffer& buffer : kernel_.arguments) {
      parameters.push_back(fmt::format("{}{}* __restrict__ {}", is_written(buffer) ? "" : "const ",
                                       storage_type(buffer->dtype), names_.of(buffer.get())));
    }
    for (const MappedTensor& map : kernel_.maps) {
      if (is_written(map.buffer))
        throw LowerError("cuda", "a bulk copy reads what its launch writes", map.buffer->name);
      parameters.push_back(fmt::format("const __grid_constant__ TensorMap {}", map.name));
    }
    kernel_.text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}({}) {{\n{}}}\n",
                               kernel_.launch.threads(), form_ == TextForm::Usual ? "" : ", 1", kernel_.name,
                               fmt::join(parameters, ", "), body_);
    return std::move(kernel_);
  }

 private:
  /// Buffers in global memory, in the order of the program, then of the workspace.
  std::vector<Buffer> used_buffers() const {
    std::vector<Buffer> known = lowered_.program.buffers();
    for (const WorkspaceSlot& slot : lowered_.workspace) known.push_back(slot.buffer);
    std::erase_if(known, [&](const Buffer& buffer) {
      bool used = false;
      walk_accesses(root_, [&](const Stmt& at, const AccessSite& access) {
        used = used || (access.buffer == buffer && (access.load == nullptr || !is_boxed(at)));
      });
      return !used;
    });
    return known;
  }

  /// Are the statement's inputs copied as boxes, through maps?
  static bool is_boxed(const Stmt& at) {
    return std::ranges::any_of(loops_above(at), [](const Loop* loop) {
      return is_call(*loop) && tensor_call(*loop).intrinsic->bulk_copy;
    });
  }

  bool is_written(const Buffer& buffer) const {
    return find_first<Store>(root_, [&](const Store& store) { return store.buffer == buffer; }) != nullptr;
  }

  void line(const std::string& text) { body_ += std::string(2 * depth_, ' ') + text + "\n"; }

  void nested(const Stmt& inner) {
    ++depth_;
    stmt(inner);
    --depth_;
  }

  void stmt(const Stmt& at) {
    switch (at.kind) {
      case StmtKind::Seq:
        for (const StmtPtr& child : static_cast<const Seq&>(at).children()) stmt(*child);
        return;
      case StmtKind::Loop:
        return loop(static_cast<const Loop&>(at));
      case StmtKind::Store:
        return store(static_cast<const Store&>(at));
      case StmtKind::If: {
        const auto& branch = static_cast<const If&>(at);
        line(fmt::format("if ({}) {{", exprs_.text(branch.condition, Analyzer::at(at))));
        nested(*branch.then_case());
        if (branch.else_case() != nullptr) {
          line("} else {");
          nested(*branch.else_case());
        }
        return line("}");
      }
      case StmtKind::Allocate:
        return allocate(static_cast<const Allocate&>(at));
      case StmtKind::Barrier:
        return barrier();
      case StmtKind::AsyncGroup: {
        asynchronous_ = true;
        stmt(*static_cast<const AsyncGroup&>(at).body());
        asynchronous_ = false;
        return line("cp_async_commit();");
      }
      case StmtKind::AsyncWait:
        return line(fmt::format("cp_async_wait<{}>();", static_cast<const AsyncWait&>(at).pending));
      case StmtKind::Handover:  // of a loop with a producer, which writes it
      case StmtKind::Block:
        break;
    }
    throw LowerError("cuda", "a block was not lowered", "");
  }

  void barrier() {
    if (!before_barrier_.empty()) line(before_barrier_);
    line("__syncthreads();");
  }

  void loop(const Loop& at) {
    if (has_producer(at)) return with_producer(at);
    const std::string after = after_.empty() ? left_under_way(at) : "";
    if (!after.empty()) {
      after_ = after;
      loop(at);
      after_.clear();
      return line(waiting_line(after, 0));
    }
    if (is_call(at)) return call(at);
    if (at.loop_kind == LoopKind::Bound) return bound(at);
    written_loop(at, [&] { nested(*at.body()); });
  }

  /// A loop around the text that `body` writes.
  template <class Body>
  void written_loop(const Loop& at, const Body& body) {
    const std::string name = names_.fresh(at.var->name);
    names_.set(at.var.get(), name);
    const Analyzer ranges = Analyzer::at(at);
    const std::string first = exprs_.text(at.min, ranges);
    const std::string end = exprs_.text(ranges.simplify(at.min + at.extent), ranges, ExprText::kOperand);
    std::vector<WrappedCounter> counters;
    if (at.loop_kind == LoopKind::Serial) counters = wrapped_counters(at);
    for (WrappedCounter& counter : counters) {
      counter.name = names_.fresh(fmt::format("{}_in_{}", name, counter.period));
      line(fmt::format("int {} = {};", counter.name, counter.first));
      exprs_.name(counter.value, counter.name);
    }
    const bool rolled = form_ == TextForm::Rolled && !indexes_registers(at);
    if (at.loop_kind == LoopKind::Unrolled) line(rolled ? "#pragma unroll 1" : "#pragma unroll");
    // For any extent: twins differ only in numbers.
    const int64_t steps = steps_of(*at.body());
    if (at.loop_kind == LoopKind::Serial && (rolled || 4 * steps >= kMaxSteps))
      line(fmt::format("#pragma unroll {}", rolled ? 1 : kMaxSteps / steps));
    line(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0}) {{", name, first, end));
    body();
    for (size_t i = 0; i < counters.size(); ++i) {
      // Copies the value of the counter that is one step ahead, if any.
      const auto next = std::find_if(counters.begin() + static_cast<std::ptrdiff_t>(i), counters.end(),
                                     [&](const WrappedCounter& other) { return other.follows(counters[i]); });
      line(next != counters.end()
               ? fmt::format("  {} = {};", counters[i].name, next->name)
               : fmt::format("  {0} = {0} == {1} ? 0 : {0} + 1;", counters[i].name, counters[i].period - 1));
    }
    line("}");
  }

  /// A producer that runs ahead of its consumers, limited by the versions they have released.
  void with_producer(const Loop& at) {
    const ProducedLoop produced(at);
    const std::string arrived = names_.fresh("arrived"), released = names_.fresh("released"),
                      phase = names_.fresh("phase"), before = names_.fresh("before");
    const auto version = [&] {
      const Analyzer ranges = Analyzer::at(*at.body());
      return exprs_.text(ranges.simplify(produced.version()), ranges, ExprText::kOperand);
    };
    const auto stage = [&](const std::string& of) { return fmt::format("{} + {}", of, version()); };
    line(fmt::format("unsigned long long* const {} = (unsigned long long*)({} + {});", arrived, shared_block_,
                     barriers_at_));
    line(fmt::format("unsigned long long* const {} = {} + {};", released, arrived, produced.versions()));
    barriers_at_ += produced.barrier_bytes();
    line(fmt::format("if ({}) {{", exprs_.text(produced.first_thread(), Analyzer::at(at))));
    line(fmt::format("  for (int i = 0; i < {}; ++i) mbar_init({} + i, 1), mbar_init({} + i, {});",
                     produced.versions(), arrived, released, produced.consumers()));
    line("  fence_mbar_init();");
    line("}");
    barrier();
    line(fmt::format("if ({}) {{", exprs_.text(produced.fetch().condition, Analyzer::at(at))));
    ++depth_;
    line(fmt::format("int {} = 0;", phase));
    written_loop(at, [&] {
      line(fmt::format("  mbar_wait({}, {} ^ 1);", stage(released), phase));
      line(fmt::format("  mbar_expect({}, {});", stage(arrived), produced.fetched_bytes()));
      copies_.arrival = stage(arrived);
      nested(*produced.fetch().then_case());
      copies_.arrival.clear();
      line(fmt::format("  {} ^= {} == {};", phase, version(), produced.versions() - 1));
    });
    --depth_;
    line(fmt::format("}} else if ({}) {{", exprs_.text(produced.rest().condition, Analyzer::at(at))));
    ++depth_;
    line(fmt::format("int {} = 0; unsigned long long* {} = {};", phase, before, released));
    after_ = produced.waits();
    written_loop(at, [&] {
      line(fmt::format("  mbar_wait({}, {});", stage(arrived), phase));
      nested(*produced.rest().then_case());
      // The calls of an iteration are asynchronous: their inputs are released in the next iteration.
      line("  " + waiting_line(produced.waits(), produced.calls()));
      line(fmt::format("  if ({} > 0 && {}) mbar_arrive({});", names_.of(at.var.get()),
                       exprs_.text(produced.first_of_group(), Analyzer::at(at)), before));
      line(fmt::format("  {} = {};", before, stage(released)));
      line(fmt::format("  {} ^= {} == {};", phase, version(), produced.versions() - 1));
    });
    line(waiting_line(std::exchange(after_, ""), 0));
    --depth_;
    line("}");
    barrier();
  }

  void bound(const Loop& at) {
    const std::string name = names_.fresh(at.var->name);
    names_.set(at.var.get(), name);
    const GridAxis axis = grid_axis(at.thread);
    auto& shape = axis.of_block ? kernel_.launch.grid : kernel_.launch.block;
    shape[axis.position] = static_cast<unsigned>(at.const_extent());
    std::string value = fmt::format("{}.{}", axis.of_block ? "blockIdx" : "threadIdx", "xyz"[axis.position]);
    // The compiler cannot know that this is uniform in a warp; the shuffle tells it.
    if (at.thread == "warpgroup.x") value = fmt::format("__shfl_sync(0xffffffffu, {}, 0)", value);
    line(fmt::format("const int {} = {};", name, value));
    stmt(*at.body());
  }

  void allocate(const Allocate& at) {
    const Buffer& buffer = at.buffer;
    const std::string name = names_.fresh(buffer->name);
    names_.set(buffer.get(), name);
    if (const TensorOperand* held = held_as(at)) {
      line(held_declaration(*held, buffer, name));
    } else if (buffer->scope == kScopeShared && !shared_block_.empty()) {
      const std::string type = storage_type(buffer->dtype);
      line(fmt::format("{0}* const {1} = ({0}*)({2} + {3});", type, name, shared_block_, *at.offset));
    } else {
      const std::string shared = fmt::format("__shared__ __align__({}) ",
                                             execution_.find_scope(kScopeShared)->alignment_of(*buffer));
      line(fmt::format("{}{} {}[{}];", buffer->scope == kScopeShared ? shared : "",
                       storage_type(buffer->dtype), name, std::max<int64_t>(buffer->span(), 1)));
    }
    stmt(*at.body());
  }

  /// Buffers are separate arrays if possible. One block contains
  /// them all if two overlap or if they exceed the static limit.
  void plan_shared() {
    std::vector<const Allocate*> buffers = collect<Allocate>(root_, [](const Allocate& allocate) {
      return allocate.buffer->scope == kScopeShared && allocate.offset;
    });
    std::ranges::sort(buffers, {}, [](const Allocate* allocate) { return *allocate->offset; });
    int64_t bytes = 0;
    int64_t alignment = kBlockAlignment;
    bool shares = false;
    for (const Allocate* allocate : buffers) {
      alignment = std::lcm(alignment, execution_.find_scope(kScopeShared)->alignment_of(*allocate->buffer));
      shares = shares || *allocate->offset < bytes;
      bytes = std::max(bytes, *allocate->offset + allocate->buffer->bytes());
    }
    barriers_at_ = (bytes + 7) / 8 * 8;
    int64_t barrier_bytes = 0;
    for (const Loop* loop : collect<Loop>(root_, has_producer))
      barrier_bytes += ProducedLoop(*loop).barrier_bytes();
    if (barrier_bytes > 0) bytes = barriers_at_ + barrier_bytes;
    if (const int64_t most = execution_.find_scope(kScopeShared)->capacity; bytes > most)
      throw LowerError("cuda", "barriers in shared memory find no room there",
                       fmt::format("{} bytes, of at most {}", bytes, most));
    const bool dynamic = bytes > static_shared_bytes_;
    if (!shares && !dynamic && barrier_bytes == 0) return;
    shared_block_ = names_.fresh("shared_memory");
    line(fmt::format("{}__shared__ __align__({}) char {}[{}];", dynamic ? "extern " : "", alignment,
                     shared_block_, dynamic ? "" : std::to_string(bytes)));
    if (dynamic) kernel_.launch.dynamic_shared_bytes = static_cast<size_t>(bytes);
  }

  /// The operand as which the group's calls hold the buffer; null for a buffer of threads.
  static const TensorOperand* held_as(const Allocate& at) {
    if (!is_held(at.buffer)) return nullptr;
    for (const Loop* loop : collect<Loop>(*at.body(), is_call)) {
      const TensorCall call = tensor_call(*loop);
      for (size_t i = 0; i < call.operands.size(); ++i) {
        const TensorOperand& operand = call.intrinsic->operands[i];
        if (call.operands[i].buffer == at.buffer && !operand.layout.empty()) return &operand;
      }
    }
    throw LowerError("cuda", "no call says how a group holds a buffer", at.buffer->name);
  }

  void call(const Loop& at) {
    for (const std::string& text : call_lines(at, names_, exprs_, copies_)) line(text);
  }

  void store(const Store& at) {
    if (asynchronous_) {
      if (const auto copy = async_copy_text(at, execution_, exprs_)) return line(*copy);
    }
    if (at.indices[0].dtype().is_vector()) {
      for (const std::string& text : vector_store_text(at, execution_, names_, exprs_)) line(text);
      return;
    }
    const Analyzer ranges = Analyzer::at(at);
    const DType type = at.buffer->dtype;
    const std::string to = exprs_.element(at.buffer, at.indices[0], ranges);
    const std::string assignment =
        fmt::format("{} = {};", to, exprs_.stored(type, exprs_.text(at.value, ranges)));
    if (at.mask) return line(fmt::format("if ({}) {}", exprs_.text(at.mask, ranges), assignment));
    line(assignment);
  }

  const LoweredProgram& lowered_;
  const ExecutionModel& execution_;
  const int64_t static_shared_bytes_;
  const Stmt& root_;
  const TextForm form_;
  Names names_;
  ExprText exprs_;
  KernelText kernel_;
  std::string body_;
  size_t depth_ = 0;
  std::string shared_block_;   // that contains all buffers in shared memory; "": each is declared
  bool asynchronous_ = false;  // stores may be asynchronous
  BoxCopies copies_;
  int64_t barriers_at_ = 0;  // offset after the buffers in shared_block_ for barriers
  std::string before_barrier_;
  std::string after_;  // wait statement for the calls of the enclosing loop
};

}  // namespace

std::vector<KernelText> kernel_texts(const LoweredProgram& lowered, const ExecutionModel& execution,
                                     int64_t static_shared_bytes, const std::string& symbol,
                                     std::span<const TextForm> forms) {
  const std::vector<const Stmt*> launches = launches_of(lowered.program, execution);
  std::vector<KernelText> kernels;
  for (const Stmt* launch : launches) {
    const std::string name = launches.size() == 1 ? symbol : fmt::format("{}_{}", symbol, kernels.size());
    const TextForm form = forms.empty() ? TextForm::Usual : forms[kernels.size()];
    kernels.push_back(KernelWriter(lowered, execution, static_shared_bytes, *launch, name, form).write());
  }
  return kernels;
}

}  // namespace tunesmith::cuda
