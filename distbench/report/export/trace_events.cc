#include "distbench/report/export/trace_events.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/export/trace_tree.h"
#include "distbench/report/measurements/origin.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

class EventWriter {
 public:
  // Times are relative to origin_ns.
  EventWriter(int64_t origin_ns, const std::string& hosts, ByteSink sink)
      : origin_ns_(origin_ns), sink_(sink) {
    sink_("{\"displayTimeUnit\":\"ns\",\"otherData\":");
    // As text, because viewers read numbers as doubles, which are too coarse.
    sink_(base::DumpJson(
        {{"origin_unix_ns", absl::StrCat(origin_ns)}, {"hosts", hosts}}));
    sink_(",\"traceEvents\":[\n");
  }

  void End() { sink_("\n]}\n"); }

  void WriteTree(const std::string& test, const TraceTree& tree) {
    ++process_;
    WriteProcessName(test, tree.front());
    for (const TracedRpc& rpc : tree) {
      WriteRpc(rpc);
      if (rpc.parent >= 0) WriteArrow(tree[rpc.parent], rpc);
    }
  }

 private:
  double Microseconds(int64_t timestamp_ns) const {
    return static_cast<double>(
               base::SaturatingSubtract(timestamp_ns, origin_ns_)) /
           1000;
  }

  Json Event(const char* phase, const std::string& name, int lane) const {
    return {{"ph", phase}, {"name", name}, {"pid", process_}, {"tid", lane}};
  }

  void Write(const Json& event) {
    sink_(is_first_ ? "" : ",\n");
    is_first_ = false;
    sink_(base::DumpJson(event));
  }

  void WriteProcessName(const std::string& test, const TracedRpc& root) {
    Json event = Event("M", "process_name", 0);
    event["args"] = {{"name", absl::StrCat(test, ": ", root.rpc_name, " from ",
                                           *root.client)}};
    Write(event);
  }

  void WriteRpc(const TracedRpc& rpc) {
    Json event = Event("X", rpc.rpc_name, rpc.lane);
    event["cat"] = rpc.error.empty() ? "rpc" : "failed";
    event["ts"] = Microseconds(rpc.start_ns());
    event["dur"] = static_cast<double>(rpc.sample->latency_ns()) / 1000;
    Json& args = event["args"];
    args = {{"client", *rpc.client},
            {"server", *rpc.server},
            {"request_bytes", rpc.sample->request_size()},
            {"response_bytes", rpc.sample->response_size()}};
    if (rpc.sample->has_lateness_ns()) {
      args["lateness_us"] =
          static_cast<double>(rpc.sample->lateness_ns()) / 1000;
    }
    if (rpc.sample->warmup()) args["warmup"] = true;
    if (!rpc.error.empty()) args["error"] = rpc.error;
    Write(event);
  }

  void WriteArrow(const TracedRpc& from, const TracedRpc& to) {
    ++arrow_;
    Json start = Event("s", "leads to", from.lane);
    start["cat"] = "fanout";
    start["id"] = arrow_;
    // An arrow must begin within its RPC, but the hosts' clocks differ.
    start["ts"] = Microseconds(
        std::max(from.start_ns(), std::min(to.start_ns(), from.end_ns())));
    Write(start);
    Json end = Event("f", "leads to", to.lane);
    end["cat"] = "fanout";
    end["id"] = arrow_;
    end["ts"] = Microseconds(to.start_ns());
    end["bp"] = "e";
    Write(end);
  }

  const int64_t origin_ns_;
  const ByteSink sink_;
  bool is_first_ = true;
  int process_ = 0;
  int64_t arrow_ = 0;
};

}  // namespace

absl::Status RenderTraceEvents(absl::Span<const TestRun> runs, ByteSink sink) {
  std::vector<std::vector<TraceTree>> traces;
  int64_t origin_ns = std::numeric_limits<int64_t>::max();
  for (const TestRun& run : runs) {
    traces.push_back(CollectTraces(*run.result));
    if (!traces.back().empty()) {
      // Roots come first and are sorted by time, except for clock differences.
      origin_ns = std::min(origin_ns, traces.back().front().front().start_ns());
    }
  }
  if (origin_ns == std::numeric_limits<int64_t>::max()) {
    return NoTracesError();
  }
  EventWriter writer(origin_ns, OriginOf(runs), sink);
  for (size_t i = 0; i < traces.size(); ++i) {
    for (const TraceTree& tree : traces[i]) {
      writer.WriteTree(MarkedName(runs[i].name, *runs[i].result), tree);
    }
  }
  writer.End();
  return absl::OkStatus();
}

}  // namespace distbench::report
