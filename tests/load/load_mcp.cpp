// Many concurrent clients of `signalbox serve`: every call gets its own answer while a thousand streams are idle, and
// the server's memory does not grow with the number of calls.
//
// Half of the clients use sessions, half are stateless. Counts are asserted; times are only printed.
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "served/served.hpp"

namespace {

using sb::Value;
using namespace sb::server_tests;

struct Size {
  int clients = 64;
  int calls = 2'000;
  int streams = 1'000;
};

class Problems {
 public:
  void add(const std::string& problem) {
    const std::scoped_lock lock(mutex_);
    if (++count_ <= 20) fmt::print(stderr, "{}\n", problem);
  }
  int count() const { return count_; }

 private:
  std::mutex mutex_;
  std::atomic<int> count_ = 0;
};

// Each call carries a unique mark that its answer must contain. One in ten writes to the store.
struct Call {
  const char* tool;
  Value arguments;
  std::string mark;
};

Call call_of(int number, const std::string& workspace) {
  if (number % 10 == 0) {
    const std::string goal = fmt::format("load {}", number);
    return {"start_workflow",
            Value::object({{"workflowId", "wr.shaping"}, {"goal", goal}, {"workspacePath", workspace}}),
            "continueToken"};
  }
  const std::string id = fmt::format("load-{}", number);
  const Value step = Value::object({{"id", "only"}, {"title", "Only"}, {"prompt", "Do it."}});
  const Value workflow = Value::object({{"id", id},
                                        {"name", "Load"},
                                        {"description", "One step."},
                                        {"version", "1.0.0"},
                                        {"steps", Value(Value::Array{step})}});
  return {"validate_workflow", Value::object({{"workflow", workflow}}), id + "\""};
}

bool is_answer(const Answer& answer, const Value& id, const Call& call) {
  const Value message = answer.message();
  return answer.status == 200 && message["id"] == id && message["result"].is_object() &&
         message["result"].find("isError") == nullptr && answer.body.find(call.mark) != std::string::npos;
}

// The calls of one client.
class Caller {
 public:
  Caller(int port, std::string token, int which, std::string workspace, std::atomic<int>& left,
         std::atomic<int>& answered, Problems& findings)
      : port_(port),
        token_(std::move(token)),
        which_(which),
        workspace_(std::move(workspace)),
        left_(left),
        answered_(answered),
        findings_(findings) {}

  void run() {
    if (which_ % 2 == 0) return in_session();
    Client client(port_);
    for (int number; (number = left_.fetch_sub(1)) > 0;) {
      const Call call = call_of(number, workspace_);
      note(number, call, stateless_call(client, token_, number, call.tool, call.arguments), number);
    }
  }

 private:
  void in_session() {
    Session session(port_, token_);
    if (!session.is_open()) return findings_.add("a session was not opened");
    // The first call is the session's second request: initialize was the first.
    int id = 1;
    for (int number; (number = left_.fetch_sub(1)) > 0;) {
      const Call call = call_of(number, workspace_);
      note(number, call, session.call(call.tool, call.arguments), ++id);
    }
  }

  void note(int number, const Call& call, const Answer& answer, int id) {
    if (is_answer(answer, Value(id), call)) {
      ++answered_;
    } else {
      findings_.add(fmt::format("call {} was answered with {}: {}", number, answer.status, answer.body.substr(0, 600)));
    }
  }

  int port_;
  std::string token_;
  int which_;
  std::string workspace_;
  std::atomic<int>& left_;
  std::atomic<int>& answered_;
  Problems& findings_;
};

// Opens `count` sessions, each with a notification stream.
std::vector<Client> hold_streams(int port, const std::string& token, int count, Problems& findings) {
  std::vector<Client> streams;
  for (int i = 0; i < count; ++i) {
    Session session(port, token);
    streams.emplace_back(port);
    if (!session.is_open() || !session.listen(streams.back())) findings.add(fmt::format("stream {} was refused", i));
  }
  return streams;
}

int call_all(const Server& server, const std::string& token, const std::string& workspace, const Size& size, int calls,
             Problems& findings) {
  std::atomic<int> left = calls, answered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < size.clients; ++i) {
    threads.emplace_back([&, i] { Caller(server.port(), token, i, workspace, left, answered, findings).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  return answered;
}

int run(const std::string& program, const Size& size) {
  if (raise_file_limit() < static_cast<std::size_t>(size.streams + size.clients + 100)) {
    fmt::print(stderr, "the limit of open files is too low for {} streams\n", size.streams);
    return 1;
  }
  Problems findings;
  const Folder folder;
  Server server(program, folder.path());
  if (server.port() == 0) return fmt::print(stderr, "the server did not start\n"), 1;

  const std::string token = make_token(program, folder.path(), "load");
  auto streams = hold_streams(server.port(), token, size.streams, findings);
  const auto begin = std::chrono::steady_clock::now();
  const int first = size.calls / 5;
  int answered = call_all(server, token, folder.path(), size, first, findings);
  const std::size_t early = server.resident_kilobytes();
  answered += call_all(server, token, folder.path(), size, size.calls - first, findings);
  const std::size_t late = server.resident_kilobytes();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  if (answered != size.calls) findings.add(fmt::format("{} of {} calls were answered", answered, size.calls));
  // The allocator does not return all memory immediately; a leak per call would show, since there are five times as
  // many.
  if (late > early + early / 4 + 8 * 1024) findings.add(fmt::format("memory grew from {} to {} kB", early, late));
  server.signal(SIGTERM);
  int whole = 0;
  for (Client& stream : streams) whole += stream.ends_well() ? 1 : 0;
  if (whole != size.streams) findings.add(fmt::format("{} of {} streams ended properly", whole, size.streams));
  const int code = server.wait();
  if (code != 0) findings.add(fmt::format("the server ended with {}", code));
  fmt::print("{} clients, {} calls answered in {:.1f} s ({:.0f} per second), {} idle streams, {} -> {} kB\n",
             size.clients, answered, seconds, answered / seconds, whole, early, late);
  return findings.count() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs many concurrent clients against signalbox serve");
  std::string program;
  Size size;
  app.add_option("--program", program, "The signalbox to run")->required();
  app.add_option("--clients", size.clients, "Concurrent clients");
  app.add_option("--calls", size.calls, "Calls in total");
  app.add_option("--streams", size.streams, "Idle streams kept open meanwhile");
  CLI11_PARSE(app, argc, argv);
  return run(program, size);
}
