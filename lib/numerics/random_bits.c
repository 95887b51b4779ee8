// Counter-based random bits: threefry-2x32 with 20 rounds and philox-4x32 with 10 (interpreter chapter, §8.2; constants
// from Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

#include "lib/numerics/numerics.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_RANK = 64 };  // the emitter refuses more

typedef struct Target {
    int64_t elem_bytes, rank;
    const int64_t *sizes, *strides;
    void *out;
} Target;

static int64_t elem_count(const Target *t) {
    int64_t count = 1;
    for (int64_t d = 0; d < t->rank; d++) count *= t->sizes[d];
    return count;
}

// Stores the low bytes of `bits` at a row-major position.
static void put(const Target *t, int64_t at, uint64_t bits) {
    int64_t position = 0;
    for (int64_t d = t->rank; d-- > 0;) {
        position += at % t->sizes[d] * t->strides[d];
        at /= t->sizes[d];
    }
    memcpy((char *)t->out + position * t->elem_bytes, &bits, (size_t)t->elem_bytes);  // little endian
}

// ---- threefry -------------------------------------------------------------------------------------------

static uint32_t rotate(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

static uint64_t threefry(uint64_t key, uint64_t counter) {
    static const int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    uint32_t ks[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0};
    ks[2] = 0x1BD11BDA ^ ks[0] ^ ks[1];
    uint32_t x = (uint32_t)counter + ks[0], y = (uint32_t)(counter >> 32) + ks[1];
    for (int group = 0; group < 5; group++) {
        for (int k = 0; k < 4; k++) {
            x += y;
            y = rotate(y, turns[group % 2][k]) ^ x;
        }
        x += ks[(group + 1) % 3];
        y += ks[(group + 2) % 3] + (uint32_t)group + 1;
    }
    return (uint64_t)y << 32 | x;
}

// The first even dimension, else the largest.
static int64_t halved_dimension(const Target *t) {
    int64_t best = 0;
    for (int64_t d = 0; d < t->rank; d++) {
        if (t->sizes[d] % 2 == 0) return d;
        if (t->sizes[d] > t->sizes[best]) best = d;
    }
    return best;
}

// 32-bit words come in pairs along one dimension: blocks count the shape halved there.
static uint64_t threefry_pairs(const Target *t, uint64_t key, uint64_t counter) {
    if (t->rank == 0) {
        put(t, 0, (uint32_t)threefry(key, counter));
        return 1;
    }
    int64_t axis = halved_dimension(t), size = t->sizes[axis], half = (size + 1) / 2, inner = 1, outer = 1;
    for (int64_t d = 0; d < axis; d++) outer *= t->sizes[d];
    for (int64_t d = axis + 1; d < t->rank; d++) inner *= t->sizes[d];
    for (int64_t block = 0; block < outer * half * inner; block++) {
        int64_t o = block / (half * inner), j = block / inner % half, i = block % inner;
        uint64_t words = threefry(key, counter + (uint64_t)block);
        put(t, (o * size + 2 * j) * inner + i, (uint32_t)words);
        if (2 * j + 1 < size) put(t, (o * size + 2 * j + 1) * inner + i, words >> 32);
    }
    return (uint64_t)(outer * half * inner);
}

static void run_threefry(const Target *t, const uint64_t *state, uint64_t *state_out) {
    uint64_t key = state[0], counter = state[1], used;
    if (t->elem_bytes == 8) {
        used = (uint64_t)elem_count(t);
        for (uint64_t k = 0; k < used; k++) put(t, (int64_t)k, threefry(key, counter + k));
    } else {
        used = threefry_pairs(t, key, counter);
    }
    state_out[0] = key;
    state_out[1] = counter + used;
}

// ---- philox ---------------------------------------------------------------------------------------------

static void philox(uint64_t key, uint64_t low, uint64_t high, uint32_t out[4]) {
    uint32_t c[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    memcpy(out, c, sizeof c);
}

static void run_philox(const Target *t, const uint64_t *state, int64_t words, uint64_t *state_out) {
    uint64_t key = state[0], low = state[1], high = words == 3 ? state[2] : state[0];
    int64_t count = elem_count(t), per_block = t->elem_bytes == 8 ? 2 : 4, blocks = (count + per_block - 1) / per_block;
    for (int64_t block = 0; block < blocks; block++) {
        uint32_t bits[4];
        uint64_t at = low + (uint64_t)block;
        philox(key, at, high + (at < low), bits);
        for (int64_t k = 0; k < per_block && block * per_block + k < count; k++) {
            uint64_t value = per_block == 4 ? bits[k] : bits[2 * k] | (uint64_t)bits[2 * k + 1] << 32;
            put(t, block * per_block + k, value);
        }
    }
    uint64_t next = low + (uint64_t)blocks;
    state_out[0] = key;
    state_out[1] = next;
    if (words == 3) state_out[2] = high + (next < low);
}

void hlo_rt_rng(const int64_t *d, const uint64_t *state, uint64_t *state_out, void *out) {
    Target t = {.elem_bytes = d[2], .rank = d[3], .sizes = d + 4, .strides = d + 4 + d[3], .out = out};
    if (d[0] == 1) {
        run_threefry(&t, state, state_out);
    } else {
        run_philox(&t, state, d[1], state_out);
    }
}
