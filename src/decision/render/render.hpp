// Turns one prompt into exactly what a host is to be given, and says what that host could not show.
//
// Pure: same arguments, same bytes. Never trims, merges, renames or reorders: a prompt with more options than the host
// holds is refused (page it first: prompts_of with cap_of), and so is a one-way decision whose note would be lost, and
// a secret anywhere but by url or in a local prompt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"
#include "decision/render/answer_shape.hpp"
#include "decision/render/host.hpp"

namespace sb::decision {

struct RenderOptions {
  // Ties the host's answer to the planned prompt; stands in the question text as `<sb:NONCE>`. Empty: no marker.
  std::string nonce = {};
  // Text only: whoever shows the block also shows `before`, as a message of its own.
  bool shows_before = false;
  // Text only: a person at this terminal, so secrets and forms may be asked.
  bool is_local = false;
};

struct Rendered {
  std::string text;    // what to show, on hosts that a person reads
  Value payload;       // what to call the host with, on the others; null where `text` is used
  std::string header;  // the chip above the question, where the host has one
  std::string before;  // text: to be shown before the block and apart from it (AMB-17); mostly empty
  // Every field of the prompt that is not shown, by name: description, recommended, sections.eli10, ... Sorted as they
  // stand in the declaration.
  std::vector<std::string> omitted_fields;
  AnswerShape shape;
  // SHA-256, hex, over profile id, definition hash and what is shown, without the marker: asking again with another
  // nonce does not change it.
  std::string render_hash;

  // The text, or the payload as JSON: what goes to the host.
  std::string bytes() const;
};

Result<Rendered> render(const Prompt& prompt, const Profile& profile, const Host& host,
                        const RenderOptions& options = {});

// `<sb:NONCE>`, and the nonces of all such markers in a text, in order.
std::string marker_of(std::string_view nonce);
std::vector<std::string> nonces_in(std::string_view text);

}  // namespace sb::decision
