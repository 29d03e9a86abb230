#include <cstdint>
#include <string>
#include <vector>

#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

// Of the one message in the direction that does not stream.
constexpr int64_t kSingleMessageBytes = 1024;

// The directions that stream.
constexpr char kServerStreams[] = "server";
constexpr char kClientStreams[] = "client";
constexpr char kBothStream[] = "echo";

constexpr int64_t kMaxMessages = 1'000'000;
constexpr double kMaxIntervalUs = 1e9;

StreamSpec StreamOf(const ParameterValues& values) {
  const std::string& direction = values.Text("direction");
  const int64_t messages = values.Integer("messages");
  const int64_t interval_ns = values.Integer("interval_us") * 1000;
  StreamSpec stream;
  if (direction == kServerStreams) {
    stream.set_server_messages(messages);
    if (interval_ns > 0) stream.set_server_interval_ns(interval_ns);
    return stream;
  }
  stream.set_client_messages(messages);
  if (interval_ns > 0) stream.set_client_interval_ns(interval_ns);
  stream.set_response_starts(direction == kBothStream ? "echo"
                                                      : "on_last_request");
  return stream;
}

absl::StatusOr<Traffic> BuildStreaming(const ParameterValues& values) {
  const std::string& direction = values.Text("direction");
  const int64_t message_bytes = values.Integer("message_bytes");
  Traffic traffic;
  traffic.alias =
      Alias(values,
            "streaming_{direction}_{synchronization_mode}_{server_count}x{qps}"
            "_{messages}x{message_bytes}x{interval_us}");
  DistributedSystemDescription& body = traffic.body;
  *AddQueriedServers(
       body, values, "open_streams", "stream",
       direction == kServerStreams ? kSingleMessageBytes : message_bytes,
       direction == kClientStreams ? kSingleMessageBytes : message_bytes)
       .mutable_stream() = StreamOf(values);
  AddActionList(body, "stream");
  return traffic;
}

std::vector<Parameter> StreamingParameters() {
  return Joined(
      {QueryLoadParameters("20"),
       {
           ChoiceParameter(
               "direction", kServerStreams,
               {kServerStreams, kClientStreams, kBothStream},
               "Who sends many messages: the server, the client, or "
               "both in turn (echo: the server answers each)."),
           IntegerParameter("messages", "50", {1, kMaxMessages},
                            "Messages of a stream in that direction."),
           InMicroseconds(IntegerParameter(
               "interval_us", "20000", {0, kMaxIntervalUs},
               "Time from one message to the next; 0: as fast as flow control "
               "allows.")),
           InBytes(IntegerParameter("message_bytes", "256", {1},
                                    "Size of each of these messages.")),
           IntegerParameter("server_count", "1", {1, kMaxInstances},
                            "Servers, to which streams go in turn."),
       }});
}

}  // namespace

Pattern StreamingPattern() {
  return {
      .name = "streaming",
      .summary = "RPCs of many messages each",
      .description =
          "Open loop: a client opens qps streams per second to the servers in "
          "turn. By default a server answers a request of 1 KiB by 50 messages "
          "in 20 ms intervals, as a language model does. With "
          "direction=client, the client sends the messages, and the server "
          "answers by 1 KiB when it has all; with echo, the server answers "
          "each. Needs a protocol driver that streams: grpc without threads of "
          "its own, or grpc_stream.",
      .example = "streaming:direction=echo:messages=10:interval_us=1000",
      .parameters = StreamingParameters(),
      .build = &BuildStreaming,
  };
}

}  // namespace distbench::test_builder
