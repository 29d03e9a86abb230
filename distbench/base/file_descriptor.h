#ifndef DISTBENCH_BASE_FILE_DESCRIPTOR_H_
#define DISTBENCH_BASE_FILE_DESCRIPTOR_H_

#include <utility>

namespace distbench {

// Owns a file descriptor, or none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, kNone)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    Close();
    fd_ = std::exchange(other.fd_, kNone);
    return *this;
  }
  ~FileDescriptor() { Close(); }

  bool is_open() const { return fd_ != kNone; }
  int get() const { return fd_; }
  void Close();

  // The caller owns the descriptor from now on.
  int Release() { return std::exchange(fd_, kNone); }

 private:
  static constexpr int kNone = -1;

  int fd_ = kNone;
};

}  // namespace distbench

#endif  // DISTBENCH_BASE_FILE_DESCRIPTOR_H_
