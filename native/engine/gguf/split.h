// The parts of a split model, found by their names: <name>-00001-of-00003.gguf and so on, all in one folder.
#pragma once
#include "native/engine/gguf/part.h"

namespace halogen::gguf {

// `opened` and its fellows, in order; `opened` alone where it is a whole model. Throws file.missing for a part that is
// not there, gguf.malformed for parts that do not belong together, and what a part's own reading throws, with its name.
std::vector<Part> all_parts(Part opened);

// More than one GGUF in one file.
bool is_joined(const Part& part);

}  // namespace halogen::gguf
