// Tensor intrinsics as data: processor instructions that compute a small tensor product.
//
// An intrinsic consists of its semantics (a program of one block), the memory layout of its operands,
// and how targets emit it. tensorize() proves that a loop nest computes the semantics; lowering writes
// the nest as loops over the operands' layouts, annotated with the name. The interpreter executes
// these loops; a target that knows the name emits the instruction instead (LowerOptions::intrinsics).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Analyzer;

struct TensorOperand {
  /// The buffer in the semantics.
  Buffer buffer;
  /// The stride of each dimension in elements; the elements are contiguous, in some
  /// order of dimensions. The stride of the outermost dimension in memory may be 0: it
  /// is then free, a multiple of `stride_multiple` and at least the length of a row.
  std::vector<int64_t> strides;
  int64_t stride_multiple = 1;
  /// Does the implementation get the address of the first element, and the free stride in
  /// elements? It then loads or stores the elements itself, and accesses nothing else.
  bool by_address = false;
  /// The required alignment of the first element's address in bytes; 1 for none.
  int64_t alignment = 1;
  /// May the operand's buffer have a Swizzle? `Always`: it must have one.
  enum class Swizzled : uint8_t { No, Any, Always };
  Swizzled swizzled = Swizzled::No;
  /// Of what a bulk copy reads: are elements outside of the buffer zeros? A nest whose condition is exactly
  /// that an element lies inside, and that copies zeros elsewhere, then computes the semantics, too.
  bool zero_outside = false;
  /// The required memory scope of the operand; empty for any scope except `register`.
  std::string scope;
  /// For a scope that belongs to a group: the name of the layout in which the members hold
  /// the operand. An operand that one call wrote can only be read with the same layout.
  std::string layout;
  /// The part of the operand that each member holds, in the target's language. The target defines the syntax.
  std::string registers;

  /// The dimension whose stride is free, or strides.size().
  size_t free_dimension() const;
};

/// Must run before an instruction is called: back-end code that returns 0, or another
/// number if it failed. Running it again changes nothing. The target defines the syntax.
struct UnitSetup {
  struct Code {
    std::string text;
    SourceLocation location = {};  // of the first line
  };
  /// The extension, for messages.
  std::string extension;
  /// Runs in a process before the first call of a kernel.
  Code process = {};
  /// Runs in each thread that begins a part of a kernel with
  /// such calls. It must be cheap, since that happens often.
  Code thread = {};
};

/// How a target emits a call. The target defines the forms and texts (docs/targets.md).
struct TensorImplementation {
  enum class Form {
    Intrinsic,  // `text` names an intrinsic of the back end
    Fragment    // `text` is code of the back end's language
  };
  Form form = Form::Intrinsic;
  std::string text;
  /// Where `text` begins, for messages; unknown if it was not read from a file.
  SourceLocation location = {};
  /// For a fragment that starts asynchronous work: a statement that waits for it, placed after the
  /// outermost loops that only make such calls; and one placed before each barrier of a program with
  /// such calls, which orders the threads' earlier writes before the calls' later reads. "": none.
  std::string after;
  std::string before_barrier;
  /// Positions in TensorIntrinsic::operands, in the implementation's order of arguments.
  std::vector<size_t> arguments;
  UnitSetup setup = {};
};

struct TensorIntrinsic {
  std::string name;
  /// The level (ExecutionLevel) whose groups execute a call together,
  /// with all members; empty if each thread executes its own call.
  std::string level;
  /// A copy that one iteration issues for all and that completes
  /// asynchronously. Only the producer of a Handover can call it.
  bool bulk_copy = false;
  /// How many cycles one call occupies the unit that the groups
  /// of a core share, for models of times; 0 if unknown.
  double cycles = 0.0;
  /// Not 0: the intrinsic's rate is the peak of its unit, with which times are
  /// compared. The number says how many concurrent sums hide the latency of a call.
  int64_t peak_sums = 0;
  /// One block with one store; the indices of the store and of its loads are distinct
  /// iterators. With an init the intrinsic accumulates: it computes the body alone.
  Program semantics;
  /// The output, then the inputs in the order of the semantics.
  std::vector<TensorOperand> operands;
  /// By the kind of target.
  std::map<std::string, TensorImplementation> implementations;

  const Block& block() const;
  const Store& store() const;
  /// "", or what is wrong with the semantics.
  std::string problem() const;
};

using TensorIntrinsicPtr = std::shared_ptr<const TensorIntrinsic>;

/// A hash of everything but the source location, the same on every
/// machine. Two versions under one name have different hashes.
uint64_t content_hash(const TensorIntrinsic& intrinsic);
/// The text that is hashed: everything but source locations.
std::string content_of(const TensorIntrinsic& intrinsic);

/// Intrinsics by name, and by content. Thread-safe.
class TensorIntrinsics {
 public:
  TensorIntrinsics() = default;
  explicit TensorIntrinsics(const std::vector<TensorIntrinsicPtr>& intrinsics);
  /// All intrinsics of the process. Several spaces or several versions of a file
  /// may use one name, so code that works for a space uses Space::intrinsics().
  static TensorIntrinsics& global();
  /// Replaces an intrinsic of the same name; programs that call the old one still find it by its content
  /// hash.
  void add(TensorIntrinsicPtr intrinsic);
  /// Null if unknown.
  TensorIntrinsicPtr find(std::string_view name) const;
  /// content_hash() as 16 hexadecimal digits; find_content() finds the intrinsic by it from now on.
  std::string content_of(const TensorIntrinsicPtr& intrinsic);
  /// Null if unknown.
  TensorIntrinsicPtr find_content(std::string_view content) const;
  /// Sorted.
  std::vector<std::string> names() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, TensorIntrinsicPtr, std::less<>> by_name_;
  std::map<std::string, TensorIntrinsicPtr, std::less<>> by_content_;
  std::map<TensorIntrinsicPtr, std::string> contents_;  // keeps them alive, so that no address is reused
};

/// One call in a lowered program.
struct TensorCall {
  TensorIntrinsicPtr intrinsic;
  struct Operand {
    Buffer buffer;
    Expr offset;                   // of the first element, in elements
    std::vector<int64_t> strides;  // the operand's strides; a free stride has the value of this call
    /// With TensorOperand::zero_outside: the condition that an element is not a zero, over the
    /// iterators of the semantics. Null: all elements lie inside.
    Expr inside = {};
  };
  std::vector<Operand> operands;  // as TensorIntrinsic::operands
};

/// The call that an annotated loop of a lowered program represents, by the version of the intrinsic with
/// which it was lowered. Throws InternalError if the loop does not have the form that lowering gave it.
TensorCall tensor_call(const Loop& loop);

/// For an operand that may reach outside of its buffer: the index in each dimension of the buffer of the
/// element for which the semantics' iterators stand. It lies inside of the buffer exactly where
/// TensorCall::Operand::inside holds. Nothing if no such indices are found.
std::optional<std::vector<Expr>> element_indices(const TensorCall& call, size_t position,
                                                 const Analyzer& ranges);

/// The intrinsic that the annotation of a loop or
/// block names, if it is in `known`, else null.
TensorIntrinsicPtr called_intrinsic(const Annotations& annotations,
                                    const std::vector<TensorIntrinsicPtr>& known);

}  // namespace tunesmith
#pragma GCC visibility pop
