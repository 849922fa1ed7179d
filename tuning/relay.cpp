#include "relay.h"

#include <utility>

#include "tunesmith/support/error.h"

namespace tunesmith {

Relay::Relay(size_t at_once) : at_once_(at_once) {}

Relay::~Relay() { end(); }

void Relay::end() {
  ended_ = true;                      // read by whoever holds the baton
  if (at_once_ == 1) lanes_.clear();  // no work has begun
  while (!lanes_.empty()) static_cast<void>(go_on());
}

void Relay::begin(size_t name, std::function<void()> work) {
  check_invariant(!full(), "as many works run at once as were asked for");
  lanes_.push_back(std::make_unique<Lane>());
  Lane& lane = *lanes_.back();
  lane.name = name;
  lane.work = std::move(work);
  if (at_once_ == 1) return;  // go_on() runs it
  std::unique_lock lock(mutex_);
  running_ = &lane;
  lane.has_baton = true;
  lane.thread = std::thread([this, &lane] { run(lane); });
  changed_.wait(lock, [&] { return !lane.has_baton; });
}

std::optional<Relay::Done> Relay::go_on() {
  std::unique_ptr<Lane> lane = std::move(lanes_.front());
  lanes_.pop_front();
  if (at_once_ == 1) {
    run_here(*lane);
  } else if (!lane->done) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return lane->done || lane->wants_baton; });
    running_ = lane.get();
    lane->has_baton = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !lane->has_baton; });
  }
  if (!lane->done) {
    lanes_.push_back(std::move(lane));
    return std::nullopt;
  }
  if (lane->thread.joinable()) lane->thread.join();
  return Done{lane->name, std::move(lane->error)};
}

void Relay::run_here(Lane& lane) {
  try {
    lane.work();
  } catch (...) {  // who asks for the result rethrows it
    lane.error = std::current_exception();
  }
  lane.done = true;
}

void Relay::run(Lane& lane) {
  run_here(lane);
  const std::lock_guard lock(mutex_);
  lane.has_baton = false;
  changed_.notify_all();
}

void Relay::apart(const std::function<void()>& wait) {
  if (at_once_ == 1) {
    wait();
    return;
  }
  Lane& lane = *running_;
  {
    const std::lock_guard lock(mutex_);
    lane.has_baton = false;
    changed_.notify_all();
  }
  std::exception_ptr error;
  try {
    wait();
  } catch (...) {  // it is rethrown with the baton
    error = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  lane.wants_baton = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return lane.has_baton; });
  lane.wants_baton = false;
  if (ended_) throw Error("the run has ended");
  if (error) std::rethrow_exception(error);
}

}  // namespace tunesmith
