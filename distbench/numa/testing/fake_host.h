// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A fake host made of files: the parts of /sys and /proc from which distbench
// reads processors and memory, in a directory that the test owns.

#ifndef DISTBENCH_NUMA_TESTING_FAKE_HOST_H_
#define DISTBENCH_NUMA_TESTING_FAKE_HOST_H_

#include <cstdint>
#include <string>
#include <vector>

namespace distbench::numa {

struct FakeNode {
  int id = 0;
  std::string cpus;              // "" for memory only
  int64_t memory_kib = 1 << 20;  // 0 for CPUs only
  std::string distances;         // "10 21"
};

struct FakeThread {
  int id = 1;
  int64_t cpu_ns = 0;
  int last_cpu = 0;
  std::string allowed_cpus;
  int64_t voluntary = 0;
  int64_t involuntary = 0;
  int64_t migrations = -1;  // -1: not reported
};

class FakeHost {
 public:
  // The destructor removes the directory.
  FakeHost();
  ~FakeHost();

  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  const std::string& root() const { return root_; }

  void AddNodes(const std::vector<FakeNode>& nodes);

  // Adds a core with these CPUs, and a cache that these CPUs share.
  void AddCore(const std::string& cpus);
  void AddCache(const std::string& cpus, int level, const std::string& size,
                const std::string& type = "Unified");

  void Allow(const std::string& cpus, const std::string& memory_nodes);

  // Writes or overwrites the kernel's files for a thread.
  void PutThread(const FakeThread& thread);
  void RemoveThread(int id);

  // The lines of numa_maps.
  void PutNumaMaps(const std::vector<std::string>& lines);
  void PutNumastat(int node, int64_t hit, int64_t miss);

  void Write(const std::string& path, const std::string& text) const;

 private:
  std::string root_;
};

}  // namespace distbench::numa

#endif  // DISTBENCH_NUMA_TESTING_FAKE_HOST_H_
