// `signalbox pref`: the same as gstack-question-preference.

#include "cli/command.hpp"
#include "gstack/programs.hpp"

namespace sb::cli {

Action declare_pref(App& app) {
  app.set_description(gstack::question_preference_help("signalbox pref"));
  return [](Context& context) {
    return gstack::run_question_preference("signalbox pref", context.arguments, context.seams);
  };
}

}  // namespace sb::cli
