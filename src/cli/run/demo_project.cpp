#include "cli/run/demo_project.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "cli/data.hpp"
#include "pipeline/git/git.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::cli {
namespace {

constexpr std::string_view kMark = "demo.json";
constexpr std::string_view kConfig =
    "# The settings of `signalbox demo`: a model with recorded replies, and the project's check.\n"
    "models: {demo: {provider: scripted, script: replies.jsonl}}\n"
    "roles: {default: demo}\n"
    "checks: [./check]\n";
constexpr std::string_view kWithoutSandbox =
    "# There is no sandbox on this machine, and this demo needs none: its agents only repeat recorded replies.\n"
    "sandbox: {mode: none}\n";

std::string random_name(Random& random) {
  std::uint8_t bytes[4];
  random.fill(bytes);
  return to_hex(std::string_view(reinterpret_cast<const char*>(bytes), sizeof bytes));
}

// Whether it is an existing demo folder. Creates a missing folder.
Result<bool> take_folder(const Seams& seams, const std::string& directory) {
  const FileKind kind = seams.files.kind(directory);
  if (kind == FileKind::kMissing) {
    SB_TRY(seams.files.make_directories(directory, 0755));
    return false;
  }
  if (kind != FileKind::kDirectory) {
    return fail(ErrorCode::kConflict, fmt::format("{} is not a folder", quote_json(directory)), "Name another folder");
  }
  const auto names = SB_TRY(seams.files.list(directory));
  if (names.empty()) return false;
  if (std::ranges::find(names, kMark) != names.end()) return true;
  return fail(ErrorCode::kConflict, fmt::format("{} is not empty", quote_json(directory)),
              "Name a new or empty folder");
}

Status write_project(const Seams& seams, const DemoFolder& place) {
  for (const Value& file : demo_data()["files"].items()) {
    const std::string path = join_path(place.repository(), file["name"].as_string());
    SB_TRY(seams.files.make_directories(parent_path(path)));
    SB_TRY(seams.files.write_atomic(path, file["text"].as_string(), file.find("mode") != nullptr ? 0755 : 0644));
  }
  return {};
}

Status write_home(const Seams& seams, const DemoFolder& place) {
  SB_TRY(seams.files.make_directories(place.home(), 0700));
  std::string replies;
  for (const Value& reply : demo_data()["replies"].items()) replies += to_json(reply) + "\n";
  SB_TRY(seams.files.write_atomic(join_path(place.home(), "replies.jsonl"), replies));
  std::string config(kConfig);
  if (!place.sandbox_is_missing.empty()) config += kWithoutSandbox;
  return seams.files.write_atomic(join_path(place.home(), "config.yaml"), config);
}

Status make_repositories(const Seams& seams, const DemoFolder& place) {
  pipeline::Git around(seams, place.directory);
  SB_TRY(around.run({"init", "--quiet", "--bare", "--initial-branch=main", "remote.git"}));
  SB_TRY(around.run({"init", "--quiet", "--initial-branch=main", "repo"}));
  SB_TRY(write_project(seams, place));
  pipeline::Git git(seams, place.repository());
  SB_TRY(git.run({"add", "--all"}));
  SB_TRY(git.run({"-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgSign=false", "commit",
                  "--quiet", "--message", "Greet people"}));
  SB_TRY(git.run({"remote", "add", "origin", place.remote()}));
  SB_TRY(git.run({"push", "--quiet", "--set-upstream", "origin", "main"}));
  return {};
}

}  // namespace

const Value& demo_data() {
  static const Value data = [] {
    auto parsed = parse_json(data_file("demo.yaml"));
    SB_ASSERT(parsed);
    return std::move(*parsed);
  }();
  return data;
}

Result<DemoFolder> make_demo_folder(const Seams& seams, const std::string& given) {
  const std::string directory = !given.empty() ? given
                                               : join_path(seams.environment.get("TMPDIR").value_or("/tmp"),
                                                           "signalbox-demo-" + random_name(seams.random));
  DemoFolder place;
  place.already_existed = SB_TRY(take_folder(seams, directory));
  place.directory = SB_TRY(seams.files.canonical(directory));
  if (place.already_existed) return place;
  place.sandbox_is_missing = sandbox::find_sandbox(seams).missing_reason();
  SB_TRY(write_home(seams, place));
  SB_TRY(make_repositories(seams, place));
  SB_TRY(seams.files.write_atomic(join_path(place.directory, kMark), "{\"v\": 1}\n"));
  return place;
}

Environment demo_environment(const Environment& users, const DemoFolder& place) {
  auto variables = users.all();
  // The user's own setup is not part of the demo.
  std::erase_if(variables, [](const auto& variable) { return variable.first.starts_with("SIGNALBOX_"); });
  variables["SIGNALBOX_HOME"] = place.home();
  return Environment(std::move(variables));
}

}  // namespace sb::cli
