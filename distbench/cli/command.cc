#include "distbench/cli/command.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "distbench/report/findings/findings.h"

namespace distbench::cli {

CLI::App& AddSubcommand(CLI::App& parent, const std::string& name,
                        const std::string& description) {
  return *parent.add_subcommand(name, description);
}

void SetBody(CLI::App& command, CommandBody& chosen, CommandBody body) {
  command.callback([body = std::move(body), &chosen] { chosen = body; });
}

void SetStoppableBody(CLI::App& command, CommandBody& chosen,
                      StoppableBody body) {
  SetBody(command, chosen, [body = std::move(body)] {
    base::StopSignals stop(report::kExitRunFailed);
    stop.SetHandler([] { std::_Exit(report::kExitRunFailed); });
    return body(stop);
  });
}

void SetFooter(CLI::App& command, const std::string& text) {
  command.footer(text);
}

void HideSubcommand(CLI::App& command) { command.group(""); }

void AllowOneSubcommand(CLI::App& command) { command.require_subcommand(0, 1); }

}  // namespace distbench::cli
