// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/flags/completion.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/flags/flags.h"

namespace distbench::flags {
namespace {

using Paths = Completion::Paths;

Paths PathsOf(const std::string& type) {
  if (IsFileType(type)) return Paths::kFiles;
  if (type == "DIR") return Paths::kFolders;
  return Paths::kNone;
}

// The first sentence of a description, whose lines are broken for the help
// text; not what is listed below it, nor the variable of a flag.
std::string FirstSentence(const std::string& description) {
  std::string text;
  for (absl::string_view line : absl::StrSplit(description, '\n')) {
    const bool is_another = line.empty() || absl::StartsWith(line, " ") ||
                            absl::StartsWith(line, kEnvironmentLabel);
    if (is_another) break;
    absl::StrAppend(&text, text.empty() ? "" : " ", line);
  }
  text.resize(std::min(text.size(), text.find(". ")));
  if (absl::EndsWith(text, ".") || absl::EndsWith(text, ":")) text.pop_back();
  return text;
}

// Flags and commands that were typed, and what the last word is.
struct Position {
  const CLI::App* command;
  int argument = 0;             // how many were given
  std::optional<Flag> pending;  // a flag whose value is the next word
};

// Returns nothing if the command has no flag that is written so.
std::optional<Flag> FindFlag(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (Flag& flag : FlagsOf(command)) {
    for (const std::string& long_name : flag.long_names) {
      if (absl::StrCat("--", long_name) == name) return std::move(flag);
    }
    for (const std::string& short_name : flag.short_names) {
      if (absl::StrCat("-", short_name) == name) return std::move(flag);
    }
  }
  return std::nullopt;
}

void Take(const std::string& word, Position& position) {
  if (position.pending.has_value()) {
    position.pending.reset();
  } else if (absl::StartsWith(word, "-")) {
    std::optional<Flag> flag = FindFlag(*position.command, word);
    const bool has_value = word.find('=') != std::string::npos;
    if (flag.has_value() && flag->most_values > 0 && !has_value) {
      position.pending = std::move(flag);
    }
  } else if (const CLI::App* sub = FindCommand(*position.command, word);
             sub != nullptr && position.argument == 0) {
    position.command = sub;
  } else {
    ++position.argument;
  }
}

// Whether a shell takes the word as it is. Names come from files and from other
// users of a sequencer, and the word is typed for the user.
bool IsHarmless(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) ||
           absl::string_view("_-.,:=/@%+[]").find(c) != absl::string_view::npos;
  });
}

std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return absl::ascii_iscntrl(c); }, ' ');
  return text;
}

// The choices that a flag's description lists, a line each: "  json: all of
// it".
std::vector<Candidate> ListedChoices(const std::string& description) {
  std::vector<Candidate> choices;
  for (absl::string_view line : absl::StrSplit(description, '\n')) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (absl::StartsWith(line, "  ") && parts.size() == 2) {
      choices.push_back({parts[0].substr(2), parts[1]});
    }
  }
  return choices;
}

class Completer {
 public:
  Completer(std::vector<std::string> before, std::string word,
            const ValueSource& values)
      : before_(std::move(before)), word_(std::move(word)), values_(values) {}

  Completion Run(const CLI::App& app) {
    Position position = {.command = &app};
    for (const std::string& word : before_) Take(word, position);
    const size_t equals = word_.find('=');
    if (position.pending.has_value()) {
      AddValues(*position.pending, "", word_);
    } else if (absl::StartsWith(word_, "-") && equals != std::string::npos) {
      const std::optional<Flag> flag = FindFlag(*position.command, word_);
      if (flag.has_value()) {
        AddValues(*flag, word_.substr(0, equals + 1), word_.substr(equals + 1));
      }
    } else if (absl::StartsWith(word_, "-")) {
      AddFlags(*position.command);
    } else {
      AddArguments(position);
    }
    return std::move(completion_);
  }

 private:
  // Of a flag with several names, the first one is offered.
  void AddFlags(const CLI::App& command) {
    for (const Flag& flag : FlagsOf(command)) {
      std::string name = !flag.long_names.empty()
                             ? absl::StrCat("--", flag.long_names.front(),
                                            flag.most_values > 0 ? "=" : "")
                             : absl::StrCat("-", flag.short_names.front());
      Add("", std::move(name), FirstSentence(flag.description), word_);
    }
  }

