// Simulated devices: one thread each, of which one runs at a time.
//
//   device 0: … all-reduce ──waits──┐                 ┌── goes on
//   device 1: …………………… all-reduce ──┴─ computes both ─┴── goes on
//
// The turn goes round: a device runs until it waits at a collective or is done, then the next one that can run does. So
// results do not depend on timing, values can be handed over without locks, and a deadlock is seen at once. Threads
// have a stack that is large enough for the deepest calls that the machine allows.

#include "lib/eval/devices.h"

#include <pthread.h>
#include <stdlib.h>

enum { STACK_BYTES = 128 << 20 };

typedef struct HloTurns {
    HloWorld *world;
    pthread_mutex_t mutex;
    pthread_cond_t *changed;  // one for each device
    int64_t now;              // the device whose turn it is; -1: nobody can run
} HloTurns;

typedef struct Seat {
    HloTurns *turns;
    int64_t number;
} Seat;

// Where the oldest letter to `device` on the channel hangs; NULL when there is none.
static HloLetter **find_letter(const HloDevice *device, int64_t channel) {
    for (HloLetter **at = &device->world->letters; *at; at = &(*at)->next) {
        if ((*at)->to == device && (*at)->channel == channel) return at;
    }
    return NULL;
}

static bool can_run(const HloDevice *device) {
    if (device->expects && !device->given_up && !find_letter(device, device->channel)) return false;
    return !device->done && (!device->meeting || device->met);
}

// The next device after `from` that can run, or -1.
static int64_t next_to_run(const HloWorld *world, int64_t from) {
    for (int64_t k = 1; k <= world->count; k++) {
        int64_t at = (from + k) % world->count;
        if (can_run(world->devices + at)) return at;
    }
    return -1;
}

// Everybody who waits is told that it is in vain.
static void break_deadlock(HloWorld *world) {
    for (int64_t k = 0; k < world->count; k++) {
        HloDevice *device = world->devices + k;
        if (device->done) continue;
        device->meeting_status = hlo_error(HLO_FAILED_PRECONDITION, "replica %lld, partition %lld waits for %s",
                                           (long long)device->replica, (long long)device->partition,
                                           device->meeting ? "devices that do not come" : "a value that nobody sends");
        device->met = device->given_up = true;
    }
}

// Called with the lock, by the device whose turn it is.
static void pass_turn(HloTurns *turns, int64_t from) {
    turns->now = next_to_run(turns->world, from);
    if (turns->now < 0) {
        break_deadlock(turns->world);
        turns->now = next_to_run(turns->world, from);
    }
    if (turns->now >= 0) pthread_cond_signal(turns->changed + turns->now);
}

static void wait_for_turn(HloTurns *turns, int64_t number) {
    while (turns->now != number) pthread_cond_wait(turns->changed + number, &turns->mutex);
}

// ---- meeting --------------------------------------------------------------------------------------------

static bool all_have_come(const HloParty *party, const HloInstruction *inst) {
    for (size_t k = 0; k < party->count; k++) {
        if (party->members[k]->meeting != inst || party->members[k]->met) return false;
    }
    return true;
}

static void end_meeting(const HloParty *party, const HloInstruction *inst, HloMeeting meeting) {
    HloStatus status = meeting(party, inst);
    for (size_t k = 0; k < party->count; k++) {
        HloDevice *member = party->members[k];
        member->met = true;
        if (hlo_is_ok(status)) continue;
        hlo_datum_drop(&member->vm, member->taken);
        member->taken = NULL;
        member->meeting_status = hlo_error(hlo_status_code(status), "%s", hlo_status_message(status));
    }
    hlo_status_free(status);
}

HloStatus hlo_meet(HloDevice *device, const HloInstruction *inst, HloDatum **args, const HloParty *party,
                   HloMeeting meeting, HloDatum **out) {
    HloTurns *turns = device->world->turns;
    int64_t number = device - device->world->devices;
    device->meeting = inst;
    device->brought = args;
    device->met = false;
    if (all_have_come(party, inst)) {
        end_meeting(party, inst, meeting);
    } else {
        pthread_mutex_lock(&turns->mutex);
        pass_turn(turns, number);
        wait_for_turn(turns, number);
        pthread_mutex_unlock(&turns->mutex);
    }
    HloStatus status = device->meeting_status;
    *out = device->taken;
    device->meeting = NULL;
    device->brought = NULL;
    device->taken = NULL;
    device->meeting_status = hlo_ok();
    return status;
}

