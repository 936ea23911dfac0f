#include "decision/lint/prose.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "decision/lint/sentence.hpp"

namespace sb::decision::linting {
namespace {

// A longer "sentence" is not a sentence; patterns see its pieces.
constexpr std::size_t kLongest = 1500;

enum Class : std::uint8_t { kOther, kWord, kHigh, kStop, kBreak };

struct Classes {
  std::uint8_t of[256] = {};
  constexpr Classes() {
    for (int c = 0; c < 256; ++c) {
      const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      of[c] = is_word                              ? kWord
              : c >= 0x80                          ? kHigh
              : c == '\n'                          ? kBreak
              : (c == '.' || c == '!' || c == '?') ? kStop
                                                   : kOther;
    }
  }
};
constexpr Classes kClasses;

std::string_view rule_of(PhraseKind phrase_kind) {
  switch (phrase_kind) {
    case PhraseKind::kOffer:
      return rule::kSoftOffer;
    case PhraseKind::kChoice:
      return rule::kInlineChoice;
    case PhraseKind::kApproval:
      return rule::kProseApproval;
    case PhraseKind::kQuestion:
      return rule::kQuestionNoBlock;
    case PhraseKind::kNarration:
      return rule::kNarration;
    case PhraseKind::kStatus:
      return rule::kStatus;
    case PhraseKind::kSummary:
      return rule::kFreeSummary;
    case PhraseKind::kReasoning:
      return rule::kReasoning;
    case PhraseKind::kDrop:
      return rule::kGsDropNarration;
  }
  return {};
}

// Whether one of these words occurs in the text; true for an empty list.
bool holds_any(std::string_view text, const std::vector<std::string>& words) {
  const auto is_part = [&](std::size_t at) {
    return at < text.size() && kClasses.of[static_cast<unsigned char>(text[at])] == kWord;
  };
  const auto holds = [&](const std::string& word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      if (!is_part(at + word.size()) && (at == 0 || !is_part(at - 1))) return true;
    }
    return false;
  };
  return words.empty() || std::any_of(words.begin(), words.end(), holds);
}

// A stretch of text prepared for patterns: single spaces, no emphasis marks, no leading list marker.
struct Clean {
  std::string text;

  void make(std::string_view source, Span span, bool strips_marker) {
    text.resize(span.size());
    text.resize(write(source, span, strips_marker, text.data(), text.size()));
    while (!text.empty() && text.back() == ' ') text.pop_back();
  }

  // The source position of the byte at `at` of the clean text.
  static std::size_t origin(std::string_view source, Span span, bool strips_marker, std::size_t at) {
    std::string scratch(span.size(), ' ');
    std::size_t end = span.begin;
    write(source, span, strips_marker, scratch.data(), at, &end);
    return end;
  }

  // Writes at most `most` bytes; returns how many, and where in the source it stopped.
  static std::size_t write(std::string_view source, Span span, bool strips_marker, char* out, std::size_t most,
                           std::size_t* stopped = nullptr) {
    std::size_t at = strips_marker ? behind_marker(source, span) : span.begin;
    std::size_t size = 0;
    bool space = true;
    for (; at < span.end; ++at) {
      char c = source[at];
      if (c == '*' || c == '~') continue;
      if (c == '\n' || c == '\t' || c == '\r') c = ' ';
      if (c == ' ' && space) continue;
      if (size == most) break;
      space = c == ' ';
      out[size++] = c;
    }
    if (stopped != nullptr) *stopped = at;
    return size;
  }

  static std::size_t behind_marker(std::string_view source, Span span) {
    std::size_t at = span.begin;
    const auto skip = [&](std::string_view set) {
      while (at < span.end && set.find(source[at]) != std::string_view::npos) ++at;
    };
    skip(" \t\r\n-*_#|+>~");
    std::size_t digits = at;
    while (digits < span.end && source[digits] >= '0' && source[digits] <= '9') ++digits;
    if (digits > at && digits + 1 < span.end && (source[digits] == '.' || source[digits] == ')') &&
        source[digits + 1] == ' ') {
      at = digits + 2;
    }
    // Bullets, dashes, arrows and pictographs before a sentence are not part of it.
    for (;;) {
      skip(" \t*_");
      const auto rest = source.substr(at, span.end - at);
      if (rest.starts_with("\u2022") || rest.starts_with("\u2014") || rest.starts_with("\u2013") ||
          rest.starts_with("\u2192") || rest.starts_with("\u2705") || rest.starts_with("\u00B7")) {
        at += rest.starts_with("\u00B7") ? 2 : 3;
      } else if (rest.starts_with("\xF0\x9F") && rest.size() >= 4) {
        at += 4;
      } else {
        break;
      }
    }
    return std::min(at, span.end);
  }
};

class Scanner {
 public:
  Scanner(std::string_view text, const Masked& masked, const TriggerIndex& index, const ProseRules& rules,
          Report& report)
      : text_(text), masked_(masked), prose_(masked.prose), index_(index), rules_(rules), report_(report) {}

