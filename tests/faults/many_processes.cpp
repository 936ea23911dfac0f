// Two, four and eight processes advance, fork and read one session in parallel: none fails, nothing is lost, and of
// those that submit the same step at the same moment one is recorded and all get the same answer.
//
//   faults_many_processes --program build/release/signalbox [--rounds 4]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <barrier>
#include <map>
#include <set>
#include <thread>

#include "faults/driver.hpp"

namespace sb::faults {
namespace {

// What all of them work on, and their answers.
struct Shared {
  explicit Shared(int processes) : gate(processes) {}

  std::string session, token;
  std::barrier<> gate;
  std::mutex mutex;
  std::map<std::string, std::string> reported;  // by token; two that fork one node at the same time get the same one
  std::vector<std::vector<std::string>> raced;  // the notes sent in parallel, per round
};

std::optional<Value> answer(const ProgramCall& call, const std::string& what, Problems& findings) {
  auto line = call.reported();
  if (call.code == 0 && line) return line;
  findings.add(fmt::format("{}: exit {}: {}{}", what, call.code, call.output.substr(0, 2000), call.errors));
  return std::nullopt;
}

std::optional<Value> continue_session(const TestHome& place, Shared& shared, const std::string& token,
                                      const std::string& notes, Problems& findings) {
  const ProgramCall call = place.continue_session(token, notes);
  auto line = answer(call, "continue", findings);
  const std::lock_guard lock(shared.mutex);
  const auto [known, is_new] = shared.reported.emplace(token, call.output);
  if (known->second != call.output) {
    findings.add(fmt::format("one step, two answers:\n{}{}", known->second, call.output));
  }
  return line;
}

// All with one token; the first of them uses the answer for the next round.
void race(const TestHome& place, Shared& shared, int number, int round, Problems& findings) {
  const std::string notes = fmt::format("round {} by {}", round, number);
  shared.gate.arrive_and_wait();
  const auto line = continue_session(place, shared, shared.token, notes, findings);
  {
    const std::lock_guard lock(shared.mutex);
    shared.raced[static_cast<std::size_t>(round)].push_back(notes);
  }
  shared.gate.arrive_and_wait();
  if (number == 0 && line) shared.token = line->string_at("continueToken").value_or("");
}

// Its own branch, two steps long, while the others do the same.
void branch_off(const TestHome& place, Shared& shared, int number, int round, Problems& findings) {
  const std::string node = std::to_string(1 + (number + round) % (round + 1));
  const ProgramCall forked = place.run({"session", "fork", shared.session, "--node", node, "--json"});
  auto line = answer(forked, "fork", findings);
  for (int i = 0; i < 2 && line; ++i) {
    const std::string notes = fmt::format("branch of {} in {}, {}", number, round, i);
    line = continue_session(place, shared, line->string_at("continueToken").value_or(""), notes, findings);
  }
}

void read(const TestHome& place, const Shared& shared, Problems& findings) {
  const std::vector<std::vector<std::string>> calls = {
      {"session", "show", shared.session},
      {"session", "list"},
      {"session", "verify", shared.session},
      {"session", "export", shared.session},
  };
  for (const auto& arguments : calls) {
    const ProgramCall call = place.run(arguments);
    if (call.code != 0) findings.add(fmt::format("session {}: exit {}: {}", arguments[1], call.code, call.errors));
  }
}

void check(const TestHome& place, const Shared& shared, Problems& findings) {
  const ProgramCall verified = place.run({"session", "verify", shared.session});
  if (verified.code != 0) findings.add(fmt::format("verify: {}{}", verified.output, verified.errors));
  const auto events = exported(place, shared.session);
  if (!events) return findings.add("cannot export the session");
  std::multiset<std::string> recorded;
  for (const Value& event : *events) {
    if (event["type"] == Value("output_recorded")) recorded.insert(event["payload"].string_at("notes").value_or(""));
  }
  if (recorded.size() != shared.reported.size()) {
    findings.add(fmt::format("{} advances were acknowledged, {} recorded", shared.reported.size(), recorded.size()));
  }
  for (const auto& notes : shared.raced) {
    std::size_t times = 0;
    for (const std::string& each : notes) times += recorded.count(each);
    if (times != 1) findings.add(fmt::format("{} of the parallel submissions were recorded instead of one", times));
  }
}

void run_with(const TestHome& place, int processes, int rounds, Problems& findings) {
  Shared shared(processes);
  shared.raced.resize(static_cast<std::size_t>(rounds));
  const auto line = answer(place.start(fmt::format("work of {}", processes)), "start", findings);
  if (!line) return;
  shared.session = line->string_at("sessionId").value_or("");
  shared.token = line->string_at("continueToken").value_or("");
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < processes; ++number) {
      threads.emplace_back([&, number] {
        for (int round = 0; round < rounds; ++round) {
          race(place, shared, number, round, findings);
          shared.gate.arrive_and_wait();
          if ((number + round) % 3 == 2) {
            read(place, shared, findings);
          } else {
            branch_off(place, shared, number, round, findings);
          }
        }
      });
    }
  }
  check(place, shared, findings);
  fmt::print("{} processes: {} advances\n", processes, shared.reported.size());
}

}  // namespace
}  // namespace sb::faults

int main(int argc, char** argv) {
  CLI::App app("Lets several processes work on one session");
  std::string program;
  int rounds = 4;
  app.add_option("--program", program, "The signalbox to run")->required();
  app.add_option("--rounds", rounds, "Rounds per number of processes");
  CLI11_PARSE(app, argc, argv);
  sb::faults::Problems findings;
  const sb::faults::TestHome place(program);
  for (const int processes : {2, 4, 8}) sb::faults::run_with(place, processes, rounds, findings);
  return findings.count() == 0 ? 0 : 1;
}
