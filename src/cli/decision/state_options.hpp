// The options shared by `flow` and `split`: definition, state and input, each taken byte for byte.
//
//   --def F  --state BLOB|@FILE  --input TEXT|-  --key FILE  --now RFC3339
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/flow/flow.hpp"

namespace CLI {
class App;
}

namespace sb::cli {

// For CommandRow::exact_options.
inline const std::vector<std::string_view> kStateOptions = {"def", "state", "input", "key", "now"};

enum class StateUse { kStart, kStep };

// For the help of a subcommand; the values are read by read_state_options.
void declare_state_options(App& app, StateUse use);

struct StateOptions {
  decision::Declaration declaration;
  std::optional<std::string> state;
  std::optional<std::string> input;  // for `-`: all of stdin, without one line end
  decision::FlowBlobContext blob;    // key and --now
};

// `kStep` needs a state and an input. The key is read from --key (raw bytes), else from SIGNALBOX_STATE_KEY
// (base64url), and must have at least 16 bytes.
Checked<StateOptions> read_state_options(Context& context, StateUse use);

}  // namespace sb::cli
