// Questions to the client in the session era: sending, waiting, giving up, late answers.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "mcp/limits.hpp"
#include "mcp/peer/peer_parts.hpp"
#include "mcp/peer/shapes.hpp"

namespace sb::mcp {

namespace {

// A handler called for a late answer cannot send anything.
class SilentSink final : public CallSink {
 public:
  void progress(double, std::optional<double>, std::string) override {}
  void log(LogLevel, std::string, Value) override {}
  void close_stream() override {}
};

constexpr std::int64_t kMootEveryMs = 1'000;
constexpr std::int64_t kLateAgainMs = 1'000;

}  // namespace

void Peer::Parts::ask_client(const RunningCallPtr& running_call, InputRequired ask) {
  RunningCall& asking = *running_call;
  if (++asking.rounds > limits::kAskRounds)
    return finish(running_call, RpcError{net::rpc::kInternalError, "The server asked too many questions in one call"});
  for (const InputRequest& request : ask.requests) asking.call.inputs.erase(request.key);
  asking.ask = std::move(ask);
  if (!can_ask || !asking.reply || asking.has_waited_enough) return give_up(running_call, Unanswered::kWithdrawn);
  for (InputRequest& request : asking.ask->requests) {
    const std::string id = fmt::format("{}{}", question_prefix, ++last_question);
    asking.open.emplace(id, request.key);
    asked.emplace(id, asking.number);
    asking.reply->send(
        net::rpc_request(id, request.method, adapted_question(std::move(request.params), asking.call.revision)));
  }
  if (asking.open.empty()) return resume(running_call);
  start_hold_timer(running_call);
  if (asking.ask && asking.ask->is_moot) schedule_moot_check(running_call);
}

// For all rounds of a call together, starting with its first question.
void Peer::Parts::start_hold_timer(const RunningCallPtr& running_call) {
  if (running_call->hold_timer != 0) return;
  running_call->hold_timer =
      shared.scheduler.after(shared.hold_ms, [weak = self.weak_from_this(), number = running_call->number] {
        const auto peer = weak.lock();
        const RunningCallPtr waiting = peer ? peer->parts_->find(number) : nullptr;
        if (!waiting) return;
        waiting->has_waited_enough = true;
        if (waiting->ask) peer->parts_->give_up(waiting, Unanswered::kKept);
      });
}

void Peer::Parts::schedule_moot_check(const RunningCallPtr& running_call) {
  running_call->moot_timer =
      shared.scheduler.after(kMootEveryMs, [weak = self.weak_from_this(), number = running_call->number] {
        const auto peer = weak.lock();
        const RunningCallPtr waiting = peer ? peer->parts_->find(number) : nullptr;
        if (waiting && waiting->ask) peer->parts_->check_moot(waiting);
      });
}

void Peer::Parts::check_moot(const RunningCallPtr& running_call) {
  auto job = [keep = self.shared_from_this(), number = running_call->number, round = running_call->rounds,
              is_moot = running_call->ask->is_moot](Service&) mutable {
    bool is_over = false;
    try {
      is_over = is_moot();
    } catch (const std::exception&) {  // then only the client's answer counts
    }
    net::Scheduler& scheduler = keep->parts_->shared.scheduler;
    scheduler.post([keep = std::move(keep), number, round, is_over] {
      Parts& parts = *keep->parts_;
      const RunningCallPtr waiting = parts.find(number);
      if (!waiting || !waiting->ask || waiting->rounds != round) return;
      // The dialog may be closed too late for a person who is already choosing: what they chose is kept.
      if (is_over)
        parts.give_up(waiting, Unanswered::kKeptAndWithdrawn);
      else
        parts.schedule_moot_check(waiting);
    });
  };
  if (!shared.workers.run(std::move(job))) schedule_moot_check(running_call);
}

void Peer::Parts::answer_from_client(const net::RpcResponse& response) {
  if (!response.id.is_string()) return;
  const std::string& id = response.id.as_string();
  const auto* error = std::get_if<RpcError>(&response.outcome);
  if (const auto found = asked.find(id); found != asked.end()) {
    const RunningCallPtr waiting = find(found->second);
    asked.erase(found);
    if (!waiting) return;
    const auto open = waiting->open.extract(id);
    Input& input = waiting->call.inputs[open.mapped()];
    input = error != nullptr ? Input{Input::Kind::kFailed, {}, *error}
                             : Input{Input::Kind::kAnswered, std::get<Value>(response.outcome), {}};
    if (waiting->open.empty()) resume(waiting);
    return;
  }
  const auto question = std::ranges::find(late, id, &LateQuestion::id);
  if (question == late.end()) return;
  const LateQuestion answered = std::move(*question);
  late.erase(question);
  if (error != nullptr || shared.clock.now_ms() - answered.asked > limits::kLateMs) return;
  answered.call->call.inputs[answered.key] = {Input::Kind::kAnswered, std::get<Value>(response.outcome), {}};
  ++background_jobs;
  run_late(answered.call);
}

void Peer::Parts::run_late(const std::shared_ptr<LateCall>& late_call) {
  auto job = [keep = self.shared_from_this(), request = late_call->request,
              call = late_call->call](Service& service) mutable {
    SilentSink sink;
    call.sink = &sink;
    PeerShared& with = keep->parts_->shared;
    run_handler(service, with.facts, *request, call);
    with.scheduler.post([keep = std::move(keep)] {
      --keep->parts_->background_jobs;
      keep->parts_->shared.watch.check_soon();
      keep->parts_->notify_idle();
    });
  };
  if (shared.workers.run(std::move(job))) return;
  // A person took the trouble to answer: do not lose it because the workers are busy.
  shared.scheduler.after(kLateAgainMs,
                         [keep = self.shared_from_this(), late_call] { keep->parts_->run_late(late_call); });
}

// Calls the handler without the missing answers.
void Peer::Parts::give_up(const RunningCallPtr& running_call, Unanswered questions) {
  RunningCall& waiting = *running_call;
  for (const InputRequest& request : waiting.ask->requests)
    if (!waiting.call.inputs.contains(request.key))
      waiting.call.inputs[request.key] = {Input::Kind::kUnanswered, {}, {}};
  if (questions != Unanswered::kWithdrawn) keep_late(running_call);
  if (questions != Unanswered::kKept) send_cancelled(running_call);
  for (const auto& [id, key] : std::exchange(waiting.open, {})) asked.erase(id);
  resume(running_call);
}

void Peer::Parts::keep_late(const RunningCallPtr& running_call) {
  auto kept = std::make_shared<LateCall>(
      LateCall{running_call->request, running_call->call, to_json(running_call->request->params).size()});
  kept->call.state = running_call->ask->state;
  kept->call.is_late = true;
  kept->call.is_cancelled = std::make_shared<const std::atomic<bool>>(false);
  for (const auto& [id, key] : running_call->open) late.push_back({id, key, shared.clock.now_ms(), kept});
  std::size_t bytes = 0;
  for (const LateQuestion& question : late) bytes += question.call->bytes;
  while (late.size() > limits::kLateQuestions || (bytes > limits::kLateBytes && late.size() > 1)) {
    bytes -= late.front().call->bytes;
    late.pop_front();
  }
}

void Peer::Parts::send_cancelled(const RunningCallPtr& running_call) {
  if (!running_call->reply) return;
  for (const auto& [id, key] : running_call->open)
    running_call->reply->send(net::rpc_notification(
        "notifications/cancelled", Value::object({{"requestId", id}, {"reason", "The call that asked has ended"}})));
}

void Peer::Parts::resume(const RunningCallPtr& running_call) {
  shared.scheduler.cancel(running_call->moot_timer);
  running_call->moot_timer = 0;
  running_call->call.state = std::move(running_call->ask->state);
  running_call->ask.reset();
  work(running_call);
}

}  // namespace sb::mcp
