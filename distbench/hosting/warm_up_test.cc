#include "distbench/hosting/warm_up.h"

#include <sys/socket.h>

#include <utility>

#include "distbench/hosting/in_process_engines.h"
#include "distbench/hosting/message_socket.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

// Makes nothing, and counts how often it was asked to.
class CountingFactory final : public EngineFactory {
 public:
  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(EngineRequest) override {
    ++count_;
    return absl::UnavailableError("not here");
  }

  int count() const { return count_; }

 private:
  int count_ = 0;
};

TEST(WarmUpTest, SendsAnRpc) {
  EXPECT_EQ(WarmUp(InProcessEngines()), absl::OkStatus());
}

TEST(WarmUpTest, ACommandThatWaitsIsMoreUrgent) {
  CountingFactory engines;
  auto ends = MessageSocket::MakePair();
  ASSERT_TRUE(ends.ok());
  WarmUpIfIdle(ends->first.get(), engines);
  EXPECT_EQ(engines.count(), 1);
  ASSERT_EQ(send(ends->second.get(), "x", 1, 0), 1);
  WarmUpIfIdle(ends->first.get(), engines);
  EXPECT_EQ(engines.count(), 1);
}

}  // namespace
}  // namespace distbench
