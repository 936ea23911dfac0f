#include "mcp/tools/signalbox_server.hpp"

#include <fmt/format.h>

#include <mutex>

#include "base/crypto.hpp"
#include "decision/rules_text.hpp"
#include "engine/state/keyring.hpp"
#include "inbox/home.hpp"
#include "mcp/tools/tool_service.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kStates = "request-states";
constexpr std::string_view kSealLabel = "signalbox mcp seal 1";
constexpr int kDroppedAtOnce = 100;

constexpr std::string_view kInstructions =
    "Signalbox guides you through workflows step by step and records the results.\n"
    "- If a task fits a workflow, or the person names one: list_workflows if you do not know its id, then "
    "start_workflow.\n"
    "- Do exactly the step you are shown, then continue_workflow with the continueToken of the last line of JSON: what "
    "you did and found in output.notesMarkdown, artifacts in output.artifacts, context keys in context.\n"
    "- kind blocked: fix what it names, submit again. awaiting_decision: a person decides; call again later with the "
    "same token.\n"
    "- To resume earlier work, or after losing your context: resume_session.\n";

// What the server stores besides sessions: used request states, and the key they are sealed with. Thread-safe.
class StateKeeping {
 public:
  explicit StateKeeping(const Seams& seams) : seams_(seams), spare_key_(seams.random.bytes(32)) {}

  // Derived from the key that signs tokens, so that all servers on one home agree. Without a store, sealed values are
  // valid only in this process.
  std::string key() {
    const std::scoped_lock lock(mutex_);
    if (key_.empty()) {
      if (auto derived = derive()) key_ = std::move(*derived);
    }
    return key_.empty() ? spare_key_ : key_;
  }

  Result<bool> is_first_use(std::string_view nonce, TimestampMs expires) {
    const std::scoped_lock lock(mutex_);
    SB_TRY(open());
    return home_->store().write([&](store::Transaction& transaction) -> Result<bool> {
      if (SB_TRY(transaction.get(kStates, nonce))) return false;
      SB_TRY(transaction.put(kStates, nonce, "used", fmt::format("{:015}", std::max<TimestampMs>(expires, 0))));
      SB_TRY(drop_expired(transaction));
      return true;
    });
  }

 private:
  Status open() {
    if (!home_) home_ = SB_TRY(inbox::Home::open(seams_, store::Access::kReadWrite));
    return {};
  }

  Result<std::string> derive() {
    SB_TRY(open());
    return home_->store().write([&](store::Transaction& transaction) -> Result<std::string> {
      engine::Keyring keys;
      SB_TRY(keys.load_or_make(transaction, seams_.random, seams_.clock.now_ms()));
      return std::string(as_bytes(hmac_sha256(keys.current().secret, kSealLabel)));
    });
  }

  Status drop_expired(store::Transaction& transaction) {
    const std::string now = fmt::format("{:015}", std::max<TimestampMs>(seams_.clock.now_ms(), 0));
    const auto rows = SB_TRY(transaction.list(kStates, {.by = store::Order::kSort, .limit = kDroppedAtOnce}));
    for (const store::Row& row : rows) {
      if (row.sort && *row.sort < now) SB_TRY(transaction.remove(kStates, row.key));
    }
    return {};
  }

  Seams seams_;
  std::mutex mutex_;
  std::string spare_key_, key_;
  std::unique_ptr<inbox::Home> home_;
};

}  // namespace

ServerParts make_server_parts(const Seams& seams) {
  auto keeping = std::make_shared<StateKeeping>(seams);
  return {
      .facts = {.info = Value::object({{"name", "signalbox"}, {"title", "Signalbox"}, {"version", SIGNALBOX_VERSION}}),
                .instructions = std::string(kInstructions) + std::string(decision::rules_instructions()),
                .has_resources = true,
                .has_prompts = true,
                .has_completions = true,
                .has_logging = true},
      .make_service = [seams] { return std::make_unique<ToolService>(seams); },
      .seal_key = [keeping] { return keeping->key(); },
      .is_first_use = [keeping](std::string_view nonce,
                                TimestampMs expires) { return keeping->is_first_use(nonce, expires); },
      .clock = seams.clock,
      .random = seams.random};
}

}  // namespace sb::mcp
