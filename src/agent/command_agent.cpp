#include "agent/command_agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "agent/agent_home.hpp"
#include "agent/led_session.hpp"
#include "agent/plain_text.hpp"
#include "agent/recipe.hpp"
#include "base/unicode.hpp"

namespace sb::agent {
namespace {

constexpr int kStarts = 3;                       // of the program, when it stops early
constexpr std::size_t kOutputBytes = 64u << 10;  // kept, to say why it ended
constexpr std::size_t kToldBytes = 600;

Ended ended_as(EndState state, std::string reason) {
  Ended ended;
  ended.state = state;
  ended.reason = std::move(reason);
  return ended;
}

bool is_lasting(EndState state) {
  return state != EndState::kAwaiting && state != EndState::kOutage;
}

std::string_view api_of(ModelSettings::Provider provider) {
  switch (provider) {
    case ModelSettings::Provider::kAnthropic:
      return "anthropic";
    case ModelSettings::Provider::kOpenai:
      return "openai";
    default:
      return "";
  }
}

// The last words of a program that went wrong.
std::string last_words(const Exit& exit) {
  std::string text = as_utf8(exit.errors.find_first_not_of(" \n") == std::string::npos ? exit.output : exit.errors);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() <= kToldBytes) return text;
  std::size_t from = text.size() - kToldBytes;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  return "…" + text.substr(from);
}

class CommandAgent final : public Worker {
 public:
  CommandAgent(const StaffParts& parts, const ModelSettings& model) : parts_(parts), model_(model) {}

  Ended work(const Assignment& assignment, const OnProgress& on_progress) override {
    const auto upstream = upstream_of();
    if (!upstream) return ended_as(EndState::kModelFailed, upstream.error().to_string());
    const auto recipe = recipe_for(model_);
    if (!recipe) return ended_as(EndState::kModelFailed, recipe.error().to_string());
    if (auto refused = refusal(assignment, *upstream, *recipe)) return std::move(*refused);
    auto led = LedSession::open({.staff = parts_,
                                 .assignment = assignment,
                                 .model = model_,
                                 .upstream = *upstream,
                                 .sandbox = sandbox_name(*upstream == nullptr),
                                 .on_progress = on_progress});
    if (!led) return ended_as(EndState::kBroke, led.error().to_string());
    Ended ended = lead(**led, assignment, *upstream, *recipe);
    (*led)->fill(ended);
    if (is_lasting(ended.state)) {
      if (const auto kept = (*led)->ended(ended); !kept && ended.state != EndState::kComplete) {
        ended = ended_as(EndState::kBroke, kept.error().to_string());
      }
    }
    if (on_progress) {
      on_progress({.kind = Progress::Kind::kEnded,
                   .session = assignment.session,
                   .workflow = assignment.workflow,
                   .step = {},
                   .text = ended.reason,
                   .turn = ended.turns,
                   .usage = ended.usage,
                   .micro_cents = ended.micro_cents});
    }
    return ended;
  }

 private:
  Result<const ModelSettings*> upstream_of() const {
    if (model_.upstream.empty()) return nullptr;
    const auto found = parts_.settings.models.find(model_.upstream);
    if (found == parts_.settings.models.end()) {
      return fail(ErrorCode::kInvalid, fmt::format("the model {} has an upstream {} that nobody knows", model_.name,
                                                   quote_json(model_.upstream)));
    }
    if (found->second.provider == ModelSettings::Provider::kCommand) {
      return fail(ErrorCode::kInvalid, fmt::format("the upstream of {} is an agent program itself", model_.name),
                  "Name a model that answers by itself");
    }
    return &found->second;
  }

  const engine::Sandbox& sandbox() {
    const std::scoped_lock lock(mutex_);
    if (!sandbox_) sandbox_ = engine::find_sandbox(parts_.seams);
    return *sandbox_;
  }

  std::string sandbox_name(bool has_own_login) {
    std::string name = sandbox().name();
    if (sandbox().works()) name += ", with the machine's network";
    return has_own_login ? name + "; its own login, so what it sends to a model is not seen" : name;
  }

  // Before anything is started.
  std::optional<Ended> refusal(const Assignment& assignment, const ModelSettings* upstream, const Recipe& recipe) {
    if (parts_.host == nullptr) {
      return ended_as(EndState::kModelFailed,
                      fmt::format("{} is an agent program, and none can be led from here", model_.name));
    }
    if (is_restricted(assignment.role) && upstream == nullptr) {
      return ended_as(EndState::kForbidden,
                      fmt::format("the role {} must not see more than it is given, and {} uses its own login: what it "
                                  "sends to its model cannot be seen, so its isolation cannot be proven. Give {} an "
                                  "`upstream`, or the role another model",
                                  assignment.role, model_.name, model_.name));
    }
    if (is_restricted(assignment.role) && !sandbox().works()) {
      return ended_as(EndState::kForbidden,
                      fmt::format("the role {} must not see more than it is given, and there is no sandbox to keep {} "
                                  "from reading more: {}",
                                  assignment.role, model_.name, sandbox().missing));
    }
    const std::string_view api = upstream == nullptr ? "" : api_of(upstream->provider);
    if (!api.empty() && !recipe.api.empty() && api != recipe.api) {
      return ended_as(EndState::kModelFailed, fmt::format("{} speaks the API of {}, and its upstream {} that of {}",
                                                          recipe.name, recipe.api, upstream->name, api));
    }
    return std::nullopt;
  }

