#ifndef DISTBENCH_ENGINE_TESTING_CLIENT_SERVER_H_
#define DISTBENCH_ENGINE_TESTING_CLIENT_SERVER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"

namespace distbench::engine {

// Returns the config of a test with a client and `servers` servers.
// `client_action` completes the action "run", and `more` the config.
inline std::string ClientServer(absl::string_view client_action,
                                absl::string_view more = "", int servers = 1) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: $2 }
        default_protocol: "loopback"
        payload_descriptions { name: "small" size: 100 }
        rpc_descriptions {
          name: "query"
          client: "client"
          server: "server"
          request_payload_name: "small"
          response_payload_name: "small"
        }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" }
        actions { name: "run" rpc_name: "query" $0 } $1)pb",
      client_action, more, servers);
}

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_TESTING_CLIENT_SERVER_H_
