// Renders one prompt for a host, and reports what that host cannot show.
//
// Pure: same arguments, same bytes. Never trims, merges, renames or reorders: a prompt with more options than the host
// allows is rejected (page it first: prompts_of with cap_of), and so are a one-way decision whose note would be lost,
// and a secret except by URL or in a local prompt.
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
  // Links the host's answer to the planned prompt; in the question text as `<sb:NONCE>`. Empty: no marker.
  std::string nonce = {};
  // Text host only: the caller shows `before` as a separate message before the block.
  bool shows_before = false;
  // Text host only: a person is at this terminal, so secrets and forms may be asked.
  bool is_local = false;
};

struct Rendered {
  std::string text;    // what to show, for hosts that a person reads
  Value payload;       // the arguments of the call, for other hosts; null if `text` is used
  std::string header;  // the chip above the question, if the host has one
  std::string before;  // text host: shown before the block and separately (AMB-17); usually empty
  // Every field of the prompt that is not shown, by name: description, recommended, sections.eli10, ... In the order of
  // the declaration.
  std::vector<std::string> omitted_fields;
  AnswerShape shape;
  // Hex SHA-256 of profile id, definition hash and what is shown, without the marker: another nonce does not change it.
  std::string render_hash;

  // What goes to the host: the text, or the payload as JSON.
  std::string bytes() const;
};

Result<Rendered> render(const Prompt& prompt, const Profile& profile, const Host& host,
                        const RenderOptions& options = {});

// `<sb:NONCE>`, and the nonces of all such markers in a text, in order.
std::string marker_of(std::string_view nonce);
std::vector<std::string> nonces_in(std::string_view text);

}  // namespace sb::decision
