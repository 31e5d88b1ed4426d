#include "native/engine/checkpoint/json.h"

#include <charconv>

#include "native/engine/error.h"

namespace halogen::json {
namespace {

constexpr int deepest = 64;

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Value parse() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    Value value = read(0);
    space();
    if (at_ != text_.size()) fail("more text after its end");
    return value;
  }

 private:
  Value read(int depth) {
    if (depth > deepest) fail("nested too deeply");
    space();
    switch (peek()) {
      case '{':
        return read_object(depth);
      case '[':
        return read_array(depth);
      case '"':
        return Value(read_string());
      case 't':
        word("true");
        return Value(true);
      case 'f':
        word("false");
        return Value(false);
      case 'n':
        word("null");
        return Value();
      default:
        return Value(read_number());
    }
  }

  Value read_object(int depth) {
    Members members;
    ++at_;
    space();
    if (peek() == '}') return ++at_, Value(std::move(members));
    while (true) {
      space();
      if (peek() != '"') fail("no name where one should be");
      std::string name = read_string();
      space();
      if (peek() != ':') fail("no colon after a name");
      ++at_;
      members.emplace_back(std::move(name), read(depth + 1));
      space();
      if (peek() == '}') return ++at_, Value(std::move(members));
      if (peek() != ',') fail("no comma between members");
      ++at_;
    }
  }

  Value read_array(int depth) {
    Array items;
    ++at_;
    space();
    if (peek() == ']') return ++at_, Value(std::move(items));
    while (true) {
      items.push_back(read(depth + 1));
      space();
      if (peek() == ']') return ++at_, Value(std::move(items));
      if (peek() != ',') fail("no comma between items");
      ++at_;
    }
  }

  std::string read_string() {
    std::string out;
    ++at_;
    while (true) {
      const size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && static_cast<uint8_t>(text_[at_]) >= 0x20)
        ++at_;
      out.append(text_.substr(begin, at_ - begin));
      if (peek() == '"') return ++at_, out;
      if (peek() != '\\') fail("a control character in a string");
      ++at_;
      read_escape(out);
    }
  }

  void read_escape(std::string& out) {
    constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    const char kind = peek();
    ++at_;
    if (const size_t found = from.find(kind); found != std::string_view::npos) {
      out += to[found];
      return;
    }
    if (kind != 'u') fail("an unknown escape");
    uint32_t code = read_unit();
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
      const size_t back = at_;
      at_ += 2;
      const uint32_t low = read_unit();
      if (low >= 0xdc00 && low < 0xe000)
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      else
        at_ = back;
    }
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;  // half a pair
    append_utf8(out, code);
  }

  uint32_t read_unit() {
    uint32_t code = 0;
    if (text_.size() - at_ < 4) fail("cut short");
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
    if (error != std::errc() || end != begin + 4) fail("an escape without four digits");
    at_ += 4;
    return code;
  }

  static void append_utf8(std::string& out, uint32_t code) {
    const auto byte = [&](uint32_t value) { out += static_cast<char>(value); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xc0 | code >> 6), byte(0x80 | (code & 63));
    } else if (code < 0x10000) {
      byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
    } else {
      byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63));
    }
  }

  double read_number() {
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos) ++at_;
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + begin, text_.data() + at_, value);
    if (begin == at_ || error != std::errc() || end != text_.data() + at_) {
      at_ = begin;
      fail("no value where one should be");
    }
    return value;
  }

  void word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) fail("an unknown word");
    at_ += expected.size();
  }

  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  char peek() const {
    if (at_ >= text_.size()) fail("cut short");
    return text_[at_];
  }

  [[noreturn]] void fail(const char* problem) const {
    throw Error(code::checkpoint_malformed,
                name_ + " is no valid JSON: " + problem + " (byte " + std::to_string(at_) + " of " +
                    std::to_string(text_.size()) + ").",
                "Download it again.", {{"file", name_}, {"position", at_}, {"bytes", text_.size()}});
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

}  // namespace

const Value* Value::find(std::string_view name) const {
  const Members* members = object();
  if (members == nullptr) return nullptr;
  for (const auto& [key, value] : *members) {
    if (key == name) return &value;
  }
  return nullptr;
}

Value parse(std::string_view text, const std::string& name) {
  return Parser(text, name).parse();
}

}  // namespace halogen::json