  void AddArguments(const Position& position) {
    if (position.argument == 0) {
      for (const CLI::App* sub : CommandsOf(*position.command)) {
        Add("", NameOf(*sub), FirstSentence(DescriptionOf(*sub)), word_);
      }
    }
    int place = position.argument;
    for (const Flag& argument : ArgumentsOf(*position.command)) {
      if (place < argument.most_values) return AddValues(argument, "", word_);
      place -= argument.most_values;
    }
  }

  // Adds values of a flag or an argument to what stays of the word.
  void AddValues(const Flag& flag, std::string stays, std::string typed) {
    const std::string one = flag.type.substr(0, flag.type.find('['));
    if (one != flag.type) {  // NAME[,NAME...]
      const size_t comma = typed.rfind(',');
      if (comma != std::string::npos) {
        stays += typed.substr(0, comma + 1);
        typed.erase(0, comma + 1);
      }
    }
    completion_.paths = PathsOf(one);
    if (absl::StrContains(one, '|')) return AddChoices(one, stays, typed);
    for (Candidate& choice : ListedChoices(flag.description)) {
      Add(stays, std::move(choice.word), std::move(choice.description), typed);
    }
    for (Candidate& value : values_({one, typed, before_})) {
      // As a word of its own, it would be read as a flag.
      if (stays.empty() && absl::StartsWith(value.word, "-")) continue;
      Add(stays, std::move(value.word), std::move(value.description), typed);
    }
  }

  // Of "N|auto", N stands for something else.
  void AddChoices(const std::string& type, const std::string& stays,
                  const std::string& typed) {
    for (absl::string_view choice : absl::StrSplit(type, '|')) {
      const bool is_literal =
          std::none_of(choice.begin(), choice.end(),
                       [](unsigned char c) { return absl::ascii_isupper(c); });
      if (is_literal) Add(stays, std::string(choice), "", typed);
    }
  }

  void Add(const std::string& stays, std::string value, std::string description,
           const std::string& typed) {
    if (!absl::StartsWith(value, typed)) return;
    completion_.candidates.push_back(
        {absl::StrCat(stays, value), std::move(description)});
  }

  const std::vector<std::string> before_;
  const std::string word_;
  const ValueSource& values_;
  Completion completion_;
};

}  // namespace

Completion Complete(const CLI::App& app, std::vector<std::string> words,
                    const ValueSource& values) {
  if (words.empty()) words.emplace_back();
  std::string word = std::move(words.back());
  words.pop_back();
  return Completer(std::move(words), std::move(word), values).Run(app);
}

std::string CompletionText(const Completion& completion) {
  std::string text;
  if (completion.paths == Paths::kFiles) text = ":files\n";
  if (completion.paths == Paths::kFolders) text = ":folders\n";
  for (const Candidate& candidate : completion.candidates) {
    if (!IsHarmless(candidate.word)) continue;
    absl::StrAppend(&text, candidate.word, "\t",
                    Printable(candidate.description), "\n");
  }
  return text;
}

std::string FlagValue(const std::vector<std::string>& words,
                      const std::string& flag) {
  const std::string begin = absl::StrCat(flag, "=");
  for (size_t i = 0; i < words.size(); ++i) {
    if (absl::StartsWith(words[i], begin)) return words[i].substr(begin.size());
    if (words[i] == flag && i + 1 < words.size()) return words[i + 1];
  }
  return "";
}