// ---- letters --------------------------------------------------------------------------------------------

HloStatus hlo_post(const HloDevice *to, int64_t channel, HloDatum *value) {
    HloLetter *letter = calloc(1, sizeof *letter), **last = &to->world->letters;
    if (!letter) return hlo_out_of_memory();
    while (*last) last = &(*last)->next;
    *letter = (HloLetter){to, channel, hlo_datum_keep(value), NULL};
    *last = letter;
    return hlo_ok();
}

HloStatus hlo_receive(HloDevice *device, int64_t channel, HloDatum **out) {
    HloTurns *turns = device->world->turns;
    int64_t number = device - device->world->devices;
    if (!find_letter(device, channel)) {
        device->expects = true;
        device->channel = channel;
        pthread_mutex_lock(&turns->mutex);
        pass_turn(turns, number);
        wait_for_turn(turns, number);
        pthread_mutex_unlock(&turns->mutex);
        device->expects = false;
    }
    HloLetter **at = find_letter(device, channel), *letter = at ? *at : NULL;
    HloStatus status = device->meeting_status;
    device->meeting_status = hlo_ok();
    if (!letter) return status;
    hlo_status_free(status);
    *at = letter->next;
    *out = letter->value;
    free(letter);
    return status;
}

// ---- running --------------------------------------------------------------------------------------------

static void *run_device(void *data) {
    Seat *seat = data;
    HloDevice *device = seat->turns->world->devices + seat->number;
    pthread_mutex_lock(&seat->turns->mutex);
    wait_for_turn(seat->turns, seat->number);
    pthread_mutex_unlock(&seat->turns->mutex);
    device->status = hlo_device_run(device);
    if (!hlo_is_ok(device->status) && !device->world->first_failed) device->world->first_failed = device;
    pthread_mutex_lock(&seat->turns->mutex);
    device->done = true;
    pass_turn(seat->turns, seat->number);
    pthread_mutex_unlock(&seat->turns->mutex);
    return NULL;
}

// Devices whose thread cannot be made are done at once, with a failure.
static int64_t start_threads(HloTurns *turns, Seat *seats, pthread_t *threads) {
    pthread_attr_t attributes;
    int64_t started = 0;
    if (pthread_attr_init(&attributes) != 0) return 0;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (; started < turns->world->count; started++) {
        seats[started] = (Seat){turns, started};
        if (pthread_create(threads + started, &attributes, run_device, seats + started) != 0) break;
    }
    pthread_attr_destroy(&attributes);
    return started;
}

HloStatus hlo_world_run(HloWorld *world) {
    size_t count = (size_t)world->count;
    HloTurns turns = {.world = world, .now = -1};
    pthread_t *threads = calloc(count, sizeof *threads);
    Seat *seats = calloc(count, sizeof *seats);
    turns.changed = calloc(count, sizeof *turns.changed);
    HloStatus status = threads && seats && turns.changed ? hlo_ok() : hlo_out_of_memory();
    if (hlo_is_ok(status)) {
        pthread_mutex_init(&turns.mutex, NULL);
        for (size_t k = 0; k < count; k++) pthread_cond_init(turns.changed + k, NULL);
        world->turns = &turns;
        int64_t started = start_threads(&turns, seats, threads);
        if (started < world->count)
            status = hlo_error(HLO_RESOURCE_EXHAUSTED, "no thread for device %lld", (long long)started);
        for (int64_t k = started; k < world->count; k++) world->devices[k].done = true;
        pthread_mutex_lock(&turns.mutex);
        pass_turn(&turns, world->count - 1);
        pthread_mutex_unlock(&turns.mutex);
        for (int64_t k = 0; k < started; k++) pthread_join(threads[k], NULL);
        for (size_t k = 0; k < count; k++) pthread_cond_destroy(turns.changed + k);
        pthread_mutex_destroy(&turns.mutex);
    }
    free(threads);
    free(seats);
    free(turns.changed);
    return status;
}
