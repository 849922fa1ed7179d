// Records, with what is needed to make their programs.
#pragma once

#include <memory>
#include <string>

#include <tunesmith/records/record.h>

#include "refs.h"

namespace tunesmith::python {

struct RecordRef {
  Record value;
  std::string database;              // the store's file
  std::shared_ptr<HeldSpace> space;  // in which it was found; null: the one of that name
  WorkloadPtr workload;              // whose names the arguments have; null: the store's
};

}  // namespace tunesmith::python
