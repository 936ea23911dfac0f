// `signalbox doctor`: checks everything Signalbox needs and suggests fixes. Changes nothing.
#include "cli/setup/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/value.hpp"
#include "cli/command.hpp"
#include "cli/server/mcp_commands.hpp"
#include "hook/project_folder.hpp"

namespace sb::cli {
namespace {

struct DoctorOptions {
  bool wants_json = false;
  int port = kServePort;
};

struct CheckRow {
  std::string_view name;
  Diagnoses (*check)(const DoctorInput&);
};

constexpr CheckRow kHomeChecks[] = {
    {"home", check_home},   {"configuration", check_configuration}, {"store", check_store}, {"keys", check_keys},
    {"gates", check_gates},
};
constexpr CheckRow kMachineChecks[] = {
    {"hooks", check_hooks}, {"server", check_server},     {"sandbox", check_sandbox},
    {"git", check_git},     {"terminal", check_terminal},
};

std::string_view word_for(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarning:
      return "note";
    case Health::kError:
      break;
  }
  return "wrong";
}

std::string_view colour_for(Health health) {
  switch (health) {
    case Health::kOk:
      return "\x1b[32m";
    case Health::kWarning:
      return "\x1b[33m";
    case Health::kError:
      break;
  }
  return "\x1b[31m";
}

// Texts from other files and programs must not control the terminal.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string line_of(std::string_view subject, const Diagnosis& finding, bool has_colour) {
  const std::string word = fmt::format("{:<5}", word_for(finding.health));
  const std::string shown = has_colour ? fmt::format("{}{}\x1b[0m", colour_for(finding.health), word) : word;
  std::string text = fmt::format("{}  {:<13}  {}\n", shown, subject, on_one_line(finding.what));
  if (!finding.remedy.empty()) text += fmt::format("{:22}fix: {}\n", "", on_one_line(finding.remedy));
  return text;
}

DoctorInput doctor_input(const Context& context, const DoctorOptions& options) {
  const Seams& seams = context.seams;
  const auto homes = sb::homes(seams.environment);
  const std::string here = seams.files.canonical(".").value_or("/");
  return {.seams = seams,
          .homes = homes ? std::optional(*homes) : std::nullopt,
          .project = hook::find_project(seams.files, seams.environment, here),
          .program = seams.files.canonical("/proc/self/exe").value_or(""),
          .version = SIGNALBOX_VERSION,
          .port = options.port};
}

struct Finding {
  std::string_view subject;
  Diagnosis diagnosis;
};

std::vector<Finding> find_all(const DoctorInput& input) {
  std::vector<Finding> all;
  const auto add = [&](std::string_view subject, const Diagnoses& found) {
    for (const Diagnosis& each : found) all.push_back({subject, each});
  };
  for (const CheckRow& row : kHomeChecks) add(row.name, row.check(input));
  const std::size_t before = all.size();
  for (const hook::ClientRow& client : hook::clients()) add(client.word, check_client(input, client));
  if (all.size() == before) add("clients", {{Health::kOk, "none is installed"}});
  for (const CheckRow& row : kMachineChecks) add(row.name, row.check(input));
  return all;
}

int examine(const Context& context, const DoctorOptions& options) {
  const DoctorInput input = doctor_input(context, options);
  std::size_t wrongs = 0;
  Value list = Value::array();
  for (const auto& [subject, finding] : find_all(input)) {
    wrongs += finding.health == Health::kError ? 1 : 0;
    if (!options.wants_json) context.out(line_of(subject, finding, context.has_colour));
    Value entry = Value::object({{"check", subject}, {"state", word_for(finding.health)}, {"what", finding.what}});
    if (!finding.remedy.empty()) entry.set("remedy", finding.remedy);
    list.push_back(std::move(entry));
  }
  if (options.wants_json) {
    context.out(to_json(Value::object({{"version", input.version}, {"ok", wrongs == 0}, {"findings", list}})) + "\n");
  } else if (wrongs > 0) {
    context.out(wrongs == 1 ? "\n1 problem found.\n" : fmt::format("\n{} problems found.\n", wrongs));
  }
  return wrongs == 0 ? kExitOk : kExitNegative;
}

}  // namespace

Action declare_doctor(App& app) {
  auto options = std::make_shared<DoctorOptions>();
  app.add_flag("--json", options->wants_json, "Print one line of JSON");
  app.add_option("--port", options->port, "The port of signalbox serve")->range(1, 65535)->shows_default();
  return [options](Context& context) { return examine(context, *options); };
}

}  // namespace sb::cli
