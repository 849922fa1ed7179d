#include "broker/post.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include <tunesmith/schema/json_text.h>
#include <tunesmith/support/error.h>

#include "broker/fleet.h"

namespace tunesmith::broker {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{200};  // between checks of the stop flag
constexpr std::chrono::seconds kQuiet{10};       // time without an answer before look() finds out why
constexpr std::chrono::milliseconds kReconnect{1000};
constexpr size_t kMaxKept = 2048;
constexpr uint16_t kAtOnce = 4096;  // maximum of unacknowledged messages; above kMaxKept

}  // namespace

/// One call of ask().
class Post::Asking {
 public:
  Asking(Post& post, std::span<const Question> questions, const Options& options)
      : post_(post), questions_(questions), options_(options), replies_(questions.size()) {
    for (size_t i = 0; i < questions.size(); ++i) open_[questions[i].correlation].push_back(i);
  }

  std::vector<std::optional<Reply>> run() {
    while (!open_.empty() && !stopped()) {
      try {
        step();
      } catch (const Lost& lost) {
        post_.connection_.reset();
        // Messages that were sent may or may not have arrived; a question that arrives twice gets one answer.
        if (!sent_)
          say(lost.what());
        else if (!told_lost_)
          say(fmt::format("{}; what is asked waits there, and the run with it", lost.what()));
        told_lost_ = true;
        wait();
      }
    }
    return std::move(replies_);
  }

 private:
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }
  void say(const std::string& text) const {
    if (options_.say) options_.say(text);
  }
  void wait() const {
    for (auto left = kReconnect; left.count() > 0 && !stopped(); left -= kLook)
      std::this_thread::sleep_for(kLook);
  }

  void step() {
    if (!post_.connection_) {
      post_.connect(options_);
      constexpr std::chrono::milliseconds kAtOnceThere{50};
      while (std::optional<Delivery> early = post_.connection_->next(kAtOnceThere))
        post_.keep(*std::move(early));
      claim_kept();
      if (told_lost_) say("the broker is there again");
      told_lost_ = false;
    }
    if (!sent_) send();
    std::optional<Delivery> delivery = post_.connection_->next(kLook);
    if (delivery) {
      quiet_since_ = Clock::now();
      answered(std::move(*delivery));
      return;
    }
    if (Clock::now() - quiet_since_ > kQuiet && Clock::now() - looked_ > kQuiet) look();
  }

  /// Sends the open questions, except those that answers to an earlier, killed run already cover.
  void send() {
    claim_kept();
    std::vector<Message> messages;
    for (const auto& [correlation, places] : open_) {
      const Question& question = questions_[places.front()];
      messages.push_back({question.type, correlation, kAnswers + post_.key_, question.body});
    }
    const std::string key = options_.identity + '.' + post_.key_;
    if (!messages.empty() && !post_.connection_->publish(kJobs, key, messages))
      throw Lost(fmt::format("{} lost the queue '{}'", post_.address_.str(), job_queue(options_.identity)));
    sent_ = true;
    quiet_since_ = Clock::now();
  }

  void answered(Delivery delivery) {
    if (delivery.too_large) {
      say(fmt::format("an answer larger than {} bytes is refused: {}", kMaxMessageBytes,
                      delivery.message.correlation));
      post_.connection_->acknowledge(delivery.tag);
      return;
    }
    const std::string correlation = delivery.message.correlation;
    post_.keep(std::move(delivery));
    if (const auto kept = post_.kept_.find(correlation);
        kept != post_.kept_.end() && open_.contains(correlation))
      claim(kept);
  }

  void claim_kept() {
    for (auto one = open_.begin(); one != open_.end();) {
      const auto kept = post_.kept_.find(one->first);
      ++one;
      if (kept != post_.kept_.end()) claim(kept);
    }
  }

  void claim(std::map<std::string, Kept>::iterator kept) {
    const auto open = open_.find(kept->first);
    const Question& question = questions_[open->second.front()];
    const std::string fault = options_.fault ? options_.fault(question, kept->second.reply) : "";
    post_.taken_.push_back(kept->second.tag);
    if (fault.empty()) {
      for (const size_t place : open->second) replies_[place] = kept->second.reply;
      open_.erase(open);
    } else {
      say(fmt::format("an answer is refused, and its job waits for another: {}", fault));
    }
    post_.kept_.erase(kept);
  }

  /// Reports why no answers come.
  void look() {
    looked_ = Clock::now();
    if (const std::string& why = post_.connection_->blocked(); !why.empty()) {
      if (!told_blocked_) say(fmt::format("{} takes no messages now: {}", post_.address_.str(), why));
      told_blocked_ = true;
      return;  // nor does it answer questions about queues
    }
    told_blocked_ = false;
    const std::optional<Queue> queue = post_.connection_->look_at(job_queue(options_.identity));
    if (!queue) {
      say(fmt::format("the queue '{}' was deleted; its jobs are sent again", job_queue(options_.identity)));
      declare_jobs(*post_.connection_, options_.identity);
      sent_ = false;
      return;
    }
    if (queue->consumers == 0 && !told_nobody_) {
      say(fmt::format("no worker takes jobs of {} now; {} wait for one: tunesmith serve", options_.identity,
                      queue->messages));
      told_nobody_ = true;
    }
    if (queue->consumers > 0) told_nobody_ = false;
    if (queue->messages == 0 && Clock::now() - quiet_since_ > options_.resend) {
      say(fmt::format("no answer for {} s: {} jobs are sent again; a worker hangs or takes longer",
                      options_.resend.count(), open_.size()));
      sent_ = false;
    }
  }

  Post& post_;
  const std::span<const Question> questions_;
  const Options& options_;
  std::vector<std::optional<Reply>> replies_;
  std::map<std::string, std::vector<size_t>> open_;  // by correlation
  bool sent_ = false;
  bool told_lost_ = false;
  bool told_nobody_ = false;
  bool told_blocked_ = false;
  Clock::time_point quiet_since_ = Clock::now();
  Clock::time_point looked_ = Clock::now();
};

