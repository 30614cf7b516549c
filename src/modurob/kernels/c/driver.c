/* Runs sequences of rows for every block of states, and the rows that no step is traced for: those over whole arrays and matrices. */
#include "prelude.h"

#include <stdlib.h>
#include <string.h>

/* An array over states and entries, at any strides; an input may stand still over states. */
typedef struct {
    char *data;
    ptrdiff_t state_stride, entry_stride;
    long entries, states;
} strided;

/* Where an array stands in the arena. */
typedef struct {
    int32_t place, entries;
} port;

typedef struct {
    const row *rows;
    long count;
    long vectors; /* of the arena */
    const port *inputs, *outputs;
    long input_count, output_count;
    const real *start; /* numbers that stand in the arena from the start: place, then value */
    const int32_t *start_at;
    long start_count;
} sequence;

/* ---- states into lanes and back ---- */

/* Whether vectors may be moved from (or to) the rows of LANES states although rows are shorter than a vector: what is moved
   too much then lies in rows that follow, all before state `end`. */
static inline int reaches_into_next_rows(const strided *array, long first, long end)
{
    return array->entries > 0 && array->state_stride == array->entries * (ptrdiff_t)sizeof(real)
        && first + LANES + (LANES - 1) / array->entries + 1 <= end;
}

#if LANES > 1
/* Lane i of the result is lane pick[i] of a and b laid end to end. */
static inline __attribute__((always_inline)) vec shuffle(vec a, vec b, ivec pick)
{
#ifdef __clang__
    vec mixed;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
        mixed[i] = pick[i] < LANES ? a[pick[i]] : b[pick[i] - LANES];
    }
    return mixed;
#else
    return __builtin_shuffle(a, b, pick);
#endif
}

/* Swaps the off-diagonal squares of edge `half` in every square of twice that edge. */
static inline __attribute__((always_inline)) void swap_squares(vec *rows, const int half)
{
    ivec low, high;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
        low[i] = (i & half) ? LANES + i - half : i;
        high[i] = (i & half) ? LANES + i : i + half;
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
        if (!(i & half)) {
            const vec a = rows[i], b = rows[i + half];
            rows[i] = shuffle(a, b, low);
            rows[i + half] = shuffle(a, b, high);
        }
    }
}

static inline __attribute__((always_inline)) void transpose(vec *rows)
{
    if (LANES >= 16) {
        swap_squares(rows, 8);
    }
    if (LANES >= 8) {
        swap_squares(rows, 4);
    }
    if (LANES >= 4) {
        swap_squares(rows, 2);
    }
    swap_squares(rows, 1);
}
#endif

/* One entry of all lanes; lanes without a state repeat the last. */
static inline vec gather(const char *base, ptrdiff_t state_stride, long valid)
{
    vec x;
#if LANES == 1
    (void)state_stride, (void)valid;
    memcpy(&x, base, sizeof(real));
#else
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
        real one;
        memcpy(&one, base + (i < valid ? i : valid - 1) * state_stride, sizeof(real));
        x[i] = one;
    }
#endif
    return x;
}

static void load(vec *into, const strided *from, long first, long valid)
{
    const char *base = from->data + first * from->state_stride;
    long k = 0;
#if LANES > 1
    if (valid == LANES && from->entry_stride == (ptrdiff_t)sizeof(real) && from->entries >= LANES) {
        while (k < from->entries) {
            /* the last tile reaches back over the one before */
            k = k + LANES <= from->entries ? k : from->entries - LANES;
            vec rows[LANES];
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) {
                memcpy(&rows[i], base + i * from->state_stride + k * (ptrdiff_t)sizeof(real), sizeof(vec));
            }
            transpose(rows);
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) {
                into[k + i] = rows[i];
            }
            k += LANES;
        }
    } else if (valid == LANES && from->entries < LANES && reaches_into_next_rows(from, first, from->states)) {
        vec rows[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            memcpy(&rows[i], base + i * from->state_stride, sizeof(vec));
        }
        transpose(rows);
        for (; k < from->entries; ++k) {
            into[k] = rows[k];
        }
    }
#endif
    for (; k < from->entries; ++k) {
        into[k] = gather(base + k * from->entry_stride, from->state_stride, valid);
    }
}

