// The same workflows as real sessions: in a store, gates and decisions through the inbox, children by their tokens.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.hpp"
#include "engine/testing/lifecycles.hpp"
#include "engine/testing/walk_session.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {
namespace {

using workflow::Catalog;
using workflow::CatalogEntry;

Catalog open_catalog(const Files& files, const Environment& environment = {}) {
  auto catalog = Catalog::open(files, environment, HomeDirectories{"/config", "/data", "/state"}, std::string());
  if (!catalog) {
    ADD_FAILURE() << catalog.error().to_string();
    std::abort();
  }
  return std::move(*catalog);
}

// Why it did not reach its end; empty if it did.
std::string driven(const Catalog& catalog, const CatalogEntry& entry, const Playing& playing, bool is_autonomous) {
  const auto bundle = catalog.compile(entry);
  if (!bundle) return bundle.error().front().to_string();
  SessionTestHome place;
  SessionWalk walk(place, playing);
  StartRequest start_request;
  start_request.bundle = *bundle;
  start_request.goal = playing.goal;
  start_request.context = playing.context;
  start_request.workspace = "/srv";
  start_request.is_autonomous = is_autonomous;
  const SessionResponse last = walk.run(SessionTestHome::expect(place.sessions->start(start_request)));
  if (!walk.stuck.empty()) return walk.stuck;
  const auto summary = place.sessions->summary(SessionTestHome::session(last));
  return summary->status == SessionStatus::kComplete ? "" : "it is not complete";
}

TEST(SessionLifecycle, EveryBundledWorkflowReachesItsEnd) {
  const FakeFiles files;
  const Catalog catalog = open_catalog(files);
  int driven_ones = 0;
  for (const CatalogEntry* entry : catalog.list(true)) {
    EXPECT_EQ(driven(catalog, *entry, {}, false), "") << entry->id;
    ++driven_ones;
  }
  EXPECT_GE(driven_ones, 20);
}

// Decisions with options from the agent, gates, parallel reviewers, jumps and nested loops.
TEST(SessionLifecycle, EveryPathThroughEachReachesItsEnd) {
  const FakeFiles files;
  const Catalog catalog = open_catalog(files);
  for (const Lifecycle& lifecycle : lifecycles()) {
    for (std::size_t way = 0; way < lifecycle.ways.size(); ++way) {
      EXPECT_EQ(driven(catalog, **catalog.find(lifecycle.id), lifecycle.ways[way], false), "")
          << lifecycle.id << ": path " << way;
    }
  }
}

TEST(SessionLifecycle, AutonomousSessionsAreJudgedByEvaluators) {
  const FakeFiles files;
  const Catalog catalog = open_catalog(files);
  const auto bundle = catalog.compile(**catalog.find("wr.shaping"));
  ASSERT_TRUE(bundle);
  SessionTestHome place;
  const Playing playing{.merge = {{"give-verdict", Value::object({{"verdict", "approved"}})}}};
  SessionWalk walk(place, playing);
  StartRequest start_request;
  start_request.bundle = *bundle;
  start_request.goal = "Shape it";
  start_request.workspace = "/srv";
  start_request.is_autonomous = true;
  walk.run(SessionTestHome::expect(place.sessions->start(start_request)));
  EXPECT_EQ(walk.stuck, "");
  // The gates of the frame and of the pitch: two evaluators besides the session itself, and no one asked.
  EXPECT_EQ(walk.sessions, 3);
  EXPECT_EQ(walk.decisions, 0);
}

// Drives every workflow file of the folder; returns how many there were.
int drive_files_of(const std::string& folder) {
  const SystemFiles files;
  const Catalog catalog = open_catalog(
      files, Environment(std::map<std::string, std::string, std::less<>>{{"SIGNALBOX_WORKFLOWS", folder}}));
  int count = 0;
  for (const CatalogEntry* entry : catalog.list(true)) {
    if (entry->origin.kind != workflow::SourceKind::kNamed) continue;
    EXPECT_EQ(driven(catalog, *entry, {}, false), "") << entry->origin.file;
    ++count;
  }
  return count;
}

TEST(SessionLifecycle, EveryCompatFileIsDrivenToItsEnd) {
  EXPECT_GE(drive_files_of(SB_SOURCE_DIR "/tests/data/workflows"), 15);
}

TEST(SessionLifecycle, EverySharedCompatFileIsDrivenToItsEnd) {
  const char* named = std::getenv("SIGNALBOX_COMPAT");
  const std::string folder =
      (named ? std::string(named) : std::string(SB_SOURCE_DIR) + "/../shared/compat") + "/workflows";
  if (SystemFiles().kind(folder) != FileKind::kDirectory) GTEST_SKIP() << "no " << folder;
  EXPECT_GE(drive_files_of(folder), 10);
}

}  // namespace
}  // namespace sb::engine
