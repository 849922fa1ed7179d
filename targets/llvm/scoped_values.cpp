#include "scoped_values.h"

#include <algorithm>

namespace tunesmith::llvm_target {

namespace {

// First elements of the tables' keys.
enum KeyKind : int64_t { kSum, kConstantSum, kPointer, kProduct, kFloorDiv, kFloorMod, kMinimum, kMaximum };

template <typename Key>
void append(Key& key, const Linear& linear) {
  for (const Linear::Term& term : linear.terms) {
    key.push_back(term.coefficient);
    key.push_back(term.atom);
  }
  // An atom is never negative, so this also ends the list of terms.
  key.push_back(-1);
  key.push_back(linear.constant);
}

/// An innermost loop with at most this many pointers increments each of them: accesses
/// without an index are faster. With more, the additions would cost more than a shared index.
constexpr size_t kMaxSteppedPointers = 4;

bool is_power_of_two(int64_t value) { return (value & (value - 1)) == 0; }

/// The factors by which an address can multiply a register.
bool is_address_scale(int64_t factor) { return factor == 1 || factor == 2 || factor == 4 || factor == 8; }

}  // namespace

void ScopedValues::enter(llvm::BasicBlock* head) {
  scopes_.push_back({head, head->empty() ? nullptr : &head->back(), {}, {}, {}});
}

Linear ScopedValues::enter_loop(llvm::BasicBlock* head, llvm::PHINode* index, Interval range) {
  for (Scope& outer : scopes_) {
    if (outer.loop) outer.loop->innermost = false;
  }
  enter(head);
  const Linear variable = scope_atom(index, range);
  scopes_.back().loop = Loop{index, variable.terms[0].atom, true, {}, {}};
  return variable;
}

void ScopedValues::leave() {
  // An induction variable occupies a register for the whole loop: elsewhere a product is cheaper.
  if (const auto& loop = scopes_.back().loop; loop && loop->innermost) reduce_strength(*loop);
  scopes_.pop_back();
}

Linear ScopedValues::new_atom(llvm::Value* value, int depth, Interval range) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value))
    return Linear(constant->getSExtValue());
  atoms_.push_back({value, depth, range});
  Linear result;
  result.terms.push_back({1, static_cast<uint32_t>(atoms_.size() - 1)});
  return result;
}

Linear ScopedValues::scope_atom(llvm::Value* value, Interval range) {
  return new_atom(value, static_cast<int>(scopes_.size()) - 1, range);
}

Linear ScopedValues::local_atom(llvm::Value* value, Interval range) { return new_atom(value, kHere, range); }

Interval ScopedValues::range(const Linear& linear) const {
  Interval sum{linear.constant, linear.constant};
  for (const Linear::Term& term : linear.terms)
    sum = add(sum, scale(atoms_[term.atom].range, term.coefficient));
  return sum;
}

llvm::SmallVector<Linear::Term, 4> ScopedValues::by_depth(const Linear& linear) const {
  llvm::SmallVector<Linear::Term, 4> terms(linear.terms);
  // kHere wraps around to the maximum.
  std::ranges::stable_sort(
      terms, {}, [&](const Linear::Term& term) { return static_cast<unsigned>(atoms_[term.atom].depth); });
  return terms;
}

ScopedValues::Loop* ScopedValues::loop_of(uint32_t atom) {
  const int depth = atoms_[atom].depth;
  if (depth == kHere) return nullptr;
  auto& loop = scopes_[static_cast<size_t>(depth)].loop;
  return loop && loop->atom == atom ? &*loop : nullptr;
}

void ScopedValues::reduce_strength(const Loop& loop) {
  llvm::BasicBlock* before = loop.index->getIncomingBlock(0);
  llvm::Value* first = loop.index->getIncomingValue(0);
  llvm::BasicBlock* latch = ir_.GetInsertBlock();
  // Replaces a value by an induction variable: `add` computes the first value and each next one.
  const auto count = [&](llvm::Instruction* replaced, llvm::Value* base, int64_t step, auto add) {
    llvm::Value* bytes = ir_.getInt64(static_cast<uint64_t>(step));
    auto* phi = llvm::PHINode::Create(replaced->getType(), 2, "", loop.index->getIterator());
    {
      const llvm::IRBuilderBase::InsertPointGuard guard(ir_);
      ir_.SetInsertPoint(before->getTerminator());
      phi->addIncoming(add(base, ir_.CreateNSWMul(first, bytes)), before);
    }
    phi->addIncoming(add(phi, bytes), latch);
    replaced->replaceAllUsesWith(phi);
    replaced->eraseFromParent();
  };
  if (loop.pointers.size() <= kMaxSteppedPointers) {
    for (const auto& [pointer, step] : loop.pointers) {
      count(pointer, pointer->getPointerOperand(), step, [&](llvm::Value* from, llvm::Value* bytes) {
        return ir_.CreateGEP(ir_.getInt8Ty(), from, bytes);
      });
    }
  }
  for (const auto& [coefficient, multiple] : loop.multiples) {
    if (multiple->use_empty()) {
      multiple->eraseFromParent();
    } else {
      count(multiple, ir_.getInt64(0), coefficient,
            [&](llvm::Value* from, llvm::Value* step) { return ir_.CreateNSWAdd(from, step); });
    }
  }
}