/* Results of states before `end` may still be written over: they come later. */
static void store(const strided *to, const vec *from, long first, long valid, long end)
{
    char *base = to->data + first * to->state_stride;
    long k = 0;
#if LANES > 1
    if (valid == LANES && to->entry_stride == (ptrdiff_t)sizeof(real) && to->entries >= LANES) {
        while (k < to->entries) {
            k = k + LANES <= to->entries ? k : to->entries - LANES;
            vec rows[LANES];
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) {
                rows[i] = from[k + i];
            }
            transpose(rows);
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) {
                memcpy(base + i * to->state_stride + k * (ptrdiff_t)sizeof(real), &rows[i], sizeof(vec));
            }
            k += LANES;
        }
    } else if (valid == LANES && to->entries < LANES && reaches_into_next_rows(to, first, end)) {
        vec rows[LANES];
        const vec zero = {0};
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            rows[i] = i < to->entries ? from[i] : zero;
        }
        transpose(rows);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            memcpy(base + i * to->state_stride, &rows[i], sizeof(vec));
        }
        k = to->entries;
    }
#endif
    for (; k < to->entries; ++k) {
        const real *lane = (const real *)&from[k];
        for (long i = 0; i < valid; ++i) {
            memcpy(base + i * to->state_stride + k * to->entry_stride, &lane[i], sizeof(real));
        }
    }
}

/* ---- running ---- */

/* The memory of one run; NULL if there is none. */
vec *make_arena(const sequence *s)
{
    void *memory = NULL;
    const size_t bytes = (size_t)s->vectors * sizeof(vec);
    if (posix_memalign(&memory, 64, bytes) != 0) {
        return NULL;
    }
    memset(memory, 0, bytes);
    vec *arena = memory;
    for (long i = 0; i < s->start_count; ++i) {
        arena[s->start_at[i]] = V(s->start[i]);
    }
    return arena;
}

void free_arena(vec *arena)
{
    free(arena);
}

static inline void run_rows(const sequence *s, vec *arena)
{
    const row *end = s->rows + s->count;
    for (const row *r = s->rows; r < end; ++r) {
        r->run(arena, r->at, r->c);
    }
}

/* The next block is asked for line by line while this one is computed: asking for all of it at once was slower. */
enum { MOST_AHEAD = 8 };
static inline const char *begin(const strided *array, long state, long last)
{
    const int whole = array->entries > 0 && array->entry_stride == (ptrdiff_t)sizeof(real)
        && array->state_stride == array->entries * (ptrdiff_t)sizeof(real);
    return whole && state < last ? array->data + state * array->state_stride : NULL;
}

static inline void run_rows_ahead(const sequence *s, vec *arena, const strided *inputs, const strided *outputs, long next, long last)
{
    const char *ahead[MOST_AHEAD];
    int n = 0;
    long lines = 0;
    for (long k = 0; k < s->input_count + s->output_count && n < MOST_AHEAD; ++k) {
        const strided *array = k < s->input_count ? &inputs[k] : &outputs[k - s->input_count];
        const char *p = array->entries > 1 ? begin(array, next, last) : NULL;
        if (p != NULL) {
            ahead[n++] = p;
            lines = array->entries > lines ? array->entries : lines;
        }
    }
    const row *r = s->rows, *end = s->rows + s->count;
    for (long line = 0; n && line < lines && r < end; ++r, ++line) {
        for (int k = 0; k < n; ++k) {
            __builtin_prefetch(ahead[k] + line * LANES * (long)sizeof(real));
        }
        r->run(arena, r->at, r->c);
    }
    for (; r < end; ++r) {
        r->run(arena, r->at, r->c);
    }
}

/* The status of the states of a block, if one of them has any; returns whether. */
static inline int note(vec status, real *statuses, long valid)
{
    const real *lane = (const real *)&status;
    int found = 0;
    for (long i = 0; i < valid; ++i) {
        if (lane[i] != 0) {
            statuses[i] = lane[i];
            found = 1;
        }
    }
    return found;
}

/* States first to last - 1: loads a block of them into lanes, runs the rows `repeats` times, stores the results. A status other than zero goes to
   `statuses`; returns whether there is any. */
int run(const sequence *s, vec *arena, long first, long last, const strided *inputs, const strided *outputs, long repeats, real *statuses)
{
    int found = 0;
    for (long state = first; state < last; state += LANES) {
        const long valid = last - state < LANES ? last - state : LANES;
        arena[0] = V(0);
        for (long k = 0; k < s->input_count; ++k) {
            load(arena + s->inputs[k].place, &inputs[k], state, valid);
        }
        if (repeats == 1) {
            run_rows_ahead(s, arena, inputs, outputs, state + LANES, last);
        }
        for (long again = 0; repeats > 1 && again < repeats; ++again) {
            run_rows(s, arena);
        }
        for (long k = 0; k < s->output_count; ++k) {
            store(&outputs[k], arena + s->outputs[k].place, state, valid, last);
        }
        found |= note(arena[0], statuses + state, valid);
    }
    return found;
}

