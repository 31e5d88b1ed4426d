// The engine asked line by line, so that another program can take turns between it and something else.
#pragma once
#include "native/engine/engine.h"

namespace halogen::bench {

// Prints one line of JSON about the loaded model, then answers each line of standard input with one line of JSON.
//   time IDS.txt STEPS       prefill to the first token, then STEPS more, greedily: prefillMilliseconds,
//                            decodeMilliseconds, ids
//   score IDS.txt FROM OUT   float32 log probabilities after each token from FROM on, row by row, into OUT: rows, width
// IDS.txt holds token ids between white space. `load_milliseconds`: from no engine to a loaded model. Throws Error for
// a line that it does not know.
void serve(Engine& engine, const LoadedModel& model, const ModelInspection& inspection, double load_milliseconds);

}  // namespace halogen::bench
