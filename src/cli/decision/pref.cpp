// `signalbox pref`: gstack-question-preference under our own name.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "inbox/gstack_programs.hpp"

namespace sb::cli {

Action declare_pref(CLI::App& app) {
  app.description(inbox::question_preference_help("signalbox pref"));
  return [](Context& context) {
    return inbox::run_question_preference("signalbox pref", context.arguments, context.seams);
  };
}

}  // namespace sb::cli
