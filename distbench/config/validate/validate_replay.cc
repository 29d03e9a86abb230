// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

class ReplayValidation {
 public:
  ReplayValidation(const TestValidation& validation, int index)
      : validation_(validation),
        trace_(validation.test().rpc_replay_traces(index)),
        path_(validation.Element("rpc_replay_traces",
                                 validation.names().replay_traces, index)),
        client_(validation.FindService(trace_.client())),
        server_(validation.FindService(trace_.server())) {}

  void Validate() const {
    CheckName();
    for (int i = 0; i < trace_.records_size(); ++i) CheckRecord(i);
  }

 private:
  // Results list traces and RPCs by name.
  void CheckName() const {
    const int rpc = validation_.names().rpcs.Find(trace_.name());
    if (trace_.name().empty() || rpc == kNone) return;
    validation_.Add(path_.Field("name"), Quoted(trace_.name()),
                    " is the name of rpc_descriptions[", rpc,
                    "] as well; results show both by name, so they must "
                    "differ");
  }

  void CheckRecord(int index) const {
    const RpcReplayTraceRecord record = CompleteRecord(trace_, index);
    const Path path = path_.Field("records").At(index);
    CheckFields(record, path, &validation_.names(), validation_.problems());
    CheckInstances(record, path);
    CheckPriors(record, index, path);
  }

  void CheckInstances(const RpcReplayTraceRecord& record,
                      const Path& path) const {
    if (client_.has_value()) {
      validation_.CheckRange(path.Field("client_instance"),
                             record.client_instance(), 0,
                             client_->grid.Count() - 1);
    }
    if (server_.has_value()) {
      validation_.CheckRange(path.Field("server_instance"),
                             record.server_instance(), 0,
                             server_->grid.Count() - 1);
    }
    if (!record.has_multi_server_channel_name_index()) return;
    const Path channel = path.Field("multi_server_channel_name_index");
    if (trace_.multiserver_channel_names().empty()) {
      validation_.Add(channel,
                      "the trace has no multiserver_channel_names; add them");
      return;
    }
    validation_.CheckRange(channel, record.multi_server_channel_name_index(), 0,
                           trace_.multiserver_channel_names_size() - 1);
  }

  void CheckPriors(const RpcReplayTraceRecord& record, int index,
                   const Path& path) const {
    const Path distances = path.Field("prior_rpc_distances");
    for (const int prior : PriorRecords(record, index)) {
      if (prior < 0 || prior >= index) {
        validation_.Add(distances,
                        index == 0
                            ? "there is no record before the first one"
                            : absl::StrCat("must be from 0 to ", index - 1,
                                           ", which reach the records before "
                                           "this one"));
        return;
      }
      const RpcReplayTraceRecord earlier = CompleteRecord(trace_, prior);
      // An instance only knows about RPCs that it sends itself.
      if (!earlier.has_client_instance() ||
          (record.has_client_instance() &&
           record.client_instance() == earlier.client_instance())) {
        continue;
      }
      validation_.Add(
          path, "waits for records[", prior, "], which only client instance ",
          earlier.client_instance(),
          " sends; give both the same client_instance or another timing_mode");
      return;
    }
  }

  const TestValidation& validation_;
  const RpcReplayTrace& trace_;
  const Path path_;
  const std::optional<TestValidation::ServiceGrid> client_;
  const std::optional<TestValidation::ServiceGrid> server_;
};

}  // namespace

void ValidateReplayTraces(const TestValidation& validation) {
  for (int i = 0; i < validation.test().rpc_replay_traces_size(); ++i) {
    ReplayValidation(validation, i).Validate();
  }
}

}  // namespace distbench::config
