/* The slopes of forward dynamics: columns that go in and out over a tree, as `algorithms.acceleration_slopes` has it. */
#include "prelude.h"

/* What a rate has, as `ACCELERATION_SLOPES` leaves it. */
typedef struct {
    vec S[6], U[6], C[3], r, dd[6], e[6], dw[3], by_q[6], by_v[6], F[6];
} rate;

/* A rate in depth-first order: its row, its `rate`, the first and the last of its joint, the end of what its joint carries, the rate
   it hangs on (-1: the world), the block of its joint's own rates (0: none), and where an acceleration is kept for other branches: to be
   read before it, and written after it (-1: not). */
typedef struct {
    int32_t row, at, first, last, end, before, block, from, to;
} spot;

/* The places that a sweep works in. */
typedef struct {
    vec *arena, *slopes, *moved, *kept;
    const spot *spots;
    int32_t n;
} swept;

static inline __attribute__((always_inline)) const rate *rate_of(const swept *w, int32_t i)
{
    return (const rate *)(const void *)(w->arena + w->spots[i].at);
}

/* S . p of some columns. */
static inline __attribute__((always_inline)) void met(const vec *S, const vec p[6][4], vec *t, const int columns)
{
    for (int c = 0; c < columns; ++c) {
        t[c] = (S[0] * p[0][c] + S[1] * p[1][c] + S[2] * p[2][c]) + (S[3] * p[3][c] + S[4] * p[4][c] + S[5] * p[5][c]);
    }
}

/* p += U x of some columns. */
static inline __attribute__((always_inline)) void grown(vec p[6][4], const vec *U, const vec *x, const int columns)
{
    for (int k = 0; k < 6; ++k) {
        for (int c = 0; c < columns; ++c) {
            p[k][c] += U[k] * x[c];
        }
    }
}

static inline __attribute__((always_inline)) void added(vec p[6][4], int c, const vec *x)
{
    for (int k = 0; k < 6; ++k) {
        p[k][c] += x[k];
    }
}

/* A comes to rate i from the one it hangs on. */
static inline __attribute__((always_inline)) void arrived(const swept *w, int32_t i, vec A[6][4], const int columns)
{
    const spot *const s = w->spots + i;
    if (s->before < 0 || s->from >= 0) {
        const vec *from = w->kept + 24 * s->from;
        for (int k = 0; k < 6; ++k) {
            for (int c = 0; c < columns; ++c) {
                A[k][c] = s->before < 0 ? V(0) : from[4 * k + c];
            }
        }
    }
}

static inline __attribute__((always_inline)) void left(const swept *w, int32_t i, vec A[6][4], const int columns)
{
    if (w->spots[i].to >= 0) {
        vec *to = w->kept + 24 * w->spots[i].to;
        for (int k = 0; k < 6; ++k) {
            for (int c = 0; c < columns; ++c) {
                to[4 * k + c] = A[k][c];
            }
        }
    }
}