llvm::Value* ScopedValues::product(const Linear::Term& term, int64_t factor) {
  llvm::Value* value = atoms_[term.atom].value;
  const int64_t coefficient = term.coefficient * factor;
  if (coefficient == 1) return value;
  const auto multiply = [&] {
    return ir_.CreateNSWMul(value, ir_.getInt64(static_cast<uint64_t>(coefficient)));
  };
  Loop* loop = is_address_scale(coefficient) ? nullptr : loop_of(term.atom);
  if (loop == nullptr) return multiply();
  llvm::Instruction*& multiple = loop->multiples[coefficient];
  if (multiple == nullptr) multiple = llvm::cast<llvm::Instruction>(multiply());
  return multiple;
}

llvm::Value* ScopedValues::value(const Linear& linear) {
  if (linear.is_constant()) return ir_.getInt64(static_cast<uint64_t>(linear.constant));
  const auto terms = by_depth(linear);
  llvm::Value* sum = nullptr;
  Key key{kSum};
  int depth = 0;
  for (size_t i = 0; i < terms.size();) {
    depth = atoms_[terms[i].atom].depth;
    const size_t begin = i;
    for (; i < terms.size() && atoms_[terms[i].atom].depth == depth; ++i) {
      key.push_back(terms[i].coefficient);
      key.push_back(terms[i].atom);
    }
    sum = cached(depth, key, [&] {
      llvm::Value* partial = sum;
      for (size_t t = begin; t < i; ++t) {
        llvm::Value* next = product(terms[t], 1);
        partial = partial == nullptr ? next : ir_.CreateNSWAdd(partial, next);
      }
      return partial;
    });
  }
  if (linear.constant == 0) return sum;
  key[0] = kConstantSum;
  key.push_back(linear.constant);
  return cached(depth, key,
                [&] { return ir_.CreateNSWAdd(sum, ir_.getInt64(static_cast<uint64_t>(linear.constant))); });
}

llvm::Value* ScopedValues::pointer(llvm::Value* base, uint32_t base_id, const Linear& linear,
                                   int64_t element_bytes) {
  const auto terms = by_depth(linear);
  Key key{kPointer, base_id};
  llvm::Value* result = base;
  for (size_t i = 0; i < terms.size();) {
    const int depth = atoms_[terms[i].atom].depth;
    const size_t begin = i;
    for (; i < terms.size() && atoms_[terms[i].atom].depth == depth; ++i) {
      key.push_back(terms[i].coefficient);
      key.push_back(terms[i].atom);
    }
    // Not "inbounds": a partial sum may be outside the buffer until the constant is added.
    result = cached(depth, key, [&] {
      llvm::Value* offset = product(terms[begin], element_bytes);
      for (size_t t = begin + 1; t < i; ++t)
        offset = ir_.CreateNSWAdd(offset, product(terms[t], element_bytes));
      llvm::Value* at = ir_.CreateGEP(ir_.getInt8Ty(), result, offset);
      if (Loop* loop = i == begin + 1 ? loop_of(terms[begin].atom) : nullptr)
        loop->pointers.push_back(
            {llvm::cast<llvm::GetElementPtrInst>(at), terms[begin].coefficient * element_bytes});
      return at;
    });
  }
  if (linear.constant == 0) return result;
  return ir_.CreateGEP(ir_.getInt8Ty(), result,
                       ir_.getInt64(static_cast<uint64_t>(linear.constant * element_bytes)));
}

template <typename Emit>
Linear ScopedValues::nonlinear(Key key, std::initializer_list<const Linear*> operands, Interval range,
                               Emit emit) {
  int depth = 0;
  for (const Linear* operand : operands) {
    append(key, *operand);
    for (const Linear::Term& term : operand->terms) {
      const int of_term = atoms_[term.atom].depth;
      if (of_term == kHere || depth == kHere) {
        depth = kHere;
      } else {
        depth = std::max(depth, of_term);
      }
    }
  }
  if (depth == kHere) return new_atom(emit(), kHere, range);
  const auto& known = scopes_[static_cast<size_t>(depth)].atoms;
  const auto found = known.find(key);
  Linear result;
  if (found != known.end()) {
    result.terms.push_back({1, found->second});
    return result;
  }
  result = new_atom(at_depth(depth, emit), depth, range);
  if (!result.is_constant())
    scopes_[static_cast<size_t>(depth)].atoms.emplace(std::move(key), result.terms[0].atom);
  return result;
}

