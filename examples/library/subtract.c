// Reads a module, turns every a - b into a + (-b), and prints the result.
//
//   cc subtract.c $(pkg-config --cflags --libs hlo) -o subtract && ./subtract module.hlo
#include <hlo/hlo.h>
#include <stdio.h>

// Edges are two-sided: the new instructions become users of a and b, and whoever used the old one now uses the sum.
static void rewrite(HloModule *m, HloInstruction *inst) {
    HloComputation *comp = inst->comp;
    HloInstruction *a = hlo_operand(inst, 0), *b = hlo_operand(inst, 1);
    HloInstruction *minus = hlo_inst_new(m, HLO_OP_NEGATE, b->shape, &b, 1);
    hlo_computation_add(comp, minus, "minus");
    HloInstruction *sum = hlo_inst_new(m, HLO_OP_ADD, inst->shape, (HloInstruction *[]){a, minus}, 2);
    hlo_computation_add(comp, sum, "sum");
    hlo_replace_all_uses(inst, sum);
    hlo_computation_remove(comp, inst);
}

// All that a module needs lies in its arena. When memory runs out, hlo_guarded returns that as a status.
static HloStatus rewrite_all(void *data) {
    HloModule *m = data;
    HLO_EACH_COMP(comp, m) {
        for (HloInstruction *inst = comp->first, *next; inst; inst = next) {
            next = inst->next;  // rewriting appends to the list and takes `inst` out
            if (inst->op == HLO_OP_SUBTRACT) rewrite(m, inst);
        }
    }
    return hlo_verify_module(m, &(HloVerifyOptions){0});
}

static HloStatus run(const char *path) {
    HloModuleList list;
    HLO_TRY(hlo_modules_load(path, &(HloLoadOptions){0}, &list));  // HLO_TRY returns failures to the caller
    HloModule *m = list.items[0];
    HloStatus status = hlo_guarded((HloArena *const[]){&m->arena, NULL}, rewrite_all, m);
    HloBuffer text = {0};
    HloPrintOptions options = hlo_print_default();
    if (hlo_is_ok(status)) hlo_print_module(m, &options, &text);
    if (hlo_is_ok(status)) status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) status = hlo_file_write("-", (HloStringView){text.data, text.size});
    hlo_buffer_free(&text);
    hlo_module_list_free(&list);
    return status;
}

int main(int argc, char **argv) {
    HloStatus status = argc == 2 ? run(argv[1]) : hlo_error(HLO_INVALID_ARGUMENT, "usage: subtract MODULE.hlo");
    if (!hlo_is_ok(status)) fprintf(stderr, "%s\n", hlo_status_message(status));
    int code = hlo_is_ok(status) ? 0 : 1;
    hlo_status_free(status);
    return code;
}