/* The columns by displacement and by rate of `few` rates, one hanging on the other. */
static inline __attribute__((always_inline)) void sweep_motion(const swept *w, int32_t count, int32_t first, const int few)
{
    const spot *const spots = w->spots, *const own = spots + first;
    const int columns = 2 * few;
    const int32_t lowest = own[few - 1].last;
    vec p[6][4] = {0}, A[6][4] = {0}, x[4];
    for (int32_t i = lowest; i >= 0; i = spots[i].before) {
        const rate *const r = rate_of(w, i);
        for (int g = 0; g < few; ++g) {
            if (i == own[g].last) {
                added(p, 2 * g, rate_of(w, first + g)->by_q);
                added(p, 2 * g + 1, rate_of(w, first + g)->by_v);
            }
        }
        met(r->S, p, x, columns);
        for (int g = 0; g < few; ++g) {
            if (own[g].block && i >= own[g].first && i <= own[g].last) {
                x[2 * g] += w->arena[own[g].block + (i - own[g].first) * (own[g].last - own[g].first + 1)];
            }
        }
        for (int c = 0; c < columns; ++c) {
            x[c] = w->moved[4 * i + c] = -r->r * x[c];
        }
        grown(p, r->U, x, columns);
        for (int g = 0; g < few; ++g) {
            if (i == own[g].first) {
                added(p, 2 * g, rate_of(w, first + g)->F);
            }
        }
    }
    for (int32_t i = 0; i < count; ++i) {
        const rate *const r = rate_of(w, i);
        const int on_the_way = i <= lowest && lowest < spots[i].end;
        arrived(w, i, A, columns);
        met(r->U, A, x, columns);
        for (int g = 0; g < few; ++g) {
            if (i > own[g].last && i < own[g].end) {
                const vec *const dw = rate_of(w, first + g)->dw, *const turn = rate_of(w, first + g)->S + 3;
                x[2 * g] += r->C[0] * dw[0] + r->C[1] * dw[1] + r->C[2] * dw[2];
                x[2 * g + 1] += r->C[0] * turn[0] + r->C[1] * turn[1] + r->C[2] * turn[2];
            }
        }
        for (int c = 0; c < columns; ++c) {
            x[c] = (on_the_way ? w->moved[4 * i + c] : V(0)) - r->r * x[c];
        }
        for (int g = 0; g < few; ++g) {
            vec *const to = w->slopes + 3 * w->n * spots[i].row + own[g].row;
            to[0] = x[2 * g];
            to[w->n] = x[2 * g + 1];
        }
        grown(A, r->S, x, columns);
        for (int g = 0; g < few; ++g) {
            if (i == own[g].last) {
                added(A, 2 * g, rate_of(w, first + g)->dd);
                added(A, 2 * g + 1, rate_of(w, first + g)->e);
            }
        }
        left(w, i, A, columns);
    }
}

/* The columns by torque of `few` rates, one hanging on the other: they are symmetric. */
static inline __attribute__((always_inline)) void sweep_torque(const swept *w, int32_t first, const int few)
{
    const spot *const spots = w->spots;
    const int32_t lowest = first + few - 1;
    vec p[6][4] = {0}, A[6][4] = {0}, x[4];
    for (int32_t i = lowest; i >= 0; i = spots[i].before) {
        const rate *const r = rate_of(w, i);
        met(r->S, p, x, few);
        for (int c = 0; c < few; ++c) {
            x[c] = w->moved[4 * i + c] = r->r * (V(i == first + c) - x[c]);
        }
        grown(p, r->U, x, few);
    }
    for (int32_t i = 0; i <= lowest; ++i) {
        const rate *const r = rate_of(w, i);
        const int on_the_way = lowest < spots[i].end;
        arrived(w, i, A, few);
        met(r->U, A, x, few);
        for (int c = 0; c < few; ++c) {
            x[c] = (on_the_way ? w->moved[4 * i + c] : V(0)) - r->r * x[c];
            if (i <= first + c) {
                const int32_t row = spots[i].row, column = spots[first + c].row;
                w->slopes[3 * w->n * row + 2 * w->n + column] = w->slopes[3 * w->n * column + 2 * w->n + row] = x[c];
            }
        }
        grown(A, r->S, x, few);
        left(w, i, A, few);
    }
}

/* at: n, the slopes (n, 3 n), work, accelerations that are kept, rates; then the spots. */
void sweep(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    const int32_t count = at[4];
    const swept w = {arena, arena + at[1], arena + at[2], arena + at[3], (const spot *)(const void *)(at + 5), at[0]};
    for (int32_t i = 0; i < count;) {
        const int two = i + 1 < count && w.spots[i + 1].before == i;
        if (two) {
            sweep_motion(&w, count, i, 2);
        } else {
            sweep_motion(&w, count, i, 1);
        }
        i += 1 + two;
    }
    for (int32_t i = 0; i < count;) {
        int few = 1;
        while (few < 4 && i + few < count && w.spots[i + few].before == i + few - 1) {
            ++few;
        }
        few = few == 3 ? 2 : few;
        if (few == 4) {
            sweep_torque(&w, i, 4);
        } else if (few == 2) {
            sweep_torque(&w, i, 2);
        } else {
            sweep_torque(&w, i, 1);
        }
        i += few;
    }
}
