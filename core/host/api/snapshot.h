// A flat snapshot of a program, for the table "tunesmith.program/1".
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/handles.h"

namespace tunesmith::api {

/// The tunesmith_snapshot that a plugin reads, with the data that it points to.
/// Reference-counted: the program's cache holds one reference, each reader another.
struct Snapshot : tunesmith_snapshot {
  explicit Snapshot(const Program& program);

  std::atomic<uint32_t> references{1};

 private:
  friend class SnapshotBuilder;
  std::vector<tunesmith_statement> statements_;
  std::vector<tunesmith_expression> expressions_;
  std::vector<tunesmith_variable> variables_;
  std::vector<tunesmith_iterator> iterators_;
  std::vector<tunesmith_buffer> buffers_;
  std::vector<tunesmith_annotation> annotations_;
  std::vector<uint32_t> links_;
  // Owners of names and shapes that the arrays point to: immutable, shared buffers and variables ...
  std::vector<Buffer> kept_buffers_;
  std::vector<Var> kept_variables_;
  std::deque<std::string> texts_;  // ... and texts of statements, which may change.
};

void retain(Snapshot& snapshot);
void release(Snapshot* snapshot);

/// In the form of a snapshot; points into the buffer.
tunesmith_buffer describe(const BufferNode& buffer, uint32_t role);
uint32_t number_of(LoopKind kind);
uint32_t number_of(IterKind kind);
uint32_t number_of(StmtKind kind);

}  // namespace tunesmith::api
