// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The dashboard: results over time, and what is going on, in a browser.
//
//   absl::StatusOr<std::unique_ptr<Dashboard>> dashboard =
//       Dashboard::Start({.port = 8080, .results_dir = "results"});
//   std::cout << (*dashboard)->Url();

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/dashboard/access.h"
#include "distbench/products/dashboard/http/http_message.h"
#include "distbench/products/dashboard/http/http_server.h"
#include "distbench/products/dashboard/index_keeper.h"
#include "distbench/products/dashboard/live_feed.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/history_index.h"
#include "distbench/products/history/result_source.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench::dashboard {

struct DashboardOptions {
  // As ListenAddresses() takes it.
  std::string listen_address = "localhost";

  // 0 picks a free port.
  int port = 0;

  // Further names by which clients may call the server.
  std::vector<std::string> host_names = {};

  // Empty: no TLS. With a CA, clients need certificates.
  security::TlsFiles tls = {};

  // Who may change something, if clients have certificates. Otherwise those may
  // who know the token of Url().
  security::AccessRules access = {};

  // A folder of results, which is only read, except for the notes file in it.
  // Empty: there are none.
  std::string results_dir = {};

  // The index's file. Empty: one in the user's cache folder, or none, in
  // memory, if that cannot be written.
  std::string index_path = {};

  // What is live, and what it is called. Must outlive the dashboard. Null:
  // nothing is.
  LiveSource* live = nullptr;
  std::string live_name = {};
};

// Answers the requests that docs/products/dashboard.md lists. Thread-safe.
class Dashboard final : public HttpHandler {
 public:
  // Returns when the port accepts connections; results are indexed from then
  // on. The error says what is wrong with the address, the folder or a file.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Start(
      DashboardOptions options);

  // Closes all connections. Waits for reports that are being made.
  ~Dashboard() override = default;

  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  // The address for the user, with the token if there is one: print it, and do
  // not keep it.
  std::string Url() const;

  // HttpHandler:
  HttpLane LaneOf(const HttpRequest& request) const override;
  HttpResponse Answer(const HttpRequest& request) override;

 private:
  using Response = absl::StatusOr<HttpResponse>;
  struct Call;

  explicit Dashboard(DashboardOptions options);
  absl::Status OpenResults();
  absl::Status Listen();

  Response AnswerAllowed(const HttpRequest& request);
  Response AnswerGet(const Call& call);
  Response AnswerPost(const Call& call);
  Response Session(const Call& call) const;
  Response Live(const Call& call);
  Response Cancel(const Call& call);
  Response Problems();
  Response Trend(const Call& call);
  Response Annotate(const Call& call);
  Response Report(const Call& call) const;
  Response Compare(const Call& call) const;
  absl::StatusOr<history::IndexedResult> Find(absl::string_view id) const;

  const DashboardOptions options_;
  const AccessGuard guard_;

  // The index is empty if there are no results: then the others are absent.
  std::unique_ptr<history::HistoryIndex> index_;
  std::unique_ptr<history::ResultSource> results_;
  std::optional<IndexKeeper> keeper_;

  std::optional<LiveFeed> feed_;  // absent if nothing is live
  std::unique_ptr<HttpServer> server_;
};

// Reads the parameters of /api/results. INVALID_ARGUMENT names the parameter
// that is wrong.
absl::StatusOr<history::ResultQuery> ReadResultQuery(const Target& target);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_H_
