#include "faults/driver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/document/document.hpp"

namespace sb::faults {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWorkflow = R"(
id: faults-loop
name: Long work
description: Two steps, a thousand times.
version: 1.0.0
steps:
  - {id: first, title: First, prompt: Begin.}
  - id: again
    type: loop
    title: Again
    loop: {type: for, count: 1000, maxIterations: 1000}
    body:
      - {id: plan, title: Plan, prompt: Plan it.}
      - {id: build, title: Build, prompt: Build it.}
)";

}  // namespace

std::optional<Value> ProgramCall::reported() const {
  if (output.empty() || output.back() != '\n') return std::nullopt;
  auto value = parse_json(output);
  if (!value || !value->is_object()) return std::nullopt;
  return *value;
}

// The programs run in another folder, so the path must be absolute.
TestHome::TestHome(std::string program) : program_(std::filesystem::absolute(program).string()) {
  std::string pattern = (fs::temp_directory_path() / "sb-faults-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot create a temporary folder");
  directory_ = fs::canonical(pattern);
  for (const char* name : {"flows", "work", "notes"}) fs::create_directory(directory_ + "/" + name);
  std::ofstream(directory_ + "/flows/faults-loop.yaml") << kWorkflow;
  environment_ = {"PATH=/usr/bin:/bin", "HOME=" + directory_, "SIGNALBOX_HOME=" + directory_ + "/home",
                  "SIGNALBOX_WORKFLOWS=" + directory_ + "/flows", "LC_ALL=C.UTF-8"};
}

TestHome::~TestHome() {
  if (is_kept_) return;
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

ProgramCall TestHome::run(std::vector<std::string> arguments, std::optional<std::int64_t> kill_after_us) const {
  return {test_program::start_program(
      program_, environment_,
      {.arguments = std::move(arguments), .directory = directory_ + "/work", .kill_after_us = kill_after_us})};
}

ProgramCall TestHome::start(const std::string& goal, std::optional<std::int64_t> kill_after_us) const {
  return run({"session", "start", "faults-loop", "--goal", goal, "--json"}, kill_after_us);
}

ProgramCall TestHome::continue_session(const std::string& token, const std::string& notes,
                                       std::optional<std::int64_t> kill_after_us) const {
  const std::string file = fmt::format("{}/notes/{}", directory_, files_++);
  std::ofstream(file) << notes;
  ProgramCall call = run({"session", "continue", token, "--notes", file, "--json"}, kill_after_us);
  std::error_code ignored;
  fs::remove(file, ignored);
  return call;
}

std::optional<std::vector<Value>> exported(const TestHome& place, const std::string& session) {
  const ProgramCall call = place.run({"session", "export", session});
  if (call.code != 0) return std::nullopt;
  std::vector<Value> events;
  std::string_view rest = call.output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    auto event = parse_json(rest.substr(0, end));
    if (!event) return std::nullopt;
    events.push_back(std::move(*event));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return events;
}

std::optional<std::vector<std::string>> listed(const TestHome& place) {
  const ProgramCall call = place.run({"session", "list", "--all", "--limit", "10000", "--json"});
  const auto value = parse_json(call.output);
  if (call.code != 0 || !value) return std::nullopt;
  std::vector<std::string> ids;
  const Value* sessions = value->is_array() ? &*value : value->find("sessions");
  if (!sessions) return std::nullopt;
  for (const Value& session : sessions->items()) ids.push_back(session.string_at("sessionId").value_or(""));
  return ids;
}

void Problems::add(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (++count_ <= 10) fmt::print("FAILED: {}\n", problem);
}

}  // namespace sb::faults
