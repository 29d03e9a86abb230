// Helpers shared by tests of the text summary.

#ifndef DISTBENCH_REPORT_TESTING_TEXT_SUMMARY_TESTING_H_
#define DISTBENCH_REPORT_TESTING_TEXT_SUMMARY_TESTING_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/results.pb.h"

namespace distbench::report {

// The statistics of one RPC between two instances; created if missing.
inline RpcStatistics& StatisticsOf(TestResult& result,
                                   const std::string& client,
                                   const std::string& server, int rpc_index) {
  auto& instances = *result.mutable_service_logs()->mutable_instance_logs();
  auto& peers = *instances[client].mutable_peer_logs();
  auto& rpcs = *peers[server].mutable_rpc_logs();
  return *rpcs[rpc_index].mutable_statistics();
}

using Lines = std::vector<std::string>;

// The lines of one section, without its title.
inline Lines Section(const Lines& lines, absl::string_view title) {
  Lines section;
  bool inside = false;
  for (const std::string& line : lines) {
    if (line[0] != ' ') {
      inside = line == absl::StrCat(title, ":");
    } else if (inside) {
      section.push_back(line);
    }
  }
  return section;
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TESTING_TEXT_SUMMARY_TESTING_H_
