#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_DIAGNOSIS_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_DIAGNOSIS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "distbench/products/launching/ssh/remote_shell.h"
#include "distbench/products/launching/ssh/ssh_hosts.h"

namespace distbench::launching {

// The exit status of ssh when it failed itself.
inline constexpr int kSshFailed = 255;

// Explains why a host's session ended before the host was ready, and what to
// do about it, in one line that begins with the host. `wait_status` is that of
// ssh, `words` what ssh and the host wrote.
std::string ExplainNotReady(const SshHost& host, int wait_status,
                            absl::string_view words,
                            const RemoteProgram& program);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_DIAGNOSIS_H_
