#include "broker/station.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ranges>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

#include "broker/fleet.h"

namespace tunesmith::broker {
namespace {

constexpr const char* kRollCallConsumer = "roll calls";
constexpr std::chrono::seconds kAdjust{1};  // between changes of the prefetch, which cost two calls
constexpr std::chrono::seconds kGiveUp{10};
constexpr std::chrono::milliseconds kTryAgain{1000};
constexpr int kPollMilliseconds = 1000;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int make_eventfd() {
  const int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made < 0) throw EnvironmentError(fmt::format("no eventfd: {}", std::strerror(errno)));
  return made;
}

}  // namespace

Station::Wake::Wake() : descriptor(make_eventfd()) {}
Station::Wake::~Wake() { close(descriptor); }

Station::Station(Address address, Options options)
    : address_(std::move(address)), options_(std::move(options)) {
  thread_ = std::thread([this, first = connect()]() mutable { run(std::move(first)); });
}

Station::~Station() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake();
  thread_.join();
}

void Station::wake() {
  constexpr uint64_t kOne = 1;
  static_cast<void>(!write(wake_.descriptor, &kOne, sizeof(kOne)));
}

std::unique_ptr<Connection> Station::connect() {
  auto connection = std::make_unique<Connection>(address_, "tunesmith serve " + options_.identity);
  declare_jobs(*connection, options_.identity);
  hear_roll_calls(*connection, kRollCallConsumer);
  at_once_ = 0;
  adjust_prefetch(*connection);
  const std::lock_guard lock(mutex_);
  // The broker delivers jobs that have not begun again, perhaps to other workers.
  waiting_.clear();
  for (auto& [number, answer] : std::views::reverse(unconfirmed_)) outgoing_.push_front(std::move(answer));
  unconfirmed_.clear();
  ++connection_;
  return connection;
}

/// Null if the station ends before it is connected, or gives up.
std::unique_ptr<Connection> Station::connect_again() {
  const Clock::time_point since = Clock::now();
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
    if (gives_up(since)) return nullptr;
    std::unique_lock lock(mutex_);
    if (arrived_.wait_for(lock, kTryAgain, [this] { return ended_; })) return nullptr;
  }
}

/// True if the station drains, and there was no broker for kGiveUp of that time. `since`: when it was lost.
bool Station::gives_up(Clock::time_point since) {
  size_t left = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!draining_since_ || Clock::now() - std::max(since, *draining_since_) < kGiveUp) return false;
    given_up_ = true;
    left = open_ + waiting_.size();
  }
  options_.say(
      fmt::format("no broker for {} s: this worker ends; a broker that comes back delivers its {} "
                  "unanswered jobs again",
                  kGiveUp.count(), left));
  return true;
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
  std::string told;
  for (;;) {
    while (std::optional<Delivery> delivery = connection.next(std::chrono::milliseconds{0}))
      receive(connection, *std::move(delivery));
    while (send_answer(connection)) {
    }
    settle_confirmed(connection);
    if (adjust_prefetch(connection)) continue;
    if (connection.blocked() != told && !connection.blocked().empty())
      options_.say(fmt::format("the broker takes no answers now: {}; they wait here", connection.blocked()));
    told = connection.blocked();
    {
      const std::lock_guard lock(mutex_);
      if (ended_ && outgoing_.empty()) return;
    }
    std::array<pollfd, 2> inputs = {pollfd{connection.socket(), POLLIN, 0},
                                    pollfd{wake_.descriptor, POLLIN, 0}};
    poll(inputs.data(), inputs.size(), kPollMilliseconds);
    uint64_t wakes = 0;
    static_cast<void>(!read(wake_.descriptor, &wakes, sizeof(wakes)));
  }
}

/// True if the limit of unacknowledged messages has changed; messages may have come meanwhile.
bool Station::adjust_prefetch(Connection& connection) {
  uint16_t wanted = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!draining_since_) wanted = prefetch_.wanted();
  }
  const bool soon = at_once_ != 0 && wanted != 0 && Clock::now() - adjusted_ < kAdjust;
  if (wanted == at_once_ || soon) return false;
  if (at_once_ != 0) connection.cancel(consumer_);
  // The broker's channel fails where a consumer's name returns while messages of the old one are open.
  consumer_ = fmt::format("jobs {}, {} at once", ++consumers_, wanted);
  if (wanted != 0) connection.consume(job_queue(options_.identity), consumer_, wanted, false);
  at_once_ = wanted;
  adjusted_ = Clock::now();
  return true;
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
  waiting_.push_back({std::move(delivery), connection_, {}});
  arrived_.notify_all();
}

bool Station::send_answer(Connection& connection) {
  Outgoing* next = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (outgoing_.empty()) return false;
    next = &outgoing_.front();  // only this thread removes it
  }
  const Message& asked = next->task.delivery.message;
  std::optional<uint64_t> number;
  if (asked.reply_to.starts_with(kAnswers)) {
    next->sent = Clock::now();
    number = connection.send("", asked.reply_to, next->message);
  } else {
    options_.say(fmt::format("the sender of {} wants its answer in '{}', where workers do not write",
                             asked.correlation, asked.reply_to));
    settle(connection, next->task);
  }
  const std::lock_guard lock(mutex_);
  if (number) unconfirmed_.emplace(*number, std::move(*next));
  outgoing_.pop_front();
  return true;
}

void Station::settle_confirmed(Connection& connection) {
  for (auto sent = unconfirmed_.begin(); sent != unconfirmed_.end();) {
    const auto& [number, answer] = *sent;
    if (!connection.confirmed(number)) {
      ++sent;
      continue;
    }
    if (connection.take_unroutable(number))
      options_.say("nobody waits for an answer any more; it is on record here");
    settle(connection, answer.task);
    {
      const std::lock_guard lock(mutex_);
      prefetch_.confirmation_took(seconds_since(answer.sent));
    }
    sent = unconfirmed_.erase(sent);
  }
}

/// Acknowledges the message, unless its connection was lost.
void Station::settle(Connection& connection, const Task& task) {
  const std::lock_guard lock(mutex_);
  if (task.connection == connection_) connection.acknowledge(task.delivery.tag);
  --open_;
}

std::optional<Task> Station::take(double seconds) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  Task task = std::move(waiting_.front());
  waiting_.pop_front();
  ++open_;
  task.begun = Clock::now();
  return task;
}

void Station::answer(const Task& task, std::string type, std::string body) {
  {
    const std::lock_guard lock(mutex_);
    prefetch_.job_took(seconds_since(task.begun));
    outgoing_.push_back(
        {task, {std::move(type), task.delivery.message.correlation, "", std::move(body)}, {}});
  }
  wake();
}

void Station::drain() {
  {
    const std::lock_guard lock(mutex_);
    if (!draining_since_) draining_since_ = Clock::now();
  }
  wake();
}

bool Station::drained() const {
  const std::lock_guard lock(mutex_);
  return given_up_ || (draining_since_ && waiting_.empty() && open_ == 0);
}

}  // namespace tunesmith::broker