#if LANES == 1
/* One state: inputs and outputs are plain arrays. Returns its status. */
real once(const sequence *s, real *arena, const real *const *inputs, real *const *outputs, long repeats)
{
    arena[0] = 0;
    for (long k = 0; k < s->input_count; ++k) {
        memcpy(arena + s->inputs[k].place, inputs[k], (size_t)s->inputs[k].entries * sizeof(real));
    }
    for (long again = 0; again < repeats; ++again) {
        run_rows(s, arena);
    }
    for (long k = 0; k < s->output_count; ++k) {
        memcpy(outputs[k], arena + s->outputs[k].place, (size_t)s->outputs[k].entries * sizeof(real));
    }
    return arena[0];
}
#endif

/* ---- rows over arrays ---- */

/* at: where, how many. */
void clear(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    memset(arena + at[0], 0, (size_t)at[1] * sizeof(vec));
}

/* at: from, to, how many. */
void copy(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    memmove(arena + at[1], arena + at[0], (size_t)at[2] * sizeof(vec));
}

/* to = sum of scale times array; at: to, entries, arrays, then for each its place and that of its scale (0: the number in c). */
void combine(vec *arena, const int32_t *at, const real *c)
{
    const int32_t *terms = at + 3;
    for (int32_t i = 0; i < at[1]; ++i) {
        vec sum = V(0);
        for (int32_t k = 0; k < at[2]; ++k) {
            const vec scale = terms[2 * k + 1] ? arena[terms[2 * k + 1]] * c[k] : V(c[k]);
            sum += scale * arena[terms[2 * k] + i];
        }
        arena[at[0] + i] = sum;
    }
}

/* Entry by entry. at: entries, two arrays, where their product goes. */
void multiply(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t i = 0; i < at[0]; ++i) {
        arena[at[3] + i] = arena[at[1] + i] * arena[at[2] + i];
    }
}

/* An array x in states where a < b, else y. at: entries, a, b, x, y, where it goes. */
void smaller(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    const ivec mask = (ivec)(arena[at[1]] < arena[at[2]]);
    for (int32_t i = 0; i < at[0]; ++i) {
        arena[at[5] + i] = choose(mask, arena[at[3] + i], arena[at[4] + i]);
    }
}

/* Adds entries of an array to entries of another; at: how many, then from and to of each. */
void scatter(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t k = 0; k < at[0]; ++k) {
        arena[at[2 + 2 * k]] += arena[at[1 + 2 * k]];
    }
}

/* A status of -2 in states with a result that is not finite. at: arrays, then where each stands and how many entries it has. */
void look(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    ivec finite = (ivec)(V(0) == V(0));
    for (int32_t k = 0; k < at[0]; ++k) {
        const vec *const x = arena + at[1 + 2 * k];
        for (int32_t i = 0; i < at[2 + 2 * k]; ++i) {
            finite &= (ivec)(x[i] <= V(LARGEST)) & (ivec)(x[i] >= V(-LARGEST));
        }
    }
    arena[0] = choose(finite, arena[0], V(-2));
}

/* at: how many, then where each number of c goes. */
void set(vec *arena, const int32_t *at, const real *c)
{
    for (int32_t k = 0; k < at[0]; ++k) {
        arena[at[1 + k]] = V(c[k]);
    }
}

/* ---- rows over matrices ---- */

/* y = A x. at: rows, columns, A, x, y. */
void product(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    for (int32_t i = 0; i < at[0]; ++i) {
        const vec *const A = arena + at[2] + i * at[1], *const x = arena + at[3];
        vec sum = V(0);
        for (int32_t j = 0; j < at[1]; ++j) {
            sum += A[j] * x[j];
        }
        arena[at[4] + i] = sum;
    }
}

/* Rows of K: wrenches T (rows, 6) against the vectors of rates, with a sign. at: rows, nv, T, K, whether to add to what is there, rates; then for
   each its vector, its coordinate and the sign. */
