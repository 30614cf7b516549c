/* Solutions for poses: the candidates of straight lines, taken nearer to the true model if need be, within limits and in order.
   The text before this one defines JOINTS, CANDIDATES, the GROUPS of them that share room and lever, the GROUP of each, what may become of a pose, and the functions `candidates` and `whole_turns`. */
#include <stdlib.h>
#include <string.h>

/* Candidates are room and lever of each group of them, a sum that is not a number where one of the coordinates is none, then the coordinates of
   each: so many numbers, filled up to whole vectors. */
enum { BEFORE = 2 * GROUPS + 1, COORDINATES = CANDIDATES * JOINTS, FILLED = (COORDINATES + LANES - 1) / LANES * LANES };
#define ROOM(y, k) (y)[2 * GROUP(k)]
#define LEVER(y, k) (y)[2 * GROUP(k) + 1]
#define TOTAL(y) (y)[2 * GROUPS]
#define OF(y, k) ((y) + BEFORE + (k) * JOINTS)

/* One step of Newton's method, in place, and how far it was before. */
typedef void refine(vec *q, const vec *X, vec *residual, const real *c);

/* The same for several candidates of one pose side by side, numbers (entries, width). */
typedef void refine_several(real *q, const real *X, real *residual, const real *c);
enum { WIDEST = 16 };

typedef struct {
    refine *refined;
    refine_several *together;
    const real *c, *true_c; /* constants of the candidates and of the true model */
    const real *lower, *upper; /* (joints) */
    const real *lengths, *shares; /* slides are in units of them, turns have one; and one over them */
    const int32_t *at, *turns; /* the coordinate in q of each joint, whether it turns */
    long coordinates; /* in q */
    long steps; /* of Newton's method */
    real room; /* below which a pose is left to others: its solutions may be one or none */
    real lever; /* below which an angle may be free */
    real residual; /* that a solution may have */
    long sorted; /* whether solutions come nearest first */
    long shifted; /* whether angles are taken near to the start, and limits are looked at */
    long plain; /* whether the joints are the coordinates, in order */
    long slides; /* whether some of them are slides */
    long width; /* how many candidates are refined together */
} arm;

/* Numbers of a block into lanes; lanes without a pose repeat the last. */
static inline void load_lanes(vec *into, const real *from, long stride, long entries, long valid)
{
    for (long k = 0; k < entries; ++k) {
#if LANES == 1
        (void)stride, (void)valid;
        into[k] = from[k];
#else
        for (long i = 0; i < LANES; ++i) {
            into[k][i] = from[(i < valid ? i : valid - 1) * stride + k];
        }
#endif
    }
}

/* Poses of a block into lanes. */
static inline void load_poses(vec *into, const real *X, long valid)
{
#if LANES > 1
    if (valid == LANES) {
        for (int k = 0; k < 16; k += LANES) {
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) {
                memcpy(&into[k + i], X + 16 * i + k, sizeof(vec));
            }
            transpose(into + k);
        }
        return;
    }
#endif
    load_lanes(into, X, 16, 16, valid);
}

/* The coordinates of all candidates, lane by lane. */
static inline void store_lanes(const vec *y, real *into)
{
    for (int k = 0; k < FILLED; k += LANES) {
#if LANES == 1
        into[k] = y[BEFORE + k];
#else
        vec rows[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            rows[i] = y[BEFORE + k + i];
        }
        transpose(rows);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            memcpy(into + i * FILLED + k, &rows[i], sizeof(vec));
        }
#endif
    }
}

/* Where a pose is one: two rows of the rotation are of length one and across each other, the third is their product. */
static inline lane_set is_pose(const vec *X)
{
    vec off = V(0);
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
        const vec *const a = X + 4 * (i / 2), *const b = X + 4 * ((i + 1) / 2);
        const vec d = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (real)(a == b);
        off += d * d;
    }
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const vec d = X[j] * X[4 + k] - X[k] * X[4 + j] - X[8 + i];
        off += d * d;
    }
    const vec below = magnitude(X[12]) + magnitude(X[13]) + magnitude(X[14]) + magnitude(X[15] - 1.0);
    return LESS(off, V(1e-12)) & LESS(below, V(TINIEST));
}

/* Angles near to where they start, if that is within limits; the squared distance from there, and whether all are within limits. */
static inline vec shift(const arm *a, vec *q, const vec *near, lane_set *within)
{
    vec far = V(0);
    for (int j = 0; j < JOINTS; ++j) {
        const vec x = q[j] * a->lengths[j], turning = V(a->turns[j]), lower = V(a->lower[j]), upper = V(a->upper[j]);
        vec room;
        whole_turns(&x, &turning, &lower, &upper, near + j, q + j, &room);
        *within &= ~LESS(room, V(0));
        const vec apart = (q[j] - near[j]) * a->shares[j];
        far += apart * apart;
    }
    return far;
}

