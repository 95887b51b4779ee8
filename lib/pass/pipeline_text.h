// What reading and printing of pipelines share.
#ifndef HLO_PASS_PIPELINE_TEXT_H
#define HLO_PASS_PIPELINE_TEXT_H

enum { HLO_FIX_LIMIT = 25 };  // iterations of a fixed point that names none, as the pass chapter says (§4)

#endif
