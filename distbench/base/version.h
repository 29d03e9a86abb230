#ifndef DISTBENCH_BASE_VERSION_H_
#define DISTBENCH_BASE_VERSION_H_

namespace distbench {

// The version of distbench. All processes of a cluster must have the same.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace distbench

#endif  // DISTBENCH_BASE_VERSION_H_
