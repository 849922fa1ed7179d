#include "broker/station.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

#include "broker/fleet.h"

namespace tunesmith::broker {
namespace {

constexpr const char* kJobsConsumer = "jobs";
constexpr const char* kRollCallConsumer = "roll calls";
constexpr uint16_t kCurrentAndNext = 2;
constexpr std::chrono::milliseconds kTryAgain{1000};
constexpr int kPollMilliseconds = 1000;

int make_eventfd() {
  const int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made < 0) throw EnvironmentError(fmt::format("no eventfd: {}", std::strerror(errno)));
  return made;
}

}  // namespace

Station::Station(Address address, Options options)
    : address_(std::move(address)), options_(std::move(options)), wake_(make_eventfd()) {
  thread_ = std::thread([this, first = connect()]() mutable { run(std::move(first)); });
}

Station::~Station() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake();
  thread_.join();
  close(wake_);
}

void Station::wake() {
  constexpr uint64_t kOne = 1;
  static_cast<void>(!write(wake_, &kOne, sizeof(kOne)));
}

std::unique_ptr<Connection> Station::connect() {
  auto connection = std::make_unique<Connection>(address_, "tunesmith serve " + options_.identity);
  declare_jobs(*connection, options_.identity);
  hear_roll_calls(*connection, kRollCallConsumer);
  const std::lock_guard lock(mutex_);
  if (!draining_) connection->consume(job_queue(options_.identity), kJobsConsumer, kCurrentAndNext, false);
  // The broker delivers jobs that have not begun again, perhaps to other workers.
  waiting_.clear();
  ++connection_;
  return connection;
}

/// Null if the station ends before it is connected.
std::unique_ptr<Connection> Station::connect_again() {
  for (std::string told;;) {
    std::string why;
    try {
      std::unique_ptr<Connection> made = connect();
      options_.say("the broker is there again");
      return made;
    } catch (const Lost& lost) {
      why = lost.what();
    } catch (const EnvironmentError& refused) {
      why = refused.what();
    }
    if (why != told) options_.say(fmt::format("{}; it tries again", why));
    told = why;
    {
      std::unique_lock lock(mutex_);
      if (arrived_.wait_for(lock, kTryAgain, [this] { return ended_; })) return nullptr;
    }
  }
}

void Station::run(std::unique_ptr<Connection> connection) {
  while (connection) {
    try {
      serve(*connection);
      return;
    } catch (const Lost& lost) {
      options_.say(fmt::format("{}; what is measured meanwhile is answered afterwards", lost.what()));
    } catch (const EnvironmentError& refused) {
      options_.say(refused.what());
    }
    connection = connect_again();
  }
}

void Station::serve(Connection& connection) {
  bool takes = true;
  for (;;) {
    while (std::optional<Delivery> delivery = connection.next(std::chrono::milliseconds{0}))
      receive(connection, *std::move(delivery));
    while (send_answer(connection)) {
    }
    {
      const std::lock_guard lock(mutex_);
      if (ended_ && outgoing_.empty()) return;
      if (draining_ && takes) {
        connection.cancel(kJobsConsumer);
        takes = false;
        continue;
      }
    }
    std::array<pollfd, 2> inputs = {pollfd{connection.socket(), POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    poll(inputs.data(), inputs.size(), kPollMilliseconds);
    uint64_t wakes = 0;
    static_cast<void>(!read(wake_, &wakes, sizeof(wakes)));
  }
}

void Station::receive(Connection& connection, Delivery delivery) {
  if (delivery.consumer == kRollCallConsumer) {
    connection.acknowledge(delivery.tag);
    const Message& asked = delivery.message;
    if (!asked.reply_to.starts_with(kRollCallAnswers)) return;
    const Message answer{"worker", asked.correlation, "", options_.describe()};
    connection.publish("", asked.reply_to, {&answer, 1});
    return;
  }
  const std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(delivery), connection_});
  arrived_.notify_all();
}

bool Station::send_answer(Connection& connection) {
  Outgoing next;
  {
    const std::lock_guard lock(mutex_);
    if (outgoing_.empty()) return false;
    next = outgoing_.front();
  }
  const Message& asked = next.task.delivery.message;
  if (asked.reply_to.starts_with(kAnswers)) {
    if (!connection.publish("", asked.reply_to, {&next.message, 1}))
      options_.say("nobody waits for an answer any more; it is on record here");
  } else {
    options_.say(fmt::format("the sender of {} wants its answer in '{}', where workers do not write",
                             asked.correlation, asked.reply_to));
  }
  const std::lock_guard lock(mutex_);
  if (next.task.connection == connection_) connection.acknowledge(next.task.delivery.tag);
  outgoing_.pop_front();
  --open_;
  arrived_.notify_all();
  return true;
}

std::optional<Task> Station::take(double seconds) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  Task task = std::move(waiting_.front());
  waiting_.pop_front();
  ++open_;
  return task;
}

void Station::answer(const Task& task, std::string type, std::string body) {
  {
    const std::lock_guard lock(mutex_);
    outgoing_.push_back({task, {std::move(type), task.delivery.message.correlation, "", std::move(body)}});
  }
  wake();
}

void Station::drain() {
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
  }
  wake();
}

bool Station::drained() const {
  const std::lock_guard lock(mutex_);
  return draining_ && waiting_.empty() && open_ == 0;
}

}  // namespace tunesmith::broker
