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

#include "absl/status/statusor.h"
#include "distbench/products/dashboard/live_feed.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench::dashboard {

struct DashboardOptions {
  // As ListenAddresses() takes it.
  std::string listen_address = "localhost";

  // 0 picks a free port.
  int port = 0;

  // Further names by which clients may call the server.
  std::vector<std::string> host_names;

  // Empty: no TLS. With a CA, clients need certificates.
  security::TlsFiles tls;

  // Who may change something, if clients have certificates. Otherwise those may
  // who know the token of Url().
  security::AccessRules access;

  // A folder of results, which is only read, except for the notes file in it.
  // Empty: there are none.
  std::string results_dir;

  // The index's file. Absent: one in the user's cache folder, or none, in
  // memory, if that cannot be written.
  std::optional<std::string> index_path;

  // What is live, and what it is called. Must outlive the dashboard. Null:
  // nothing is.
  LiveSource* live = nullptr;
  std::string live_name;
};

class Dashboard {
 public:
  // Returns when the port accepts connections; results are indexed from then
  // on. The error says what is wrong with the address, the folder or a file.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Start(
      DashboardOptions options);

  // Closes all connections. Waits for reports that are being made.
  ~Dashboard();

  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  int port() const;

  // The address for the user, with the token if there is one: print it, and do
  // not keep it.
  std::string Url() const;

 private:
  class Impl;
  explicit Dashboard(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_H_
