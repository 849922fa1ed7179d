// Instructions of the probabilistic language: what a trace is made of, and the kinds they are of.
//
// A kind is stateless and lives for the whole process. The kernel's kinds stand one to a file in
// core/compiler/primitives and core/compiler/sampling; a plugin may add its own through InstructionRegistry.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/support/random.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class TensorIntrinsics;  // <tunesmith/intrinsics/tensor_intrinsic.h>

/// A variable of a trace: b0, l1, v2. The index counts all variables of the trace.
struct TraceVar {
  uint32_t index = 0;
  bool operator==(const TraceVar&) const = default;
};

/// An argument as a trace holds it.
struct Arg;
using ArgList = std::vector<Arg>;
struct Arg : std::variant<std::monostate, TraceVar, bool, int64_t, double, std::string, ArgList> {
  using variant::variant;
};

/// Loops that sample_compute_location may answer besides a real one.
inline constexpr LoopId kRootLocation{0xfffffffeU};    // leave the block where it is, at the root
inline constexpr LoopId kInlineLocation{0xffffffffU};  // inline the block

/// An argument or a result while it is executed: variables replaced by what they stand for.
struct Value;
using ValueList = std::vector<Value>;
struct Value : std::variant<std::monostate, BlockId, LoopId, bool, int64_t, double, std::string, ValueList> {
  using variant::variant;
};

/// What a sampling instruction decided: tile factors, the index of a category, the index of a location.
using Decision = std::vector<int64_t>;

/// What a sampling instruction could have decided, captured when it ran. Each kind uses the fields it needs.
struct SamplingDomain {
  int64_t extent = 0;               // tiles: the loop's extent
  int64_t parts = 0;                // tiles: the number of factors
  int64_t max_innermost = 0;        // tiles: bound of the last factor
  int64_t partition = 0;            // partitioned tiles: the factors from here on ...
  int64_t inner_factor = 1;         // ... have a product that this divides
  std::vector<int64_t> candidates;  // categorical: values; locations: those that are legal
  std::vector<double> weights;      // categorical: prior probabilities

  bool operator==(const SamplingDomain&) const = default;
};

enum class InstructionSort : uint8_t { LookUp, Transformation, Sampling };

/// Is `value` of the parameter type? (`Scalar`: a number or a string; `Doubles` hold only doubles.)
enum class ParamType : uint8_t;
bool fits(const Value& value, ParamType type);
/// "a loop", "a list of integers", for messages.
std::string_view describe(ParamType type);

/// Types of a kind's parameters, checked when a trace is parsed and when it is executed.
enum class ParamType : uint8_t {
  Block,
  Loop,
  LoopOrBlock,
  Loops,
  Int,
  Ints,
  OptionalInts,
  Doubles,
  String,
  Scalar,
  Bool,
  BlockOrRootOrLoop
};
/// The type of the variables a kind answers.
enum class ResultType : uint8_t { None, Block, Blocks, Loop, Loops, Int, Ints };

struct ParamSpec {
  std::string name;
  ParamType type = ParamType::Int;
  /// Written name=value in the text; positional otherwise.
  bool keyword = false;
  /// Present: the parameter may be left out.
  std::optional<Arg> fallback = std::nullopt;
};

/// Results of one execution.
struct ExecutionResult {
  std::vector<Value> values;
  /// Sampling only: the decision as taken, after any repair.
  Decision decision;
  SamplingDomain domain;
};

class InstructionKind {
 public:
  virtual ~InstructionKind();

  virtual const std::string& name() const = 0;
  virtual InstructionSort sort() const = 0;
  virtual const std::vector<ParamSpec>& params() const = 0;
  virtual ResultType result() const = 0;

  /// Does it to `program`. `args` are in the order of params(), fallbacks filled in.
  /// Transformations check everything they require before they change anything, or say keeps_on_throw()
  /// false. Throws ScheduleError. `decision` (sampling only) is the decision wanted, null to draw one from
  /// `random`. `intrinsics` are those that the schedule knows by name.
  virtual ExecutionResult execute(Program& program, std::span<const Value> args, const Decision* decision,
                                  RandomStream& random, const TensorIntrinsics& intrinsics) const = 0;

  /// False: execute() may throw with the program half changed, and the caller restores it from a clone.
  virtual bool keeps_on_throw() const { return true; }
};

/// A sampling kind: all that a searcher needs in order to move, without knowing the kind. Thread-safe.
class SamplingKind : public InstructionKind {
 public:
  InstructionSort sort() const final { return InstructionSort::Sampling; }
  /// Draws from the prior.
  virtual Decision propose(const SamplingDomain& domain, RandomStream& random) const = 0;
  /// A decision next to `current` and different from it; nothing when the domain has one point.
  virtual std::optional<Decision> mutate(const SamplingDomain& domain, const Decision& current,
                                         RandomStream& random) const = 0;
  /// All neighbours of `current`, in a fixed order, without itself.
  virtual std::vector<Decision> enumerate(const SamplingDomain& domain, const Decision& current) const = 0;
  /// What to want of an instruction with the arguments `to` where `decision` was right for one with the
  /// arguments `from`, of a program of other extents. It need not be legal: repair() makes it so. The
  /// decision as it is, unless the kind says otherwise.
  virtual Decision carry_over(const Decision& decision, std::span<const Arg> from,
                              std::span<const Arg> to) const;
  /// The nearest legal decision to `wanted` (itself when legal); deterministic.
  virtual Decision repair(const SamplingDomain& domain, const Decision& wanted) const = 0;

  /// How many decisions the domain has; at least 1. Counted, not listed. InternalError beyond 64 bits.
  virtual uint64_t count(const SamplingDomain& domain) const = 0;
  /// The decision with the number `index` < count(): each legal one has one number, in an order that the kind
  /// states and that depends on the domain alone.
  virtual Decision at(const SamplingDomain& domain, uint64_t index) const = 0;
  /// The decision as numbers from 0 to 1 that say how near decisions are to each other: what a searcher
  /// models. How many numbers, and what each stands for, depends on the arguments of the instruction and not
  /// on the domain that it met, so that all points of a sketch have encodings of one length.
  virtual std::vector<double> encode(const SamplingDomain& domain, const Decision& decision) const = 0;
};

/// Kinds by name. The kernel's are there from the start; add() before any trace is parsed. Reading is
/// thread-safe.
class InstructionRegistry {
 public:
  static InstructionRegistry& global();
  void add(std::unique_ptr<const InstructionKind> kind);
  /// Null when unknown.
  const InstructionKind* find(std::string_view name) const;
  /// Sorted.
  std::vector<std::string> names() const;

 private:
  InstructionRegistry();
  std::vector<std::unique_ptr<const InstructionKind>> kinds_;
};

/// One line of a trace. Immutable once in a trace; shared between the traces that have it in common.
struct Instruction {
  const InstructionKind* kind = nullptr;
  std::vector<Arg> args;  // one for each of kind->params()
  std::vector<TraceVar> outputs;
  /// Sampling only; nothing while the decision is open.
  std::optional<Decision> decision;
  /// Of a text of version 1, and names a read or write of a block: by counting the buffers that it reads or
  /// writes and not its accesses (analysis/accesses.h). Replayed, it is refused where these differ.
  bool counts_buffers = false;
};

}  // namespace tunesmith
#pragma GCC visibility pop
