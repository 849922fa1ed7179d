// Records with what makes a program of one.
#pragma once

#include <memory>
#include <string>

#include <tunesmith/records/record.h>

#include "refs.h"

namespace tunesmith::python {

struct RecordRef {
  Record value;
  std::string database;              // the store's file
  std::shared_ptr<HeldSpace> space;  // it was found with; null: that of its name
  WorkloadPtr workload;              // in whose names arguments are; null: as the store has it
};

}  // namespace tunesmith::python
