// The cost of sessions: an advance by its position, opening by session length, finding one among many, memory.
//
//   bench_engine [--quick | --advances N]     N advances without syncs, for a profiler
//
// Each advance is compared with a bare transaction that writes the same rows to the same tables of another file,
// alternating, both synced: the ratio is what the engine adds. Targets: 1.3 at any position; opening 100,000 events 5
// ms; resident memory 25 MiB with all bundled workflows and 1,000 sessions.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/testing/fakes.hpp"
#include "engine/recall/find_session.hpp"
#include "engine/session/sessions.hpp"
#include "recording_store.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::bench {
namespace {

using engine::SessionResponse;
using engine::SessionResult;
using SteadyClock = std::chrono::steady_clock;

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}
template <class T>
T must(SessionResult<T> result) {
  if (!result) throw std::runtime_error(result.error().error.to_string());
  return std::move(*result);
}
void must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().to_string());
}

template <class Work>
double micros(const Work& work) {
  const auto begin = SteadyClock::now();
  work();
  return std::chrono::duration<double, std::micro>(SteadyClock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class NoCommands final : public engine::CommandRunner {
 public:
  engine::CommandRun run(const std::string&, const std::string&, std::span<const workflow::Origin>,
                         const std::function<bool()>&) override {
    return {};
  }
};

// A loop that is long enough for every position, loaded and compiled by its own catalog.
workflow::Bundle loop_bundle(const std::string& folder) {
  std::filesystem::create_directories(folder);
  {
    std::ofstream file(folder + "/bench-loop.yaml");
    file << "id: bench-loop\nname: Loop\ndescription: Sixty steps, a thousand times.\nversion: 1.0.0\nsteps:\n"
            "  - id: again\n    type: loop\n    title: Again\n"
            "    loop: {type: for, count: 1000, maxIterations: 1000}\n    body:\n";
    for (int i = 0; i < 60; ++i) file << fmt::format("      - {{id: step-{0}, title: Step {0}, prompt: Do it.}}\n", i);
  }
  SystemFiles files;
  const Environment environment({{"SIGNALBOX_WORKFLOWS", folder}, {"HOME", folder}});
  const auto catalog = must(workflow::Catalog::open(files, environment, must(homes(environment)), ""));
  auto bundle = catalog.compile(*must(catalog.find("bench-loop")));
  if (!bundle) throw std::runtime_error(bundle.error().front().to_string());
  return std::move(*bundle);
}

// One process on a store's file.
class Home {
 public:
  Home(const std::string& path, const std::string& vfs, bool records = false)
      : store(must(store::SqliteStore::open(path, store::Access::kReadWrite, {.vfs = vfs}))),
        recording(*store),
        inbox(used(records), clock, random, operators, policy),
        sessions(used(records), inbox, clock, random, commands) {}

  std::unique_ptr<store::SqliteStore> store;
  RecordingStore recording;
  SystemClock clock;
  SystemRandom random;
  inbox::Operators operators;
  inbox::Policy policy;
  inbox::Inbox inbox;
  NoCommands commands;
  engine::Sessions sessions;

 private:
  store::Store& used(bool records) { return records ? static_cast<store::Store&>(recording) : *store; }
};

std::string token_in(const SessionResponse& answer) {
  return answer.line.string_at("continueToken").value_or("");
}

std::string start(Home& home, const workflow::Bundle& bundle, const std::string& goal) {
  engine::StartRequest start_request;
  start_request.bundle = bundle;
  start_request.goal = goal;
  start_request.workspace = "/srv/project";
  return token_in(must(home.sessions.start(start_request)));
}

std::string advance(Home& home, const std::string& token) {
  engine::ContinueRequest continuing;
  continuing.token = token;
  continuing.submission.notes =
      "Measured it, changed the loop, measured again: a third faster. " + std::string(140, '.');
  return token_in(must(home.sessions.continue_session(continuing)));
}

// One session in one file, and the same rows in another.
class Pair {
 public:
  Pair(const std::string& directory, const workflow::Bundle& bundle)
      : session_path_(directory + "/session/signalbox.db"), bare_path_(directory + "/bare/signalbox.db") {
    Home home(session_path_, quiet_.name(), true);
    auto bare = must(store::SqliteStore::open(bare_path_, store::Access::kReadWrite, {.vfs = quiet_.name()}));
    token_ = start(home, bundle, "Measure");
    must(home.recording.writes().write_to(*bare));
  }

  // Without syncs, for both.
  void go_to(int position) {
    Home home(session_path_, quiet_.name(), true);
    auto bare = must(store::SqliteStore::open(bare_path_, store::Access::kReadWrite, {.vfs = quiet_.name()}));
    for (; position_ < position; ++position_) step(home, *bare);
  }

  struct Figures {
    double advance_us, bare_us, advance_quiet_us, bare_quiet_us;
  };
  Figures measure(int times) {
    const auto [advance_us, bare_us] = measure_with("", times);
    const auto [advance_quiet_us, bare_quiet_us] = measure_with(quiet_.name(), times);
    return {advance_us, bare_us, advance_quiet_us, bare_quiet_us};
  }

  const std::string& path() const { return session_path_; }
  const std::string& token() const { return token_; }

 private:
  std::pair<double, double> step(Home& home, store::Store& bare) {
    const double advancing = micros([&] { token_ = advance(home, token_); });
    const double writing = micros([&] { must(home.recording.writes().write_to(bare)); });
    return {advancing, writing};
  }
  std::pair<double, double> measure_with(const std::string& vfs, int times) {
    Home home(session_path_, vfs, true);
    auto bare = must(store::SqliteStore::open(bare_path_, store::Access::kReadWrite, {.vfs = vfs}));
    std::vector<double> advances, bares;
    for (int i = 0; i < times; ++i, ++position_) {
      const auto [advancing, writing] = step(home, *bare);
      if (i < 3) continue;  // the first ones prepare their statements
      advances.push_back(advancing);
      bares.push_back(writing);
    }
    return {median(advances), median(bares)};
  }

  store::sqlite::FaultVfs quiet_;
  std::string session_path_, bare_path_;
  std::string token_;
  int position_ = 0;
};

void print_advances(Pair& pair, bool is_quick) {
  fmt::print("{:<28} {:>10} {:>10} {:>7} {:>14} {:>10} {:>7}\n", "advance at position", "us", "bare us", "ratio",
             "without sync", "bare", "ratio");
  for (const int position : {10, 100, 1'000, 10'000}) {
    if (is_quick && position > 1'000) break;
    pair.go_to(position);
    const auto figures = pair.measure(is_quick ? 20 : 60);
    fmt::print("{:<28} {:>10.0f} {:>10.0f} {:>7.2f} {:>14.0f} {:>10.0f} {:>7.2f}\n", position, figures.advance_us,
               figures.bare_us, figures.advance_us / figures.bare_us, figures.advance_quiet_us, figures.bare_quiet_us,
               figures.advance_quiet_us / figures.bare_quiet_us);
  }
}

// From nothing to the text of the open step: opens the file, reads the pinned workflow, renders the step.
void print_opening(const std::string& path, const workflow::Bundle& bundle, bool is_quick) {
  fmt::print("\n{:<28} {:>10} {:>10}\n", "opening a session of events", "ms", "show ms");
  const store::sqlite::FaultVfs quiet;
  std::string token;
  {
    Home home(path, quiet.name());
    token = start(home, bundle, "Be long");
  }
  for (const std::int64_t events : {1'000, 10'000, 100'000}) {
    if (is_quick && events > 10'000) break;
    std::string session;
    {
      Home home(path, quiet.name());
      const auto length = [&] {
        session = must(home.sessions.list(1)).front().id;
        return must(home.sessions.summary(session)).events;
      };
      while (length() < events) {
        for (int i = 0; i < 100; ++i) token = advance(home, token);
      }
    }
    std::vector<double> opening, showing;
    for (int i = 0; i < 30; ++i) {
      std::optional<Home> home;
      opening.push_back(micros([&] { home.emplace(path, "").sessions.rehydrate(token).value(); }) / 1'000);
      showing.push_back(micros([&] { home->sessions.rehydrate(token).value(); }) / 1'000);
    }
    fmt::print("{:<28} {:>10.2f} {:>10.2f}\n", events, median(opening), median(showing));
  }
}

void print_resume(const std::string& directory, const workflow::Bundle& bundle, bool is_quick) {
  fmt::print("\n{:<28} {:>10} {:>10}\n", "finding one among sessions", "ms", "list 50 ms");
  const store::sqlite::FaultVfs quiet;
  Home home(directory + "/many/signalbox.db", quiet.name());
  int made = 0;
  for (const int count : {1'000, 10'000}) {
    if (is_quick && count > 1'000) break;
    for (; made < count; ++made) {
      const std::string token =
          start(home, bundle, fmt::format("Fix the parser of file {} in module {}", made, made % 37));
      if (made % 10 == 0) advance(home, token);
    }
    std::vector<double> finding, listing;
    for (int i = 0; i < 9; ++i) {
      engine::ResumeQuery query;
      query.text = "parser module 12";
      query.workspace = "/srv/project";
      finding.push_back(micros([&] { must(engine::find_resumable(*home.store, query)); }) / 1'000);
      listing.push_back(micros([&] { must(home.sessions.list(50)); }) / 1'000);
    }
    fmt::print("{:<28} {:>10.2f} {:>10.2f}\n", count, median(finding), median(listing));
  }
}

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1'024;
  }
  return 0;
}

// In its own process, before this one has grown.
void print_memory(const std::string& directory, const workflow::Bundle& bundle) {
  const std::string path = directory + "/memory/signalbox.db";
  const auto in_child = [](const auto& work) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      std::fflush(stdout);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  };
  in_child([&] {
    const store::sqlite::FaultVfs quiet;
    Home home(path, quiet.name());
    for (int i = 0; i < 1'000; ++i) start(home, bundle, fmt::format("Task {}", i));
  });
  in_child([&] {
    const double before = resident_mib();
    SystemFiles files;
    const Environment environment({{"HOME", directory}});
    const auto catalog = must(workflow::Catalog::open(files, environment, must(homes(environment)), ""));
    std::vector<workflow::Bundle> bundles;
    for (const workflow::CatalogEntry* entry : catalog.list(true)) {
      if (auto compiled = catalog.compile(*entry)) bundles.push_back(std::move(*compiled));
    }
    Home home(path, "");
    const auto newest = must(home.sessions.list(1'000));
    must(home.sessions.rehydrate(must(home.sessions.token_for(newest.front()))));
    fmt::print("\nresident memory: {:.1f} MiB ({:.1f} before) with {} bundled workflows and {} sessions\n",
               resident_mib(), before, bundles.size(), newest.size());
  });
}

void print_bare_speed(const std::string& directory, const workflow::Bundle& bundle, int times) {
  const store::sqlite::FaultVfs quiet;
  Home home(directory + "/session/signalbox.db", quiet.name());
  std::string token = start(home, bundle, "Measure");
  const double took = micros([&] {
    for (int i = 0; i < times; ++i) token = advance(home, token);
  });
  fmt::print("{:.1f} us per advance, without syncs\n", took / times);
}

void print_all(const std::string& directory, const workflow::Bundle& bundle, bool is_quick) {
  print_memory(directory, bundle);
  fmt::print("\n");
  {
    Pair pair(directory, bundle);
    print_advances(pair, is_quick);
  }
  print_opening(directory + "/long/signalbox.db", bundle, is_quick);
  print_resume(directory, bundle, is_quick);
}

int run(bool is_quick, int only_advances) {
  std::string pattern = (std::filesystem::temp_directory_path() / "sb-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return 1;
  const std::string directory = pattern;
  const workflow::Bundle bundle = loop_bundle(directory + "/flows");
  if (only_advances > 0) {
    print_bare_speed(directory, bundle, only_advances);
  } else {
    print_all(directory, bundle, is_quick);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return 0;
}

}  // namespace
}  // namespace sb::bench

int main(int argc, char** argv) {
  try {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    return sb::bench::run(mode == "--quick", mode == "--advances" && argc > 2 ? std::atoi(argv[2]) : 0);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "bench_engine: {}\n", failure.what());
    return 1;
  }
}
