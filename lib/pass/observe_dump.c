// The moments between passes at which dumps are written (dump chapter); what is written is the hook's affair.

#include "lib/pass/observe.h"

typedef struct Dump {
    const HloRunner *runner;
    HloDumpHook hook;
} Dump;

static HloStatus before_pipeline(void *data, const HloElement *pipeline, const HloModule *m) {
    const Dump *dump = data;
    HloDumpPoint point = {pipeline->name, "pipeline-start", hlo_runner_next(dump->runner, pipeline, NULL), true};
    return dump->hook.dump(dump->hook.data, &point, m);
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    const Dump *dump = data;
    HloDumpPoint point = {pipeline->name, element->name, hlo_runner_next(dump->runner, pipeline, element), changed};
    return dump->hook.dump(dump->hook.data, &point, m);
}

static HloStatus at_point(void *data, const HloPass *pass, const char *point, const HloModule *m) {
    const Dump *dump = data;
    return dump->hook.inside ? dump->hook.inside(dump->hook.data, pass->name, point, m) : hlo_ok();
}

HloStatus hlo_observe_dump(const HloRunner *runner, HloDumpHook hook, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof(Dump), out));
    *(Dump *)(*out)->data = (Dump){runner, hook};
    (*out)->before_pipeline = before_pipeline;
    (*out)->after_pass = after_pass;
    (*out)->at_point = at_point;
    return hlo_ok();
}
