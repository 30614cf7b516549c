/* Solutions for poses: the candidates of straight lines, taken nearer to the true model if need be, within limits and in order.
   The text before this one defines JOINTS, CANDIDATES, and the functions `candidates` and `refined`. */
#include <stdlib.h>
#include <string.h>

enum { WIDTH = JOINTS + 2 }; /* coordinates, room and lever of a candidate */

typedef struct {
    const real *c, *true_c; /* constants of the candidates and of the true model */
    const real *lower, *upper; /* (joints) */
    const real *lengths; /* slides are in units of them, turns have one */
    const int32_t *at, *turns; /* the coordinate in q of each joint, whether it turns */
    long coordinates; /* in q */
    long steps; /* of Newton's method */
    real room; /* below which a pose is left to others: its solutions may be one or none */
    real lever; /* below which an angle may be free */
    real residual; /* that a solution may have */
    long sorted; /* whether solutions come nearest first */
} arm;

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
    ivec fine = (ivec)(V(0) == V(0));
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            const vec d = X[4 * i] * X[4 * j] + X[4 * i + 1] * X[4 * j + 1] + X[4 * i + 2] * X[4 * j + 2] - (real)(i == j);
            fine &= (ivec)(d < V(1e-6)) & (ivec)(d > V(-1e-6));
        }
    }
    const vec volume = X[0] * (X[5] * X[10] - X[6] * X[9]) - X[1] * (X[4] * X[10] - X[6] * X[8]) + X[2] * (X[4] * X[9] - X[5] * X[8]);
    for (int i = 12; i < 16; ++i) {
        fine &= (ivec)(X[i] == V(i == 15));
    }
    return fine & (ivec)(volume > V(0));
}

#if LANES == 1
#define LANE(x, i) (*(const real *)&(x))
#else
#define LANE(x, i) ((x)[i])
#endif

/* The candidates of a block within limits, their cost, and which of them count; returns the lanes that are left to others. */
static inline ivec solved(const arm *a, const vec *X, const vec *near, vec *y, vec *cost, ivec *counts)
{
    candidates(X, y, a->c);
    ivec left = ~is_rotation(X);
    for (int k = 0; k < CANDIDATES; ++k) {
        vec *const q = y + k * WIDTH;
        const vec room = q[JOINTS], lever = q[JOINTS + 1];
        const ivec possible = ~(ivec)(room < V(-a->room));
        left |= possible & ~((ivec)(room > V(a->room)) & (ivec)(lever > V(a->lever)));
        ivec counted = possible;
        if (a->steps) {
            vec residual = V(0);
            for (long step = 0; step < a->steps; ++step) {
                refined(q, X, &residual, a->true_c);
            }
            left |= possible & ~(ivec)(residual < V(a->residual));
        }
        vec far = V(0);
        for (int j = 0; j < JOINTS; ++j) {
            vec x = q[j];
            if (a->turns[j]) {
                const vec shifted = (near[j] - x) * 0.15915494309189535 + MAGIC;
                x += (shifted - MAGIC) * 6.283185307179586;
                x = SELECT(x, V(a->lower[j] - 1e-9), x + 6.283185307179586, x);
                x = SELECT(V(a->upper[j] + 1e-9), x, x - 6.283185307179586, x);
            } else {
                x *= a->lengths[j];
            }
            counted &= ~(ivec)(x < V(a->lower[j] - 1e-9)) & ~(ivec)(x > V(a->upper[j] + 1e-9));
            const vec apart = (x - near[j]) / a->lengths[j];
            far += apart * apart;
            q[j] = x;
        }
        left |= possible & ~(ivec)(far < V(LARGEST)); /* not a number */
        cost[k] = far;
        counts[k] = counted;
    }
    return left;
}

/* The rows of one lane that count, in order, into q (candidates, coordinates); NaN behind them. Returns how many. */
static inline long packed(const arm *a, const vec *y, const vec *cost, const ivec *counts, long lane, const real *start, real *q)
{
    int order[CANDIDATES];
    long n = 0;
    for (int k = 0; k < CANDIDATES; ++k) {
#if LANES == 1
        (void)lane;
        if (!counts[k]) {
            continue;
        }
#else
        if (!counts[k][lane]) {
            continue;
        }
#endif
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
        real *const row = q + i * a->coordinates;
        if (a->coordinates > JOINTS) {
            memcpy(row, start, (size_t)a->coordinates * sizeof(real));
        }
        const vec *const own = y + order[i] * WIDTH;
        for (int j = 0; j < JOINTS; ++j) {
            row[a->at[j]] = LANE(own[j], lane);
        }
    }
    for (long i = n * a->coordinates; i < CANDIDATES * a->coordinates; ++i) {
        q[i] = __builtin_nan("");
    }
    return n;
}

/* Poses first to last - 1, (poses, 16); where each starts, (poses, coordinates) or the same for all. Solutions (poses, candidates, coordinates),
   how many, and whether a pose is left to others; returns how many are. */
long pose_batch(const arm *a, long first, long last, const real *X, const real *start, long start_stride, real *q, int64_t *count, uint8_t *left)
{
    vec x[16], near[JOINTS], y[CANDIDATES * WIDTH], cost[CANDIDATES];
    ivec counts[CANDIDATES];
    long lost = 0;
    for (long p = first; p < last; p += LANES) {
        const long valid = last - p < LANES ? last - p : LANES;
        load_lanes(x, X + 16 * p, 16, 16, valid);
        for (int j = 0; j < JOINTS; ++j) {
            load_lanes(near + j, start + p * start_stride + a->at[j], start_stride, 1, valid);
            near[j] = SELECT(near[j], V(a->lower[j]), V(a->lower[j]), SELECT(V(a->upper[j]), near[j], V(a->upper[j]), near[j]));
        }
        const ivec others = solved(a, x, near, y, cost, counts);
        for (long i = 0; i < valid; ++i) {
            const real *own = start + (p + i) * start_stride;
            count[p + i] = packed(a, y, cost, counts, i, own, q + (p + i) * CANDIDATES * a->coordinates);
#if LANES == 1
            left[p + i] = others != 0;
#else
            left[p + i] = others[i] != 0;
#endif
            lost += left[p + i];
        }
    }
    return lost;
}

#if LANES == 1
/* One pose, as `once` of the driver: inputs are the pose and where it starts, outputs the solutions and their number. */
real pose_once(const arm *a, real *arena, const real *const *inputs, real *const *outputs, long repeats)
{
    (void)arena, (void)repeats;
    int64_t count;
    uint8_t left;
    pose_batch(a, 0, 1, inputs[0], inputs[1], 0, outputs[0], &count, &left);
    outputs[1][0] = (real)count;
    return left;
}
#endif
