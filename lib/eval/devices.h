// Devices that run side by side, and meet.
#ifndef HLO_LIB_EVAL_DEVICES_H
#define HLO_LIB_EVAL_DEVICES_H

#include "lib/eval/eval.h"

// One simulated device. It computes on a thread of its own, but only one thread runs at any time: the others wait for
// their turn, or for the devices that they are to meet.
typedef struct HloDevice {
    HloMachine vm;
    struct HloWorld *world;
    int64_t replica, partition;
    const HloLiteral *const *args;
    size_t arg_count;
    HloDatum *result;
    HloStatus status;

    bool done;
    // While it waits: the collective, the operands it brings, and what it takes home.
    const HloInstruction *meeting;
    HloDatum **brought;
    HloDatum *taken;
    HloStatus meeting_status;
    bool met;
    // While it waits for a letter: on this channel.
    bool expects, given_up;
    int64_t channel;
} HloDevice;

// A value on its way to a device.
typedef struct HloLetter {
    const HloDevice *to;
    int64_t channel;
    HloDatum *value;
    struct HloLetter *next;
} HloLetter;

typedef struct HloWorld {
    HloDevice *devices;
    int64_t count, replicas, partitions;  // devices are replica-major
    size_t live_bytes;                    // of the data of all devices
    HloDevice *first_failed;
    HloLetter *letters;  // not taken yet, oldest first
    struct HloTurns *turns;
} HloWorld;

// The devices that take part in a collective together, in the order of its group.
typedef struct HloParty {
    HloDevice **members;
    size_t count;
} HloParty;

// The device at these coordinates, or NULL.
HloDevice *hlo_device_at(const HloWorld *world, int64_t replica, int64_t partition);
// The group of `device` in a collective, in `arena`; everybody when the instruction lists none.
HLO_MUST_USE HloStatus hlo_find_party(HloDevice *device, const HloInstruction *inst, HloArena *arena, HloParty *party);

// Computes what every member takes home: member->brought in, member->taken out.
typedef HloStatus (*HloMeeting)(const HloParty *party, const HloInstruction *inst);

// Waits until all members are at `inst`, lets the last one compute for all, and returns this device's part. Devices
// that wait for each other for ever get FAILED_PRECONDITION.
HLO_MUST_USE HloStatus hlo_meet(HloDevice *device, const HloInstruction *inst, HloDatum **args, const HloParty *party,
                                HloMeeting meeting, HloDatum **out);

// Leaves a value for `to`, with a reference of its own.
HLO_MUST_USE HloStatus hlo_post(const HloDevice *to, int64_t channel, HloDatum *value);
// Waits for the oldest letter to `device` on the channel and takes its value over. FAILED_PRECONDITION when none comes.
HLO_MUST_USE HloStatus hlo_receive(HloDevice *device, int64_t channel, HloDatum **out);

// ragged-all-to-all, and the collective-permute of slices (exchange.c).
HLO_MUST_USE HloStatus hlo_meet_ragged(const HloParty *party, const HloInstruction *inst);
HLO_MUST_USE HloStatus hlo_meet_permute_slices(const HloParty *party, const HloInstruction *inst);

// What one device does: runs the entry computation on its arguments.
HloStatus hlo_device_run(HloDevice *device);
// Runs all devices of the world to their end; their results and failures stand in them.
HLO_MUST_USE HloStatus hlo_world_run(HloWorld *world);

#endif
