#include "cli/run_recording.hpp"

#include <fmt/format.h>

#include "agent/cassette.hpp"
#include "base/document.hpp"
#include "base/limits.hpp"
#include "inbox/desk.hpp"

namespace sb::cli {
namespace {

constexpr std::size_t kRecordingBytes = 512u << 20;

std::unexpected<Faults> faulty(Error error) {
  return std::unexpected(Faults{std::move(error)});
}

std::vector<std::string> named_folders(const Environment& environment) {
  std::vector<std::string> folders;
  const std::string list = environment.get("SIGNALBOX_WORKFLOWS").value_or("");
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (end > at) folders.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return folders;
}

Result<std::vector<pipeline::RunEvent>> events_from(const std::string& text) {
  std::vector<pipeline::RunEvent> events;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const Value line = SB_TRY(parse_json(std::string_view(text).substr(at, end - at), {.bytes = kRecordingBytes}));
    const Value& seq = line["seq"];
    events.push_back({seq.is_integer() ? seq.as_integer() : 0,
                      SB_TRY(parse_rfc3339(line.string_at("time").value_or(""))), line.string_at("type").value_or(""),
                      line["payload"]});
    at = end + 1;
  }
  return events;
}

std::string pitch_of(const Files& files, const std::string& data_home, const pipeline::RunState& state) {
  const std::string folder = join_path(join_path(data_home, "pitches"), state.id);
  const auto names = files.list(folder);
  if (!names || names->empty()) return {};
  return files.read(join_path(folder, names->front()), sb::limits::kDocumentBytes).value_or("");
}

Status load_run(const Context& context, const std::string& name, Recording& recording) {
  const auto desk = SB_TRY(inbox::Desk::open(context.seams, store::Access::kReadWrite));
  pipeline::RunLog log(desk->store(), context.seams.clock);
  const std::string id = SB_TRY(log.resolve(name));
  recording.events = SB_TRY(log.read(id));
  recording.state = SB_TRY(pipeline::fold_run(recording.events));
  recording.cassette = SB_TRY(agent::Cassette(desk->store(), id).to_document());
  recording.repository = recording.state.repository;
  recording.config = context.seams.files.read(join_path(desk->homes().config, "config.yaml"), 1u << 20).value_or("");
  recording.pitch = pitch_of(context.seams.files, desk->homes().data, recording.state);
  recording.workflows = named_folders(context.seams.environment);
  return {};
}

Status load_folder(const Context& context, const std::string& folder, Recording& recording) {
  const Files& files = context.seams.files;
  const auto file = [&](std::string_view name) { return join_path(folder, name); };
  recording.events = SB_TRY(events_from(SB_TRY(files.read(file("events.jsonl"), kRecordingBytes))));
  recording.state = SB_TRY(pipeline::fold_run(recording.events));
  recording.cassette =
      SB_TRY(parse_json(SB_TRY(files.read(file("cassette.json"), kRecordingBytes)), {.bytes = kRecordingBytes}));
  recording.repository = SB_TRY(files.canonical(file("repository.bundle")));
  recording.config = files.read(file("config.yaml"), 1u << 20).value_or("");
  recording.pitch = files.read(file("pitch.md"), sb::limits::kDocumentBytes).value_or("");
  if (const auto names = files.list(file("workflows"))) {
    for (const std::string& name : *names) recording.workflows.push_back(file("workflows/" + name));
  }
  return {};
}

Checked<pipeline::Settings> settings_of(const std::string& config) {
  const auto document = parse_document("config.yaml", config.empty() ? "{}" : config);
  if (!document) return faulty(document.error());
  pipeline::Settings settings;
  Faults faults;
  pipeline::read_settings(*document, pipeline::SettingsOf::kUser, "/", settings, faults);
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return settings;
}

Status run_git(const Context& context, std::vector<std::string> words) {
  words.insert(words.begin(), "git");
  const Exit exit = SB_TRY(context.seams.process.run({.argv = words, .timeout_ms = 120'000}));
  if (exit.code == 0) return {};
  return fail(ErrorCode::kIo, fmt::format("git {}: {}", words[1], exit.errors));
}

}  // namespace

Value to_value(const pipeline::RunEvent& event) {
  return Value::object(
      {{"seq", event.seq}, {"time", to_rfc3339(event.time_ms)}, {"type", event.type}, {"payload", event.payload}});
}

Checked<Recording> load_recording(const Context& context, const std::string& name) {
  Recording recording;
  const bool is_folder = context.seams.files.kind(join_path(name, "events.jsonl")) == FileKind::kFile;
  const Status loaded = is_folder ? load_folder(context, name, recording) : load_run(context, name, recording);
  if (!loaded) return faulty(loaded.error());
  if (recording.state.tree.base_commit.empty()) {
    return faulty({ErrorCode::kInvalid, fmt::format("run {} never began to work", recording.state.id), {}, {}});
  }
  const auto homes = sb::homes(context.seams.environment);
  if (!homes) return faulty(homes.error());
  auto settings = is_folder ? settings_of(recording.config)
                            : pipeline::load_settings(context.seams, *homes, recording.state.workspace);
  if (!settings) return std::unexpected(settings.error());
  recording.settings = std::move(*settings);
  return recording;
}

Status keep_recording(const Context& context, const Recording& recording, const std::string& directory) {
  Files& files = context.seams.files;
  if (const auto names = files.list(directory); names && !names->empty()) {
    return fail(ErrorCode::kConflict, fmt::format("{} is not empty", directory), "Name a new folder");
  }
  SB_TRY(files.make_directories(directory));
  const std::string folder = SB_TRY(files.canonical(directory));
  const auto file = [&](std::string_view name) { return join_path(folder, name); };
  std::string lines;
  for (const pipeline::RunEvent& event : recording.events) lines += to_json(to_value(event)) + "\n";
  SB_TRY(files.write_atomic(file("events.jsonl"), lines));
  SB_TRY(files.write_atomic(file("cassette.json"), to_json(recording.cassette) + "\n"));
  if (!recording.config.empty()) SB_TRY(files.write_atomic(file("config.yaml"), recording.config));
  if (!recording.pitch.empty()) SB_TRY(files.write_atomic(file("pitch.md"), recording.pitch));
  const std::string& commit = recording.state.tree.base_commit;
  const std::string ref = "refs/signalbox/kept/" + recording.state.id;
  SB_TRY(run_git(context, {"-C", recording.repository, "update-ref", ref, commit}));
  const Status bundled =
      run_git(context, {"-C", recording.repository, "bundle", "create", "--quiet", file("repository.bundle"), ref});
  SB_TRY(run_git(context, {"-C", recording.repository, "update-ref", "-d", ref}));
  SB_TRY(bundled);
  for (std::size_t i = 0; i < recording.workflows.size(); ++i) {
    SB_TRY(files.make_directories(file("workflows")));
    const Exit copied = SB_TRY(context.seams.process.run(
        {.argv = {"cp", "-R", "--", recording.workflows[i], file(fmt::format("workflows/{}", i))}}));
    if (copied.code != 0) return fail(ErrorCode::kIo, "the workflows could not be copied: " + copied.errors);
  }
  return files.write_atomic(file("replay"),
                            "#!/bin/sh\n# Plays the recorded run again, offline; fails where it goes another way.\n"
                            "exec \"${SIGNALBOX:-signalbox}\" run --replay \"$(dirname \"$0\")\" \"$@\"\n",
                            0755);
}

}  // namespace sb::cli
