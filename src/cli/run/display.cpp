#include "cli/run/display.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/text/printable.hpp"
#include "cli/local_time.hpp"

namespace sb::cli {
namespace {

constexpr auto kBeat = std::chrono::milliseconds(250);

struct Extent {
  int columns = 80, rows = 24;
};

Extent extent_of(const Environment& environment) {
  Extent extent;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    return {size.ws_col, size.ws_row};
  }
  const auto take = [&](std::string_view name, int& number) {
    if (const auto given = environment.get(name)) {
      std::from_chars(given->data(), given->data() + given->size(), number);
    }
  };
  take("COLUMNS", extent.columns);
  take("LINES", extent.rows);
  return extent;
}

// The current activity is at the end, so lines after the first are dropped; the last row stays free for the cursor.
void clip_to(int rows, std::vector<std::string>& lines) {
  const auto most = static_cast<std::size_t>(std::max(2, rows) - 1);
  if (lines.size() <= most) return;
  lines.erase(lines.begin() + 1, lines.begin() + 1 + static_cast<std::ptrdiff_t>(lines.size() - most));
}

bool can_redraw(const Context& context) {
  const std::string terminal = context.seams.environment.get("TERM").value_or("dumb");
  return context.streams().is_terminal(Stream::kOutput) && terminal != "dumb";
}

}  // namespace

RunDisplay::RunDisplay(const Context& context, bool wants_json)
    : context_(context),
      style_(wants_json            ? Style::kJson
             : can_redraw(context) ? Style::kBlock
                                   : Style::kLines) {
  if (style_ == Style::kBlock) redraw_thread_ = std::thread([this] { redraw_loop(); });
}

RunDisplay::~RunDisplay() {
  finish();
}

void RunDisplay::redraw_loop() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    changed_.wait_for(lock, kBeat);
    ++frame_;
    if (!is_over_ && !is_paused_ && has_state_) draw();
  }
}

// Redraws line by line: erasing to the end of the screen moves the block into the scrollback of some terminals.
void RunDisplay::draw() {
  const Extent extent = extent_of(context_.seams.environment);
  const BlockStyle style{.now = context_.seams.clock.now_ms(),
                         .width = extent.columns,
                         .has_colour = context_.has_colour,
                         .frame = frame_};
  auto lines = run_block(state_, now_, style);
  clip_to(extent.rows, lines);
  // A window that was made smaller shows at most its rows of what was drawn.
  const std::size_t old = std::min(drawn_, static_cast<std::size_t>(std::max(2, extent.rows) - 1));
  std::string text = old > 0 ? fmt::format("\x1b[{}F", old) : std::string();
  for (const std::string& line : lines) text += fmt::format("\x1b[2K{}\n", line);
  for (std::size_t i = lines.size(); i < old; ++i) text += "\x1b[2K\n";
  if (lines.size() < old) text += fmt::format("\x1b[{}F", old - lines.size());
  context_.out(text);
  drawn_ = lines.size();
  (void)context_.streams().flush();
}

void RunDisplay::on_event(const pipeline::RunState& state, const pipeline::RunEvent& event) {
  const std::lock_guard lock(mutex_);
  state_ = state;
  has_state_ = true;
  if (event.type == "phase_started" || event.type == "phase_ended") now_ = {};
  if (style_ == Style::kJson) {
    context_.out(to_json(Value::object({{"seq", event.seq},
                                        {"time", to_rfc3339(event.time_ms)},
                                        {"type", event.type},
                                        {"run", state.id},
                                        {"payload", event.payload}})) +
                 "\n");
    (void)context_.streams().flush();
    return;
  }
  if (style_ == Style::kBlock) {
    if (!is_paused_) draw();
    return;
  }
  const std::string time = local_clock(event.time_ms);
  if (const std::string line = event_line(state, event); !line.empty()) {
    context_.out(fmt::format("{}  {}\n", time, line));
  }
  if (event.type == "opened" || event.type == "resumed") {
    if (const std::string note = sandbox_note(state); !note.empty()) {
      context_.out(fmt::format("{}  {}\n", time, one_line(note, 400)));
    }
  }
  (void)context_.streams().flush();
}

void RunDisplay::on_progress(const agent::Progress& progress) {
  const std::lock_guard lock(mutex_);
  using Kind = agent::Progress::Kind;
  if (progress.kind == Kind::kWait) {
    now_.waits_until = progress.until_ms;
    now_.wait_reason = progress.text;
    show_wait(progress);
    return;
  }
  if (progress.kind == Kind::kTurn) now_.waits_until = 0;
  const bool is_phase = !state_.phases.empty() && progress.session == state_.phases.back().session;
  if (!is_phase) {
    if (progress.kind == Kind::kStep || progress.kind == Kind::kTool) {
      now_.doing = fmt::format("{} ({}) {}", progress.workflow, progress.step, progress.text);
    }
    return;
  }
  now_.workflow = progress.workflow;
  if (!progress.step.empty()) now_.step = progress.step;
  if (progress.turn > 0) now_.turns = progress.turn;
  if (progress.usage.total() > 0) now_.usage = progress.usage;
  if (progress.micro_cents > 0) now_.micro_cents = progress.micro_cents;
  if (progress.kind == Kind::kTool || progress.kind == Kind::kNudge || progress.kind == Kind::kChild) {
    now_.doing = progress.text;
  }
  if (style_ == Style::kLines && progress.kind == Kind::kStep) {
    context_.out(fmt::format("{}  {}: {}\n", local_clock(context_.seams.clock.now_ms()),
                             to_string(state_.phases.back().phase), one_line(progress.step, 200)));
  }
}

void RunDisplay::show_wait(const agent::Progress& progress) {
  if (style_ != Style::kLines) return;
  const TimestampMs now = context_.seams.clock.now_ms();
  context_.out(fmt::format("{}  {}: waiting for the model until {}: {}\n", local_clock(now),
                           one_line(progress.workflow, 60), until_text(progress.until_ms, now),
                           one_line(progress.text, 300)));
  (void)context_.streams().flush();
}

void RunDisplay::pause() {
  const std::lock_guard lock(mutex_);
  is_paused_ = true;
}

void RunDisplay::resume() {
  const std::lock_guard lock(mutex_);
  is_paused_ = false;
  drawn_ = 0;  // the question is below the block; the next draw starts after it
}

void RunDisplay::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    if (style_ == Style::kBlock && has_state_ && !is_paused_) draw();
    is_over_ = true;
  }
  changed_.notify_all();
  if (redraw_thread_.joinable()) redraw_thread_.join();
}

}  // namespace sb::cli
