// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/jobs/named_jobs.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::bench {
namespace {

constexpr char kFolderVariable[] = "dir";

// Thrown only within this file, as yaml-cpp's exceptions are.
class WrongYaml : public YAML::Exception {
 public:
  using YAML::Exception::Exception;
};

[[noreturn]] void Refuse(const YAML::Node& node, const std::string& problem) {
  throw WrongYaml(node.Mark(), problem);
}

std::string TextOf(const YAML::Node& node, const std::string& field) {
  if (!node.IsScalar()) Refuse(node, field + " must be a text");
  return node.Scalar();
}

std::vector<std::string> TextsOf(const YAML::Node& node,
                                 const std::string& field) {
  if (!node.IsSequence()) Refuse(node, field + " must be a list of texts");
  std::vector<std::string> texts;
  for (const YAML::Node& item : node) {
    texts.push_back(TextOf(item, "an entry of " + field));
  }
  return texts;
}

bool IsVariableName(absl::string_view name) {
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') {
      return false;
    }
  }
  return !name.empty();
}

void AddVariable(const YAML::Node& node, const std::string& text,
                 NamedJob& job) {
  const size_t equals = text.find('=');
  JobVariable variable;
  variable.name = text.substr(0, equals);
  if (equals != std::string::npos) {
    variable.default_value = text.substr(equals + 1);
  }
  if (!IsVariableName(variable.name) || variable.name == kFolderVariable) {
    Refuse(node, absl::StrCat(config::Quoted(text),
                              " in vars is not a variable; write "
                              "NAME=DEFAULT or NAME, with letters, digits and "
                              "'_', other than ",
                              kFolderVariable));
  }
  for (const JobVariable& other : job.variables) {
    if (other.name == variable.name) {
      Refuse(node, absl::StrCat("vars has ", config::Quoted(variable.name),
                                " twice"));
    }
  }
  job.variables.push_back(std::move(variable));
}

NamedJob ParseJob(const YAML::Node& node) {
  if (!node.IsMap()) {
    Refuse(node, "expected a job with name, description, vars and args");
  }
  NamedJob job;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string field = TextOf(entry.first, "the name of a field");
    if (!seen.insert(field).second) {
      Refuse(entry.first,
             absl::StrCat("the job has ", field, " twice; give it once"));
    }
    if (field == "name") {
      job.name = TextOf(entry.second, field);
    } else if (field == "description") {
      job.description = TextOf(entry.second, field);
    } else if (field == "vars") {
      for (const std::string& text : TextsOf(entry.second, field)) {
        AddVariable(entry.second, text, job);
      }
    } else if (field == "args") {
      job.args = TextsOf(entry.second, field);
    } else {
      Refuse(entry.first,
             absl::StrCat("a job has no field ", config::Quoted(field), "; ",
                          config::Suggestion(
                              field, {"name", "description", "vars", "args"})));
    }
  }
  if (job.name.empty()) Refuse(node, "the job has no name");
  if (job.args.empty()) {
    Refuse(node, absl::StrCat("the job ", config::Quoted(job.name),
                              " has no args, which list what it runs"));
  }
  return job;
}

