// Splits a text into instruction and options, as far as it has them.
//
// Strict option lines (`1) text`) make a block; without any, at least two lines with other markers (bullets, letters,
// `1.`) make one whose markers are wrong.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "decision/lint/mask.hpp"
#include "decision/lint/span.hpp"

namespace sb::decision::linting {

struct Line {
  Span span;  // without the line feed
  std::string_view text;

  bool is_blank() const;  // nothing but white space
};

std::vector<Line> split_lines(std::string_view text, Span within);

struct OptionLine {
  Span span;
  std::string_view text;    // after the marker
  std::string_view marker;  // "1)", "-", "A."
  int number = 0;           // of a strict marker; 0 for others
  std::vector<Span> below;  // lines below it that are not options
};

struct Block {
  std::vector<Line> before;  // non-blank lines before the first option; of the first block only
  std::vector<OptionLine> options;
  std::vector<Line> after;     // non-blank lines after the last option; of the last block only
  int blank_lines = 0;         // between the line before and the first option
  bool has_empty_gap = false;  // the gap consists of completely empty lines
  bool has_inner_blank = false;
  bool is_strict = true;

  Span span() const;  // from the first option to the last
};

struct ParsedText {
  std::vector<Block> blocks;  // more than one: several questions
};

ParsedText parse_blocks(std::string_view text, Span within, const std::vector<Span>& code);

}  // namespace sb::decision::linting
