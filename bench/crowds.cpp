// What a crowd costs: lists, recall, hooks and prune in homes with 1,000, 10,000 and 50,000 sessions and 5,000
// decisions.
//
//   bench_crowds [--quick] [--all-open] [--keep DIRECTORY]
//
// The homes are made through the library: one session is started and advanced, and what was written is written again
// under other ids. The commands are run as processes; figures are milliseconds from exec to exit, the median of nine,
// and for the first search what it indexes once.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "decision/declaration/declaration.hpp"
#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "engine/state/token.hpp"
#include "inbox/inbox.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}
void must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().to_string());
}

struct Ended {
  double ms = 0;
  std::string output;
};

class CrowdedHome {
 public:
  explicit CrowdedHome(std::string root) : root_(std::move(root)) {
    std::filesystem::create_directories(root_ + "/project/workflows");
    FILE* file = std::fopen((root_ + "/project/workflows/dig.yaml").c_str(), "w");
    fmt::print(file,
               "id: dig\nname: Dig\ndescription: Digs.\nversion: 1.0.0\nsteps:\n"
               "  - {{id: look, title: Look, prompt: Look.}}\n  - {{id: dig, title: Dig, prompt: Dig.}}\n");
    std::fclose(file);
  }

  Ended run(std::vector<std::string> arguments, const std::string& input = "",
            const std::string& program = "signalbox") const {
    arguments.insert(arguments.begin(), SB_PROGRAMS "/" + program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::vector<std::string> texts{"HOME=" + root_, "SIGNALBOX_HOME=" + root_ + "/home", "LC_ALL=C.UTF-8",
                                   "PATH=/usr/bin:/bin"};
    std::vector<char*> environment;
    for (std::string& text : texts) environment.push_back(text.data());
    environment.push_back(nullptr);
    const std::string in = root_ + "/in", out = root_ + "/out";
    FILE* file = std::fopen(in.c_str(), "w");
    std::fputs(input.c_str(), file);
    std::fclose(file);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, in.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, (root_ + "/project").c_str());
    pid_t child = 0;
    const auto begin = SteadyClock::now();
    if (::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environment.data()) != 0) {
      throw std::runtime_error("cannot start " + arguments[0]);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const std::chrono::duration<double, std::milli> took = SteadyClock::now() - begin;
    posix_spawn_file_actions_destroy(&actions);
    SystemFiles files;
    return {took.count(), must(files.read(out, std::size_t{64} << 20))};
  }

  double median_ms(const std::vector<std::string>& arguments, const std::string& input = "",
                   const std::string& program = "signalbox") const {
    std::vector<double> all;
    for (int i = 0; i < 9; ++i) all.push_back(run(arguments, input, program).ms);
    std::ranges::sort(all);
    return all[all.size() / 2];
  }