std::vector<std::optional<Reply>> Post::ask(std::span<const Question> questions, const Options& options) {
  if (connection_) {
    try {
      for (const uint64_t tag : taken_) connection_->acknowledge(tag);
    } catch (const Lost&) {
      connection_.reset();  // the broker delivers them again; ask() recognises them
    }
  }
  taken_.clear();
  return Asking(*this, questions, options).run();
}

void Post::connect(const Options& options) {
  kept_.clear();  // the broker delivers them again
  taken_.clear();
  connection_ = std::make_unique<Connection>(address_, "tunesmith tune");
  declare_jobs(*connection_, options.identity);
  take_answers(options);
}

void Post::take_answers(const Options& options) {
  constexpr int kTuners = 64;  // simultaneous runs with one store
  for (int number = 0; number < kTuners; ++number) {
    key_ = json_checksum(fmt::format("{}\n{}", options.owner, number));
    const std::string queue = connection_->declare_queue(kAnswers + key_, QueueKind::Answers);
    connection_->bind(queue, kDeadJobs, "*." + key_);
    if (const std::optional<Queue> seen = connection_->look_at(queue); seen && seen->consumers > 0) continue;
    connection_->consume(queue, "answers", kAtOnce, true);
    return;
  }
  throw EnvironmentError("too many runs with one record store wait for answers at this broker");
}

void Post::keep(Delivery delivery) {
  if (delivery.too_large) {
    connection_->acknowledge(delivery.tag);
    return;
  }
  if (kept_.size() >= kMaxKept) {
    connection_->acknowledge(kept_.begin()->second.tag);  // nobody asked for it; a worker still knows it
    kept_.erase(kept_.begin());
  }
  const auto [kept, fresh] = kept_.try_emplace(
      delivery.message.correlation, Kept{{std::move(delivery.message.body), delivery.dead}, delivery.tag});
  if (!fresh) connection_->acknowledge(delivery.tag);  // a second answer is dropped
}

}  // namespace tunesmith::broker
