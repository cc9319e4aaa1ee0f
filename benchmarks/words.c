/* What `_after` and `_position` of cube_nb.exact.coset do to one word after another, for `measured.py words`. */

#include <stddef.h>
#include <stdint.h>

typedef struct {  /* the fields of `Steps`, in its order */
    const uint8_t *seen, *joined;
    const uint32_t *corners, *middles;
    const uint16_t *flips;
    const uint32_t *middles_seen;
    const uint16_t *flips_seen;
    const uint8_t *packing;
} Steps;

#define EDGES_AFTER(all_middles, all_flips, row) \
    both = all_middles[(row) << 9 | middle]; \
    flips = (all_flips[(row) << 7 | (flips & 63)] | all_flips[(row) << 7 | 64 + (flips >> 6)]) ^ both >> 16; \
    middle = both & 0xFFFF;

void find_words(
    const Steps *s, uint64_t moves, size_t n, const uint64_t *restrict words, const uint64_t *restrict view,
    const uint64_t *restrict move, uint64_t *restrict after, uint64_t *restrict position
) {
    const Steps t = *s;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = words[i], k = word >> 24 & 15, a = t.seen[(view[i] << 4 | k) << 5 | move[i]];
        uint64_t number = t.corners[(word >> 28) * moves + a], j = number & 15;
        uint64_t middle = word >> 12 & 0xFFF, flips = word & 0xFFF, both;
        EDGES_AFTER(t.middles, t.flips, a)
        EDGES_AFTER(t.middles_seen, t.flips_seen, j)
        number = (number & ~(uint64_t)15) | t.joined[j << 4 | k];
        after[i] = number << 24 | middle << 12 | flips;
        const uint8_t *packing = t.packing + middle * 48;
        uint64_t packed = packing[flips & 15] | packing[16 + (flips >> 4 & 15)] | packing[32 + (flips >> 8)];
        position[i] = ((number >> 4) * 495 + middle << 8) + packed;
    }
}