/* The same without limits: angles stay as they are. */
static inline vec measure(const arm *a, vec *q)
{
    vec far = V(0);
#pragma GCC unroll 8
    for (int j = 0; j < JOINTS; ++j) {
        if (a->slides) {
            q[j] *= a->lengths[j];
        }
        far += q[j] * q[j];
    }
    return far;
}

/* Newton's method on all candidates, and how far each of them was before its last step. Those of a single pose fill the lanes of vectors. */
static inline void refine_all(const arm *a, const vec *X, vec *y, vec *residual)
{
#if LANES == 1
    const int width = (int)a->width;
    real q[JOINTS * WIDEST] __attribute__((aligned(64))), x[16 * WIDEST] __attribute__((aligned(64))), far[WIDEST] __attribute__((aligned(64)));
    for (int i = 0; i < 16 * width; ++i) {
        x[i] = X[i / width];
    }
    for (int k = 0; k < CANDIDATES; k += width) {
        const int n = CANDIDATES - k < width ? CANDIDATES - k : width;
        for (int i = 0; i < JOINTS * width; ++i) {
            q[i] = OF(y, k + (i % width < n ? i % width : 0))[i / width];
        }
        for (long step = 0; step < a->steps; ++step) {
            a->together(q, x, far, a->true_c);
        }
        for (int i = 0; i < n; ++i) {
            residual[k + i] = far[i];
            for (int j = 0; j < JOINTS; ++j) {
                OF(y, k + i)[j] = q[j * width + i];
            }
        }
    }
#else
    for (int k = 0; k < CANDIDATES; ++k) {
        for (long step = 0; step < a->steps; ++step) {
            a->refined(OF(y, k), X, residual + k, a->true_c);
        }
    }
#endif
}

/* The candidates of a block within limits, their cost, and which of them count; returns the lanes that are left to others. Where angles stay as they
   are and in order, and are numbers, there is no more to do than to look at rooms and levers. */
static inline lane_set solved(const arm *a, const vec *X, const vec *near, vec *y, vec *cost, lane_set *counts, lane_set *beyond)
{
    *beyond = NO_LANE;
    candidates(X, y, a->c);
    lane_set left = ~is_pose(X);
#pragma GCC unroll 16
    for (int k = 0; k < CANDIDATES; ++k) {
        const vec room = ROOM(y, k), lever = LEVER(y, k);
        counts[k] = ~LESS(room, V(-a->room));
        left |= counts[k] & ~(LESS(V(a->room), room) & LESS(V(a->lever), lever));
    }
    if (!a->steps && !a->shifted && !a->sorted && !a->slides && !ANY(~LESS(magnitude(TOTAL(y)), V(LARGEST)))) {
        return left;
    }
    vec residual[CANDIDATES];
    if (a->steps) {
        refine_all(a, X, y, residual);
    }
    for (int k = 0; k < CANDIDATES; ++k) {
        vec *const q = OF(y, k);
        const lane_set possible = counts[k];
        if (a->steps) {
            left |= possible & ~LESS(residual[k], V(a->residual));
        }
        cost[k] = a->shifted ? shift(a, q, near, &counts[k]) : measure(a, q);
        left |= possible & ~LESS(cost[k], V(LARGEST)); /* not a number */
        *beyond |= possible & ~counts[k];
    }
    return left;
}

#ifdef GENERAL
/* Whether the candidates of a lane are an odd number, or two of them are one: then one may be missing. */
static int is_doubtful(const vec *y, const real *rows, long lane)
{
    int found[CANDIDATES], n = 0;
    (void)lane;
    for (int k = 0; k < CANDIDATES; ++k) {
        if (LANE(ROOM(y, k), lane) > 0) {
            found[n++] = k;
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) {
            int same = 1;
            for (int j = 0; j < JOINTS && same; ++j) {
                const double apart = rows[found[i] * JOINTS + j] - rows[found[k] * JOINTS + j];
                same = fabs(apart - 6.283185307179586 * rint(apart * 0.15915494309189535)) < 1e-6;
            }
            if (same) {
                return 1;
            }
        }
    }
    return n % 2;
}
#define IS_SURE 0
#else
#define is_doubtful(y, rows, lane) 0
#define IS_SURE 1
#endif

/* Where no candidate counts, which one is nearest, lane by lane; -1 if none is a number. */
static void find_nearest(const arm *a, const vec *X, const vec *y, int *nearest)
{
    vec least = V(LARGEST);
    for (int i = 0; i < LANES; ++i) {
        nearest[i] = -1;
    }
    for (int k = 0; k < CANDIDATES; ++k) {
        vec q[JOINTS], distance = V(0);
        for (int j = 0; j < JOINTS; ++j) {
            q[j] = OF(y, k)[j] * a->shares[j];
        }
        a->refined(q, X, &distance, a->true_c);
        for (int i = 0; i < LANES; ++i) {
            nearest[i] = LANE(distance, i) < LANE(least, i) ? k : nearest[i];
        }
        least = SELECT(distance, least, distance, least);
    }
}

