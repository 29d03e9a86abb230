// A node's session with its sequencer: obeys commands until the stream ends.

#ifndef DISTBENCH_NODE_CONTROL_SESSION_H_
#define DISTBENCH_NODE_CONTROL_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/node/command_queue.h"
#include "distbench/node/credit_window.h"
#include "distbench/node/hosted_test.h"
#include "proto/control.pb.h"

namespace grpc {
class Channel;
}

namespace distbench {

class ControlStream;

// How a session ended.
struct SessionEnd {
  absl::Status status;

  // Whether the node was registered in between.
  bool was_welcome = false;

  // Whether the sequencer told the node to end.
  bool is_shutdown = false;
};

// Steps of a test are executed in order by the thread that calls Run(); what
// must not wait for them (stop, release, pings) is done at once by the stream's
// reader. The end of the stream stops the traffic.
class ControlSession {
 public:
  using WelcomeHandler = std::function<void(const NodeConfig& config)>;

  // Connects. `environment` must outlive the session; on_welcome is called when
  // the sequencer has registered the node, on a thread of gRPC.
  ControlSession(std::shared_ptr<grpc::Channel> channel,
                 NodeRegistration registration,
                 const NodeEnvironment& environment, WelcomeHandler on_welcome);
  ~ControlSession();

  ControlSession(const ControlSession&) = delete;
  ControlSession& operator=(const ControlSession&) = delete;

  // Returns when the session has ended. Must be called exactly once, before the
  // session is destroyed.
  SessionEnd Run();

  // Makes Run() return soon. Any thread.
  void Cancel();

 private:
  // A test, from its preparation to its release.
  struct ActiveTest {
    ActiveTest(int64_t id, PrepareTest request,
               const NodeEnvironment& environment,
               HostedTest::FinishedHandler on_finished)
        : id(id),
          hosted(std::move(request), environment, std::move(on_finished)) {}

    // Ends what goes on and keeps the rest from happening.
    void Abort(const std::string& reason) {
      hosted.Stop(reason);
      window.Close();
    }

    const int64_t id;
    HostedTest hosted;
    CreditWindow window;
  };
  using TestPointer = std::shared_ptr<ActiveTest>;

  // The reader's side.
  void OnCommand(ControlStream& stream, NodeCommand command)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTestCommand(NodeCommand command) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnPrepare(int64_t test_id, PrepareTest request)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnRelease(const TestPointer& test) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEnd(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  // The steps, on the thread of Run().
  void Prepare(const TestPointer& test);
  void Connect(const TestPointer& test, const ConnectPeers& request);
  void Start(const TestPointer& test, const StartTraffic& request);
  void Collect(const TestPointer& test, const CollectResults& request);
  void Release(const TestPointer& test);
  void Tick();

  void Send(int64_t test_id, NodeMessage message);

  const NodeEnvironment& environment_;
  const WelcomeHandler on_welcome_;

  absl::Mutex mutex_;
  TestPointer current_ ABSL_GUARDED_BY(mutex_);  // until it is released
  SessionEnd end_ ABSL_GUARDED_BY(mutex_);

  // Outlives the tests, which send their last messages when they end.
  std::unique_ptr<ControlStream> stream_;

  TestPointer executed_;  // what the steps work on
  CommandQueue queue_;
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_CONTROL_SESSION_H_