  // Sessions like the first; a tenth of them is still open, or all.
  void fill(int from, int to, bool all_open) {
    const std::string started = run({"session", "start", "dig", "--goal", "Fix the parser", "--json"}).output;
    const Value first = must(parse_json(started));
    const std::string id = first.string_at("sessionId").value();
    auto store = open();
    const auto events = must(
        store->read([&](store::Snapshot& snapshot) { return snapshot.events(engine::session_stream(id), 1, 1'000); }));
    auto summary = *must(store->read([&](store::Snapshot& snapshot) { return engine::read_summary(snapshot, id); }));
    const auto node = *must(store->read([&](store::Snapshot& snapshot) { return engine::read_node(snapshot, id, 1); }));
    for (int at = from; at < to;) {
      must(store->write([&](store::Transaction& transaction) -> Status {
        for (const int end = std::min(to, at + 1'000); at < end; ++at) {
          std::string bytes(16, '\0');
          for (int i = 0; i < 4; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(at >> (8 * (3 - i)));
          engine::Summary one = summary;
          one.id = engine::session_id_from_bytes(bytes);
          one.goal = one.title = fmt::format("Fix the parser of file {} in module {}", at, at % 37);
          one.recap = fmt::format("Looked at {}: the cursor of table {} was never closed.", at, at * 7);
          one.updated_at += at - to;
          one.status = all_open || at % 10 == 0 ? engine::SessionStatus::kOpen : engine::SessionStatus::kStopped;
          std::vector<store::NewEvent> copies;
          for (const store::Event& event : events) {
            std::string payload = event.payload;
            for (std::size_t i = payload.find(id); i != std::string::npos; i = payload.find(id, i)) {
              payload.replace(i, id.size(), one.id);
            }
            copies.push_back({event.type, one.updated_at, std::move(payload)});
          }
          SB_TRY(transaction.append(engine::session_stream(one.id), {}, copies));
          SB_TRY(engine::write_summary(transaction, one));
          SB_TRY(engine::write_node(transaction, one.id, node));
        }
        return {};
      }));
    }
  }

  void ask(int from, int to) {
    auto store = open();
    SystemClock clock;
    SystemRandom random;
    const inbox::Operators operators;
    const inbox::Policy policy;
    inbox::Inbox inbox(*store, clock, random, operators, policy);
    for (int at = from; at < to; ++at) {
      const auto document = must(parse_document(
          "q.yaml", fmt::format("decision: q-{}\ninstruction: \"Which one should it be?\"\noptions: [yes, no]\n", at),
          Syntax::kYaml));
      const auto declaration =
          decision::parse_declaration(document, decision::Profiles::built_in(), decision::Author::kOperator);
      if (!declaration) throw std::runtime_error(declaration.error().front().to_string());
      must(inbox.open(*declaration, {.workspace = root_ + "/project", .session = ""}));
    }
  }

  double file_mb() const {
    return static_cast<double>(std::filesystem::file_size(root_ + "/home/signalbox.db")) / 1'000'000;
  }
  const std::string& root() const { return root_; }

 private:
  std::unique_ptr<store::SqliteStore> open() const {
    return must(
        store::SqliteStore::open(root_ + "/home/signalbox.db", store::Access::kReadWrite, {.vfs = quiet_.name()}));
  }

  std::string root_;
  store::sqlite::FaultVfs quiet_;
};

std::string token_of(const Ended& ended) {
  return parse_json(ended.output).value_or(Value()).string_at("continueToken").value_or("");
}

void print_figures(const CrowdedHome& home, int sessions) {
  const auto row = [&](const std::string& what, double ms) {
    fmt::print("{:>7}  {:<46} {:>9.1f}\n", sessions, what, ms);
  };
  row("--version, for comparison", home.median_ms({"--version"}));
  row("first session resume, indexes", home.run({"session", "resume", "parser 12"}).ms);
  row("session resume parser 12", home.median_ms({"session", "resume", "parser 12"}));
  row("session resume (this project)", home.median_ms({"session", "resume"}));
  row("session list", home.median_ms({"session", "list"}));
  row("session list --all --json", home.median_ms({"session", "list", "--all", "--json"}));
  row("inbox list", home.median_ms({"inbox", "list"}));
  row("inbox list --all --json", home.median_ms({"inbox", "list", "--all", "--json"}));
  row("statusline", home.median_ms({"statusline"}, "{}", "signalbox-hook"));
  const std::string call =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
      R"("clientInfo":{"name":"b","version":"1"}}})"
      "\n"
      R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"resume_session",)"
      R"("arguments":{"workspacePath":")" +
      home.root() + R"(/project","query":"parser 12"}}})" + "\n";
  row("mcp: resume_session, with starting", home.median_ms({"mcp"}, call));
  row("session start", home.median_ms({"session", "start", "dig", "--goal", "Fix the parser", "--json"}));
  std::vector<double> continues;
  for (int i = 0; i < 9; ++i) {
    const auto started = home.run({"session", "start", "dig", "--goal", "Fix the parser", "--json"});
    continues.push_back(home.run({"session", "continue", token_of(started), "--note", "Looked.", "--json"}).ms);
  }
  std::ranges::sort(continues);
  row("session continue", continues[4]);
  const std::string edit =
      fmt::format(R"({{"session_id":"c","cwd":"{}/project","hook_event_name":"PreToolUse","tool_name":"Edit",)"
                  R"("tool_input":{{"file_path":"a"}}}})",
                  home.root());
  row("hook PreToolUse", home.median_ms({}, edit, "signalbox-hook"));
}

void print_prune(const CrowdedHome& home, int sessions) {
  home.run({"session", "list"});
  const double before = home.file_mb();
  const Ended pruned = home.run({"session", "prune", "--older-than", "0s", "--include-open", "--json"});
  const auto value = parse_json(pruned.output).value_or(Value());
  fmt::print("{:>7}  prune of {} sessions: {:.1f} s, file {:.1f} MB to {:.1f} MB\n", sessions, value["sessions"].size(),
             pruned.ms / 1'000, before, home.file_mb());
}

int run(bool is_quick, bool all_open, std::string directory) {
  const bool keeps = !directory.empty();
  if (!keeps) {
    std::string pattern = (std::filesystem::temp_directory_path() / "sb-crowds-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) return 1;
    directory = pattern;
  }
  fmt::print("{:>7}  {:<46} {:>9}\n", "sessions", "command", "ms");
  CrowdedHome home(directory);
  home.ask(0, 5'000);
  int made = 0;
  for (const int sessions : {1'000, 10'000, 50'000}) {
    if (is_quick && sessions > 1'000) break;
    home.fill(made, sessions, all_open);
    made = sessions;
    print_figures(home, sessions);
  }
  print_prune(home, made);
  std::error_code ignored;
  if (!keeps) std::filesystem::remove_all(directory, ignored);
  return 0;
}

}  // namespace
}  // namespace sb::bench

int main(int argc, char** argv) {
  try {
    bool is_quick = false, all_open = false;
    std::string directory;
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      if (argument == "--quick") is_quick = true;
      if (argument == "--all-open") all_open = true;
      if (argument == "--keep" && i + 1 < argc) directory = argv[++i];
    }
    return sb::bench::run(is_quick, all_open, directory);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "bench_crowds: {}\n", failure.what());
    return 1;
  }
}