/* A candidate as coordinates of the robot. */
static inline void row_of(const arm *a, const real *own, const real *start, real *row)
{
    if (a->plain) {
        memcpy(row, own, JOINTS * sizeof(real));
        return;
    }
    if (a->coordinates > JOINTS) {
        memcpy(row, start, (size_t)a->coordinates * sizeof(real));
    }
    for (int j = 0; j < JOINTS; ++j) {
        row[a->at[j]] = own[j];
    }
}

#if LANES == 8 || LANES == 4
#define DIRECT (IS_SURE && JOINTS == 6)
#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
typedef real four __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));
typedef real two __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Six coordinates, lane by lane, to where a row of each begins. */
static inline void store_row(const vec *q, real *const *row)
{
#if LANES == 8
#pragma GCC unroll 2
    for (int odd = 0; odd < 2; ++odd) {
        const vec a = odd ? SHUFFLED(q[0], q[1], 1, 9, 3, 11, 5, 13, 7, 15) : SHUFFLED(q[0], q[1], 0, 8, 2, 10, 4, 12, 6, 14);
        const vec b = odd ? SHUFFLED(q[2], q[3], 1, 9, 3, 11, 5, 13, 7, 15) : SHUFFLED(q[2], q[3], 0, 8, 2, 10, 4, 12, 6, 14);
        const vec c = odd ? SHUFFLED(q[4], q[5], 1, 9, 3, 11, 5, 13, 7, 15) : SHUFFLED(q[4], q[5], 0, 8, 2, 10, 4, 12, 6, 14);
        const vec low = SHUFFLED(a, b, 0, 1, 8, 9, 2, 3, 10, 11), high = SHUFFLED(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
        *(four *)row[odd] = SHUFFLED(low, low, 0, 1, 2, 3);
        *(four *)row[odd + 2] = SHUFFLED(low, low, 4, 5, 6, 7);
        *(four *)row[odd + 4] = SHUFFLED(high, high, 0, 1, 2, 3);
        *(four *)row[odd + 6] = SHUFFLED(high, high, 4, 5, 6, 7);
        *(two *)(row[odd] + 4) = SHUFFLED(c, c, 0, 1);
        *(two *)(row[odd + 2] + 4) = SHUFFLED(c, c, 2, 3);
        *(two *)(row[odd + 4] + 4) = SHUFFLED(c, c, 4, 5);
        *(two *)(row[odd + 6] + 4) = SHUFFLED(c, c, 6, 7);
    }
#else
    vec first[4] = { q[0], q[1], q[2], q[3] }, last[4] = { q[4], q[5], q[4], q[5] };
    transpose(first);
    transpose(last);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        *(four *)row[i] = SHUFFLED(first[i], first[i], 0, 1, 2, 3);
        *(two *)(row[i] + 4) = SHUFFLED(last[i], last[i], 0, 1);
    }
#endif
}

/* All candidates, lane by lane: those that count from the first place on, in order, NaN from the last place back. Returns how many count. */
static inline ivec store_rows(const vec *y, const lane_set *counts, real *into)
{
    ivec n = (ivec)V(0);
#pragma GCC unroll 16
    for (int k = 0; k < CANDIDATES; ++k) {
        const ivec place = (ivec)PICK(counts[k], (vec)n, (vec)(n + (CANDIDATES - 1 - k)));
        n = (ivec)PICK(counts[k], (vec)(n + 1), (vec)n);
        vec q[JOINTS];
        real *row[LANES];
#pragma GCC unroll 8
        for (int j = 0; j < JOINTS; ++j) {
            q[j] = PICK(counts[k], OF(y, k)[j], V(NAN));
        }
#pragma GCC unroll 8
        for (int i = 0; i < LANES; ++i) {
            row[i] = into + i * COORDINATES + place[i] * JOINTS;
        }
        store_row(q, row);
    }
    return n;
}
#else
#define DIRECT 0
#define store_rows(y, counts, into) (ivec)V(0)
#endif

/* Candidates of one lane, (candidates, joints), that count as rows of coordinates of the robot, q (candidates, coordinates), in order; NaN behind them. */
static long packed(const arm *a, const real *found, const vec *cost, const lane_set *counts, long lane, const real *start, real *q)
{
    int order[CANDIDATES + 1];
    long n = 0;
    (void)lane;
    for (int k = 0; k < CANDIDATES; ++k) {
        long i = n;
        n += HOLDS(counts[k], lane);
        if (a->sorted && i < n) {
            const real own = LANE(cost[k], lane);
            for (; i > 0 && LANE(cost[order[i - 1]], lane) > own; --i) {
                order[i] = order[i - 1];
            }
        }
        order[i] = k;
    }
    for (long i = 0; i < n; ++i) {
        row_of(a, found + order[i] * JOINTS, start, q + i * a->coordinates);
    }
    for (long i = n * a->coordinates; i < CANDIDATES * a->coordinates; ++i) {
        q[i] = NAN;
    }
    return n;
}