void project(vec *arena, const int32_t *at, const real *c)
{
    (void)c;
    const vec *const T = arena + at[2];
    vec *const K = arena + at[3];
    const int32_t *rate = at + 6;
    for (int32_t k = 0; k < at[5]; ++k, rate += 3) {
        /* kept here, since what is written might else be it */
        vec S[6];
        memcpy(S, arena + rate[0], sizeof S);
        for (int32_t r = 0; r < at[0]; ++r) {
            vec sum = T[6 * r] * S[0];
            for (int i = 1; i < 6; ++i) {
                sum += T[6 * r + i] * S[i];
            }
            vec *const entry = K + r * at[1] + rate[1];
            *entry = (at[4] ? *entry : V(0)) + sum * (real)rate[2];
        }
    }
}

/* The steps of a joint on the way of a climb. */
typedef struct {
    step *felt, *lifted;
    const real *c;
} climber;

/* Each joint's columns, lifted from body to body towards the world, and what the joints on the way feel of them, in a
   matrix. at: joints, nv, the matrix, two buffers of 6, one of 6 for what is felt; then for each joint the joint before it, its first rate, how many, its columns, and
   where the places of its steps begin in `at`, for either buffer. */
void climb(vec *arena, const int32_t *at, const real *c)
{
    const climber *climbers = (const climber *)(const void *)c;
    const int32_t joints = at[0], nv = at[1];
    vec *const M = arena + at[2], *const felt = arena + at[5];
    memset(M, 0, (size_t)(nv * nv) * sizeof(vec));
    for (int32_t i = 0; i < joints; ++i) {
        const int32_t *own = at + 6 + 6 * i;
        for (int32_t k = 0; k < own[2]; ++k) {
            const int32_t column = own[1] + k;
            int side = 0;
            memcpy(arena + at[3], arena + own[3] + 6 * k, 6 * sizeof(vec));
            for (int32_t j = i; j >= 0; side = !side) {
                const int32_t *above = at + 6 + 6 * j;
                const int32_t *places = at + above[4 + side];
                climbers[j].felt(arena, places, climbers[j].c);
                for (int32_t r = 0; r < above[2]; ++r) {
                    const int32_t line = above[1] + r;
                    if (j != i || r <= k) {
                        M[line * nv + column] += felt[r];
                        if (j != i || r != k) {
                            M[column * nv + line] += felt[r];
                        }
                    }
                }
                climbers[j].lifted(arena, places, climbers[j].c);
                j = above[0];
            }
        }
    }
}

/* The pattern of a symmetric matrix that is eliminated from its last row to its first: for each row where its columns stand, then how
   many there are before the diagonal, and which. */
typedef const int32_t *pattern;
#define BLOCK 12 /* columns that are solved for at once */
static inline const int32_t *columns_of(pattern p, int32_t k, int32_t *count)
{
    const int32_t *found = p + p[k];
    *count = found[0];
    return found + 1;
}

/* M = L^T D L in place: row k of L stands in row k of M, 1/D in `inverse`. Where a pivot is below `nothing` times its diagonal the status
   becomes `number`. */
static inline void factored(vec *M, vec *inverse, int32_t n, pattern p, vec *status, real nothing, real number)
{
    for (int32_t k = 0; k < n; ++k) {
        inverse[k] = nothing * M[k * n + k];
    }
    for (int32_t k = n - 1; k >= 0; --k) {
        int32_t count;
        const int32_t *columns = columns_of(p, k, &count);
        vec *const row_k = M + k * n;
        *status = SELECT(inverse[k], row_k[k], *status, V(number));
        const vec one_over = (real)1 / row_k[k];
        inverse[k] = one_over;
        for (int32_t a = 0; a < count; ++a) {
            const vec l = row_k[columns[a]] * one_over;
            vec *const row_i = M + columns[a] * n;
            for (int32_t b = 0; b <= a; ++b) {
                row_i[columns[b]] -= l * row_k[columns[b]];
            }
        }
        for (int32_t a = 0; a < count; ++a) {
            row_k[columns[a]] *= one_over;
        }
    }
}

/* Columns of M^-1 B, (n, wide), for a few columns at once, which stay in registers and in the nearest cache. B is zero below row `last`, and is
   found down to that row. */
