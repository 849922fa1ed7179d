// NVIDIA's driver, loaded at run time if installed, and never linked.
#pragma once

#include <memory>
#include <string>

#include "driver/driver_functions.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {

/// An error returned by the driver.
class DriverError final : public EnvironmentError {
 public:
  DriverError(const std::string& message, DriverResult result) : EnvironmentError(message), result_(result) {}

  DriverResult result() const { return result_; }
  /// Is the context lost? Every later call in this process then fails, too.
  bool lost() const;

 private:
  DriverResult result_;
};

class Driver {
 public:
  /// The library named by the environment variable TUNESMITH_CUDA_DRIVER, else libcuda.so.1
  /// as found by the system's loader, loaded and initialised once per process. Null if there
  /// is none, it is the toolkit's stub, or it finds no device; why_absent() then says which.
  static const Driver* find();
  static std::string why_absent();

  /// Loads and initialises `library`; on failure the message says why it is no driver with a device.
  static std::unique_ptr<Driver> load(const std::string& library, std::string* why_not);
  /// From these functions, all of which must be set; initialises them.
  static std::unique_ptr<Driver> of(const DriverFunctions& functions, std::string* why_not);

  const DriverFunctions& functions() const { return functions_; }
  /// "CUDA_ERROR_ILLEGAL_ADDRESS".
  std::string error_name(DriverResult result) const;
  /// Throws DriverError unless `result` is success; `what` describes the call: "cuMemAlloc of 64 bytes".
  void check(DriverResult result, const std::string& what) const;

 private:
  Driver() = default;

  DriverFunctions functions_;
};

}  // namespace tunesmith::cuda
