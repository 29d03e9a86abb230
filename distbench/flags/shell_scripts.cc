#include "distbench/flags/shell_scripts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace distbench::flags {
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
        if [[ $line == *[=:,/] ]]; then compopt -o nospace; fi
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
    if [[ $word == *[=:,/] ]]; then
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
