#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "scenario/scenario.hpp"

namespace sb::scenario {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStepMs = 60'000;
constexpr std::size_t kOutputBytes = 64u << 20;

// The folder of one scenario: bin/ (links to the programs), home/, work/ (where steps run).
class Place {
 public:
  Place() {
    std::string pattern = (fs::temp_directory_path() / "scenario.XXXXXX").string();
    if (const char* made = ::mkdtemp(pattern.data())) root_ = made;
  }
  ~Place() {
    std::error_code ignored;
    // A scenario may have removed its own permissions.
    for (auto entry = fs::recursive_directory_iterator(root_, fs::directory_options::skip_permission_denied, ignored);
         entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) {
        fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
      }
    }
    fs::remove_all(root_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool is_made() const { return !root_.empty(); }
  fs::path bin() const { return root_ / "bin"; }
  fs::path home() const { return root_ / "home"; }
  fs::path work() const { return root_ / "work"; }
  fs::path resolve(const std::string& path) const {
    return path.starts_with("~/") ? home() / path.substr(2) : work() / path;
  }

 private:
  fs::path root_;
};

void prepare(const Place& place, const Scenario& scenario, const fs::path& programs) {
  for (const fs::path& folder : {place.bin(), place.home(), place.work()}) fs::create_directory(folder);
  fs::create_symlink(programs / "signalbox", place.bin() / "signalbox");
  for (const char* name : {"signalbox-hook", "gstack-question-preference", "gstack-question-log",
                           "question-preference-hook", "question-log-hook"}) {
    fs::create_symlink(programs / "signalbox-hook", place.bin() / name);
  }
  // It is built next to the runner.
  fs::create_symlink(fs::read_symlink("/proc/self/exe").parent_path() / "terminal", place.bin() / "terminal");
  for (const auto& [name, bytes] : scenario.files) {
    const fs::path path = place.resolve(name);
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
}

using Names = std::map<std::string, std::string>;

// Unknown names are kept: they may be shell variables.
std::string replace_names(const std::string& text, const Names& names) {
  std::string replaced;
  std::size_t at = 0;
  while (true) {
    const auto open = text.find("${", at);
    const auto close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return replaced + text.substr(at);
    replaced += text.substr(at, open - at);
    const auto found = names.find(text.substr(open + 2, close - open - 2));
    replaced += found == names.end() ? text.substr(open, close + 1 - open) : found->second;
    at = close + 1;
  }
}

Value replace_names(const Value& value, const Names& names) {
  if (value.is_string()) return Value(replace_names(value.as_string(), names));
  if (value.is_array()) {
    Value replaced = Value::array();
    for (const Value& item : value.items()) replaced.push_back(replace_names(item, names));
    return replaced;
  }
  if (value.is_object()) {
    Value replaced = Value::object();
    for (const auto& [name, item] : value.members()) replaced.set(name, replace_names(item, names));
    return replaced;
  }
  return value;
}

StreamExpectation replace_names(StreamExpectation expected, const Names& names) {
  if (expected.exact) expected.exact = replace_names(*expected.exact, names);
  for (std::string& text : expected.contains) text = replace_names(text, names);
  for (std::string& text : expected.lacks) text = replace_names(text, names);
  if (expected.json) expected.json = replace_names(*expected.json, names);
  return expected;
}

std::map<std::string, std::string> environment_of(const Place& place, const Scenario& scenario, const Names& names) {
  std::map<std::string, std::string> environment = {{"PATH", place.bin().string() + ":/usr/local/bin:/usr/bin:/bin"},
                                                    {"HOME", place.home().string()},
                                                    {"SIGNALBOX_HOME", (place.home() / ".sb").string()},
                                                    {"LC_ALL", "C.UTF-8"}};
  // Pass the sanitizers' options on to the programs.
  const Environment ours = Environment::of_process();
  for (const auto& [name, value] : ours.all()) {
    if (name.ends_with("SAN_OPTIONS") || name == "ASAN_SYMBOLIZER_PATH") environment[name] = value;
  }
  for (const auto& [name, value] : scenario.environment) environment[name] = replace_names(value, names);
  return environment;
}

const Value* at_pointer(const Value& root, std::string_view pointer) {
  const Value* value = &root;
  while (value && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    if (value->is_array()) {
      const auto index = static_cast<std::size_t>(std::atoll(std::string(step).c_str()));
      value = index < value->size() ? &value->items()[index] : nullptr;
    } else {
      value = value->find(step);
    }
  }
  return value;
}

// `/a#/b`: the value at /b of the JSON in the text at /a.
std::optional<Value> picked(std::string_view json, std::string_view path) {
  const auto root = parse_json(json);
  const std::size_t inner = path.find('#');
  const Value* value = root ? at_pointer(*root, path.substr(0, inner)) : nullptr;
  if (value == nullptr) return {};
  if (inner == std::string_view::npos) return *value;
  if (!value->is_string()) return {};
  return picked(value->as_string(), path.substr(inner + 1));
}

std::string save(const Step& step, const std::string& output, Names& names) {
  for (const auto& [name, pointer] : step.saves) {
    if (pointer == "-") {
      names[name] = output.ends_with('\n') ? output.substr(0, output.size() - 1) : output;
      continue;
    }
    const std::optional<Value> value = picked(output, pointer);
    if (!value) return fmt::format("  stdout: nothing at \"{}\" to save as {}\n", pointer, name);
    names[name] = value->is_string() ? value->as_string() : to_json(*value);
  }
  return {};
}

std::string check_file(const FileExpectation& expected, const Place& place, const Names& names) {
  const fs::path path = place.resolve(replace_names(expected.path, names));
  const bool is_there = fs::exists(fs::symlink_status(path));
  if (expected.is_absent) return is_there ? fmt::format("  {}: exists, but should not\n", expected.path) : "";
  const auto bytes = SystemFiles().read(path.string(), kOutputBytes);
  if (!bytes) return fmt::format("  {}: {}\n", expected.path, bytes.error().to_string());
  return mismatch(replace_names(expected.content, names), *bytes, expected.path);
}

std::string run_step(const Step& step, const Scenario& scenario, const Place& place, Names& names) {
  Command command;
  for (const std::string& word : step.argv) command.argv.push_back(replace_names(word, names));
  command.input = replace_names(step.input, names);
  command.directory = place.work().string();
  command.environment = environment_of(place, scenario, names);
  command.timeout_ms = kStepMs;
  command.max_output_bytes = kOutputBytes;
  const auto exit = SystemProcess().run(command);
  if (!exit) return fmt::format("  {}\n", exit.error().to_string());
  std::string text;
  if (exit->timed_out) text += fmt::format("  took longer than {} s\n", kStepMs / 1000);
  if (exit->output_truncated) text += fmt::format("  printed more than {} bytes\n", kOutputBytes);
  if (exit->code != step.exit) {
    text += fmt::format("  exit: expected {}, found {}\n", step.exit, exit->code);
    text += fmt::format("  stdout was\n    {}\n  stderr was\n    {}\n", exit->output.substr(0, 2000),
                        exit->errors.substr(0, 4000));
  }
  text += mismatch(replace_names(step.output, names), exit->output, "stdout");
  text += mismatch(replace_names(step.errors, names), exit->errors, "stderr");
  text += save(step, exit->output, names);
  for (const FileExpectation& file : step.files_after) text += check_file(file, place, names);
  return text;
}

}  // namespace

std::optional<std::string> run_scenario(const Scenario& scenario, const std::string& programs) {
  const Place place;
  if (!place.is_made()) return "  cannot create a temporary folder\n";
  try {
    prepare(place, scenario, fs::absolute(programs));
  } catch (const fs::filesystem_error& error) {
    return fmt::format("  cannot prepare: {}\n", error.what());
  }
  Names names = {{"HOME", place.home().string()}, {"DIR", place.work().string()}};
  int number = 0;
  for (const Step& step : scenario.steps) {
    ++number;
    std::string text = run_step(step, scenario, place, names);
    if (text.empty()) continue;
    std::string line;
    for (const std::string& word : step.argv) line += " " + word.substr(0, 200);
    return fmt::format("  step {}:{}\n{}", number, line, text);
  }
  return std::nullopt;
}

}  // namespace sb::scenario