static inline __attribute__((always_inline)) void substituted_columns(
    const vec *L, const vec *inverse, int32_t n, pattern p, vec *B, int32_t wide, int32_t last, int32_t few)
{
    int32_t count;
    vec x[BLOCK];
    for (int32_t k = last; k >= 0; --k) {
        const int32_t *columns = columns_of(p, k, &count);
        for (int32_t j = 0; j < few; ++j) {
            x[j] = B[k * wide + j];
        }
        for (int32_t a = 0; a < count; ++a) {
            const vec l = L[k * n + columns[a]];
            vec *const to = B + columns[a] * wide;
            for (int32_t j = 0; j < few; ++j) {
                to[j] -= l * x[j];
            }
        }
    }
    for (int32_t k = 0; k <= last; ++k) {
        const int32_t *columns = columns_of(p, k, &count);
        vec *const to = B + k * wide;
        for (int32_t j = 0; j < few; ++j) {
            x[j] = to[j] * inverse[k];
        }
        for (int32_t a = 0; a < count; ++a) {
            const vec l = L[k * n + columns[a]];
            const vec *const from = B + columns[a] * wide;
            for (int32_t j = 0; j < few; ++j) {
                x[j] -= l * from[j];
            }
        }
        for (int32_t j = 0; j < few; ++j) {
            to[j] = x[j];
        }
    }
}

/* M^-1 B for the first `end` columns of B, (n, wide), a few at once; where B is the identity only down to their last row. */
static inline void substituted(const vec *L, const vec *inverse, int32_t n, pattern p, vec *B, int32_t wide, int32_t end, int identity)
{
    int32_t j = 0;
    for (; j + BLOCK <= end; j += BLOCK) {
        substituted_columns(L, inverse, n, p, B + j, wide, identity ? j + BLOCK - 1 : n - 1, BLOCK);
    }
    for (; j + 4 <= end; j += 4) {
        substituted_columns(L, inverse, n, p, B + j, wide, identity ? j + 3 : n - 1, 4);
    }
    for (; j < end; ++j) {
        substituted_columns(L, inverse, n, p, B + j, wide, identity ? j : n - 1, 1);
    }
}

/* M^-1, (n, n) with rows `wide` apart: it is symmetric, so that what stands above its diagonal is enough. */
static inline void inverted(const vec *L, const vec *inverse, int32_t n, pattern p, vec *B, int32_t wide)
{
    for (int32_t i = 0; i < n; ++i) {
        for (int32_t j = 0; j < n; ++j) {
            B[i * wide + j] = V(i == j);
        }
    }
    substituted(L, inverse, n, p, B, wide, n, 1);
    for (int32_t i = 0; i < n; ++i) {
        for (int32_t j = 0; j < i; ++j) {
            B[i * wide + j] = B[j * wide + i];
        }
    }
}

/* Derivatives of forward dynamics from those of inverse dynamics. at: n, M, 1/D, the sides (n, 3 n), by q, by v, then the pattern. c: what is
   nothing, and the rotors. The sides become -M^-1 by_q, -M^-1 by_v, M^-1. */
void solve_slopes(vec *arena, const int32_t *at, const real *c)
{
    const int32_t n = at[0];
    vec *const M = arena + at[1], *const inverse = arena + at[2], *const B = arena + at[3];
    const vec *const by_q = arena + at[4], *const by_v = arena + at[5];
    for (int32_t i = 0; i < n; ++i) {
        vec *const row_i = B + 3 * i * n;
        for (int32_t j = 0; j < n; ++j) {
            row_i[j] = -by_q[i * n + j];
            row_i[n + j] = -by_v[i * n + j];
        }
        M[i * n + i] += c[1 + i];
    }
    factored(M, inverse, n, at + 6, arena, c[0], -1);
    substituted(M, inverse, n, at + 6, B, 3 * n, 2 * n, 0);
    inverted(M, inverse, n, at + 6, B + 2 * n, 3 * n);
}

/* Sizes of rows, squared: those of rounding alone, next to the largest, count as `rounding` of it. */
static inline void raise_rows(vec *sizes, int32_t r, real rounding)
{
    vec largest = V(0);
    for (int32_t a = 0; a < r; ++a) {
        largest = SELECT(largest, sizes[a], sizes[a], largest);
    }
    const vec least = SELECT(V(0), largest, rounding * largest, V(1));
    for (int32_t a = 0; a < r; ++a) {
        sizes[a] = SELECT(least, sizes[a], sizes[a], least);
    }
}

