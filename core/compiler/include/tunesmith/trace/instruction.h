// Instructions of the probabilistic language: the elements of a trace, and their kinds.
//
// A kind is stateless and lives as long as the process. core/compiler/primitives and core/compiler/sampling
// have the kernel's kinds, one per file; a plugin may add kinds through InstructionRegistry.
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

/// A variable of a trace: b0, l1, v2. The index counts over all variables of the trace.
struct TraceVar {
  uint32_t index = 0;
  bool operator==(const TraceVar&) const = default;
};

/// An argument in a trace.
struct Arg;
using ArgList = std::vector<Arg>;
struct Arg : std::variant<std::monostate, TraceVar, bool, int64_t, double, std::string, ArgList> {
  using variant::variant;
};

/// Special results of sample_compute_location besides a loop.
inline constexpr LoopId kRootLocation{0xfffffffeU};    // leave the block where it is, at the root
inline constexpr LoopId kInlineLocation{0xffffffffU};  // inline the block

/// An argument or result during execution, with values in place of variables.
struct Value;
using ValueList = std::vector<Value>;
struct Value : std::variant<std::monostate, BlockId, LoopId, bool, int64_t, double, std::string, ValueList> {
  using variant::variant;
};

/// The decision of a sampling instruction: tile factors, the index of a category, or the index of a location.
using Decision = std::vector<int64_t>;

/// The alternatives of a sampling instruction when it ran. Each kind uses the fields it needs.
struct SamplingDomain {
  int64_t extent = 0;               // tiles: the loop's extent
  int64_t parts = 0;                // tiles: the number of factors
  int64_t max_innermost = 0;        // tiles: bound of the last factor
  int64_t partition = 0;            // partitioned tiles: the product of the factors from here on ...
  int64_t inner_factor = 1;         // ... is divisible by this
  std::vector<int64_t> candidates;  // categorical: values; locations: the legal ones
  std::vector<double> weights;      // categorical: prior probabilities

  bool operator==(const SamplingDomain&) const = default;
};

enum class InstructionSort : uint8_t { LookUp, Transformation, Sampling };

/// Does `value` have the parameter type? (`Scalar`: a number or a string; `Doubles`: only doubles.)
enum class ParamType : uint8_t;
bool fits(const Value& value, ParamType type);
/// "a loop", "a list of integers", for messages.
std::string_view describe(ParamType type);

/// The types of parameters, checked when a trace is parsed and when it is executed.
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
/// The type of the variables that a kind returns.
enum class ResultType : uint8_t { None, Block, Blocks, Loop, Loops, Int, Ints };

struct ParamSpec {
  std::string name;
  ParamType type = ParamType::Int;
  /// Written as name=value in the text; else positional.
  bool keyword = false;
  /// The default value; a parameter with a default may be omitted.
  std::optional<Arg> fallback = std::nullopt;
};

/// Results of one execution.
struct ExecutionResult {
  std::vector<Value> values;
  /// For sampling: the decision that was taken, after any repair.
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

  /// Executes the instruction on `program`. `args` are in the order of params(), with defaults filled in.
  /// Throws ScheduleError, before any change of `program` unless keeps_on_throw() returns false. `decision`
  /// (sampling only): the requested decision, or null to draw one from `random`. `intrinsics`: those that the
  /// schedule knows by name.
  virtual ExecutionResult execute(Program& program, std::span<const Value> args, const Decision* decision,
                                  RandomStream& random, const TensorIntrinsics& intrinsics) const = 0;

  /// False: execute() may throw after changing the program; the caller then restores it from a clone.
  virtual bool keeps_on_throw() const { return true; }
};

/// A sampling kind, with the operations by which searchers explore its decisions. Thread-safe.
class SamplingKind : public InstructionKind {
 public:
  InstructionSort sort() const final { return InstructionSort::Sampling; }
  /// Draws a decision from the prior.
  virtual Decision propose(const SamplingDomain& domain, RandomStream& random) const = 0;
  /// A random neighbour of `current`, different from it; nothing if the domain has only one decision.
  virtual std::optional<Decision> mutate(const SamplingDomain& domain, const Decision& current,
                                         RandomStream& random) const = 0;
  /// All neighbours of `current` in a fixed order, without `current`.
  virtual std::vector<Decision> enumerate(const SamplingDomain& domain, const Decision& current) const = 0;
  /// Translates a `decision` of an instruction with the arguments `from` to one with the arguments `to` in a
  /// program with other extents. The result need not be legal: repair() is applied to it. By default returns
  /// the decision unchanged.
  virtual Decision carry_over(const Decision& decision, std::span<const Arg> from,
                              std::span<const Arg> to) const;
  /// The legal decision nearest to `wanted` (itself if it is legal); deterministic.
  virtual Decision repair(const SamplingDomain& domain, const Decision& wanted) const = 0;

  /// The number of decisions in the domain, at least 1, without enumeration. Throws InternalError beyond 64
  /// bits.
  virtual uint64_t count(const SamplingDomain& domain) const = 0;
  /// The decision number `index` < count(), in an order that depends only on the domain.
  virtual Decision at(const SamplingDomain& domain, uint64_t index) const = 0;
  /// Encodes the decision as numbers from 0 to 1, for models of searchers: near decisions
  /// have near numbers. Their number and meaning depend on the instruction's arguments and
  /// not on the domain, so that all points of a sketch have encodings of equal length.
  virtual std::vector<double> encode(const SamplingDomain& domain, const Decision& decision) const = 0;
};

/// Kinds by name. The kernel's kinds are registered from the start;
/// call add() before parsing any trace. Reading is thread-safe.
class InstructionRegistry {
 public:
  static InstructionRegistry& global();
  void add(std::unique_ptr<const InstructionKind> kind);
  /// Null if unknown.
  const InstructionKind* find(std::string_view name) const;
  /// Sorted.
  std::vector<std::string> names() const;

 private:
  InstructionRegistry();
  std::vector<std::unique_ptr<const InstructionKind>> kinds_;
};

/// One line of a trace. Immutable once in a trace, and shared between traces.
struct Instruction {
  const InstructionKind* kind = nullptr;
  std::vector<Arg> args;  // one for each of kind->params()
  std::vector<TraceVar> outputs;
  /// For sampling only; nothing while the decision is open.
  std::optional<Decision> decision;
  /// From a text of version 1, which numbers a block's buffers and not its accesses (analysis/accesses.h).
  /// Replay refuses it if the two differ.
  bool counts_buffers = false;
};

}  // namespace tunesmith
#pragma GCC visibility pop
