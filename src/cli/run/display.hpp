// Shows a run in progress: a block redrawn in place on a terminal, lines elsewhere, JSON for programs.
//
// Threads: on_progress() from any thread; the rest from one.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/command.hpp"
#include "cli/run/text.hpp"

namespace sb::cli {

class RunDisplay {
 public:
  RunDisplay(const Context& context, bool wants_json);
  ~RunDisplay();
  RunDisplay(const RunDisplay&) = delete;
  RunDisplay& operator=(const RunDisplay&) = delete;

  void on_event(const pipeline::RunState& state, const pipeline::RunEvent& event);
  void on_progress(const agent::Progress& progress);
  // Draws nothing until resume(), while a question is asked on the terminal.
  void pause();
  void resume();
  // Draws the block a last time.
  void finish();
  bool is_json() const { return style_ == Style::kJson; }

 private:
  enum class Style { kJson, kLines, kBlock };
  void draw();  // expects the lock
  void show_wait(const agent::Progress& progress);
  void redraw_loop();

  Context context_;
  Style style_;
  std::mutex mutex_;
  std::condition_variable changed_;
  pipeline::RunState state_;
  PhaseProgress now_;
  std::size_t drawn_ = 0;  // lines of the block on the screen
  int frame_ = 0;
  bool is_paused_ = false, is_over_ = false, has_state_ = false;
  std::thread redraw_thread_;
};

}  // namespace sb::cli
