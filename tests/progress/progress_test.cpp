#include "progress/progress.h"

#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tunesmith {
namespace {

Progress example() {
  Progress p;
  p.done = 128;
  p.total = 512;
  p.best_seconds = 1.2345e-3;
  p.gflops = 210.52;
  p.share_of_peak = 0.7121;
  p.failures = {{"time_out", 4}, {"wrong_result", 0}, {"crash", 3}};
  p.seconds_left = 124.2;
  return p;
}

TEST(ProgressText, SaysAllWhereThereIsRoom) {
  EXPECT_EQ(progress_text(example(), 200),
            "trials 128/512  fastest 1.23 ms, 210.5 GFLOP/s, 71.2 % of peak  failed 7 (time_out 4, crash 3)  "
            "2m05s left");
}

TEST(ProgressText, SaysWhichTimesAreAModels) {
  Progress modelled = example();
  modelled.modelled = true;
  EXPECT_NE(progress_text(modelled, 200).find("fastest 1.23 ms modelled, 210.5 GFLOP/s"), std::string::npos);
}

TEST(ProgressText, CallsOperationsOfIntegersSo) {
  Progress integers = example();
  integers.rate_unit = "GOP/s";
  EXPECT_NE(progress_text(integers, 200).find("210.5 GOP/s, 71.2 % of peak"), std::string::npos);
}

TEST(ProgressText, SaysWhyAShareIsAboveThePeak) {
  Progress above = example();
  above.share_of_peak = 1.92;
  const std::string text = progress_text(above, 300);
  EXPECT_EQ(text.find("192"), std::string::npos) << text;
  EXPECT_NE(text.find("above the measured multiply-add peak, which may be disturbed"), std::string::npos)
      << text;
  above.modelled = true;
  EXPECT_NE(progress_text(above, 300).find("above the multiply-add peak"), std::string::npos);
}

TEST(ProgressText, GivesWayPieceByPiece) {
  const std::string full = progress_text(example(), 200);
  EXPECT_EQ(progress_text(example(), full.size()), full);
  EXPECT_EQ(progress_text(example(), full.size() - 1),
            "trials 128/512  fastest 1.23 ms, 210.5 GFLOP/s, 71.2 % of peak  failed 7  2m05s left");
  EXPECT_EQ(progress_text(example(), 75),
            "trials 128/512  fastest 1.23 ms, 210.5 GFLOP/s, 71.2 % of peak  2m05s left");
  for (size_t width = 0; width < 120; ++width) EXPECT_LE(progress_text(example(), width).size(), width);
}

TEST(ProgressText, LeavesOutWhatIsNotKnown) {
  Progress p;
  p.done = 3;
  EXPECT_EQ(progress_text(p, 80), "trials 3  no valid program yet");
  p.best_seconds = 2.0;
  EXPECT_EQ(progress_text(p, 80), "trials 3  fastest 2.00 s");
}

TEST(SecondsText, KeepsThreeDigitsAcrossUnits) {
  EXPECT_EQ(seconds_text(850e-9), "850 ns");
  EXPECT_EQ(seconds_text(999.6e-9), "1.00 us");
  EXPECT_EQ(seconds_text(12.34e-6), "12.3 us");
  EXPECT_EQ(seconds_text(99.96e-3), "100 ms");
  EXPECT_EQ(seconds_text(9.996e-3), "10.0 ms");
  EXPECT_EQ(seconds_text(4.56), "4.56 s");
}

TEST(DurationText, RoundsUpToWholeSeconds) {
  EXPECT_EQ(duration_text(0.0), "0s");
  EXPECT_EQ(duration_text(6.1), "7s");
  EXPECT_EQ(duration_text(59.5), "1m00s");
  EXPECT_EQ(duration_text(3725.0), "1h02m");
}

/// A pseudo-terminal of 60 columns.
class LiveLineTest : public testing::Test {
 protected:
  LiveLineTest() {
    setenv("TERM", "xterm", 1);
    master_ = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    EXPECT_EQ(grantpt(master_), 0);
    EXPECT_EQ(unlockpt(master_), 0);
    terminal_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
    const winsize size{24, 60, 0, 0};
    EXPECT_EQ(ioctl(terminal_, TIOCSWINSZ, &size), 0);
  }
  ~LiveLineTest() override {
    close(terminal_);
    close(master_);
  }
  std::string seen() const {
    char buffer[4096];
    const ssize_t n = read(master_, buffer, sizeof buffer);
    return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string{};
  }

  /// Reads until `end`, since written text arrives a little later.
  std::string seen_up_to(std::string_view end) const {
    std::string text = seen();
    for (int tries = 0; tries < 100 && !text.ends_with(end); ++tries) {
      pollfd readable{master_, POLLIN, 0};
      poll(&readable, 1, 10);
      text += seen();
    }
    return text;
  }

  int master_ = -1;
  int terminal_ = -1;
};

TEST_F(LiveLineTest, RedrawsInPlaceWithinTheWidth) {
  LiveLine line(false, terminal_);
  ASSERT_TRUE(line.active());
  line.update(example());
  EXPECT_EQ(seen_up_to("\x1b[K"), "\r" + progress_text(example(), 59) + "\x1b[K");
  line.clear();
  EXPECT_EQ(seen_up_to("\x1b[K"), "\r\x1b[K");
  line.clear();
  EXPECT_EQ(seen(), "");
}

TEST_F(LiveLineTest, SaysWhatIsDoneBeforeThereIsProgress) {
  LiveLine line(false, terminal_);
  line.say("generating the space");
  EXPECT_EQ(seen_up_to("\x1b[K"), "\rgenerating the space\x1b[K");
  line.clear();
  EXPECT_EQ(seen_up_to("\x1b[K"), "\r\x1b[K");
  LiveLine(true, terminal_).say("quiet");
  EXPECT_EQ(seen(), "");
}

TEST_F(LiveLineTest, DrawsAtMostTenTimesASecond) {
  LiveLine line(false, terminal_);
  const LiveLine::Clock::time_point start{};
  int drawn = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    line.update(example(), start + std::chrono::milliseconds(ms));
    if (!seen().empty()) ++drawn;
  }
  EXPECT_EQ(drawn, 10);
}

TEST_F(LiveLineTest, TheLineIsClearedAtTheEnd) {
  {
    LiveLine(false, terminal_).update(example());
  }
  EXPECT_THAT(seen_up_to("\r\x1b[K"), testing::EndsWith("\r\x1b[K"));
}

TEST_F(LiveLineTest, IsSilentWhenQuietOrDumbOrNoTerminal) {
  LiveLine(true, terminal_).update(example());
  EXPECT_EQ(seen(), "");
  setenv("TERM", "dumb", 1);
  LiveLine(false, terminal_).update(example());
  EXPECT_EQ(seen(), "");

  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  LiveLine(false, ends[1]).update(example());
  char byte = 0;
  EXPECT_LT(read(ends[0], &byte, 1), 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace tunesmith