  void run() {
    const std::size_t size = prose_.size();
    std::size_t at = 0;
    while (at < size && !report_.is_full()) {
      switch (kClasses.of[static_cast<unsigned char>(prose_[at])]) {
        case kWord:
        case kHigh:
          at = word(at);
          break;
        case kStop:
          at = stop(at);
          break;
        case kBreak:
          at = line_break(at);
          break;
        default:
          ++at;
      }
      if (at - sentence_ > kLongest && sentence_ < at) end_sentence(at, false);
    }
    end_sentence(size, false);
    end_line(size);
    if (!last_.empty()) try_phrases(last_, last_span_, masked_.prose, true);
  }

  // Where sentences with a trigger word of the drops begin.
  const std::vector<std::size_t>& drop_places() const { return drop_places_; }

 private:
  unsigned char byte(std::size_t at) const { return at < prose_.size() ? static_cast<unsigned char>(prose_[at]) : 0; }

  std::size_t word(std::size_t at) {
    std::uint64_t hash = TriggerIndex::kSeed;
    const std::size_t begin = at;
    for (;; ++at) {
      const unsigned char c = byte(at);
      const std::uint8_t kind = at < prose_.size() ? kClasses.of[c] : static_cast<std::uint8_t>(kOther);
      if (kind == kWord || (c >= 0xC3 && c <= 0xDF) || (c >= 0x80 && c < 0xC0 && at > begin)) {
        hash = TriggerIndex::step(hash, c);
        continue;
      }
      break;
    }
    if (at > begin) {
      saw_word_ = true;
      if (const auto* phrases = index_.find(hash)) note(*phrases);
      return at;
    }
    return wide(at);
  }

  // Characters of three and more bytes: each East Asian one counts as a word; some end a sentence.
  std::size_t wide(std::size_t at) {
    const unsigned char c = byte(at);
    const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    if (c >= 0xE3 && c <= 0xEF && at + 3 <= prose_.size()) {
      const auto character = std::string_view(prose_).substr(at, 3);
      if (character == "。" || character == "！" || character == "？") {
        const bool is_question = character == "？";
        end_sentence(at + 3, is_question);
        return at + 3;
      }
      saw_word_ = true;
      std::uint64_t hash = TriggerIndex::kSeed;
      for (char b : character) hash = TriggerIndex::step(hash, static_cast<unsigned char>(b));
      if (const auto* phrases = index_.find(hash)) note(*phrases);
    }
    return std::min(at + length, prose_.size());
  }

  void note(const std::vector<const Phrase*>& phrases) {
    for (const Phrase* phrase : phrases) {
      if (!is_wanted(*phrase)) continue;
      if (phrase->phrase_kind == PhraseKind::kDrop && (drop_places_.empty() || drop_places_.back() != sentence_)) {
        drop_places_.push_back(sentence_);
      }
      auto& list = phrase->phrase_kind == PhraseKind::kChoice ? line_phrases_ : sentence_phrases_;
      if (std::find(list.begin(), list.end(), phrase) == list.end()) list.push_back(phrase);
    }
  }

  // . ! ? end a sentence when a space or the end follows (after closing marks) and no lower-case letter comes next.
  std::size_t stop(std::size_t at) {
    std::size_t next = at + 1;
    bool is_question = prose_[at] == '?';
    while (byte(next) == '.' || byte(next) == '!' || byte(next) == '?') is_question |= prose_[next++] == '?';
    while (byte(next) == ')' || byte(next) == '"' || byte(next) == '\'' || byte(next) == '*' || byte(next) == '_')
      ++next;
    const unsigned char c = byte(next);
    // Punctuation of three bytes (dash, closing quote) may follow directly; a letter may not.
    const bool may_end = c == 0 || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0xE2;
    if (!may_end) return at + 1;
    if (prose_[at] == '.' && continues_in_lower_case(next)) return next;
    end_sentence(next, is_question);
    return next;
  }

