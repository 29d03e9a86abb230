// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_messages.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "distbench/base/index_list.h"
#include "google/protobuf/util/delimited_message_util.h"

namespace distbench::hosting {
namespace {

std::string Delimited(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::util::SerializeDelimitedToZeroCopyStream(message, &stream);
  return bytes;
}

}  // namespace

absl::StatusOr<std::pair<base::FileDescriptor, base::FileDescriptor>>
MessageSocket::MakePair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  return std::make_pair(base::FileDescriptor(ends[0]),
                        base::FileDescriptor(ends[1]));
}

MessageSocket::MessageSocket(base::FileDescriptor socket)
    : socket_(std::move(socket)), input_(socket_.get()) {}

bool MessageSocket::Send(const google::protobuf::MessageLite& message) {
  const std::string bytes = Delimited(message);
  absl::MutexLock lock(&send_mutex_);
  return SendBytes(bytes);
}

bool MessageSocket::TrySend(const google::protobuf::MessageLite& message) {
  const std::string bytes = Delimited(message);
  if (!send_mutex_.TryLock()) return false;
  const bool sent = SendBytes(bytes);
  send_mutex_.Unlock();
  return sent;
}

bool MessageSocket::SendBytes(const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = send(socket_.get(), bytes.data() + sent,
                               bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) sent += count;
  }
  return true;
}

bool MessageSocket::Receive(google::protobuf::MessageLite& message) {
  return google::protobuf::util::ParseDelimitedFromZeroCopyStream(
      &message, &input_, /*clean_eof=*/nullptr);
}

void MessageSocket::CloseForSending() { shutdown(socket_.get(), SHUT_WR); }

EngineBinding ToEngineBinding(const numa::ResolvedBinding& binding) {
  EngineBinding message;
  *message.mutable_asked() = binding.proto;
  message.set_cpus(base::FormatIndexList(binding.cpus));
  message.set_memory_nodes(base::FormatIndexList(binding.memory_nodes));
  message.set_policy(binding.policy);
  return message;
}

absl::StatusOr<numa::ResolvedBinding> FromEngineBinding(
    const EngineBinding& message) {
  absl::StatusOr<base::IndexSet> cpus = base::ParseIndexList(message.cpus());
  if (!cpus.ok()) return cpus.status();
  absl::StatusOr<base::IndexSet> nodes =
      base::ParseIndexList(message.memory_nodes());
  if (!nodes.ok()) return nodes.status();
  return numa::ResolvedBinding{.proto = message.asked(),
                               .cpus = *std::move(cpus),
                               .memory_nodes = *std::move(nodes),
                               .policy = message.policy()};
}

TlsMaterial ToTlsMaterial(const security::TlsContents& contents) {
  TlsMaterial material;
  material.set_ca(contents.ca);
  material.set_cert(contents.cert);
  material.set_key(contents.key);
  return material;
}

security::TlsContents FromTlsMaterial(const TlsMaterial& material) {
  return {.ca = material.ca(), .cert = material.cert(), .key = material.key()};
}

}  // namespace distbench::hosting
