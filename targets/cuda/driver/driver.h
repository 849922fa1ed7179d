// NVIDIA's driver, loaded where it is installed and never linked.
#pragma once

#include <memory>
#include <string>

#include "driver/driver_functions.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {

/// What the driver answered instead of success.
class DriverError final : public EnvironmentError {
 public:
  DriverError(const std::string& message, DriverResult result) : EnvironmentError(message), result_(result) {}

  DriverResult result() const { return result_; }
  /// Every later call in this process fails, too: the context is gone.
  bool lost() const;

 private:
  DriverResult result_;
};

class Driver {
 public:
  /// The library of the environment variable TUNESMITH_CUDA_DRIVER, else libcuda.so.1 where the system's
  /// loader finds it, loaded and initialised once for the process. Null where there is none, it is the
  /// toolkit's stub, or it knows no device; why_absent() then says which.
  static const Driver* find();
  static std::string why_absent();

  /// Loads and initialises `library`; the message says why that is no driver with a device.
  static std::unique_ptr<Driver> load(const std::string& library, std::string* why_not);
  /// Of these functions, which are all there; initialises them.
  static std::unique_ptr<Driver> of(const DriverFunctions& functions, std::string* why_not);

  const DriverFunctions& functions() const { return functions_; }
  /// "CUDA_ERROR_ILLEGAL_ADDRESS".
  std::string error_name(DriverResult result) const;
  /// Throws DriverError unless it is success; `what` was done: "cuMemAlloc of 64 bytes".
  void check(DriverResult result, const std::string& what) const;

 private:
  Driver() = default;

  DriverFunctions functions_;
};

}  // namespace tunesmith::cuda