/* B becomes M^-1 B, (n, wide), in two halves: L^-T B, of which row k has only the columns that `sides` names, and L^-1 D^-1 of one column. */
static inline void lowered(const vec *L, int32_t n, pattern p, pattern sides, vec *B, int32_t wide)
{
    int32_t count, some;
    for (int32_t k = n - 1; k >= 0; --k) {
        const int32_t *const columns = columns_of(p, k, &count), *const side = columns_of(sides, k, &some);
        const vec *const from = B + k * wide;
        for (int32_t a = 0; a < count; ++a) {
            const vec l = L[k * n + columns[a]];
            vec *const to = B + columns[a] * wide;
            for (int32_t j = 0; j < some; ++j) {
                to[side[j]] -= l * from[side[j]];
            }
        }
    }
}

static inline void raised(const vec *L, const vec *inverse, int32_t n, pattern p, vec *b)
{
    int32_t count;
    for (int32_t k = 0; k < n; ++k) {
        const int32_t *const columns = columns_of(p, k, &count);
        vec sum = b[k] * inverse[k];
        for (int32_t a = 0; a < count; ++a) {
            sum -= L[k * n + columns[a]] * b[columns[a]];
        }
        b[k] = sum;
    }
}

static inline vec larger(vec a, vec b)
{
    const vec size = SELECT(b, V(0), -b, b);
    return SELECT(a, size, size, a);
}

static inline int any_positive(vec x)
{
#if LANES == 1
    return x > 0;
#else
    for (int i = 0; i < LANES; ++i) {
        if (x[i] > 0) {
            return 1;
        }
    }
    return 0;
#endif
}

/* x with D x = b by the proximal iteration of `algorithms.constraints.solver`. A state is left as it is once b - D x is nothing: what
   is still to come would change it by as little. c: what is nothing, the proximal term, how often it is taken off, how often all that
   is done. work: damped D (r, r), its 1/D (r), change (r). */
static inline void proximal(const vec *D, vec *b, vec *x, int32_t r, pattern p, vec *work, const real *c)
{
    vec *const damped = work, *const inverse = damped + r * r, *const change = inverse + r;
    vec unused = V(0), open = V(1), size = V(0);
    memcpy(damped, D, (size_t)(r * r) * sizeof(vec));
    for (int32_t a = 0; a < r; ++a) {
        damped[a * r + a] += c[1];
        size = larger(size, b[a]);
    }
    factored(damped, inverse, r, p, &unused, 0, 0);
    for (int filter = 0; filter < (int)c[3]; ++filter) {
        for (int32_t a = 0; a < r; ++a) {
            x[a] = SELECT(V(0), open, V(0), x[a]);
        }
        for (int again = 0; again < (int)c[2]; ++again) {
            vec worst = V(0);
            for (int32_t a = 0; a < r; ++a) {
                vec left = b[a];
                for (int32_t b_ = 0; b_ < r; ++b_) {
                    left -= D[a * r + b_] * x[b_];
                }
                change[a] = left;
                worst = larger(worst, left);
            }
            open = SELECT(c[0] * size, worst, open, V(0));
            if (!any_positive(open)) {
                return;
            }
            substituted_columns(damped, inverse, r, p, change, 1, r - 1, 1);
            for (int32_t a = 0; a < r; ++a) {
                x[a] = SELECT(V(0), open, x[a] + change[a], x[a]);
            }
        }
        for (int32_t a = 0; a < r; ++a) {
            vec sum = V(0);
            for (int32_t b_ = 0; b_ < r; ++b_) {
                sum += D[a * r + b_] * x[b_];
            }
            change[a] = sum;
        }
        for (int32_t a = 0; a < r; ++a) {
            b[a] = SELECT(V(0), open, change[a], b[a]);
        }
    }
}

/* M vdot - K^T lambda = push, K vdot = k, as `algorithms.constraints.solver` has it. at: n, rows, M, K, tau, bias, k, vdot, lambda, work,
   where four lists begin: the coordinates in each row of K, the sides that are not zero in each row of L^-T (push, K^T), the pattern
   of the rows, that of M; then the coordinates in the order of that pattern. c: as `proximal` has it, how small rows of rounding are next to
   the largest, squared, then the rotors. */
