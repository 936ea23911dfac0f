#include "runs/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "agent/cassette/cassette.hpp"
#include "agent/secrets/redact.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "pipeline/git/git.hpp"
#include "runs/bundle_search.hpp"
#include "runs/known_secrets.hpp"
#include "runs/run_records.hpp"

namespace sb::runs {
namespace {

constexpr std::size_t kRecordingBytes = 512u << 20;
constexpr std::string_view kManifest = "manifest.json";

std::string pitch_of(const Files& files, const std::string& data_home, const pipeline::RunState& state) {
  const std::string folder = join_path(join_path(data_home, "pitches"), state.id);
  const auto names = files.list(folder);
  if (!names || names->empty()) return {};
  return files.read(join_path(folder, names->front()), sb::limits::kDocumentBytes).value_or("");
}

// What a replay neither needs nor should contain.
pipeline::RunSettings without_secrets(pipeline::RunSettings settings) {
  for (auto& [name, model] : settings.agents.models) model.key = model.url = model.script = "";
  settings.forge.token = settings.forge.url = settings.soul = "";
  return settings;
}

Result<pipeline::RunSettings> recorded_settings(const pipeline::RunLog& log, const pipeline::RunEvent& opened) {
  const auto hash = opened.payload.string_at("settings");
  if (!hash) {
    return fail(ErrorCode::kUnsupported, "the run was recorded without its settings, by an earlier signalbox",
                "Only newer runs can be replayed");
  }
  return pipeline::settings_from(SB_TRY(parse_json(SB_TRY(log.blob(*hash)), {.bytes = kRecordingBytes})));
}

Status load_run(const Seams& seams, const std::string& name, Recording& recording) {
  const auto home = SB_TRY(engine::SessionHome::open(seams));
  const pipeline::RunLog log(home->home().store(), seams.clock);
  const std::string id = SB_TRY(log.resolve(name));
  recording.events = SB_TRY(log.read(id));
  recording.state = SB_TRY(pipeline::fold_run(recording.events));
  const RunRecords source{*home, seams.clock, log, recording.state};
  recording.settings = SB_TRY(recorded_settings(log, recording.events.front()));
  SB_TRY(check_programs(source, recording.settings.agents));
  recording.secrets = known_secrets(seams, recording.settings, recording.state.workspace);
  recording.unread_secrets = unread_secrets(seams, recording.settings);
  std::ranges::move(known_secrets(seams, recording.state.workspace), std::back_inserter(recording.secrets));
  recording.settings = without_secrets(std::move(recording.settings));
  recording.workflows = SB_TRY(pinned_workflows(source, recording.notes));
  recording.people = SB_TRY(collect_people(source));
  recording.cassette = SB_TRY(agent::Cassette(home->home().store(), id, recording.secrets).to_document());
  recording.repository = recording.state.repository;
  recording.pitch = pitch_of(seams.files, home->home().homes().data, recording.state);
  for (const agent::ContextSource& each : log.sources(id)) {
    if (each.key == "soul") recording.soul = each.text;
  }
  return {};
}

// A folder written by export_recording.
class RecordingFolder {
 public:
  RecordingFolder(const Files& files, const std::string& folder) : files_(files), folder_(folder) {}

  Status open() {
    const auto bytes = files_.read(join_path(folder_, kManifest), kRecordingBytes);
    if (!bytes) return bad(kManifest, "is missing: the export is incomplete");
    const auto parsed = parse_json(*bytes, {.bytes = kRecordingBytes});
    if (!parsed || !(*parsed)["files"].is_object()) return bad(kManifest, "is not as exported");
    if ((*parsed)["v"] != Value(1)) return bad(kManifest, "has an unsupported version");
    manifest_ = *parsed;
    return {};
  }
  bool has(const std::string& name) const { return manifest_["files"].find(name) != nullptr; }
  std::vector<std::string> names(std::string_view below) const {
    std::vector<std::string> all;
    for (const Value::Member& member : manifest_["files"].members()) {
      if (member.name.starts_with(below)) all.push_back(member.name);
    }
    return all;
  }
  Result<std::string> read(const std::string& name) const {
    auto bytes = files_.read(join_path(folder_, name), kRecordingBytes);
    if (!bytes) return bad(name, "cannot be read: " + bytes.error().message);
    if (manifest_["files"].string_at(name) != sha256_hex(*bytes)) return bad(name, "is not as exported");
    return bytes;
  }
  Result<Value> json(const std::string& name) const {
    return parse_json(SB_TRY(read(name)), {.bytes = kRecordingBytes});
  }

