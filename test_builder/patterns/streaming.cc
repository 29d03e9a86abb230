#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

// The directions that stream.
constexpr char kServerStreams[] = "server";
constexpr char kClientStreams[] = "client";
constexpr char kBothStream[] = "echo";

constexpr int64_t kMaxMessages = 1'000'000;
constexpr double kMaxIntervalUs = 1e9;

absl::Status DeriveStream(const ParameterValues& values,
                          DerivedValues& derived) {
  const std::string& direction = values.Text("direction");
  const std::string side = direction == kServerStreams ? "server" : "client";
  const int64_t interval_us = values.Integer("interval_us");
  derived["stream"] = absl::StrCat(side, "_messages: <messages>");
  if (interval_us > 0) {
    absl::StrAppend(&derived["stream"], " ", side,
                    "_interval_ns: ", interval_us * 1000);
  }
  if (direction != kServerStreams) {
    absl::StrAppend(
        &derived["stream"], " response_starts: ",
        direction == kBothStream ? R"("echo")" : R"("on_last_request")");
  }
  // The direction that does not stream has one message.
  derived["request_bytes"] =
      direction == kServerStreams ? "1024" : "<message_bytes>";
  derived["response_bytes"] =
      direction == kClientStreams ? "1024" : "<message_bytes>";
  return DeriveQueryLoad(values, derived);
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
           IntegerParameter(
               "interval_us", "20000", {0, kMaxIntervalUs},
               "Time from one message to the next; 0: as fast as flow control "
               "allows.",
               Unit::kMicroseconds),
           IntegerParameter("message_bytes", "256", {1},
                            "Size of each of these messages.", Unit::kBytes),
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
      .alias =
          "streaming_<direction>_<synchronization_mode>_<server_count>x"
          "<qps>_<messages>x<message_bytes>x<interval_us>",
      .body = absl::StrCat(
          QueriedServers("open_streams", "stream", "<request_bytes>",
                         "<response_bytes>", "stream { <stream> }"),
          R"(action_lists { name: "stream" })"),
      .derive = &DeriveStream,
  };
}

}  // namespace distbench::test_builder