std::vector<NamedJob> ParseAll(absl::string_view yaml) {
  const YAML::Node document = YAML::Load(std::string(yaml));
  if (!document.IsSequence() || document.size() == 0) {
    Refuse(document, "expected a list of jobs");
  }
  std::vector<NamedJob> jobs;
  std::set<std::string> names;
  for (const YAML::Node& node : document) {
    NamedJob job = ParseJob(node);
    if (!names.insert(job.name).second) {
      Refuse(node,
             absl::StrCat("there are two jobs ", config::Quoted(job.name)));
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string PlaceOf(const YAML::Mark& mark) {
  return mark.is_null()
             ? ""
             : absl::StrCat(mark.line + 1, ":", mark.column + 1, ":");
}

// Replaces the variables of one arg.
class Replacement {
 public:
  Replacement(const NamedJob& job,
              const std::map<std::string, std::string>& values)
      : job_(job), values_(values) {}

  absl::StatusOr<std::string> In(absl::string_view arg) const {
    std::string text;
    for (size_t i = 0; i < arg.size(); ++i) {
      const char c = arg[i];
      if (c != '{' && c != '}') {
        text += c;
        continue;
      }
      if (i + 1 < arg.size() && arg[i + 1] == c) {
        text += c;
        ++i;
        continue;
      }
      const size_t end = arg.find('}', i);
      if (c == '}' || end == absl::string_view::npos) {
        return absl::InvalidArgumentError(absl::StrCat(
            "args of ", config::Quoted(job_.name), ": ", config::Quoted(arg),
            " has a stray brace; write {{ or }} for one in the text"));
      }
      const absl::StatusOr<std::string> value =
          ValueOf(arg.substr(i + 1, end - i - 1));
      if (!value.ok()) return value;
      text += *value;
      i = end;
    }
    return text;
  }

 private:
  absl::StatusOr<std::string> ValueOf(absl::string_view name) const {
    const auto value = values_.find(std::string(name));
    if (value != values_.end()) return value->second;
    std::vector<std::string> names = {kFolderVariable};
    for (const JobVariable& variable : job_.variables) {
      names.push_back(variable.name);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "args of ", config::Quoted(job_.name), ": {", name,
        "} is not among its vars; ", config::Suggestion(name, names)));
  }

  const NamedJob& job_;
  const std::map<std::string, std::string>& values_;
};

// The values of all variables: given ones, then defaults.
absl::StatusOr<std::map<std::string, std::string>> AllValues(
    const NamedJob& job, std::map<std::string, std::string> values) {
  std::vector<std::string> names;
  for (const JobVariable& variable : job.variables) {
    names.push_back(variable.name);
  }
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the job ", config::Quoted(job.name), " has no variable ",
          config::Quoted(name), "; ", config::Suggestion(name, names)));
    }
  }
  for (const JobVariable& variable : job.variables) {
    if (values.count(variable.name) > 0) continue;
    if (!variable.default_value.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the job ", config::Quoted(job.name),
                       " needs a value of ", variable.name, ", as in -i '{",
                       config::Quoted(variable.name), ": ...}'"));
    }
    values[variable.name] = *variable.default_value;
  }
  return values;
}

}  // namespace

absl::StatusOr<std::vector<NamedJob>> ParseNamedJobs(absl::string_view yaml,
                                                     absl::string_view source) {
  try {
    return ParseAll(yaml);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ":", PlaceOf(error.mark), " ", error.msg));
  }
}

std::string NamedJobsText(absl::Span<const NamedJob> jobs) {
  std::string text;
  for (const NamedJob& job : jobs) {
    absl::StrAppend(&text, job.name, "\n");
    const absl::string_view description =
        absl::StripAsciiWhitespace(job.description);
    if (!description.empty()) absl::StrAppend(&text, "    ", description, "\n");
    for (const JobVariable& variable : job.variables) {
      absl::StrAppend(&text, "    ", variable.name,
                      variable.default_value.has_value()
                          ? absl::StrCat("=", *variable.default_value)
                          : " (must be given)",
                      "\n");
    }
  }
  return text;
}

absl::StatusOr<NamedJob> FindNamedJob(absl::Span<const NamedJob> jobs,
                                      absl::string_view name) {
  std::vector<std::string> names;
  for (const NamedJob& job : jobs) {
    if (job.name == name) return job;
    names.push_back(job.name);
  }
  return absl::NotFoundError(absl::StrCat("no job is named ",
                                          config::Quoted(name), "; ",
                                          config::Suggestion(name, names)));
}

absl::StatusOr<std::map<std::string, std::string>> ParseVariableValues(
    absl::string_view json) {
  std::map<std::string, std::string> values;
  if (json.empty()) return values;
  const nlohmann::json object =
      nlohmann::json::parse(json.begin(), json.end(), nullptr,
                            /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(
        config::Quoted(json),
        " is not a JSON object; write one such as {\"qps\": 100}"));
  }
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) {
      values[name] = value.get<std::string>();
    } else if (value.is_number() || value.is_boolean()) {
      values[name] = value.dump();
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("the value of ", config::Quoted(name),
                       " must be a text, a number, true or "
                       "false"));
    }
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> ArgsOf(
    const NamedJob& job, const std::map<std::string, std::string>& values,
    absl::string_view folder) {
  absl::StatusOr<std::map<std::string, std::string>> all =
      AllValues(job, values);
  if (!all.ok()) return all.status();
  (*all)[kFolderVariable] = std::string(folder);
  const Replacement replacement(job, *all);
  std::vector<std::string> args;
  for (const std::string& arg : job.args) {
    absl::StatusOr<std::string> text = replacement.In(arg);
    if (!text.ok()) return text.status();
    args.push_back(*std::move(text));
  }
  return args;
}

}  // namespace distbench::bench