  Ended lead(LedSession& led, const Assignment& assignment, const ModelSettings* upstream, const Recipe& recipe) {
    const TimestampMs end = parts_.seams.clock.now_ms() + assignment.limits.time_ms;
    for (int start = 1;; ++start) {
      const auto settled = led.settled();
      if (!settled) return ended_as(EndState::kBroke, settled.error().to_string());
      if (*settled) return ended_of(**settled);
      if (start == 1) {
        if (const auto begun = led.begin(); !begun) return ended_as(EndState::kBroke, begun.error().to_string());
      }
      const std::int64_t left_ms = end - parts_.seams.clock.now_ms();
      if (left_ms <= 0) return ended_as(EndState::kTimeLimit, "the session's time is up");
      const auto exit = run(led, assignment, upstream, recipe, start > 1, left_ms);
      if (!exit) return ended_as(EndState::kAgentDied, exit.error().to_string());
      Ended ended = judge(led, recipe, *exit);
      if (ended.state != EndState::kStoppedEarly || start == kStarts) return ended;
    }
  }

  static Ended ended_of(const Standstill& settled) {
    Ended ended = ended_as(settled.state, settled.reason);
    ended.decision = settled.decision;
    return ended;
  }

  // The workflow's word comes first, then why it was ended, then how it ended by itself.
  Ended judge(LedSession& led, const Recipe& recipe, const Exit& exit) {
    const auto settled = led.settled();
    if (!settled) return ended_as(EndState::kBroke, settled.error().to_string());
    if (*settled) return ended_of(**settled);
    if (const auto verdict = led.verdict()) return ended_of(*verdict);
    if (exit.timed_out) return ended_as(EndState::kTimeLimit, "the session's time is up");
    if (const auto outage = led.outage()) {
      Ended ended = ended_of(*outage);
      ended.retry_at_ms = led.retry_at_ms();
      return ended;
    }
    if (exit.code != 0) {
      return ended_as(EndState::kAgentDied,
                      fmt::format("{} ended with code {}: {}", recipe.name, exit.code, last_words(exit)));
    }
    return ended_as(EndState::kStoppedEarly,
                    fmt::format("{} ended its work before the workflow was complete, {} times", recipe.name, kStarts));
  }

  Result<Exit> run(LedSession& led, const Assignment& assignment, const ModelSettings* upstream, const Recipe& recipe,
                   bool again, std::int64_t left_ms) {
    const Seams& seams = parts_.seams;
    const AgentHome home = SB_TRY(AgentHome::make(seams, assignment.session));
    const auto place = SB_TRY(parts_.host->open(led, upstream));
    const Launch launch = SB_TRY(fill_recipe(recipe, {.prompt = SB_TRY(led.prompt(again)),
                                                      .mcp_url = place->mcp_url,
                                                      .mcp_token = place->mcp_token,
                                                      .proxy_url = place->proxy_url,
                                                      .home = home.path(),
                                                      .work_tree = assignment.work_tree,
                                                      .model = upstream == nullptr ? model_.model : upstream->model,
                                                      .is_writable = assignment.is_writable}));
    SB_TRY(home.write(seams, launch.files));
    Command command{.argv = fence_words({.sandbox = sandbox(),
                                         .work_tree = assignment.work_tree,
                                         .home = home.path(),
                                         .is_writable = assignment.is_writable,
                                         .has_own_login = upstream == nullptr},
                                        seams, SB_TRY(homes(seams.environment))),
                    .input = launch.input,
                    .directory = sandbox().works() ? std::string("/") : assignment.work_tree,
                    .environment = engine::clean_environment(seams.environment),
                    .timeout_ms = left_ms,
                    .max_output_bytes = kOutputBytes,
                    .keeps_tail = true,
                    .ends_all = true,
                    .keeps_going = [&] { return led.keeps_going(); },
                    .on_output = [&](std::string_view) { led.sign_of_life(); }};
    if (upstream != nullptr) (*command.environment)["HOME"] = home.path();
    (*command.environment)["TMPDIR"] = join_path(home.path(), "tmp");
    for (const auto& [name, value] : launch.environment) (*command.environment)[name] = value;
    command.argv.insert(command.argv.end(), launch.argv.begin(), launch.argv.end());
    SB_TRY(check_program(launch.argv.front()));
    led.sign_of_life();
    return seams.process.run(command);
  }

  // bubblewrap's own words about a program that is not there are no help.
  Status check_program(const std::string& program) const {
    if (program.find('/') != std::string::npos) {
      if (parts_.seams.files.kind(program) == FileKind::kFile) return {};
      return fail(ErrorCode::kNotFound, fmt::format("there is no program {}", quote_json(program)));
    }
    const auto environment = engine::clean_environment(parts_.seams.environment);
    std::string_view folders = environment.at("PATH");
    while (!folders.empty()) {
      const std::size_t end = std::min(folders.find(':'), folders.size());
      const std::string path = join_path(folders.substr(0, end), program);
      if (parts_.seams.files.kind(path) == FileKind::kFile) return {};
      folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return fail(ErrorCode::kNotFound, fmt::format("{} is not installed: no folder of PATH has it", program),
                "Install it, or write its place as `command:`");
  }

  const StaffParts& parts_;
  const ModelSettings& model_;
  std::mutex mutex_;
  std::optional<engine::Sandbox> sandbox_;
};

}  // namespace

std::unique_ptr<Worker> make_command_agent(const StaffParts& parts, const ModelSettings& model) {
  return std::make_unique<CommandAgent>(parts, model);
}

}  // namespace sb::agent
