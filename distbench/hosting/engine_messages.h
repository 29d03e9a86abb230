// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a node manager and an engine process say to each other: the command line
// of the process, and the messages over its socket.

#ifndef DISTBENCH_HOSTING_ENGINE_MESSAGES_H_
#define DISTBENCH_HOSTING_ENGINE_MESSAGES_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/files.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/numa/binding.h"
#include "distbench/security/tls_files.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/message_lite.h"
#include "proto/control.pb.h"

namespace distbench::hosting {

// One end of a socket pair over which two processes exchange messages, each
// preceded by its length (protobuf's delimited format).
class MessageSocket {
 public:
  // Makes a socket pair; child programs inherit neither end.
  static absl::StatusOr<std::pair<base::FileDescriptor, base::FileDescriptor>>
  MakePair();

  explicit MessageSocket(base::FileDescriptor socket);

  // Sends a whole message; blocks while the peer does not read. Returns false
  // if the peer is gone. Any thread.
  bool Send(const google::protobuf::MessageLite& message)
      ABSL_LOCKS_EXCLUDED(send_mutex_);

  // Same as Send(), but sends nothing and returns false while another thread
  // sends.
  bool TrySend(const google::protobuf::MessageLite& message)
      ABSL_LOCKS_EXCLUDED(send_mutex_);

  // Blocks until there is a message. Returns false if the peer is gone, or has
  // sent an invalid message. One thread.
  bool Receive(google::protobuf::MessageLite& message);

  // Ends the messages to the peer, after those that were sent.
  void CloseForSending();

 private:
  bool SendBytes(const std::string& bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(send_mutex_);

  const base::FileDescriptor socket_;
  google::protobuf::io::FileInputStream input_;
  absl::Mutex send_mutex_;
};

// The subcommand of an engine process; its flags for printing an EngineProgram
// as text instead, for warming up first, and for limiting its open files; and
// the file descriptor of its end of the socket pair.
inline constexpr char kEngineSubcommand[] = "engine";
inline constexpr char kDescribeFlag[] = "--describe";
inline constexpr char kWarmFlag[] = "--warm";
inline constexpr char kMaxFilesFlag[] = "--max_files";
inline constexpr int kEngineSocket = 3;

// Converts a status for its way to another process, and back.
inline CommandStatus ToCommandStatus(const absl::Status& status) {
  CommandStatus command_status;
  command_status.set_code(static_cast<int>(status.code()));
  if (!status.ok()) {
    command_status.set_message(std::string(status.message()));
  }
  return command_status;
}

inline absl::Status FromCommandStatus(const CommandStatus& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()),
                      status.message());
}

// Convert the messages to and from the types of the rest of the program.
EngineBinding ToEngineBinding(const numa::ResolvedBinding& binding);
absl::StatusOr<numa::ResolvedBinding> FromEngineBinding(
    const EngineBinding& binding);

TlsMaterial ToTlsMaterial(const security::TlsContents& contents);
security::TlsContents FromTlsMaterial(const TlsMaterial& material);

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_ENGINE_MESSAGES_H_
