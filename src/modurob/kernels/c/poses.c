/* Solutions for poses: the candidates of straight lines, taken nearer to the true model if need be, within limits and in order.
   The text before this one defines JOINTS, CANDIDATES, and the function `candidates`. */
#include <stdlib.h>
#include <string.h>

enum { WIDTH = JOINTS + 2 }; /* coordinates, room and lever of a candidate */

/* One step of Newton's method, in place, and how far it was before. */
typedef void refine(vec *q, const vec *X, vec *residual, const real *c);

typedef struct {
    refine *refined;
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
} arm;

/* Comparisons as masks of all bits. */
#if LANES == 1
#define MASK(x) (-(ivec)(x))
#define LANE(x, i) (x)
#define HOLDS(mask, lane) ((mask) != 0)
#else
#define MASK(x) ((ivec)(x))
#define LANE(x, i) ((x)[i])
#define HOLDS(mask, lane) ((mask)[lane] != 0)
#endif

/* Poses of a block into lanes; lanes without a pose repeat the last. */
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

/* Whether a rotation is one: |R R^T - 1| small. */
static inline ivec is_rotation(const vec *X)
{
    ivec fine = MASK(V(0) == V(0));
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            const vec d = X[4 * i] * X[4 * j] + X[4 * i + 1] * X[4 * j + 1] + X[4 * i + 2] * X[4 * j + 2] - (real)(i == j);
            fine &= MASK(d < V(1e-6)) & MASK(d > V(-1e-6));
        }
    }
    const vec volume = X[0] * (X[5] * X[10] - X[6] * X[9]) - X[1] * (X[4] * X[10] - X[6] * X[8]) + X[2] * (X[4] * X[9] - X[5] * X[8]);
    for (int i = 12; i < 16; ++i) {
        fine &= MASK(X[i] == V(i == 15));
    }
    return fine & MASK(volume > V(0));
}

/* The candidates of a block within limits, their cost, and which of them count; returns the lanes that are left to others. */
static inline ivec solved(const arm *a, const vec *X, const vec *near, vec *y, vec *cost, ivec *counts, ivec *beyond)
{
    *beyond = MASK(V(0) != V(0));
    candidates(X, y, a->c);
    ivec left = ~is_rotation(X);
    for (int k = 0; k < CANDIDATES; ++k) {
        vec *const q = y + k * WIDTH;
        const vec room = q[JOINTS], lever = q[JOINTS + 1];
        const ivec possible = ~MASK(room < V(-a->room));
        left |= possible & ~(MASK(room > V(a->room)) & MASK(lever > V(a->lever)));
        ivec counted = possible;
        if (a->steps) {
            vec residual = V(0);
            for (long step = 0; step < a->steps; ++step) {
                a->refined(q, X, &residual, a->true_c);
            }
            left |= possible & ~MASK(residual < V(a->residual));
        }
        vec far = V(0);
        for (int j = 0; j < JOINTS; ++j) {
            vec x = q[j];
            if (!a->shifted) {
                q[j] = a->turns[j] ? x : x * a->lengths[j];
                far += q[j] * q[j];
                continue;
            }
            if (a->turns[j]) {
                const vec shifted = (near[j] - x) * 0.15915494309189535 + MAGIC;
                x += (shifted - MAGIC) * 6.283185307179586;
                x = SELECT(x, V(a->lower[j] - 1e-9), x + 6.283185307179586, x);
                x = SELECT(V(a->upper[j] + 1e-9), x, x - 6.283185307179586, x);
            } else {
                x *= a->lengths[j];
            }
            counted &= ~MASK(x < V(a->lower[j] - 1e-9)) & ~MASK(x > V(a->upper[j] + 1e-9));
            const vec apart = (x - near[j]) * a->shares[j];
            far += apart * apart;
            q[j] = x;
        }
        left |= possible & ~MASK(far < V(LARGEST)); /* not a number */
        cost[k] = far;
        counts[k] = counted;
        *beyond |= possible & ~counted;
    }
    return left;
}

#ifdef GENERAL
/* Whether the candidates of a lane are an odd number, or two of them are one: then one may be missing. */
static int is_doubtful(const vec *y, long lane)
{
    int found[CANDIDATES], n = 0;
    (void)lane;
    for (int k = 0; k < CANDIDATES; ++k) {
        if (LANE(y[k * WIDTH + JOINTS], lane) > 0) {
            found[n++] = k;
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) {
            int same = 1;
            for (int j = 0; j < JOINTS && same; ++j) {
                const double apart = LANE(y[found[i] * WIDTH + j], lane) - LANE(y[found[k] * WIDTH + j], lane);
                same = fabs(apart - 6.283185307179586 * rint(apart * 0.15915494309189535)) < 1e-6;
            }
            if (same) {
                return 1;
            }
        }
    }
    return n % 2;
}
#else
#define is_doubtful(y, lane) 0
#endif