Linear ScopedValues::multiply(const Linear& a, const Linear& b) {
  const Interval ra = range(a), rb = range(b);
  Interval product;
  int64_t most = 0;
  if (ra.min >= 0 && rb.min >= 0 && ra.bounded() && rb.bounded() &&
      !__builtin_mul_overflow(ra.max, rb.max, &most))
    product = {ra.min * rb.min, most};
  return nonlinear({kProduct}, {&a, &b}, product, [&] { return ir_.CreateNSWMul(value(a), value(b)); });
}

Linear ScopedValues::floor_div(const Linear& a, int64_t divisor) {
  if (a.is_constant()) return Linear(floor_quotient(a.constant, divisor));
  // Multiples of the divisor leave the division: (d * q + r) // d = q + r // d.
  Linear quotient(floor_quotient(a.constant, divisor));
  Linear rest(floor_remainder(a.constant, divisor));
  for (const Linear::Term& term : a.terms) {
    if (term.coefficient % divisor == 0) {
      quotient.terms.push_back({term.coefficient / divisor, term.atom});
    } else {
      rest.terms.push_back(term);
    }
  }
  const Interval bounds = range(rest);
  const int64_t low = floor_quotient(bounds.min, divisor), high = floor_quotient(bounds.max, divisor);
  if (bounds.bounded() && low == high) return add_scaled(quotient, Linear(low), 1);
  const Interval result{bounds.min <= Interval::kMin ? Interval::kMin : low,
                        bounds.max >= Interval::kMax ? Interval::kMax : high};
  const Linear inexact = nonlinear({kFloorDiv, divisor}, {&rest}, result, [&]() -> llvm::Value* {
    llvm::Value* x = value(rest);
    if (is_power_of_two(divisor))
      return ir_.CreateAShr(x, static_cast<uint64_t>(__builtin_ctzll(static_cast<uint64_t>(divisor))));
    llvm::Value* d = ir_.getInt64(static_cast<uint64_t>(divisor));
    if (bounds.min >= 0) return ir_.CreateUDiv(x, d);
    // For negative x:  x // d  =  ~(~x / d).
    llvm::Value* sign = ir_.CreateAShr(x, 63);
    return ir_.CreateXor(ir_.CreateUDiv(ir_.CreateXor(x, sign), d), sign);
  });
  return add_scaled(quotient, inexact, 1);
}

Linear ScopedValues::floor_mod(const Linear& a, int64_t divisor) {
  Linear rest(floor_remainder(a.constant, divisor));
  for (const Linear::Term& term : a.terms) {
    const int64_t coefficient = floor_remainder(term.coefficient, divisor);
    // The smaller of the two representatives keeps the range of the rest narrow.
    if (coefficient != 0) rest.terms.push_back({term.coefficient % divisor, term.atom});
  }
  const Interval bounds = range(rest);
  if (bounds.bounded() && floor_quotient(bounds.min, divisor) == floor_quotient(bounds.max, divisor)) {
    return add_scaled(rest, Linear(floor_quotient(bounds.min, divisor) * divisor), -1);
  }
  if (is_power_of_two(divisor)) {
    return nonlinear({kFloorMod, divisor}, {&rest}, {0, divisor - 1}, [&] {
      return ir_.CreateAnd(value(rest), ir_.getInt64(static_cast<uint64_t>(divisor - 1)));
    });
  }
  return add_scaled(rest, floor_div(rest, divisor), -divisor);
}

Linear ScopedValues::minimum(const Linear& a, const Linear& b) {
  const Linear difference = add_scaled(a, b, -1);
  const Interval bounds = range(difference);
  if (bounds.max <= 0) return a;
  if (bounds.min >= 0) return b;
  const Interval ra = range(a), rb = range(b);
  return nonlinear({kMinimum}, {&a, &b}, {std::min(ra.min, rb.min), std::min(ra.max, rb.max)},
                   [&] { return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value(a), value(b)); });
}

Linear ScopedValues::maximum(const Linear& a, const Linear& b) {
  const Linear difference = add_scaled(a, b, -1);
  const Interval bounds = range(difference);
  if (bounds.min >= 0) return a;
  if (bounds.max <= 0) return b;
  const Interval ra = range(a), rb = range(b);
  return nonlinear({kMaximum}, {&a, &b}, {std::max(ra.min, rb.min), std::max(ra.max, rb.max)},
                   [&] { return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value(a), value(b)); });
}

}  // namespace tunesmith::llvm_target
