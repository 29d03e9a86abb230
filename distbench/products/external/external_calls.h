// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What instances call outside of their test. Plain data.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_CALLS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_CALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace distbench::external {

// An RPC whose server is not part of the test.
struct ExternalCall {
  // Such as "/package.Service/Method".
  std::string method;

  // The request, as JSON or in protobuf's text format. May contain templates
  // (distbench/products/external/requests/template.h).
  std::string request;
  bool is_json = true;

  // Names and values of metadata; values may contain templates.
  std::vector<std::pair<std::string, std::string>> metadata;

  // Rows for templates; the first names the columns.
  std::vector<std::vector<std::string>> rows;

  // A serialised FileDescriptorSet with the method. If empty, the server is
  // asked by gRPC's reflection.
  std::string descriptors;

  // HOST:PORT of the servers that are called, as their peer has them: others
  // may have a method of this name with other types. Empty: any external peer.
  std::vector<std::string> servers = {};
};

// How to reach a server.
struct ExternalServer {
  bool uses_tls = false;

  // Certificates that are trusted, in PEM. Empty: those of the host.
  std::string ca_certificates;

  // The name in the server's certificate. Empty: the host of the first address
  // of its service.
  std::string server_name;

  // RPCs per second that the instance may send to it, at most; 0: any number.
  double max_rate = 0;
};

// What an instance calls outside of its test.
struct ExternalCalls {
  std::map<int, ExternalCall> calls;              // by RPC index
  std::map<std::string, ExternalServer> servers;  // by HOST:PORT

  // What templates depend on: the instance's name, its number among all of the
  // test, from which its first row follows, and the test's seed.
  std::string instance_name;
  int instance_number = 0;
  uint64_t seed = 0;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_CALLS_H_