void constrain(vec *arena, const int32_t *at, const real *c)
{
    const int32_t n = at[0], r = at[1], wide = r + 1;
    const vec *const given = arena + at[2], *const K = arena + at[3], *const tau = arena + at[4], *const bias = arena + at[5];
    const vec *const k = arena + at[6];
    vec *const vdot = arena + at[7], *const lambda = arena + at[8];
    const pattern in_row = at + at[10], sides = at + at[11], of_rows = at + at[12], of_M = at + at[13];
    const int32_t *const order = at + 14;
    int32_t count;
    /* work: M (n, n), its 1/D (n), sides (n, r + 1), sum (n), D (r, r), scales, rest (r each), and that of `proximal` */
    vec *const M = arena + at[9], *const inverse = M + n * n, *const B = inverse + n, *const sum = B + n * wide, *const D = sum + n;
    vec *const scale = D + r * r, *const rest = scale + r, *const work = rest + r;
    vec average = V(0);
    for (int32_t i = 0; i < n; ++i) {
        const int32_t *const columns = columns_of(of_M, i, &count);
        const vec *const from = given + order[i] * n;
        for (int32_t a = 0; a < count; ++a) {
            M[i * n + columns[a]] = from[order[columns[a]]];
        }
        M[i * n + i] = from[order[i]] + c[5 + order[i]];
        average += M[i * n + i];
        B[i * wide] = tau[order[i]] - bias[order[i]];
        const int32_t *const side = columns_of(sides, i, &count);
        for (int32_t a = 1; a < count; ++a) {
            B[i * wide + side[a]] = K[(side[a] - 1) * n + order[i]];
        }
    }
    average = average * ((real)1 / (real)(n ? n : 1));
    /* the inertia against moving the constraints */
    for (int32_t a = 0; a < r; ++a) {
        const int32_t *const columns = columns_of(in_row, a, &count);
        scale[a] = V(0);
        for (int32_t i = 0; i < count; ++i) {
            const vec entry = B[columns[i] * wide + 1 + a];
            scale[a] += entry * entry;
        }
    }
    raise_rows(scale, r, c[4]);
    for (int32_t a = 0; a < r; ++a) {
        const int32_t *const columns = columns_of(in_row, a, &count);
        const vec weight = average / scale[a];
        for (int32_t i = 0; i < count; ++i) {
            const vec weighted = weight * B[columns[i] * wide + 1 + a];
            B[columns[i] * wide] += weighted * k[a];
            for (int32_t j = 0; j <= i; ++j) {
                M[columns[i] * n + columns[j]] += weighted * B[columns[j] * wide + 1 + a];
            }
        }
    }
    factored(M, inverse, n, of_M, arena, c[0], -1);
    lowered(M, n, of_M, sides, B, wide);
    /* what the constraints move, scaled to one for each of them, and what is left for them to do */
    memset(D, 0, (size_t)(r * r) * sizeof(vec));
    memcpy(rest, k, (size_t)r * sizeof(vec));
    for (int32_t i = 0; i < n; ++i) {
        const int32_t *const side = columns_of(sides, i, &count);
        const vec *const row_i = B + i * wide;
        for (int32_t a = 1; a < count; ++a) {
            const vec half = row_i[side[a]] * inverse[i];
            rest[side[a] - 1] -= half * row_i[0];
            for (int32_t b = 1; b <= a; ++b) {
                D[(side[a] - 1) * r + side[b] - 1] += half * row_i[side[b]];
            }
        }
    }
    for (int32_t a = 0; a < r; ++a) {
        scale[a] = D[a * r + a];
    }
    raise_rows(scale, r, c[4]);
    for (int32_t a = 0; a < r; ++a) {
        scale[a] = (real)1 / square_root(scale[a]);
        rest[a] *= scale[a];
        for (int32_t b = 0; b <= a; ++b) {
            D[b * r + a] = D[a * r + b] *= scale[a] * scale[b];
        }
    }
    proximal(D, rest, lambda, r, of_rows, work, c);
    for (int32_t a = 0; a < r; ++a) {
        lambda[a] *= scale[a];
    }
    for (int32_t i = 0; i < n; ++i) {
        const int32_t *const side = columns_of(sides, i, &count);
        sum[i] = B[i * wide];
        for (int32_t a = 1; a < count; ++a) {
            sum[i] += B[i * wide + side[a]] * lambda[side[a] - 1];
        }
    }
    raised(M, inverse, n, of_M, sum);
    for (int32_t i = 0; i < n; ++i) {
        vdot[order[i]] = sum[i];
    }
}

/* x with A x = b for a symmetric positive definite A, (n, n), of which the lower half is read and lost; b becomes x. Column j of A becomes
   that of L times D, and 1/D stands on the diagonal. */
