#include "distbench/cli/command.h"

#include <cstdlib>
#include <utility>

#include "distbench/report/findings/findings.h"

namespace distbench::cli {

void SetBody(CLI::App& command, CommandBody& chosen, CommandBody body) {
  flags::AfterParsing(command,
                      [body = std::move(body), &chosen] { chosen = body; });
}

void SetStoppableBody(CLI::App& command, CommandBody& chosen,
                      StoppableBody body) {
  SetBody(command, chosen, [body = std::move(body)] {
    base::StopSignals stop(report::kExitRunFailed);
    stop.SetHandler([] { std::_Exit(report::kExitRunFailed); });
    return body(stop);
  });
}

}  // namespace distbench::cli
