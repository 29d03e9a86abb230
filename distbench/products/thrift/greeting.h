// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_THRIFT_GREETING_H_
#define DISTBENCH_PRODUCTS_THRIFT_GREETING_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/products/thrift/decoder.h"
#include "distbench/protocol/tcp/stream.h"

namespace distbench::thrift {

// Calls Handshake (traffic.thrift) before anything else, and requires the
// server's proof that it knows the test's nonce.
class ThriftGreeting final : public protocol::ClientGreeting {
 public:
  explicit ThriftGreeting(absl::string_view nonce);

  // ClientGreeting.
  std::string TakeOutput() override;
  size_t missing_bytes() const override { return missing_bytes_; }
  protocol::StreamError Receive(absl::string_view bytes) override;

 private:
  protocol::StreamError Judge(const ThriftMessage& answer);

  const std::string nonce_;
  const std::string challenge_;
  std::string output_;
  std::string received_;
  size_t missing_bytes_;
};

std::unique_ptr<protocol::ClientGreeting> MakeThriftGreeting(
    absl::string_view nonce);

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_GREETING_H_
