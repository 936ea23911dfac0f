#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/crypto.hpp"
#include "base/document/reader.hpp"
#include "scenario/scenario.hpp"

namespace sb::scenario {
namespace {

constexpr std::size_t kTextBytes = 16u << 20;
constexpr std::int64_t kRepeatBytes = 256 << 20;
constexpr std::array<std::string_view, 8> kPrograms = {"signalbox",
                                                       "signalbox-hook",
                                                       "gstack-question-preference",
                                                       "gstack-question-log",
                                                       "question-preference-hook",
                                                       "question-log-hook",
                                                       "terminal",
                                                       "sh"};
constexpr std::string_view kSandbox = "sandbox", kLowLimits = "low-limits";

std::optional<std::string> decode_base64(std::string text) {
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  auto bytes = from_base64url(text);
  if (!bytes) return std::nullopt;
  return std::move(*bytes);
}

// Bytes as text, {base64} or {repeat, times}. Numbers are read as text, so that `--cap, 4` works.
std::string read_bytes(const Reader& reader) {
  if (reader.value().is_integer()) return std::to_string(reader.value().as_integer());
  if (!reader.value().is_object()) return reader.string(kTextBytes).value_or("");
  Fields fields = reader.fields();
  std::string bytes;
  if (const auto text = fields.string("base64", Need::kOptional, kTextBytes)) {
    const auto decoded = decode_base64(*text);
    if (!decoded) reader.fault("not base64", "Check it with base64 -d");
    bytes = decoded.value_or("");
  } else if (const auto piece = fields.string("repeat", Need::kRequired)) {
    const auto most = kRepeatBytes / std::max<std::int64_t>(1, static_cast<std::int64_t>(piece->size()));
    const auto times = fields.integer("times", 0, most, Need::kRequired).value_or(0);
    bytes.reserve(piece->size() * static_cast<std::size_t>(times));
    for (std::int64_t i = 0; i < times; ++i) bytes += *piece;
  }
  fields.finish();
  return bytes;
}

std::vector<std::string> read_texts(const std::optional<Reader>& reader) {
  std::vector<std::string> texts;
  if (!reader) return texts;
  if (reader->value().is_string()) return {reader->value().as_string()};
  for (const Reader& item : reader->items()) texts.push_back(read_bytes(item));
  return texts;
}

// The keys of one stream's expectations; literals, because Fields keeps views of the names.
struct StreamFields {
  std::string_view exact, empty, contains, lacks, matches, json;
};
constexpr StreamFields kStdout{"stdout",       "stdout_empty",   "stdout_contains",
                               "stdout_lacks", "stdout_matches", "stdout_json"};
constexpr StreamFields kStderr{"stderr",       "stderr_empty",   "stderr_contains",
                               "stderr_lacks", "stderr_matches", "stderr_json"};

StreamExpectation read_stream_expectation(Fields& fields, const StreamFields& names) {
  StreamExpectation expected;
  if (const auto exact = fields.get(names.exact)) expected.exact = read_bytes(*exact);
  if (fields.boolean(names.empty).value_or(false)) expected.exact = "";
  expected.contains = read_texts(fields.get(names.contains));
  expected.lacks = read_texts(fields.get(names.lacks));
  expected.pattern = fields.string(names.matches);
  if (const auto json = fields.get(names.json)) expected.json = json->value();
  return expected;
}

FileExpectation read_file_expectation(const std::string& path, const Reader& reader) {
  FileExpectation expected;
  expected.path = path;
  if (!reader.value().is_object() || reader.value().find("base64") || reader.value().find("repeat")) {
    expected.content.exact = read_bytes(reader);
    return expected;
  }
  Fields fields = reader.fields();
  expected.is_absent = fields.boolean("absent").value_or(false);
  expected.content.contains = read_texts(fields.get("contains"));
  expected.content.lacks = read_texts(fields.get("lacks"));
  if (const auto json = fields.get("json")) expected.content.json = json->value();
  fields.finish();
  return expected;
}

// A reader for every member of an object.
std::vector<std::pair<std::string, Reader>> members_of(const std::optional<Reader>& reader) {
  std::vector<std::pair<std::string, Reader>> members;
  if (!reader || !reader->value().is_object()) {
    if (reader) (void)reader->fields();
    return members;
  }
  for (const auto& member : reader->value().members()) {
    members.emplace_back(member.name, reader->at(member.value));
  }
  return members;
}

Step read_step(const Reader& reader) {
  Step step;
  Fields fields = reader.fields();
  const auto run = fields.get("run", Need::kRequired);
  if (run) step.argv = read_texts(run);
  if (run && (step.argv.empty() || std::ranges::find(kPrograms, step.argv.front()) == kPrograms.end())) {
    run->fault("a scenario may not run this program", fmt::format("Use one of {}", fmt::join(kPrograms, ", ")));
  }
  if (const auto input = fields.get("stdin")) step.input = read_bytes(*input);
  step.exit = static_cast<int>(fields.integer("exit", 0, 255).value_or(0));
  step.output = read_stream_expectation(fields, kStdout);
  step.errors = read_stream_expectation(fields, kStderr);
  for (const auto& [name, pointer] : members_of(fields.get("save"))) {
    step.saves.emplace_back(name, pointer.string().value_or(""));
  }
  for (const auto& [path, file] : members_of(fields.get("files_after"))) {
    step.files_after.push_back(read_file_expectation(path, file));
  }
  fields.finish();
  return step;
}

Scenario read_scenario(const Reader& reader) {
  Scenario scenario;
  Fields fields = reader.fields();
  scenario.name = fields.string("name", Need::kRequired).value_or("");
  scenario.requirements = read_texts(fields.get("requirement"));
  for (const std::string& need : read_texts(fields.get("needs"))) {
    scenario.needs_sandbox = scenario.needs_sandbox || need == kSandbox;
    scenario.needs_low_limits = scenario.needs_low_limits || need == kLowLimits;
    if (need == kSandbox || need == kLowLimits) continue;
    reader.fault(fmt::format("unknown need \"{}\"", need), "Known are sandbox and low-limits");
  }
  for (const auto& [path, file] : members_of(fields.get("files"))) scenario.files.emplace_back(path, read_bytes(file));
  for (const auto& [name, value] : members_of(fields.get("env"))) scenario.environment[name] = read_bytes(value);
  for (const Reader& step : fields.items("steps", Need::kRequired)) scenario.steps.push_back(read_step(step));
  if (scenario.steps.empty()) reader.fault("a scenario needs at least one step", "Add steps:");
  fields.finish();
  return scenario;
}

}  // namespace

Checked<std::vector<Scenario>> read_scenarios(const Document& document) {
  Faults faults;
  std::vector<Scenario> scenarios;
  for (const Reader& item : Reader(document, faults).items()) scenarios.push_back(read_scenario(item));
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return scenarios;
}

}  // namespace sb::scenario