  bool continues_in_lower_case(std::size_t at) const {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    if (at >= text_.size()) return false;
    const unsigned char c = static_cast<unsigned char>(text_[at]);
    if (c >= 'a' && c <= 'z') return true;
    if (at + 1 >= text_.size()) return false;
    const unsigned char d = static_cast<unsigned char>(text_[at + 1]);
    return (c == 0xD0 && d >= 0xB0) || c == 0xD1;
  }

  // A line break ends a sentence before an empty line, a list item, a heading, a table row or an indent.
  std::size_t line_break(std::size_t at) {
    end_line(at);
    std::size_t next = at + 1;
    while (byte(next) == ' ' || byte(next) == '\t' || byte(next) == '\r') ++next;
    const unsigned char c = byte(next);
    const bool digits = c >= '0' && c <= '9';
    const unsigned char behind = digits ? byte(next + 1) : 0;
    const bool is_item = c == '-' || c == '*' || c == '#' || c == '|' || c == '>' || c == '+' ||
                         (digits && (behind == '.' || behind == ')')) || (c == 0xE2 && byte(next + 1) == 0x80);
    if (c == '\n' || c == 0 || is_item) end_sentence(at, false);
    line_ = at + 1;
    return at + 1;
  }

  void end_line(std::size_t end) {
    if (rules_.choices && !line_phrases_.empty()) {
      const std::size_t begin = align(prose_, end - std::min(end - line_, kLongest));
      try_phrases(line_phrases_, {begin, end}, masked_.visible, false);
    }
    line_phrases_.clear();
  }

  void end_sentence(std::size_t end, bool is_question) {
    const Span span{sentence_, end};
    sentence_ = end;
    if (!saw_word_) {
      sentence_phrases_.clear();
      return;
    }
    saw_word_ = false;
    if (is_question && rules_.questions) {
      const std::size_t begin = Clean::behind_marker(prose_, span);
      report_.add(rule::kQuestionNoBlock, {begin, end});
    }
    last_.clear();
    if (sentence_phrases_.empty()) return;
    if (is_question && is_answered(span)) {
      sentence_phrases_.clear();
      return;
    }
    try_phrases(sentence_phrases_, span, masked_.prose, false);
    last_span_ = span;
    for (const Phrase* phrase : sentence_phrases_) {
      if (waits_for_end(*phrase)) last_.push_back(phrase);
    }
    sentence_phrases_.clear();
  }

  // `Q: Do you want …? A: No.` reports a question that is already answered; `Can I …? No: …` answers its own.
  bool is_answered(Span span) const {
    const auto rest_from = [&](std::size_t at) {
      while (byte(at) == ' ' || byte(at) == '\n' || byte(at) == '*' || byte(at) == '_' || byte(at) == '-') ++at;
      return std::string_view(prose_).substr(std::min(at, prose_.size()));
    };
    const auto starts_with_any = [](std::string_view rest, std::initializer_list<std::string_view> heads) {
      return std::any_of(heads.begin(), heads.end(), [&](std::string_view head) { return rest.starts_with(head); });
    };
    const std::string_view next = rest_from(span.end);
    for (const std::string_view word : {"yes", "no", "да", "нет"}) {
      if (next.starts_with(word) && starts_with_any(next.substr(word.size()), {",", ".", ":", ";", " —", " –"})) {
        return true;
      }
    }
    return starts_with_any(rest_from(span.begin), {"q:", "question:", "в:", "вопрос:"}) &&
           starts_with_any(next, {"a:", "answer:", "о:", "ответ:"});
  }

  // Generated repetition contains the same stretch again and again; a pattern that did not match it once never does.
  bool is_known_clean(const std::vector<const Phrase*>& phrases) const {
    return std::any_of(std::begin(clean_ones_), std::end(clean_ones_),
                       [&](const CleanOne& known) { return known.text == clean_.text && known.phrases == phrases; });
  }

  bool is_wanted(const Phrase& phrase) const {
    if (phrase.when != ScopeFilter::kAlways && phrase.when != rules_.scope) return false;
    switch (phrase.phrase_kind) {
      case PhraseKind::kOffer:
      case PhraseKind::kApproval:
      case PhraseKind::kQuestion:
        return rules_.offers;
      case PhraseKind::kChoice:
        return rules_.choices;
      case PhraseKind::kDrop:
        return rules_.drops;
      default:
        return rules_.silence;
    }
  }

  static bool asks_leave(const Phrase& phrase) {
    return phrase.phrase_kind == PhraseKind::kApproval || phrase.phrase_kind == PhraseKind::kQuestion;
  }

  bool waits_for_end(const Phrase& phrase) const { return phrase.last_only && rules_.scope == ScopeFilter::kOut; }

