// Kills the real program at random moments while it starts, continues and forks sessions, then checks its promises:
// what it acknowledged is stored, what it did not acknowledge is stored completely or not at all, and every session
// opens.
//
// faults_crash --program build/release/signalbox [--kills 50] [--seed N] [--workers 3] [--keep]
//
// A call that printed its whole line was acknowledged, whatever happened to the process then. One that did not is
// repeated with the same token and other notes: either the first was stored and its answer is returned now, or the
// second is stored. Exits 1 with its findings, and prints the seed, which may reproduce them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "faults/driver.hpp"

namespace sb::faults {
namespace {

constexpr std::size_t kSessionsPerWorker = 4;

struct Step {
  std::string token;
  std::vector<std::string> tried;   // the notes of each call made with it
  std::vector<std::string> killed;  // those of them without an answer
  std::string answer;               // as printed
};

// One branch of a session, and what was reported to its caller.
struct Branch {
  std::string session, token;
  std::vector<Step> steps;
};

struct Counts {
  std::atomic<int> kills = 0, reported = 0, starts_killed = 0, forks_killed = 0;
};

class Worker {
 public:
  Worker(const TestHome& place, Problems& findings, Counts& counts, int wanted, int number, std::uint64_t seed)
      : place_(place), findings_(findings), counts_(counts), wanted_(wanted), number_(number), random_(seed) {}

  void work() {
    while (counts_.kills < wanted_ && findings_.count() == 0) {
      const unsigned dice = random_() % 100;
      if (branches_.empty() || (dice < 4 && branches_.size() < kSessionsPerWorker)) {
        start();
      } else if (dice < 10) {
        replay(pick());
      } else if (dice < 16) {
        fork(pick());
      } else {
        advance(pick());
      }
    }
  }

  const std::vector<Branch>& branches() const { return branches_; }

 private:
  Branch& pick() { return branches_[random_() % branches_.size()]; }

