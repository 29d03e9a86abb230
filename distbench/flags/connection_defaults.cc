// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/connection_defaults.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/flags/flags.h"

namespace distbench::flags {
namespace {

namespace fs = std::filesystem;

struct ConnectionFlag {
  const char* name;
  bool is_file;
};

constexpr ConnectionFlag kFlags[] = {
    {"test_sequencer", false}, {"tls_ca", true},    {"tls_cert", true},
    {"tls_key", true},         {"tls_name", false},
};

const ConnectionFlag* FindFlag(absl::string_view name) {
  for (const ConnectionFlag& flag : kFlags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

std::vector<std::string> FlagNames() {
  std::vector<std::string> names;
  for (const ConnectionFlag& flag : kFlags) names.emplace_back(flag.name);
  return names;
}

std::string FilePath(const Environment& environment) {
  const std::string folder = environment("XDG_CONFIG_HOME").value_or("");
  // The XDG specification has relative paths ignored.
  if (fs::path(folder).is_absolute()) {
    return fs::path(folder) / "distbench" / "config";
  }
  const std::string home = environment("HOME").value_or("");
  return home.empty() ? ""
                      : fs::path(home) / ".config" / "distbench" / "config";
}

absl::Status LineError(const std::string& origin, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(origin, ": ", problem));
}

// Those of the flags that the command has, without dashes.
std::vector<std::string> ConnectionFlagsOf(const CLI::App& command) {
  std::vector<std::string> found;
  for (const std::string& name : LongNamesOf(command)) {
    if (FindFlag(name) != nullptr) found.push_back(name);
  }
  return found;
}

std::string Dashed(const std::string& name) { return absl::StrCat("--", name); }

// Whether the command line has all of the flags that only it can give.
bool WantsConnection(CLI::App& command, const std::vector<std::string>& names) {
  return absl::c_all_of(names, [&](const std::string& name) {
    return !IsOnlyFromCommandLine(command, Dashed(name)) ||
           IsGiven(command, Dashed(name));
  });
}

}  // namespace

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

Environment NoEnvironment() {
  return [](const std::string&) { return std::nullopt; };
}

std::string VariableOf(const std::string& flag) {
  if (FindFlag(flag) == nullptr) return "";
  return absl::StrCat("DISTBENCH_", absl::AsciiStrToUpper(flag));
}

std::vector<std::string> NoConnectionDefaults() {
  std::vector<std::string> variables;
  for (const ConnectionFlag& flag : kFlags) {
    variables.push_back(absl::StrCat(VariableOf(flag.name), "="));
  }
  return variables;
}

std::string ConnectionDefaultsHelp() {
  return "Where the command line leaves out --test_sequencer or a --tls_ "
         "flag,\n"
         "it is taken from the environment (DISTBENCH_TEST_SEQUENCER,\n"
         "DISTBENCH_TLS_CA, ...), else from ~/.config/distbench/config, which\n"
         "has lines such as test_sequencer = host1:10000.";
}

bool HasConnectionFlags(const CLI::App& command) {
  return !ConnectionFlagsOf(command).empty();
}

ConnectionDefaults::ConnectionDefaults(const Environment& environment)
    : path_(FilePath(environment)),
      is_in_job_(environment("DISTBENCH_IN_JOB").has_value()) {
  ReadFile();
  ReadVariables(environment);
}

void ConnectionDefaults::ReadFile() {
  std::error_code error;
  // Someone else's home, which may not be searched, has no file for us.
  if (path_.empty() || !fs::exists(path_, error)) return;
  std::ifstream file(path_);
  std::string line;
  int number = 0;
  while (file_status_.ok() && std::getline(file, line)) {
    file_status_ = ReadLine(line, absl::StrCat(path_, ":", ++number));
  }
  // A folder can be opened, but not read.
  if (file_status_.ok() && (!file.eof() || fs::is_directory(path_, error))) {
    file_status_ = LineError(path_, "cannot be read; check its permissions");
  }
}

// CLI11's own reader of such files knows no line numbers, and takes the
// address [::1]:10000 for a list.
absl::Status ConnectionDefaults::ReadLine(absl::string_view line,
                                          const std::string& origin) {
  line = absl::StripAsciiWhitespace(line);
  if (line.empty() || line.front() == '#') return absl::OkStatus();
  const size_t equals = line.find('=');
  if (equals == absl::string_view::npos) {
    return LineError(origin, absl::StrCat(config::Quoted(line),
                                          " is not NAME = VALUE, "
                                          "such as test_sequencer = "
                                          "host1:10000"));
  }
  const std::string name(absl::StripAsciiWhitespace(line.substr(0, equals)));
  std::string value(absl::StripAsciiWhitespace(line.substr(equals + 1)));
  const ConnectionFlag* flag = FindFlag(name);
  if (flag == nullptr) {
    return LineError(
        origin, absl::StrCat("there is no setting ", config::Quoted(name), "; ",
                             config::Suggestion(name, FlagNames())));
  }
  if (value.empty()) {
    return LineError(origin, absl::StrCat(name,
                                          " has no value; remove the "
                                          "line, or write one"));
  }
  if (flag->is_file) value = fs::path(path_).parent_path() / value;
  if (!defaults_.emplace(name, Default{value, origin}).second) {
    return LineError(origin,
                     absl::StrCat(name, " is set twice; remove a line"));
  }
  return absl::OkStatus();
}

void ConnectionDefaults::ReadVariables(const Environment& environment) {
  for (const ConnectionFlag& flag : kFlags) {
    const std::string variable = VariableOf(flag.name);
    const std::optional<std::string> value = environment(variable);
    if (!value) continue;
    defaults_.erase(flag.name);
    if (!value->empty()) defaults_[flag.name] = {*value, variable};
  }
}

void ConnectionDefaults::Announce(CLI::App& app) {
  const std::vector<std::string> names = ConnectionFlagsOf(app);
  for (const std::string& name : names) {
    if (IsOnlyFromCommandLine(app, Dashed(name))) continue;
    AppendToDescription(
        app, Dashed(name),
        absl::StrCat("\n", kEnvironmentLabel, VariableOf(name)));
  }
  if (!names.empty()) {
    // Only of the command that is used: elsewhere the flag stays required, as
    // manual pages have to say.
    BeforeParsing(app, [this, &app, names] {
      for (const std::string& name : names) {
        if (!file_status_.ok() || defaults_.count(name) > 0) {
          Require(app, Dashed(name), false);
        }
      }
    });
  }
  for (CLI::App* command : AllCommandsOf(app)) Announce(*command);
}

absl::Status ConnectionDefaults::Fill(CLI::App& command) {
  const std::vector<std::string> names = ConnectionFlagsOf(command);
  if (names.empty() || !WantsConnection(command, names)) {
    return absl::OkStatus();
  }
  if (!file_status_.ok()) return file_status_;
  for (const std::string& name : names) {
    const auto found = defaults_.find(name);
    if (IsGiven(command, Dashed(name))) {
      values_.push_back(GivenText(command, Dashed(name)));
    } else if (found != defaults_.end()) {
      const absl::Status set = FillFlag(command, name, found->second);
      if (!set.ok()) return set;
    }
  }
  return absl::OkStatus();
}

absl::Status ConnectionDefaults::FillFlag(CLI::App& command,
                                          const std::string& name,
                                          const Default& by_default) {
  const absl::Status set = GiveValue(command, Dashed(name), by_default.value);
  if (!set.ok()) return LineError(by_default.origin, set.message());
  values_.push_back(by_default.value);
  if (!is_in_job_) {
    filled_.push_back(absl::StrCat(Dashed(name), "=", by_default.value,
                                   " is from ", by_default.origin));
  }
  return absl::OkStatus();
}

std::vector<std::string> ConnectionDefaults::Explain(
    absl::string_view error) const {
  for (const std::string& value : values_) {
    if (!value.empty() && absl::StrContains(error, value)) return filled_;
  }
  return {};
}

std::string ConnectionDefaults::ValueOf(const std::string& flag) const {
  const auto found = defaults_.find(flag);
  return found == defaults_.end() ? "" : found->second.value;
}

}  // namespace distbench::flags