 private:
  std::unexpected<Error> bad(std::string_view name, const std::string& what) const {
    return fail(ErrorCode::kInvalid, fmt::format("{} of the recording {}", name, what),
                "Export the run again: signalbox runs export RUN --as-test DIR", {join_path(folder_, name), ""});
  }

  const Files& files_;
  std::string folder_;
  Value manifest_;
};

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

Status load_folder(const Seams& seams, const std::string& folder, Recording& recording) {
  RecordingFolder kept(seams.files, folder);
  SB_TRY(kept.open());
  recording.events = SB_TRY(events_from(SB_TRY(kept.read("events.jsonl"))));
  recording.state = SB_TRY(pipeline::fold_run(recording.events));
  recording.cassette = SB_TRY(kept.json("cassette.json"));
  recording.people = SB_TRY(kept.json("people.json"));
  recording.settings = SB_TRY(pipeline::settings_from(SB_TRY(kept.json("settings.json"))));
  for (const std::string& name : kept.names("workflows/")) recording.workflows.push_back(SB_TRY(kept.json(name)));
  if (kept.has("soul.md")) recording.soul = SB_TRY(kept.read("soul.md"));
  if (kept.has("pitch.md")) recording.pitch = SB_TRY(kept.read("pitch.md"));
  recording.repository = join_path(SB_TRY(seams.files.canonical(folder)), "repository.bundle");
  return {};
}

Status check_repository(const Seams& seams, const Recording& recording) {
  const std::string& place = recording.repository;
  if (seams.files.kind(place) == FileKind::kMissing) {
    return fail(ErrorCode::kNotFound, fmt::format("the run's repository {} no longer exists", place),
                "Without its start commit the run cannot be replayed");
  }
  if (place.ends_with(".bundle")) return {};
  const std::string& commit = recording.state.tree.base_commit;
  if (pipeline::Git(seams, place).run({"cat-file", "-e", commit + "^{commit}"})) return {};
  return fail(ErrorCode::kNotFound, fmt::format("the run's start commit {} is no longer in {}", commit, place),
              "Fetch it: git fetch REMOTE " + commit);
}

Status bundle_repository(const Seams& seams, const Recording& recording, const std::string& file) {
  const std::string ref = recorded_ref(recording.state);
  const std::string& place = recording.repository;
  if (place.ends_with(".bundle")) {
    return seams.files.write_atomic(file, SB_TRY(seams.files.read(place, kRecordingBytes)));
  }
  pipeline::Git git(seams, place);
  SB_TRY(git.run({"update-ref", ref, recording.state.tree.base_commit}));
  const auto bundled = git.run({"bundle", "create", "--quiet", file, ref});
  SB_TRY(git.run({"update-ref", "-d", ref}));
  if (!bundled) return std::unexpected(bundled.error());
  return {};
}

std::map<std::string, std::string> texts_of(const Recording& recording) {
  std::map<std::string, std::string> texts;
  const agent::Redactor redactor(recording.secrets);
  std::string& lines = texts["events.jsonl"];
  for (const pipeline::RunEvent& event : recording.events) {
    lines += to_json(redactor.clean_known_value(to_value(event))) + "\n";
  }
  texts["cassette.json"] = to_json(recording.cassette) + "\n";
  texts["people.json"] = to_pretty_json(redactor.clean_known_value(recording.people)) + "\n";
  texts["settings.json"] = to_pretty_json(pipeline::to_value(recording.settings)) + "\n";
  for (std::size_t i = 0; i < recording.workflows.size(); ++i) {
    texts[fmt::format("workflows/{}.json", i)] = to_json(recording.workflows[i]) + "\n";
  }
  if (!recording.soul.empty()) texts["soul.md"] = redactor.clean_known(recording.soul);
  if (!recording.pitch.empty()) texts["pitch.md"] = redactor.clean_known(recording.pitch);
  return texts;
}

std::vector<std::string> suspicious_parts(const std::map<std::string, std::string>& texts) {
  const agent::SecretPatterns patterns;
  std::vector<std::string> remarks;
  for (const auto& [name, text] : texts) {
    std::map<std::string, int> kinds;
    for (const agent::SecretMatch& match : patterns.find(text)) ++kinds[match.kind];
    for (const auto& [kind, count] : kinds) {
      remarks.push_back(fmt::format("{} contains what looks like a secret ({}, {} times): read it before you share it",
                                    name, kind, count));
    }
  }
  return remarks;
}

}  // namespace

std::string recorded_ref(const pipeline::RunState& state) {
  return "refs/signalbox/kept/" + state.id;
}

Value to_value(const pipeline::RunEvent& event) {
  return Value::object(
      {{"seq", event.seq}, {"time", to_rfc3339(event.time_ms)}, {"type", event.type}, {"payload", event.payload}});
}

Result<Recording> load_recording(const Seams& seams, const std::string& name) {
  Recording recording;
  const auto has = [&](std::string_view file) { return seams.files.kind(join_path(name, file)) == FileKind::kFile; };
  const bool is_folder = has(kManifest) || has("events.jsonl");
  SB_TRY(is_folder ? load_folder(seams, name, recording) : load_run(seams, name, recording));
  if (recording.state.tree.base_commit.empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("run {} never started to work", recording.state.id));
  }
  for (const pipeline::RunEvent& event : recording.events) {
    if (event.type != "settings_changed") continue;
    recording.notes.emplace_back("the settings were changed during the run; the original ones are replayed");
  }
  SB_TRY(check_repository(seams, recording));
  return recording;
}

