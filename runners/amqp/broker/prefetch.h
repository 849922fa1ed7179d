// How many jobs a worker takes from its queue ahead.
#pragma once

#include <cstdint>

namespace tunesmith::broker {

/// A job leaves the queue only when its answer is confirmed, so a worker with short jobs would wait for
/// confirmations. But jobs taken ahead without need are jobs that other workers lack at a round's end.
class Prefetch {
 public:
  void job_took(double seconds);
  void confirmation_took(double seconds);
  /// The job under way, and those that end before another one can come; a power of two, at least 2.
  uint16_t wanted() const;

 private:
  double job_ = 0.0;           // seconds, on average; 0: none yet
  double confirmation_ = 0.0;  // likewise
};

}  // namespace tunesmith::broker
