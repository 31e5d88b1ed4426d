// How the codes of 32 columns lie in 32-bit words, one row per lane. encode() packs 32 unsigned codes of one row;
// decode() gives, for all rows, word g: the codes of columns 4g .. 4g + 3 as bytes. V is a variant's lanes.
#pragma once
#include "kernels/cpu/tile.h"

namespace halogen::kernel {

HALOGEN_INLINE uint32_t four_codes(const uint8_t* codes, int g) {
  uint32_t word;
  std::memcpy(&word, codes + 4 * g, 4);
  return word;
}

template <class V>
HALOGEN_INLINE typename V::Bytes code_word(const uint8_t* from, int word) {
  return V::load(from + word * V::kLanes * 4);
}

// Eight bits: word[8].
struct ByteCodes {
  static constexpr int kWords = 8;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) {
    for (int g = 0; g < 8; ++g) words[g] = four_codes(codes, g);
  }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    return code_word<V>(from, g);
  }
};

// Four bits: word k keeps columns 4k.. in its low and 16 + 4k.. in its high nibbles.
struct NibbleCodes {
  static constexpr int kWords = 4;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) {
    for (int k = 0; k < 4; ++k)
      words[k] = (four_codes(codes, k) & 0x0f0f0f0fu) | (four_codes(codes, k + 4) & 0x0f0f0f0fu) << 4;
  }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    const typename V::Bytes word = code_word<V>(from, g % 4);
    return V::mask(g < 4 ? word : V::shift_right(word, 4), 0x0f);
  }
};

// Five bits: nibbles, and a word with the fifth bit of column 4g + i in bit (g + 4) % 8 of its byte i.
struct FiveBitCodes {
  static constexpr int kWords = 5;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) {
    NibbleCodes::encode(codes, words);
    words[4] = 0;
    for (int g = 0; g < 8; ++g) words[4] |= (four_codes(codes, g) >> 4 & 0x01010101u) << (g + 4) % 8;
  }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    const typename V::Bytes upper = code_word<V>(from, 4);
    const typename V::Bytes moved = g < 4 ? V::shift_right(upper, g) : V::shift_left(upper, 8 - g);
    return V::merge(NibbleCodes::decode<V>(from, g), moved, 0x10);
  }
};

// Six bits: nibbles, and two words with the upper bits of column 16q + 4j + i in bits 2j of byte i of word q.
struct SixBitCodes {
  static constexpr int kWords = 6;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) {
    NibbleCodes::encode(codes, words);
    words[4] = words[5] = 0;
    for (int g = 0; g < 8; ++g) words[4 + g / 4] |= (four_codes(codes, g) >> 4 & 0x03030303u) << g % 4 * 2;
  }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    const typename V::Bytes upper = code_word<V>(from, 4 + g / 4);
    const int at = g % 4 * 2;
    const typename V::Bytes moved = at < 4 ? V::shift_left(upper, 4 - at) : V::shift_right(upper, at - 4);
    return V::merge(NibbleCodes::decode<V>(from, g), moved, 0x30);
  }
};

// Two bits: word q keeps column 16q + 4j + i in bits 2j of its byte i.
struct TwoBitCodes {
  static constexpr int kWords = 2;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) {
    words[0] = words[1] = 0;
    for (int g = 0; g < 8; ++g) words[g / 4] |= (four_codes(codes, g) & 0x03030303u) << g % 4 * 2;
  }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    return V::mask(V::shift_right(code_word<V>(from, g / 4), g % 4 * 2), 0x03);
  }
};

// Three bits: the lower two as above, and a word with the third bit of column 4g + i in bit (g + 2) % 8 of its byte i.
struct ThreeBitCodes {
  static constexpr int kWords = 3;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) {
    TwoBitCodes::encode(codes, words);
    words[2] = 0;
    for (int g = 0; g < 8; ++g) words[2] |= (four_codes(codes, g) >> 2 & 0x01010101u) << (g + 2) % 8;
  }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    const typename V::Bytes upper = code_word<V>(from, 2);
    const typename V::Bytes moved = g < 6 ? V::shift_right(upper, g) : V::shift_left(upper, 8 - g);
    return V::merge(TwoBitCodes::decode<V>(from, g), moved, 0x04);
  }
};

// One bit, decoded as 0 or 2: column 4g + i in bit (g + 1) % 8 of byte i.
struct OneBitCodes {
  static constexpr int kWords = 1;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) {
    words[0] = 0;
    for (int g = 0; g < 8; ++g) words[0] |= (four_codes(codes, g) >> 1 & 0x01010101u) << (g + 1) % 8;
  }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    const typename V::Bytes word = code_word<V>(from, 0);
    return V::mask(g < 7 ? V::shift_right(word, g) : V::shift_left(word, 1), 0x02);
  }
};

// Codes that choose one of 16 unsigned bytes.
template <class Index, class Table>
struct TableCodes {
  static constexpr int kWords = Index::kWords;
  HALOGEN_INLINE static void encode(const uint8_t* codes, uint32_t* words) { Index::encode(codes, words); }
  template <class V>
  HALOGEN_INLINE static typename V::Bytes decode(const uint8_t* from, int g) {
    return V::look_up(Table::kValues, Index::template decode<V>(from, g));
  }
};

}  // namespace halogen::kernel
