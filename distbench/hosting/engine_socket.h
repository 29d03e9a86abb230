#ifndef DISTBENCH_HOSTING_ENGINE_SOCKET_H_
#define DISTBENCH_HOSTING_ENGINE_SOCKET_H_

namespace distbench {

// The subcommand that an engine process runs, and the file descriptor of its
// end of the socket pair.
inline constexpr char kEngineSubcommand[] = "engine";
inline constexpr int kEngineSocket = 3;

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_ENGINE_SOCKET_H_