static inline __attribute__((always_inline)) void definite_solve(vec *restrict A, vec *restrict b, const int32_t n)
{
    for (int32_t j = 0; j < n; ++j) {
        /* what rounding takes to zero moves nothing */
        const vec pivot = A[j * n + j], inverse = SELECT(V(0), pivot, (real)1 / pivot, V(0));
        A[j * n + j] = inverse;
        b[j] *= inverse;
        for (int32_t i = j + 1; i < n; ++i) {
            const vec l = A[i * n + j] * inverse;
            for (int32_t k = j + 1; k <= i; ++k) {
                A[i * n + k] -= l * A[k * n + j];
            }
            b[i] -= A[i * n + j] * b[j];
        }
    }
    for (int32_t j = n - 1; j >= 0; --j) {
        vec sum = V(0);
        for (int32_t i = j + 1; i < n; ++i) {
            sum += A[i * n + j] * b[i];
        }
        b[j] -= A[j * n + j] * sum;
    }
}

/* The step of damped least squares as `algorithms.descent` has it, for a number of rows that the compiler may know. */
static inline __attribute__((always_inline)) void damped_step_of(
    vec *arena, const int32_t *at, const real *c, const int32_t n, const int32_t r, vec *restrict A)
{
    const int32_t *const coordinate = at + 8;
    const vec *const given = arena + at[2], *const error = arena + at[3];
    vec *const dq = arena + at[6], *const kept = arena + at[7], *const push = kept + r * n;
    const real *const lower = c + 2, *const upper = lower + n;
    const vec *J = given;
    vec size = V(0);
    for (int32_t j = 0; j < n; ++j) {
        vec sum = V(0);
        for (int32_t i = 0; i < r; ++i) {
            const vec entry = given[i * n + j];
            sum += entry * error[i];
            size += entry * entry;
        }
        push[j] = sum;
    }
    int limited = 0;
    for (int32_t j = 0; j < n; ++j) {
        limited |= coordinate[j];
    }
    if (limited) {
        for (int32_t j = 0; j < n; ++j) {
            vec free = V(1);
            if (coordinate[j]) {
                const vec q = arena[coordinate[j]];
                free = SELECT(q, V(lower[j] + c[1]), SELECT(push[j], V(0), V(0), free), free);
                free = SELECT(V(upper[j] - c[1]), q, SELECT(V(0), push[j], V(0), free), free);
            }
            push[j] *= free;
            for (int32_t i = 0; i < r; ++i) {
                kept[i * n + j] = given[i * n + j] * free;
            }
        }
        J = kept;
    }
    const vec lambda = arena[at[5]] * arena[at[4]] + size * (c[0] / (real)(r ? r : 1)) + V(1e-36);
    const int32_t few = r <= n ? r : n;
    vec *const x = A + few * few;
    for (int32_t a = 0; a < few; ++a) {
        for (int32_t b = 0; b <= a; ++b) {
            vec sum = a == b ? lambda : V(0);
            for (int32_t k = 0; k < (r <= n ? n : r); ++k) {
                sum += r <= n ? J[a * n + k] * J[b * n + k] : J[k * n + a] * J[k * n + b];
            }
            A[a * few + b] = sum;
        }
        x[a] = r <= n ? error[a] : push[a];
    }
    definite_solve(A, x, few);
    for (int32_t j = 0; j < n; ++j) {
        vec step = r <= n ? V(0) : x[j];
        for (int32_t i = 0; r <= n && i < r; ++i) {
            step += J[i * n + j] * x[i];
        }
        if (coordinate[j]) {
            const vec q = arena[coordinate[j]], low = lower[j] - q, high = upper[j] - q;
            const vec down = SELECT(V(0), low, V(0), low), up = SELECT(high, V(0), V(0), high);
            step = SELECT(step, down, down, step);
            step = SELECT(up, step, up, step);
        }
        dq[j] = step;
    }
}

/* at: n, rows, J, error, cost, damping, dq, work, then the coordinate of each rate (0: none). c: least damping, how near a limit counts, lower
   limits, upper limits. */
void damped_step(vec *arena, const int32_t *at, const real *c)
{
    const int32_t n = at[0], r = at[1];
    vec few[6 * 7];
    if (n == 6 && r == 6) {
        damped_step_of(arena, at, c, 6, 6, few);
    } else if (n == 7 && r == 6) {
        damped_step_of(arena, at, c, 7, 6, few);
    } else {
        damped_step_of(arena, at, c, n, r, arena + at[7] + (r + 1) * n);
    }
}
