// The interpreter's front: checks the arguments, runs the entry computation on every device, and names what failed.

#include "lib/eval/devices.h"

#include <stdlib.h>

static HloStatus check_arguments(const HloComputation *entry, const HloLiteral *const *args, size_t count) {
    size_t wanted = hlo_parameter_count(entry);
    if (count != wanted) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %zu argument%s, but got %zu.", wanted, wanted == 1 ? "" : "s",
                         count);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = hlo_parameter(entry, k)->shape;
        if (hlo_shape_equal(shape, args[k]->shape, HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC)) continue;
        HloArena arena = {0};
        HloStatus status =
            hlo_error(HLO_INVALID_ARGUMENT, "Shape mismatch at parameter %zu. Computation expected %s, but arg was %s.",
                      k, hlo_shape_text(&arena, shape, true), hlo_shape_text(&arena, args[k]->shape, true));
        hlo_arena_free(&arena);
        return status;
    }
    return hlo_ok();
}

static HloStatus run_entry(HloDevice *device, HloDatum **values) {
    HloMachine *vm = &device->vm;
    const HloComputation *entry = vm->m->entry;
    for (size_t k = 0; k < device->arg_count; k++) {
        HLO_TRY(hlo_datum_from_literal(vm, device->args[k], hlo_parameter(entry, k)->shape, values + k));
    }
    return hlo_machine_run(vm, entry, values, device->arg_count, &device->result);
}

static HloStatus evaluate(void *data) {
    HloDevice *device = data;
    HLO_TRY(check_arguments(device->vm.m->entry, device->args, device->arg_count));
    HloDatum **values = HLO_NEW_ARRAY(&device->vm.arena, HloDatum *, device->arg_count);
    HloStatus status = run_entry(device, values);
    for (size_t k = 0; k < device->arg_count; k++) hlo_datum_drop(&device->vm, values[k]);
    return status;
}

HloStatus hlo_device_run(HloDevice *device) {
    HloStatus status = hlo_guarded((HloArena *const[]){&device->vm.arena, NULL}, evaluate, device);
    const HloInstruction *failed = device->vm.failed;
    return failed ? hlo_error_context(status, "evaluating %%%s in %%%s", failed->name, failed->comp->name) : status;
}

static void free_machine(HloMachine *vm) {
    for (size_t i = 0; i < vm->constants.capacity; i++) {
        if (vm->constants.slots[i].hash) hlo_datum_drop(vm, vm->constants.slots[i].value);
    }
    hlo_arena_free(&vm->arena);
}

// The failure that came first; those that follow from it are dropped.
static HloStatus take_failure(HloWorld *world) {
    HloStatus status = hlo_ok();
    for (int64_t k = 0; k < world->count; k++) {
        if (world->devices + k == world->first_failed)
            status = world->devices[k].status;
        else
            hlo_status_free(world->devices[k].status);
    }
    return status;
}

typedef struct Results {
    const HloWorld *world;
    HloArena *arena;
    HloLiteral **literals;
} Results;

static HloStatus store_results(void *data) {
    Results *results = data;
    for (int64_t k = 0; k < results->world->count; k++) {
        HLO_TRY(hlo_datum_to_literal(results->world->devices[k].result, results->arena, results->literals + k));
    }
    return hlo_ok();
}

static void free_world(HloWorld *world) {
    while (world->letters) {
        HloLetter *letter = world->letters;
        world->letters = letter->next;
        hlo_datum_drop(&world->devices->vm, letter->value);
        free(letter);
    }
    for (int64_t k = 0; k < world->count; k++) {
        hlo_datum_drop(&world->devices[k].vm, world->devices[k].result);
        free_machine(&world->devices[k].vm);
    }
    free(world->devices);
}

static uint64_t find_most_trips(const HloWorld *world) {
    uint64_t most = 0;
    for (int64_t k = 0; k < world->count; k++) {
        if (world->devices[k].vm.most_trips > most) most = world->devices[k].vm.most_trips;
    }
    return most;
}

HloStatus hlo_eval_devices(const HloModule *m, const HloEvalOptions *options, int64_t replicas, int64_t partitions,
                           HloArena *arena, const HloLiteral *const *const *args, size_t count, HloLiteral **results) {
    enum { MAX_DEVICES = 1024 };
    if (replicas < 1 || partitions < 1 || replicas > MAX_DEVICES || partitions > MAX_DEVICES / replicas) {
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "%lld replicas of %lld partitions cannot be simulated (at most %d devices)",
                         (long long)replicas, (long long)partitions, MAX_DEVICES);
    }
    HloWorld world = {.count = replicas * partitions, .replicas = replicas, .partitions = partitions};
    world.devices = calloc((size_t)world.count, sizeof *world.devices);
    if (!world.devices) return hlo_out_of_memory();
    for (int64_t k = 0; k < world.count; k++) {
        HloDevice *device = world.devices + k;
        *device = (HloDevice){.world = &world,
                              .replica = k / partitions,
                              .partition = k % partitions,
                              .args = args[k],
                              .arg_count = count};
        device->vm = (HloMachine){.m = m, .options = options, .live_bytes = &world.live_bytes, .device = device};
    }
    HloStatus status = hlo_world_run(&world), failure = take_failure(&world);
    if (options->most_trips) *options->most_trips = find_most_trips(&world);
    if (hlo_is_ok(status))
        status = failure;
    else
        hlo_status_free(failure);
    Results made = {&world, arena, results};
    if (hlo_is_ok(status)) status = hlo_guarded((HloArena *const[]){arena, NULL}, store_results, &made);
    free_world(&world);
    return status;
}

HloStatus hlo_eval(const HloModule *m, const HloEvalOptions *options, HloArena *arena, const HloLiteral *const *args,
                   size_t count, HloLiteral **result) {
    return hlo_eval_devices(m, options, 1, 1, arena, &args, count, result);
}