/* A candidate of one lane as coordinates of the robot. */
static void unpacked(const arm *a, const vec *y, int candidate, long lane, const real *start, real *row)
{
    real own[JOINTS];
    (void)lane;
    for (int j = 0; j < JOINTS; ++j) {
        own[j] = LANE(OF(y, candidate)[j], lane);
    }
    row_of(a, own, start, row);
}

/* Poses first to last - 1, (poses, 16); where each starts, (poses, coordinates) or the same for all. Solutions (poses, candidates, coordinates), the
   nearest candidate where there are none; how many; and what became of each pose. Returns whether all are solved. */
int pose_batch(const arm *a, long first, long last, const real *X, const real *start, long start_stride, real *q, int64_t *count, uint8_t *fate)
{
    vec x[16], near[JOINTS], y[BEFORE + FILLED], cost[CANDIDATES];
    lane_set counts[CANDIDATES], beyond;
    real found[LANES * FILLED] __attribute__((aligned(64)));
    int nearest[LANES], settled = 1;
    for (int k = COORDINATES; k < FILLED; ++k) {
        y[BEFORE + k] = V(0);
    }
    for (long p = first; p < last; p += LANES) {
        const long valid = last - p < LANES ? last - p : LANES;
        load_poses(x, X + 16 * p, valid);
        for (int j = 0; j < JOINTS && a->shifted; ++j) {
            load_lanes(near + j, start + p * start_stride + a->at[j], start_stride, 1, valid);
            near[j] = SELECT(near[j], V(a->lower[j]), V(a->lower[j]), SELECT(V(a->upper[j]), near[j], V(a->upper[j]), near[j]));
        }
#if LANES > 1
        /* the memory of the next solutions, while these are computed */
        for (long i = 0; i < LANES * COORDINATES && p + 2 * LANES <= last; i += LINE / (long)sizeof(real)) {
            __builtin_prefetch(q + (p + LANES) * CANDIDATES * a->coordinates + i, 1);
        }
#endif
        const lane_set others = solved(a, x, near, y, cost, counts, &beyond);
        /* rows that are stored where they belong, as a rule without more to do */
        const int direct = DIRECT && a->plain && !a->sorted && valid == LANES;
        ivec numbers = (ivec)V(0);
        if (direct) {
            numbers = store_rows(y, counts, q + p * COORDINATES);
            memcpy(count + p, &numbers, sizeof numbers);
            lane_set some = counts[0];
            for (int k = 1; k < CANDIDATES; ++k) {
                some |= counts[k];
            }
            if (!ANY(others | (lane_set)~some)) {
                memset(fate + p, SOLVED, LANES);
                continue;
            }
        } else {
            store_lanes(y, found);
        }
        int looked = 0;
        for (long i = 0; i < valid; ++i) {
            const real *own = start + (p + i) * start_stride;
            real *const rows = q + (p + i) * CANDIDATES * a->coordinates;
            const int doubtful = HOLDS(others, i) || is_doubtful(y, found + i * FILLED, i);
            const long n = direct ? (long)LANE(numbers, i) : packed(a, found + i * FILLED, cost, counts, i, own, rows);
            count[p + i] = n;
            fate[p + i] = doubtful ? LEFT : n ? SOLVED : HOLDS(beyond, i) ? BEYOND_LIMITS : OUT_OF_REACH;
            settled &= fate[p + i] == SOLVED;
            if (n == 0 && fate[p + i] != LEFT) {
                if (!looked) {
                    find_nearest(a, x, y, nearest);
                    looked = 1;
                }
                if (nearest[i] < 0) {
                    fate[p + i] = LEFT;
                } else {
                    unpacked(a, y, nearest[i], i, own, rows);
                    for (long k = a->coordinates; k < CANDIDATES * a->coordinates; ++k) {
                        rows[k] = NAN;
                    }
                }
            }
        }
    }
    return settled;
}

#if LANES == 1
/* One pose, as `rows` of single.c asks for: inputs are the pose and where it starts, outputs the solutions and their number. */
real pose_once(const arm *a, real *arena, const real *const *inputs, real *const *outputs, long repeats)
{
    (void)arena, (void)repeats;
    int64_t count;
    uint8_t fate;
    pose_batch(a, 0, 1, inputs[0], inputs[1], 0, outputs[0], &count, &fate);
    outputs[1][0] = (real)count;
    return fate;
}
#endif