/* What became of a pose: solved, left to others, no solution, or solutions beyond limits alone. */
enum { SOLVED, LEFT, OUT_OF_REACH, BEYOND_LIMITS };

/* Where no candidate counts, which one is nearest, lane by lane. */
static inline void find_nearest(const arm *a, const vec *X, const vec *y, int *nearest)
{
    vec least = V(LARGEST);
    for (int i = 0; i < LANES; ++i) {
        nearest[i] = 0;
    }
    for (int k = 0; k < CANDIDATES; ++k) {
        vec q[JOINTS], distance = V(0);
        for (int j = 0; j < JOINTS; ++j) {
            q[j] = y[k * WIDTH + j] * a->shares[j];
        }
        a->refined(q, X, &distance, a->true_c);
        for (int i = 0; i < LANES; ++i) {
            nearest[i] = LANE(distance, i) < LANE(least, i) ? k : nearest[i];
        }
        least = SELECT(distance, least, distance, least);
    }
}

/* A candidate of one lane as coordinates of the robot. */
static inline void row_of(const arm *a, const vec *own, long lane, const real *start, real *row)
{
    (void)lane;
    if (a->plain) {
#pragma GCC unroll 8
        for (int j = 0; j < JOINTS; ++j) {
            row[j] = LANE(own[j], lane);
        }
        return;
    }
    if (a->coordinates > JOINTS) {
        memcpy(row, start, (size_t)a->coordinates * sizeof(real));
    }
    for (int j = 0; j < JOINTS; ++j) {
        row[a->at[j]] = LANE(own[j], lane);
    }
}

/* The rows of one lane that count, in order, into q (candidates, coordinates); NaN behind them. Returns how many. */
static inline long packed(const arm *a, const vec *y, const vec *cost, const ivec *counts, long lane, const real *start, real *q)
{
    int order[CANDIDATES];
    long n = 0;
    (void)lane;
    for (int k = 0; k < CANDIDATES; ++k) {
        if (!HOLDS(counts[k], lane)) {
            continue;
        }
        long i = n++;
        if (a->sorted) {
            const real own = LANE(cost[k], lane);
            for (; i > 0 && LANE(cost[order[i - 1]], lane) > own; --i) {
                order[i] = order[i - 1];
            }
        }
        order[i] = k;
    }
    for (long i = 0; i < n; ++i) {
        row_of(a, y + order[i] * WIDTH, lane, start, q + i * a->coordinates);
    }
    for (long i = n * a->coordinates; i < CANDIDATES * a->coordinates; ++i) {
        q[i] = __builtin_nan("");
    }
    return n;
}

/* Poses first to last - 1, (poses, 16); where each starts, (poses, coordinates) or the same for all. Solutions (poses, candidates, coordinates), the
   nearest candidate where there are none; how many; and what became of each pose. */
void pose_batch(const arm *a, long first, long last, const real *X, const real *start, long start_stride, real *q, int64_t *count, uint8_t *fate)
{
    vec x[16], near[JOINTS], y[CANDIDATES * WIDTH], cost[CANDIDATES];
    ivec counts[CANDIDATES], beyond;
    int nearest[LANES];
    for (long p = first; p < last; p += LANES) {
        const long valid = last - p < LANES ? last - p : LANES;
        load_lanes(x, X + 16 * p, 16, 16, valid);
        for (int j = 0; j < JOINTS; ++j) {
            load_lanes(near + j, start + p * start_stride + a->at[j], start_stride, 1, valid);
            near[j] = SELECT(near[j], V(a->lower[j]), V(a->lower[j]), SELECT(V(a->upper[j]), near[j], V(a->upper[j]), near[j]));
        }
        const ivec others = solved(a, x, near, y, cost, counts, &beyond);
        int looked = 0;
        for (long i = 0; i < valid; ++i) {
            const real *own = start + (p + i) * start_stride;
            real *const rows = q + (p + i) * CANDIDATES * a->coordinates;
            const long n = packed(a, y, cost, counts, i, own, rows);
            count[p + i] = n;
            fate[p + i] = HOLDS(others, i) || is_doubtful(y, i) ? LEFT : n ? SOLVED : HOLDS(beyond, i) ? BEYOND_LIMITS : OUT_OF_REACH;
            if (n == 0 && fate[p + i] != LEFT) {
                if (!looked) {
                    find_nearest(a, x, y, nearest);
                    looked = 1;
                }
                row_of(a, y + nearest[i] * WIDTH, i, own, rows);
            }
        }
    }
}

#if LANES == 1
/* One pose, as `once` of the driver: inputs are the pose and where it starts, outputs the solutions and their number. */
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