Result<std::vector<std::string>> export_recording(const Seams& seams, const Recording& recording,
                                                  const std::string& directory) {
  Files& files = seams.files;
  if (const auto names = files.list(directory); names && !names->empty()) {
    return fail(ErrorCode::kConflict, fmt::format("{} is not empty", directory), "Choose a new folder");
  }
  if (!recording.repository.ends_with(".bundle")) {
    SB_TRY(check_history(seams, recording.repository, recording.state.tree.base_commit, recording.secrets));
  }
  SB_TRY(files.make_directories(join_path(directory, "workflows")));
  const std::string folder = SB_TRY(files.canonical(directory));
  Value sums = Value::object();
  const std::map<std::string, std::string> texts = texts_of(recording);
  for (const auto& [name, text] : texts) {
    SB_TRY(files.write_atomic(join_path(folder, name), text));
    sums.set(name, sha256_hex(text));
  }
  SB_TRY(bundle_repository(seams, recording, join_path(folder, "repository.bundle")));
  SB_TRY(files.write_atomic(join_path(folder, "replay"),
                            "#!/bin/sh\n# Replays the recorded run offline; fails where it diverges.\n"
                            "exec \"${SIGNALBOX:-signalbox}\" run --replay \"$(dirname \"$0\")\" \"$@\"\n",
                            0755));
  const Value manifest = Value::object({{"v", 1}, {"run", recording.state.id}, {"files", std::move(sums)}});
  SB_TRY(files.write_atomic(join_path(folder, kManifest), to_pretty_json(manifest) + "\n"));
  std::vector<std::string> remarks = suspicious_parts(texts);
  for (const std::string& name : recording.unread_secrets) {
    remarks.push_back(fmt::format("the export was not searched for {}, because it cannot be read here", name));
  }
  return remarks;
}

}  // namespace sb::runs
