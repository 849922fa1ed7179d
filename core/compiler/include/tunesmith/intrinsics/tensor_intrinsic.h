// Tensor intrinsics: instructions of a processor that compute a small tensor product at once, as data.
//
// An intrinsic is what it computes (a program of one block), how its operands lie in memory, and how targets
// emit it. tensorize() shows that a loop nest computes just that; lowering writes the nest as the semantics
// say, over the operands' layouts, under a loop annotated with the name. Interpreting that loop executes the
// semantics; a target that knows the name emits the instruction instead (LowerOptions::intrinsics).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct TensorOperand {
  /// In the semantics.
  Buffer buffer;
  /// Elements in memory between neighbours along each dimension: all elements lie together, in some order of
  /// dimensions. Or one of them, that of the outermost dimension in memory, is 0: the distance of its rows is
  /// free, a multiple of `stride_multiple` that is not less than a row.
  std::vector<int64_t> strides;
  int64_t stride_multiple = 1;
  /// Is the implementation given where the first element lies, and the free stride in elements, rather than
  /// the elements? It then reads its inputs, and writes an output, itself, and touches nothing else of them.
  bool by_address = false;
  /// Bytes whose multiple the address of the first element must be; 1 for any address.
  int64_t alignment = 1;
  /// May the operand's buffer have a Swizzle? Any: it may, or none; Always: it must.
  enum class Swizzled : uint8_t { No, Any, Always };
  Swizzled swizzled = Swizzled::No;
  /// Memory scope in which the operand must live; empty for any but `register`, where none can live.
  std::string scope;
  /// Where the scope belongs to a group: how the group's members hold the operand, by a name of its own. What
  /// one call wrote, another one may only read as the same layout.
  std::string layout;
  /// What each member has of it, in the target's language; which text it takes is the target's to say.
  std::string registers;

  /// The dimension whose stride is free, or strides.size().
  size_t free_dimension() const;
};

/// What must be done before an instruction is called: code of the back end that answers 0, or another number
/// where it failed. Done again, it changes nothing. Which texts it takes is the target's to say.
struct UnitSetup {
  struct Code {
    std::string text;
    SourceLocation location = {};  // of its first line
  };
  /// Of the extension, for messages.
  std::string extension;
  /// In a process, before the first call of a kernel.
  Code process = {};
  /// In each thread, before it calls; cheap, since it is done whenever a thread begins with a part of a
  /// kernel.
  Code thread = {};
};

/// How a target emits a call. Which forms and texts it takes is the target's to say (docs/targets.md).
struct TensorImplementation {
  enum class Form {
    Intrinsic,  // `text` names an intrinsic of the back end
    Fragment    // `text` is code of the back end's language
  };
  Form form = Form::Intrinsic;
  std::string text;
  /// Of the first line of `text`, for messages; unknown for what was not read from a file.
  SourceLocation location = {};
  /// Of a fragment that leaves work under way: a statement that waits for it, put behind the outermost loops
  /// that do nothing but make such calls; and one that each barrier of a program with such calls is to
  /// follow, for what threads have written before it and calls read after it. "": none.
  std::string after;
  std::string before_barrier;
  /// Positions in TensorIntrinsic::operands, in the order in which the implementation takes them.
  std::vector<size_t> arguments;
  UnitSetup setup = {};
};

struct TensorIntrinsic {
  std::string name;
  /// The level (ExecutionLevel) of whose groups all members execute a call together; empty: each executes its
  /// own.
  std::string level;
  /// Does one iteration alone call it, for all, and may what it copies arrive later? Only what produces in a
  /// Handover can call it.
  bool bulk_copy = false;
  /// How long one call keeps the unit busy that the groups of one core share, for models of times; 0: nothing
  /// is known.
  double cycles = 0.0;
  /// Where its rate is the peak of its unit, with which times of what it can compute are compared: how many
  /// sums at once hide the time that one call takes. Else 0.
  int64_t peak_sums = 0;
  /// One block; its body is one store, whose indices and whose loads' are distinct iterators. Where it has an
  /// init, the intrinsic accumulates: it computes the body alone.
  Program semantics;
  /// The output, then the inputs in the order of the semantics.
  std::vector<TensorOperand> operands;
  /// By kind of target.
  std::map<std::string, TensorImplementation> implementations;

  const Block& block() const;
  const Store& store() const;
  /// "", or what the semantics lack.
  std::string problem() const;
};

using TensorIntrinsicPtr = std::shared_ptr<const TensorIntrinsic>;

/// Of all that an intrinsic is but where it was read, the same on every machine: two versions of one name
/// differ in it.
uint64_t content_hash(const TensorIntrinsic& intrinsic);
/// What is hashed: all that an intrinsic says but the places of its texts.
std::string content_of(const TensorIntrinsic& intrinsic);

/// Intrinsics by name, and by content. Thread-safe.
class TensorIntrinsics {
 public:
  TensorIntrinsics() = default;
  explicit TensorIntrinsics(const std::vector<TensorIntrinsicPtr>& intrinsics);
  /// Every intrinsic of the process: those of one name may be of several spaces, or versions of one file, so
  /// who works for a space asks the space's own (Space::intrinsics()).
  static TensorIntrinsics& global();
  /// Under a name that is there already, a new one takes the place of the old; programs that call the old one
  /// still find it by its content.
  void add(TensorIntrinsicPtr intrinsic);
  /// Null when unknown.
  TensorIntrinsicPtr find(std::string_view name) const;
  /// content_hash() as 16 hexadecimal digits, by which find_content() finds it from now on.
  std::string content_of(const TensorIntrinsicPtr& intrinsic);
  /// Null when unknown.
  TensorIntrinsicPtr find_content(std::string_view content) const;
  /// Sorted.
  std::vector<std::string> names() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, TensorIntrinsicPtr, std::less<>> by_name_;
  std::map<std::string, TensorIntrinsicPtr, std::less<>> by_content_;
  std::map<TensorIntrinsicPtr, std::string> contents_;  // keeps them, so that no address is used again
};

/// One call in a lowered program.
struct TensorCall {
  TensorIntrinsicPtr intrinsic;
  struct Operand {
    Buffer buffer;
    Expr offset;                   // of the first element, in elements
    std::vector<int64_t> strides;  // the operand's, a free one as it is in this call
  };
  std::vector<Operand> operands;  // as TensorIntrinsic::operands
};

/// What an annotated loop of a lowered program calls: the very version of the instruction that the program
/// was lowered with. Throws InternalError when the loop is not as lowering made it.
TensorCall tensor_call(const Loop& loop);

/// The intrinsic that the loop or the block is to call, by its annotation, if it is one of `known`, else
/// null.
TensorIntrinsicPtr called_intrinsic(const Annotations& annotations,
                                    const std::vector<TensorIntrinsicPtr>& known);

}  // namespace tunesmith
#pragma GCC visibility pop
