// Many nodes at one sequencer: how long placement and barriers of a large test
// take. The nodes are simulated, each with its own stream to a sequencer that
// is already running. They answer every command at once and send no RPCs.

#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/version.h"
#include "distbench/client/test_client.h"
#include "distbench/node/control_stream.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {
namespace {

struct Options {
  std::string sequencer;
  int node_count = 1000;
  bool everyone_is_peer = false;
};

// A node that takes part in every test but measures nothing.
class SimulatedNode {
 public:
  SimulatedNode(const Options& options, absl::BlockingCounter& registered,
                absl::BlockingCounter& ended, std::atomic<int>& started)
      : options_(options), registered_(registered), started_(started) {
    // Channels with equal arguments would share one connection.
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    NodeRegistration registration;
    registration.set_hostname("simulated");
    registration.set_version(std::string(ProgramVersion()));
    registration.set_cpu_count(1);
    stream_ = ControlStream::Open(
        grpc::CreateCustomChannel(
            options.sequencer, grpc::InsecureChannelCredentials(), arguments),
        std::move(registration),
        {.on_command = [this](ControlStream& stream,
                              NodeCommand command) { Obey(stream, command); },
         .on_end = [&ended](const absl::Status&) { ended.DecrementCount(); }});
  }

  void Leave() { stream_->Cancel(); }

 private:
  void Obey(ControlStream& stream, const NodeCommand& command) {
    NodeMessage reply;
    reply.set_test_id(command.test_id());
    switch (command.command_case()) {
      case NodeCommand::kWelcome:
        registered_.DecrementCount();
        return;
      case NodeCommand::kPrepare:
        FillPrepareReply(command.prepare(), *reply.mutable_prepare_reply());
        break;
      case NodeCommand::kConnect:
        reply.mutable_connect_reply();
        break;
      case NodeCommand::kStart:
        started_.fetch_add(1);
        reply.mutable_start_reply();
        stream.Send(reply);
        reply.mutable_traffic_finished();
        break;
      case NodeCommand::kCollect:
        reply.mutable_collect_reply();
        break;
      case NodeCommand::kRelease:
        reply.mutable_release_reply();
        break;
      case NodeCommand::kPing:
        reply.mutable_pong()->set_sequencer_timestamp_ns(
            command.ping().sequencer_timestamp_ns());
        reply.mutable_pong()->set_node_timestamp_ns(
            absl::GetCurrentTimeNanos());
        break;
      default:
        return;
    }
    stream.Send(std::move(reply));
  }

  void FillPrepareReply(const PrepareTest& prepare, PrepareReply& reply) const {
    reply.mutable_status();
    for (const std::string& instance : prepare.config().services()) {
      ServiceEndpoint& endpoint =
          (*reply.mutable_endpoints()->mutable_service_endpoints())[instance];
      endpoint.set_hostname("simulated");
      endpoint.set_endpoint_address("127.0.0.1:1");
      const int peer_count =
          options_.everyone_is_peer ? options_.node_count : 1;
      for (int i = 0; i < peer_count; ++i) {
        reply.add_peers(absl::StrCat("member/", i));
      }
    }
  }

  const Options& options_;
  absl::BlockingCounter& registered_;
  std::atomic<int>& started_;
  std::unique_ptr<ControlStream> stream_;
};

TestSequence OneTest(int instance_count) {
  TestSequence sequence;
  DistributedSystemDescription& test = *sequence.add_tests();
  test.set_name("everyone");
  ServiceSpec& service = *test.add_services();
  service.set_name("member");
  service.set_count(instance_count);
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name("query");
  rpc.add_client("member");
  rpc.set_server("member");
  Action& action = *test.add_actions();
  action.set_name("send");
  action.set_rpc_name("query");
  action.mutable_iterations()->set_max_iteration_count(1);
  ActionList& main_list = *test.add_action_lists();
  main_list.set_name("member");
  main_list.add_action_names("send");
  test.add_action_lists()->set_name("query");
  return sequence;
}

[[noreturn]] void Die(const absl::Status& status) {
  std::fprintf(stderr, "node_sessions: %s\n", status.ToString().c_str());
  std::exit(3);
}

int Main(const Options& options) {
  absl::BlockingCounter registered(options.node_count);
  absl::BlockingCounter ended(options.node_count);
  std::atomic<int> started = 0;

  const absl::Time begin = absl::Now();
  std::vector<std::unique_ptr<SimulatedNode>> nodes;
  for (int i = 0; i < options.node_count; ++i) {
    nodes.push_back(
        std::make_unique<SimulatedNode>(options, registered, ended, started));
  }
  registered.Wait();
  const absl::Time all_registered = absl::Now();

  absl::StatusOr<std::unique_ptr<TestClient>> client =
      TestClient::Connect(options.sequencer);
  if (!client.ok()) Die(client.status());
  absl::Time test_started;
  TestSequenceResults results;
  const absl::Status status = (*client)->RunTests(
      OneTest(options.node_count),
      [&](const RunTestsEvent& event) {
        if (event.has_started()) test_started = absl::Now();
      },
      results);
  const absl::Time test_finished = absl::Now();
  if (!status.ok()) Die(status);
  if (results.test_results(0).run_info().has_failure()) {
    Die(absl::AbortedError(results.test_results(0).run_info().failure()));
  }
  if (started.load() != options.node_count) {
    Die(absl::InternalError(
        absl::StrCat("only ", started.load(), " nodes were started")));
  }
  std::printf(
      "{\"nodes\": %d, \"registration_s\": %.3f, \"to_start_s\": %.3f, "
      "\"whole_test_s\": %.3f}\n",
      options.node_count, absl::ToDoubleSeconds(all_registered - begin),
      absl::ToDoubleSeconds(test_started - all_registered),
      absl::ToDoubleSeconds(test_finished - all_registered));
  std::fflush(stdout);
  for (const auto& node : nodes) node->Leave();
  ended.Wait();
  return 0;
}

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  distbench::Options options;
  CLI::App app("Measures a sequencer with many simulated nodes");
  app.add_option("--sequencer", options.sequencer, "HOST:PORT")->required();
  app.add_option("--nodes", options.node_count, "How many nodes")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  app.add_flag("--everyone_is_peer", options.everyone_is_peer,
               "Every node asks for the addresses of all others");
  CLI11_PARSE(app, argc, argv);
  return distbench::Main(options);
}