namespace {

// In these scripts, @PROGRAM@ is the program, and @DISTBENCH@ the distbench
// that knows its flags: the program itself, as it was typed, if it is
// distbench.

constexpr char kBash[] = R"(# Completion of @PROGRAM@ for bash.

_@PROGRAM@_complete() {
  # COMP_WORDS has --infile=a and host:1 in pieces. Pieces without a blank
  # between them are one word.
  local rest=${COMP_LINE:0:COMP_POINT} trimmed piece i
  local words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    if ((i == 0)) || [[ $trimmed != "$rest" ]]; then
      words+=("")
    fi
    piece=${COMP_WORDS[i]}
    if [[ $trimmed != "$piece"* ]]; then
      piece=$trimmed # the cursor is within the word
    fi
    words[${#words[@]} - 1]+=$piece
    rest=${trimmed#"$piece"}
  done
  local current=${words[${#words[@]} - 1]}

  # Of a word in pieces, bash replaces the last one.
  local breaks='' kept=''
  if [[ $COMP_WORDBREAKS == *=* ]]; then breaks+='='; fi
  if [[ $COMP_WORDBREAKS == *:* ]]; then breaks+=':'; fi
  if [[ -n $breaks ]]; then
    kept=${current%"${current##*["$breaks"]}"}
  fi

  local lines line paths path value=$current
  if [[ $value == --*=* ]]; then value=${value#*=}; fi
  COMPREPLY=()
  mapfile -t lines < <("@DISTBENCH@" complete -- @PROGRAM@ \
    "${words[@]:1}" 2>/dev/null)
  for line in "${lines[@]}"; do
    case $line in
      :files | :folders)
        compopt -o filenames
        if [[ $line == :files ]]; then
          mapfile -t paths < <(compgen -f -- "$value")
        else
          mapfile -t paths < <(compgen -d -- "$value")
        fi
        for path in "${paths[@]}"; do
          COMPREPLY+=("$path")
        done
        ;;
      *)
        line=${line%%$'\t'*}
        if [[ $line == *[=:,./] ]]; then compopt -o nospace; fi
        COMPREPLY+=("${line#"$kept"}")
        ;;
    esac
  done
}

complete -F _@PROGRAM@_complete @PROGRAM@
)";

constexpr char kZsh[] = R"(#compdef @PROGRAM@
# Completion of @PROGRAM@ for zsh.

_@PROGRAM@() {
  local -a lines whole open
  local line word about paths
  lines=("${(@f)$("@DISTBENCH@" complete -- @PROGRAM@ \
    "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files || $line == :folders ]]; then
      paths=$line
      continue
    fi
    word=${line%%$'\t'*}
    about=${line#*$'\t'}
    # A colon ends the word for _describe.
    line=${word//:/\\:}${about:+:$about}
    if [[ $word == *[=:,./] ]]; then
      open+=("$line")
    else
      whole+=("$line")
    fi
  done
  (( $#whole )) && _describe -t values value whole
  (( $#open )) && _describe -t values value open -S ''
  if [[ -n $paths ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    if [[ $paths == :files ]]; then _files; else _files -/; fi
  fi
}

_@PROGRAM@ "$@"
)";

constexpr char kFish[] = R"(# Completion of @PROGRAM@ for fish.

function __@PROGRAM@_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # What stays of a word such as --infile=a, and the path in it.
    set -l flag (string match -r -- '^--[^=]*=' $current)
    set -l value (string replace -r -- '^--[^=]*=' '' $current)
    for line in (@DISTBENCH@ complete -- @PROGRAM@ $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                for path in (__fish_complete_path $value)
                    echo -- "$flag"$path
                end
            case ':folders'
                for path in (__fish_complete_directories $value)
                    echo -- "$flag"$path
                end
            case '*'
                echo -- $line
        end
    end
end

complete -c @PROGRAM@ -f -a '(__@PROGRAM@_complete)'
)";

// How the shell finds the distbench to ask: `typed` is the word of the command.
std::string Script(const char* text, const std::string& program,
                   const std::string& typed) {
  return absl::StrReplaceAll(
      text, {{"@PROGRAM@", program},
             {"@DISTBENCH@", program == "distbench" ? typed : "distbench"}});
}

}  // namespace

std::vector<ShellScript> CompletionScripts(const std::string& program) {
  return {
      {absl::StrCat("bash/", program), Script(kBash, program, "$1")},
      {absl::StrCat("zsh/_", program), Script(kZsh, program, "$words[1]")},
      {absl::StrCat("fish/", program, ".fish"),
       Script(kFish, program, "$words[1]")},
  };
}

}  // namespace distbench::flags
