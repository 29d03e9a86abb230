// The text of journals.

#include <zlib.h>

#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/products/protection/control_groups/journal.h"

namespace distbench::protection {
namespace {

constexpr absl::string_view kFirstWord = "distbench-journal-1";

struct KindName {
  JournalRecord::Kind kind;
  absl::string_view name;
};

constexpr KindName kKindNames[] = {
    {JournalRecord::Kind::kLease, "lease"},
    {JournalRecord::Kind::kManager, "manager"},
    {JournalRecord::Kind::kControllers, "controllers"},
    {JournalRecord::Kind::kGroup, "group"},
    {JournalRecord::Kind::kValue, "value"},
};

absl::string_view NameOf(JournalRecord::Kind kind) {
  for (const KindName& each : kKindNames) {
    if (each.kind == kind) return each.name;
  }
  return "";
}

std::optional<JournalRecord::Kind> KindOf(absl::string_view name) {
  for (const KindName& each : kKindNames) {
    if (each.name == name) return each.kind;
  }
  return std::nullopt;
}

std::string Checksum(absl::string_view text) {
  const uint32_t crc =
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return absl::StrFormat("%08x", crc);
}

std::string Line(const std::vector<std::string>& fields) {
  std::vector<std::string> escaped;
  for (const std::string& field : fields) {
    escaped.push_back(absl::CEscape(field));
  }
  const std::string text = absl::StrJoin(escaped, "\t");
  return absl::StrCat(Checksum(text), "\t", text, "\n");
}

// Takes a whole line off the text, and returns its fields; nothing if it is
// damaged.
std::optional<std::vector<std::string>> TakeFields(absl::string_view& text) {
  const size_t end = text.find('\n');
  if (end == absl::string_view::npos) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text.substr(0, end), absl::MaxSplits('\t', 1));
  if (parts.first != Checksum(parts.second)) return std::nullopt;
  text.remove_prefix(end + 1);
  std::vector<std::string> fields;
  for (absl::string_view escaped : absl::StrSplit(parts.second, '\t')) {
    std::string field;
    if (!absl::CUnescape(escaped, &field)) return std::nullopt;
    fields.push_back(std::move(field));
  }
  return fields;
}

std::optional<JournalHolder> TakeHolder(absl::string_view& text) {
  const auto fields = TakeFields(text);
  if (!fields.has_value() || fields->size() != 4 ||
      (*fields)[0] != kFirstWord) {
    return std::nullopt;
  }
  JournalHolder holder = {.boot_id = (*fields)[1]};
  int64_t start_s = 0;
  if (!absl::SimpleAtoi((*fields)[2], &holder.pid) ||
      !absl::SimpleAtoi((*fields)[3], &start_s)) {
    return std::nullopt;
  }
  holder.start = absl::FromUnixSeconds(start_s);
  return holder;
}

std::optional<JournalRecord> TakeRecord(absl::string_view& text) {
  auto fields = TakeFields(text);
  if (!fields.has_value() || fields->size() != 5) return std::nullopt;
  const auto kind = KindOf((*fields)[0]);
  if (!kind.has_value()) return std::nullopt;
  return JournalRecord{.kind = *kind,
                       .folder = std::move((*fields)[1]),
                       .file = std::move((*fields)[2]),
                       .value = std::move((*fields)[3]),
                       .before = std::move((*fields)[4])};
}

}  // namespace

JournalContents ParseJournal(absl::string_view text) {
  JournalContents contents;
  contents.holder = TakeHolder(text);
  if (!contents.holder.has_value()) return contents;
  while (auto record = TakeRecord(text)) {
    contents.records.push_back(*std::move(record));
  }
  return contents;
}

std::string FormatLine(const JournalHolder& holder) {
  return Line({std::string(kFirstWord), holder.boot_id,
               absl::StrCat(holder.pid),
               absl::StrCat(absl::ToUnixSeconds(holder.start))});
}

std::string FormatLine(const JournalRecord& record) {
  return Line({std::string(NameOf(record.kind)), record.folder, record.file,
               record.value, record.before});
}

std::string JournalHolder::ToString() const {
  return absl::StrCat(
      "process ", pid, " (since ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", start, absl::UTCTimeZone()),
      ")");
}

}  // namespace distbench::protection