  void try_phrases(const std::vector<const Phrase*>& phrases, Span span, const std::string& source, bool at_end) {
    bool is_made = false;
    bool is_clean = true;
    for (const Phrase* phrase : phrases) {
      if (waits_for_end(*phrase) != at_end) continue;
      if (asks_leave(*phrase) && rules_.instruction.overlaps(span)) continue;
      if (!is_made) {
        clean_.make(source, span, phrase->phrase_kind != PhraseKind::kChoice);
        if (!at_end && is_long() && is_known_clean(phrases)) return;
      }
      is_made = true;
      if (!holds_any(clean_.text, phrase->with)) continue;
      const auto match = phrase->find.find(clean_.text);
      if (!match || phrase->unless.matches(clean_.text)) continue;
      const bool is_choice = phrase->phrase_kind == PhraseKind::kChoice;
      if (is_choice && any_contains(masked_.quotes, Clean::origin(source, span, false, match->begin))) continue;
      // The whole sentence is the finding, so that one that asks and offers counts once.
      const Span finding_span = is_choice ? span : Span{Clean::behind_marker(source, span), span.end};
      report_.add(rule_of(phrase->phrase_kind), finding_span, phrase->lexicon->version, is_sure(*phrase));
      is_clean = false;
    }
    if (is_made && is_clean && !at_end && is_long()) {
      clean_ones_[next_clean_++ % std::size(clean_ones_)] = {clean_.text, phrases};
    }
  }

  bool is_sure(const Phrase& phrase) const {
    if (phrase.phrase_kind == PhraseKind::kOffer) return report_.blocks_offers(*phrase.lexicon);
    // Talk of dropping is only certain where check_drops() finds its reason too.
    return phrase.lexicon->blocks && phrase.phrase_kind != PhraseKind::kDrop;
  }

  bool is_long() const { return clean_.text.size() > kLongest / 2; }

  std::string_view text_;
  const Masked& masked_;
  const std::string& prose_;
  const TriggerIndex& index_;
  const ProseRules& rules_;
  Report& report_;

  std::size_t sentence_ = 0;
  std::size_t line_ = 0;
  bool saw_word_ = false;
  std::vector<std::size_t> drop_places_;
  std::vector<const Phrase*> sentence_phrases_;
  std::vector<const Phrase*> line_phrases_;
  std::vector<const Phrase*> last_;
  Span last_span_;
  Clean clean_;

  struct CleanOne {
    std::string text;
    std::vector<const Phrase*> phrases;
  };
  CleanOne clean_ones_[16];
  std::size_t next_clean_ = 0;
};

// `e4`, `option b`: an option named by its key (folded).
const LazyPattern& option_name() {
  static const LazyPattern pattern("\\b(?:[a-z]\\d{1,2}|(?:option|вариант) [a-z\\d])\\b");
  return pattern;
}

// The paragraph around a place; of a long one, its end.
Span paragraph_at(const std::string& prose, std::size_t place) {
  const std::size_t before = prose.rfind("\n\n", place);
  const std::size_t begin = before == std::string::npos ? 0 : before + 2;
  const std::size_t end = std::min(prose.find("\n\n", std::max(place, begin)), prose.size());
  return {std::max(begin, align(prose, end - std::min(end, kLongest))), end};
}

// Paragraphs that drop a named option because of the number of options a host can show. Only those around a trigger
// word are searched, because these patterns fit no index.
void check_drops(const std::string& prose, const std::vector<std::size_t>& places, unsigned groups, Report& report) {
  std::size_t searched = 0;
  for (const std::size_t place : places) {
    if (place < searched) continue;
    const Span span = paragraph_at(prose, place);
    searched = span.end;
    const std::string_view paragraph = std::string_view(prose).substr(span.begin, span.size());
    if (!option_name().matches(paragraph)) continue;
    for (const Lexicon* lexicon : Lexicons::built_in().of(groups)) {
      if (!lexicon->option_caps.matches(paragraph)) continue;
      if (const auto verb = lexicon->drop_verbs.empty() ? std::nullopt : lexicon->drop_verbs.find(paragraph)) {
        report.add(rule::kGsDropNarration, {span.begin + verb->begin, span.begin + verb->end}, lexicon->version,
                   lexicon->blocks);
      }
    }
  }
}

}  // namespace

void check_prose(std::string_view text, const Masked& masked, unsigned groups, const ProseRules& rules,
                 Report& report) {
  Scanner scanner(text, masked, Lexicons::built_in().index(groups), rules, report);
  scanner.run();
  check_drops(masked.prose, scanner.drop_places(), groups, report);
}

}  // namespace sb::decision::linting