  // Most calls are killed: anywhere from before main to after the answer, half of them around where the last ones
  // ended, which is where the commit is.
  std::optional<std::int64_t> moment(std::int64_t usual_us) {
    if (usual_us == 0 || random_() % 4 == 0) return std::nullopt;
    const double share = static_cast<double>(random_() % 10'000) / 10'000;
    const double at = random_() % 2 == 0 ? 1.1 * share : 0.6 + 0.5 * share;
    return static_cast<std::int64_t>(at * static_cast<double>(usual_us));
  }

  void count(const ProgramCall& call, std::int64_t& usual_us) {
    if (call.was_killed) {
      ++counts_.kills;
      if (call.reported()) ++counts_.reported;
    } else {
      const auto took_us = static_cast<std::int64_t>(call.took_ms * 1000);
      usual_us = usual_us == 0 ? took_us : (usual_us * 3 + took_us) / 4;
    }
  }

  // An answer, or nothing when the call was killed. Anything else is a finding.
  std::optional<Value> reported(const ProgramCall& call, const std::string& what, std::int64_t& usual_us) {
    count(call, usual_us);
    const auto line = call.reported();
    const bool is_answer = line && line->string_at("kind") == "ok";
    if (!call.was_killed && (call.code != 0 || !is_answer)) {
      findings_.add(fmt::format("{}: exit {}: {}{}", what, call.code, call.output.substr(0, 2000), call.errors));
    }
    return is_answer ? line : std::nullopt;
  }

  void start() {
    const std::string goal = fmt::format("goal of worker {}, {}", number_, serial_++);
    const ProgramCall call = place_.start(goal, moment(start_us_));
    const auto line = reported(call, "start", start_us_);
    if (!line) {
      if (call.was_killed) ++counts_.starts_killed;
      return;
    }
    branches_.push_back({line->string_at("sessionId").value_or(""), line->string_at("continueToken").value_or(""), {}});
  }

  void fork(const Branch& from) {
    if (from.steps.empty() || branches_.size() >= 2 * kSessionsPerWorker) return;
    const std::string session = from.session;
    const std::string node = std::to_string(1 + random_() % from.steps.size());
    const ProgramCall call = place_.run({"session", "fork", session, "--node", node, "--json"}, moment(fork_us_));
    const auto line = reported(call, "fork", fork_us_);
    if (!line) {
      if (call.was_killed) ++counts_.forks_killed;
      return;
    }
    Branch branch{session, line->string_at("continueToken").value_or(""), {}};
    // If nothing was submitted since the last fork of that node, it is the same branch.
    for (const Branch& other : branches_) {
      if (other.token == branch.token) return;
    }
    branches_.push_back(std::move(branch));
  }

  void advance(Branch& branch) {
    Step step{.token = branch.token, .tried = {}, .killed = {}, .answer = {}};
    while (findings_.count() == 0) {
      const std::string notes = fmt::format("worker {} note {} {}", number_, serial_++,
                                            std::string(random_() % 8 == 0 ? random_() % 50'000 : 40, 'x'));
      step.tried.push_back(notes);
      const ProgramCall call = place_.continue_session(branch.token, notes, moment(advance_us_));
      if (const auto line = reported(call, "continue " + branch.token, advance_us_)) {
        step.answer = call.output;
        branch.token = line->string_at("continueToken").value_or("");
        branch.steps.push_back(std::move(step));
        return;
      }
      step.killed.push_back(notes);
    }
  }

  void replay(const Branch& branch) {
    if (branch.steps.empty()) return;
    const Step& step = branch.steps[random_() % branch.steps.size()];
    const ProgramCall call = place_.continue_session(step.token, "said again", moment(replay_us_));
    if (reported(call, "replay", replay_us_) && call.output != step.answer) {
      findings_.add(fmt::format("{} is answered differently:\n{}{}", step.token, step.answer, call.output));
    }
  }

  const TestHome& place_;
  Problems& findings_;
  Counts& counts_;
  const int wanted_;
  const int number_;
  std::mt19937_64 random_;
  std::vector<Branch> branches_;
  int serial_ = 0;
  // The durations of the last calls of each kind that were not killed.
  std::int64_t start_us_ = 0, fork_us_ = 0, advance_us_ = 0, replay_us_ = 0;
};

struct Tally {
  int advances = 0, stored_unacknowledged = 0, not_stored = 0;
};

// Every acknowledged advance once, with notes sent with its token, and nothing else.
void check_session(const TestHome& place, const std::string& session, const std::vector<const Branch*>& branches,
                   Problems& findings, Tally& tally) {
  const ProgramCall verified = place.run({"session", "verify", session});
  if (verified.code != 0) {
    findings.add(fmt::format("verify {}: exit {}: {}{}", session, verified.code, verified.output, verified.errors));
  }
  const auto events = exported(place, session);
  if (!events) return findings.add(fmt::format("cannot export {}", session));
  std::multiset<std::string> recorded;
  std::set<std::pair<std::int64_t, std::int64_t>> ended;
  for (const Value& event : *events) {
    const Value& payload = event["payload"];
    if (event["type"] == Value("output_recorded")) recorded.insert(payload.string_at("notes").value_or(""));
    if (event["type"] != Value("attempt_ended")) continue;
    if (!ended.emplace(payload["node"].as_integer(), payload["attempt"].as_integer()).second) {
      findings.add(fmt::format("{}: an attempt ended twice", session));
    }
  }
  std::size_t acknowledged = 0;
  for (const Branch* branch : branches) {
    for (const Step& step : branch->steps) {
      ++acknowledged;
      std::size_t times = 0;
      for (const std::string& notes : step.tried) times += recorded.count(notes);
      if (times != 1) {
        findings.add(fmt::format("{}: {} is recorded {} times, not once", session, step.token, times));
      }
      for (const std::string& notes : step.killed)
        ++(recorded.contains(notes) ? tally.stored_unacknowledged : tally.not_stored);
    }
  }
  if (recorded.size() != acknowledged || ended.size() != acknowledged) {
    findings.add(fmt::format("{}: {} advances were acknowledged, {} recorded, {} attempts ended", session, acknowledged,
                             recorded.size(), ended.size()));
  }
  tally.advances += static_cast<int>(acknowledged);
}

void check(const TestHome& place, const std::vector<Worker>& workers, Problems& findings, Tally& tally) {
  std::map<std::string, std::vector<const Branch*>> sessions;
  for (const Worker& worker : workers) {
    for (const Branch& branch : worker.branches()) sessions[branch.session].push_back(&branch);
  }
  const auto ids = listed(place);
  if (!ids) return findings.add("cannot list sessions");
  const std::set<std::string> known(ids->begin(), ids->end());
  for (const auto& [session, branches] : sessions) {
    if (!known.contains(session)) findings.add(fmt::format("{} was acknowledged and is not listed", session));
  }
  for (const std::string& session : known) check_session(place, session, sessions[session], findings, tally);
  for (const auto& [session, branches] : sessions) {
    for (const Branch* branch : branches) {
      for (std::size_t i = 0; i < branch->steps.size(); i += 1 + branch->steps.size() / 5) {
        const ProgramCall again = place.continue_session(branch->steps[i].token, "said again");
        if (again.output != branch->steps[i].answer) {
          findings.add(fmt::format("{} is answered differently afterwards", branch->steps[i].token));
        }
      }
    }
  }
}

int run(const std::string& program, int kills, std::uint64_t seed, int worker_count, bool keep) {
  fmt::print("seed {}\n", seed);
  TestHome place(program);
  if (keep) place.keep();
  Problems findings;
  Counts counts;
  std::vector<Worker> workers;
  for (int i = 0; i < worker_count; ++i) {
    workers.emplace_back(place, findings, counts, kills, i, seed + static_cast<std::uint64_t>(i) * 1'000'003);
  }
  {
    std::vector<std::jthread> threads;
    for (Worker& worker : workers) threads.emplace_back([&worker] { worker.work(); });
  }
  Tally tally;
  check(place, workers, findings, tally);
  fmt::print(
      "{} kills: {} calls had answered, {} advances were stored but not acknowledged, {} not stored, {} starts and "
      "{} forks without an answer; {} advances acknowledged and stored\n",
      counts.kills.load(), counts.reported.load(), tally.stored_unacknowledged, tally.not_stored,
      counts.starts_killed.load(), counts.forks_killed.load(), tally.advances);
  if (keep) fmt::print("kept in {}\n", place.directory());
  if (tally.advances == 0) findings.add("nothing was advanced");
  return findings.count() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sb::faults

int main(int argc, char** argv) {
  CLI::App app("Kills signalbox at random moments and checks what is left");
  std::string program;
  int kills = 50, workers = 3;
  std::uint64_t seed = std::random_device{}();
  bool keep = false;
  app.add_option("--program", program, "The signalbox to run")->required();
  app.add_option("--kills", kills, "Number of kills");
  app.add_option("--seed", seed, "Seed of the moments");
  app.add_option("--workers", workers, "Parallel callers");
  app.add_flag("--keep", keep, "Leave the home in place");
  CLI11_PARSE(app, argc, argv);
  return sb::faults::run(program, kills, seed, workers, keep);
}
