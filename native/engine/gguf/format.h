// The tensor formats of GGUF: id, name, elements and bytes per block. Source: the GGUF specification.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace halogen::gguf {

struct Format {
  uint32_t id;
  const char* name;  // e.g. "Q4_1"
  const char* key;   // the manifest's quant, e.g. "q4_1"
  uint32_t elements;
  uint32_t bytes;  // 0: retired, no file should carry it
};

std::span<const Format> formats();
// nullptr for an id that no GGUF has used.
const Format* format_of(uint32_t id);
// Four bits with a scale and a zero point, as AWQ and ParoQuant have them, in blocks of 128: half d; uint16 z; four
// times 16 bytes of nibbles as Q4_0; (q - z) d. In no GGUF: other containers are read into it.
extern const Format awq4;

}  // namespace halogen::gguf
