#include "distbench/products/http2/message.h"

#include <algorithm>

namespace distbench::http2 {

// Returns the memory for the message's head.
char* Http2Output::Begin(size_t head_bytes, int64_t payload_bytes) {
  head_.resize(kMessagePrefixBytes + head_bytes);
  taken_ = 0;
  payload_left_ = payload_bytes;
  const auto size =
      static_cast<uint32_t>(static_cast<int64_t>(head_bytes) + payload_bytes);
  head_[0] = 0;  // not compressed
  for (int i = 0; i < 4; ++i) {
    head_[1 + i] = static_cast<char>(size >> (24 - 8 * i));
  }
  return head_.data() + kMessagePrefixBytes;
}

template <typename Header>
int64_t Http2Output::Fill(const Header& header, int64_t target_bytes) {
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, target_bytes);
  payload::WriteHead(header, layout,
                     Begin(layout.head_bytes, layout.payload_bytes));
  return layout.total_bytes();
}

template int64_t Http2Output::Fill(const payload::RequestHeader&, int64_t);
template int64_t Http2Output::Fill(const payload::ResponseHeader&, int64_t);

void Http2Output::FillWith(absl::string_view message) {
  std::copy(message.begin(), message.end(), Begin(message.size(), 0));
}

void Http2Output::Clear() {
  head_.clear();
  taken_ = 0;
  payload_left_ = 0;
}

Http2Output::Piece Http2Output::Take(int64_t max_bytes) {
  const auto head_left = static_cast<int64_t>(head_.size() - taken_);
  const auto head_bytes = static_cast<size_t>(std::min(head_left, max_bytes));
  Piece piece = {
      .head = absl::string_view(head_).substr(taken_, head_bytes),
      .payload_bytes = std::min(payload_left_,
                                max_bytes - static_cast<int64_t>(head_bytes))};
  taken_ += head_bytes;
  payload_left_ -= piece.payload_bytes;
  return piece;
}

void Http2Input::Clear() {
  prefix_bytes_ = 0;
  size_ = 0;
  received_ = 0;
  is_valid_ = true;
  has_head_ = false;
  kept_.clear();
}

bool Http2Input::Receive(absl::string_view bytes) {
  is_valid_ = is_valid_ && TakePrefix(bytes);
  if (!is_valid_ || bytes.empty()) return is_valid_;
  const auto count = static_cast<int64_t>(bytes.size());
  is_valid_ = count <= size_ - received_ && (has_head_ || Keep(bytes));
  received_ += count;
  return is_valid_;
}

// Takes from `bytes` what the prefix still lacks.
bool Http2Input::TakePrefix(absl::string_view& bytes) {
  if (prefix_bytes_ == kMessagePrefixBytes) return true;
  const size_t count =
      std::min(kMessagePrefixBytes - prefix_bytes_, bytes.size());
  std::copy_n(bytes.data(), count, prefix_ + prefix_bytes_);
  prefix_bytes_ += count;
  bytes.remove_prefix(count);
  if (prefix_bytes_ < kMessagePrefixBytes) return true;
  for (int i = 1; i <= 4; ++i) size_ = size_ << 8 | prefix_[i];
  const bool is_compressed = prefix_[0] != 0;
  return !is_compressed && size_ <= payload::kMaxMessageBytes;
}

// Keeps what precedes the payload. Usually the head is in the first piece.
bool Http2Input::Keep(absl::string_view bytes) {
  if (kept_.empty()) {
    const size_t head_bytes = payload::FindHead(bytes, size_);
    has_head_ = head_bytes > 0;
    kept_.assign(bytes.data(), has_head_ ? head_bytes : bytes.size());
  } else {
    kept_.append(bytes.data(), bytes.size());
    const size_t head_bytes = payload::FindHead(kept_, size_);
    has_head_ = head_bytes > 0;
    if (has_head_) kept_.resize(head_bytes);
  }
  return kept_.size() <= kMaxKeptBytes;
}

template <typename Header>
bool Http2Input::Decode(Header& header) {
  return payload::DecodeHead(kept_, size_ - static_cast<int64_t>(kept_.size()),
                             header, scratch_);
}

template bool Http2Input::Decode(payload::RequestHeader&);
template bool Http2Input::Decode(payload::ResponseHeader&);

}  // namespace distbench::http2
