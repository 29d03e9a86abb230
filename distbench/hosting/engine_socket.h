#ifndef DISTBENCH_HOSTING_ENGINE_SOCKET_H_
#define DISTBENCH_HOSTING_ENGINE_SOCKET_H_

namespace distbench {

// The subcommand of an engine process, its flags for warming up first and for
// limiting its open files, and the file descriptor of its end of the socket
// pair.
inline constexpr char kEngineSubcommand[] = "engine";
inline constexpr char kWarmFlag[] = "--warm";
inline constexpr char kMaxFilesFlag[] = "--max_files";
inline constexpr int kEngineSocket = 3;

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_ENGINE_SOCKET_H_
