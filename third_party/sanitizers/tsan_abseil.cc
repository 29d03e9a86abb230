// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tells ThreadSanitizer which accesses Abseil's locks order.
//
// The distribution's Abseil is compiled without ThreadSanitizer, which
// therefore sees neither its locks nor its atomics, and would report races on
// everything that a lock guards. The functions below replace the library's,
// both for our own code and for libraries that use Abseil (gRPC's locks are
// Abseil's). Each calls the function that it hides, and reports the effect.
//
// These are the functions in which all others of this Abseil release end, for
// those parts that gRPC and we use. Reader locks are not among them.

#include <sanitizer/tsan_interface.h>

#include <atomic>
#include <cstdint>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "third_party/sanitizers/hidden_function.h"

// Functions of ThreadSanitizer's library, which no header declares.
extern "C" {
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

static_assert(ABSL_LTS_RELEASE_VERSION == 20220623,
              "Look up which functions of this Abseil call which others, and "
              "adapt tsan_abseil.cc.");

namespace {

// In `symbol`, @ stands for the inline namespace, which distributions choose.
template <typename Function>
Function* Hidden(absl::string_view symbol) {
  constexpr absl::string_view kNamespace =
      ABSL_INTERNAL_TOKEN_STR(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  return distbench_sanitizers::HiddenFunction<Function>(
      absl::StrReplaceAll(symbol,
                          {{"@", absl::StrCat(kNamespace.size(), kNamespace)}})
          .c_str());
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

using synchronization_internal::KernelTimeout;

Mutex::~Mutex() {
  static auto* const hidden = Hidden<void(Mutex*)>("_ZN4absl@5MutexD1Ev");
  hidden(this);
  // Counts as a write, which libraries order in ways that are not visible.
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  __tsan_mutex_destroy(this, 0);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

void Mutex::Lock() {
  static auto* const hidden = Hidden<void(Mutex*)>("_ZN4absl@5Mutex4LockEv");
  __tsan_mutex_pre_lock(this, 0);
  hidden(this);
  __tsan_mutex_post_lock(this, 0, 0);
}

void Mutex::Unlock() {
  static auto* const hidden = Hidden<void(Mutex*)>("_ZN4absl@5Mutex6UnlockEv");
  __tsan_mutex_pre_unlock(this, 0);
  hidden(this);
  __tsan_mutex_post_unlock(this, 0);
}

bool Mutex::TryLock() {
  static auto* const hidden = Hidden<bool(Mutex*)>("_ZN4absl@5Mutex7TryLockEv");
  __tsan_mutex_pre_lock(this, __tsan_mutex_try_lock);
  const bool locked = hidden(this);
  __tsan_mutex_post_lock(
      this, __tsan_mutex_try_lock | (locked ? 0 : __tsan_mutex_try_lock_failed),
      0);
  return locked;
}

void Mutex::LockWhen(const Condition& condition) {
  static auto* const hidden = Hidden<void(Mutex*, const Condition&)>(
      "_ZN4absl@5Mutex8LockWhenERKNS0_9ConditionE");
  __tsan_mutex_pre_lock(this, 0);
  hidden(this, condition);
  __tsan_mutex_post_lock(this, 0, 0);
}

bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  static auto* const hidden = Hidden<bool(Mutex*, const Condition&, Time)>(
      "_ZN4absl@5Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  __tsan_mutex_pre_lock(this, 0);
  const bool is_true = hidden(this, condition, deadline);
  __tsan_mutex_post_lock(this, 0, 0);
  return is_true;
}

// Waits, with the lock released meanwhile.
bool Mutex::AwaitCommon(const Condition& condition, KernelTimeout timeout) {
  static auto* const hidden =
      Hidden<bool(Mutex*, const Condition&, KernelTimeout)>(
          "_ZN4absl@5Mutex11AwaitCommonERKNS0_9ConditionE"
          "NS0_24synchronization_internal13KernelTimeoutE");
  __tsan_mutex_pre_unlock(this, 0);
  __tsan_mutex_post_unlock(this, 0);
  __tsan_mutex_pre_lock(this, 0);
  const bool is_true = hidden(this, condition, timeout);
  __tsan_mutex_post_lock(this, 0, 0);
  return is_true;
}

// Waits, with the lock released meanwhile.
bool CondVar::WaitCommon(Mutex* mutex, KernelTimeout timeout) {
  static auto* const hidden = Hidden<bool(CondVar*, Mutex*, KernelTimeout)>(
      "_ZN4absl@7CondVar10WaitCommonEPNS0_5MutexE"
      "NS0_24synchronization_internal13KernelTimeoutE");
  __tsan_mutex_pre_unlock(mutex, 0);
  __tsan_mutex_post_unlock(mutex, 0);
  __tsan_mutex_pre_lock(mutex, 0);
  const bool timed_out = hidden(this, mutex, timeout);
  __tsan_mutex_post_lock(mutex, 0, 0);
  return timed_out;
}

// HasBeenNotified() is compiled into our own code, where it reads the same
// address atomically.
void Notification::Notify() {
  static auto* const hidden =
      Hidden<void(Notification*)>("_ZN4absl@12Notification6NotifyEv");
  __tsan_release(&notified_yet_);
  hidden(this);
}

void Notification::WaitForNotification() const {
  static auto* const hidden = Hidden<void(const Notification*)>(
      "_ZNK4absl@12Notification19WaitForNotificationEv");
  hidden(this);
  __tsan_acquire(const_cast<std::atomic<bool>*>(&notified_yet_));
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  static auto* const hidden = Hidden<bool(const Notification*, Duration)>(
      "_ZNK4absl@12Notification30WaitForNotificationWithTimeoutE"
      "NS0_8DurationE");
  const bool notified = hidden(this, timeout);
  if (notified) {
    __tsan_acquire(const_cast<std::atomic<bool>*>(&notified_yet_));
  }
  return notified;
}

bool Notification::WaitForNotificationWithDeadline(Time deadline) const {
  static auto* const hidden = Hidden<bool(const Notification*, Time)>(
      "_ZNK4absl@12Notification31WaitForNotificationWithDeadlineENS0_4TimeE");
  const bool notified = hidden(this, deadline);
  if (notified) {
    __tsan_acquire(const_cast<std::atomic<bool>*>(&notified_yet_));
  }
  return notified;
}

bool BlockingCounter::DecrementCount() {
  static auto* const hidden = Hidden<bool(BlockingCounter*)>(
      "_ZN4absl@15BlockingCounter14DecrementCountEv");
  __tsan_release(&count_);
  const bool is_last = hidden(this);
  if (is_last) {
    __tsan_acquire(&count_);
  }
  return is_last;
}

void BlockingCounter::Wait() {
  static auto* const hidden =
      Hidden<void(BlockingCounter*)>("_ZN4absl@15BlockingCounter4WaitEv");
  hidden(this);
  __tsan_acquire(&count_);
}

// The last owner of a shared status deletes it, after all others.
void Status::UnrefNonInlined(uintptr_t rep) {
  static auto* const hidden =
      Hidden<void(uintptr_t)>("_ZN4absl@6Status15UnrefNonInlinedEm");
  void* const shared = reinterpret_cast<void*>(rep);
  __tsan_release(shared);
  __tsan_acquire(shared);
  hidden(rep);
}

ABSL_NAMESPACE_END
}  // namespace absl
