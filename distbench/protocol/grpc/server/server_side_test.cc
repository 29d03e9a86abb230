#include "distbench/protocol/grpc/server/server_side.h"

#include <grpc/grpc.h>

#include <memory>

#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"
#include "distbench/protocol/grpc/server/pool_use.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

// An address reserved for documentation, which no host has.
constexpr char kForeignAddress[] = "192.0.2.1:0";

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() { grpc_init(); }
  ~ListenerTest() override { grpc_shutdown(); }

  // Starts a listener on an unavailable address, and shuts it down.
  void ExpectNoPort(std::unique_ptr<Listener> listener) {
    const auto timer = WakeTimer::Make().value();
    EventQueue queue(timer->NewAlarm().value(), /*spin_ns=*/0);
    std::unique_ptr<ServerSide> side = listener->MakeServerSide(queue);
    EXPECT_EQ(listener->Start(kForeignAddress), 0);
    side->Close();
    EXPECT_TRUE(side->drained());
  }
};

TEST_F(ListenerTest, AnAddressIsNotAvailableToWorkersQueues) {
  ExpectNoPort(MakeUnaryListener(ChannelArguments(), PoolUse(),
                                 /*callbacks=*/nullptr, {},
                                 /*measures_time_parts=*/false));
}

TEST_F(ListenerTest, AnAddressIsNotAvailableToCallbacks) {
  const CallbackQueue callbacks;
  ExpectNoPort(MakeUnaryListener(ChannelArguments(), PoolUse(), &callbacks, {},
                                 /*measures_time_parts=*/false));
}

}  // namespace
}  // namespace distbench::protocol
