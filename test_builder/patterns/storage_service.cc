#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test_builder/patterns/patterns.h"
#include "test_builder/patterns/query_load.h"
#include "test_builder/patterns/stages.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kStorageRequestBytes = 256;
constexpr char kPool[] = "storage";

// The parameters that are settings of the activity, under the same name.
std::vector<Parameter> WorkParameters() {
  return {
      InBytes(IntegerParameter("hash_bytes", "262144", {1, 1 << 30},
                               "Bytes that a request reads and hashes: its "
                               "CPU time.")),
      InBytes(IntegerParameter("file_set_bytes", "67108864", {4096, 1e15},
                               "Size of all files of a server together.")),
      InBytes(IntegerParameter("file_bytes", "65536", {4096, 1 << 30},
                               "Bytes that are read at a time, a multiple of "
                               "4096.")),
      InBytes(IntegerParameter("memory_bytes", "0", {0, 1e15},
                               "Anonymous memory of each thread of a "
                               "server.")),
      IntegerParameter("memory_percent", "0", {0, 100},
                       "Share of the hashed bytes that are from that memory."),
      IntegerParameter("memory_write_percent", "0", {0, 100},
                       "Share of the pages of memory that are written, too."),
      InBytes(IntegerParameter("log_bytes", "1024", {0, 1 << 20},
                               "Bytes that a request writes to a log.")),
  };
}

// Paths do not fit into names of tests, so that they are not in the alias.
std::string StorageAlias(const ParameterValues& values) {
  return absl::StrCat("storage_service_", ArrivalsName(values), "_",
                      values.Text("server_count"), "x", values.Text("qps"), "x",
                      values.Text("hash_bytes"), "x",
                      values.Text("file_set_bytes"), "x",
                      values.Text("memory_bytes"), "_", values.Text("io"));
}

absl::StatusOr<Traffic> BuildStorageService(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias = StorageAlias(values);
  DistributedSystemDescription& body = traffic.body;
  AddService(body, "client", 1);
  AddService(body, "server", values.Integer("server_count"));
  AddRpcWithPayloads(body, "storage_query", "client", "server", "round_robin",
                     "");
  AddPayloadPair(body, "", kStorageRequestBytes,
                 values.Integer("response_size"));
  AddActionList(body, "client", {"send_queries"});
  SetQueryLoad(values, *AddRpcAction(body, "send_queries", "storage_query")
                            .mutable_iterations());
  AddPool(kPool, values.Integer("threads"), body);
  Stages server(body, AddActionList(body, "storage_query"));
  ActivitySettings settings = {{"directory", values.Text("directory")},
                               {"io", values.Text("io")},
                               {"access", values.Text("access")}};
  for (const Parameter& parameter : WorkParameters()) {
    settings.push_back({parameter.name, values.Integer(parameter.name)});
  }
  server.Do("serve_storage", "Storage", kPool, settings);
  return traffic;
}

std::vector<Parameter> StorageParameters() {
  std::vector<Parameter> parameters = {
      IntegerParameter("server_count", "1", {1, kMaxInstances},
                       "Servers, queried in turn."),
      IntegerParameter("threads", "8", {1, 1024},
                       "Requests that each server works on at a time."),
      InBytes(IntegerParameter("response_size", "16384", {0},
                               "Bytes of a response.")),
      TextParameter("directory", "/var/tmp",
                    "Directory of the servers' files, on the disk that "
                    "matters."),
      ChoiceParameter("io", "cached", {"cached", "direct"},
                      "Through the page cache, or past it to the disk."),
      ChoiceParameter("access", "normal", {"uniform", "normal", "zipf"},
                      "Which files and memory are read: all equally often, or "
                      "a part of them more."),
  };
  for (Parameter& parameter : WorkParameters()) {
    parameters.push_back(std::move(parameter));
  }
  return WithQueryLoad("100", std::move(parameters));
}

}  // namespace

Pattern StorageServicePattern() {
  return {
      .name = "storage_service",
      .summary = "servers that read and hash files",
      .description =
          "Open loop: a client sends qps queries per second to the servers in "
          "turn. For each, a server reads files and memory, of which a part is "
          "hot, hashes them and writes a log. If the files and the memory are "
          "larger than the memory of the host, the disk decides: a subject "
          "for measuring what a service keeps beside a neighbour.",
      .example = "storage_service:qps=50:hash_bytes=100000",
      .parameters = StorageParameters(),
      .build = &BuildStorageService,
  };
}

}  // namespace distbench::test_builder
