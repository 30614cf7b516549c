/* Runs sequences of rows for every block of states. */
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
    long once; /* rows at the beginning that need not run again */
} sequence;

/* ---- states into lanes and back ---- */

/* Whether vectors may be moved from (or to) the rows of LANES states although rows are shorter than a vector: what is moved
   too much then lies in rows that follow, all before state `end`. */
static inline int reaches_into_next_rows(const strided *array, long first, long end)
{
    return array->entries > 0 && array->state_stride == array->entries * (ptrdiff_t)sizeof(real)
        && first + LANES + (LANES - 1) / array->entries + 1 <= end;
}

/* One entry of all lanes; lanes without a state repeat the last. */
static inline vec gathered(const char *base, ptrdiff_t state_stride, long valid)
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
        into[k] = gathered(base + k * from->entry_stride, from->state_stride, valid);
    }
}

/* Results of so many bytes do not stay in the second-level cache: what passes the caches by is written up to twice as fast. */
enum { BEYOND_CACHE = 1 << 22 };
#if defined(WIDE) && defined(__has_builtin) && !defined(__SANITIZE_ADDRESS__) /* which does not see what passes the caches by */
#if __has_builtin(__builtin_ia32_movntpd512)
#define STREAM(to, x) __builtin_ia32_movntpd512((double *)(void *)(to), x)
#define STREAMED() __builtin_ia32_sfence()
#endif
#endif
#ifndef STREAM
#define STREAM(to, x) (*(vec *)(void *)(to) = (x))
#define STREAMED() ((void)0)
#endif

/* Whether rows go past the caches: they are many, and vectors in them lie in whole lines. */
static inline int streams(const strided *to)
{
    return to->states * to->state_stride >= BEYOND_CACHE && ((uintptr_t)to->data | (uintptr_t)to->state_stride) % LINE == 0 && BYTES == LINE;
}

/* Results of states before `end` may still be written over: they come later. Returns what is zero in lanes whose results are all
   finite: a sum of x - x (gcc takes 0 x for zero in vectors). */
static vec store(const strided *to, const vec *from, long first, long valid, long end)
{
    char *base = to->data + first * to->state_stride;
    vec nothing = V(0);
    long k = 0;
#if LANES > 1
    if (valid == LANES && to->entry_stride == (ptrdiff_t)sizeof(real) && to->entries >= LANES) {
        vec each[LANES] = {0};
        const int past = streams(to);
        while (k < to->entries) {
            k = k + LANES <= to->entries ? k : to->entries - LANES;
            vec rows[LANES];
#pragma GCC unroll 16
            for (int i = 0; i < LANES; ++i) {
                rows[i] = from[k + i];
                each[i] += rows[i] - rows[i];
            }
            transpose(rows);
            if (past && k % LANES == 0) {
#pragma GCC unroll 16
                for (int i = 0; i < LANES; ++i) {
                    STREAM(base + i * to->state_stride + k * (ptrdiff_t)sizeof(real), rows[i]);
                }
            } else {
#pragma GCC unroll 16
                for (int i = 0; i < LANES; ++i) {
                    memcpy(base + i * to->state_stride + k * (ptrdiff_t)sizeof(real), &rows[i], sizeof(vec));
                }
            }
            k += LANES;
        }
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            nothing += each[i];
        }
    } else if (valid == LANES && to->entries < LANES && reaches_into_next_rows(to, first, end)) {
        vec rows[LANES];
        const vec zero = {0};
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            rows[i] = i < to->entries ? from[i] : zero;
            nothing += rows[i] - rows[i];
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
        nothing += from[k] - from[k];
        for (long i = 0; i < valid; ++i) {
            memcpy(base + i * to->state_stride + k * to->entry_stride, &lane[i], sizeof(real));
        }
    }
    return nothing;
}

/* ---- running ---- */

/* What stands in an arena before anything runs. */
static void fill_arena(const sequence *s, vec *arena)
{
    memset(arena, 0, (size_t)s->vectors * sizeof(vec));
    for (long i = 0; i < s->start_count; ++i) {
        arena[s->start_at[i]] = V(s->start[i]);
    }
}

/* The memory of one run; NULL if there is none. */
vec *make_arena(const sequence *s)
{
    void *memory = NULL;
    const size_t bytes = (size_t)s->vectors * sizeof(vec);
    if (posix_memalign(&memory, 64, bytes) != 0) {
        return NULL;
    }
    fill_arena(s, memory);
    return memory;
}

void free_arena(vec *arena)
{
    free(arena);
}

static inline void run_rows(const sequence *s, vec *arena, int again)
{
    const row *end = s->rows + s->count;
    for (const row *r = s->rows + (again ? s->once : 0); r < end; ++r) {
        r->run(arena, r->at, r->c);
    }
}

/* The next block is asked for line by line while this one is computed: asking for all of it at once was slower. */
enum { MOST_AHEAD = 8 };
static inline const char *begin(const strided *array, long state, long last)
{
    const ptrdiff_t padding = array->state_stride - array->entries * (ptrdiff_t)sizeof(real);
    const int whole = array->entries > 0 && array->entry_stride == (ptrdiff_t)sizeof(real) && padding >= 0 && padding < LINE;
    return whole && state < last ? array->data + state * array->state_stride : NULL;
}

static inline void run_rows_ahead(const sequence *s, vec *arena, const strided *inputs, const strided *outputs, long next, long last)
{
    const char *ahead[MOST_AHEAD];
    long lines[MOST_AHEAD], per_row = 1;
    int n = 0;
    for (long k = 0; k < s->input_count + s->output_count && n < MOST_AHEAD; ++k) {
        const strided *array = k < s->input_count ? &inputs[k] : &outputs[k - s->input_count];
        const int ahead_of = array->entries > 1 && (k < s->input_count || !streams(array));
        const char *p = ahead_of ? begin(array, next, last) : NULL;
        if (p != NULL) {
            ahead[n] = p;
            lines[n] = LANES * array->state_stride / BYTES;
            per_row = lines[n] > per_row * s->count ? lines[n] / s->count + 1 : per_row;
            ++n;
        }
    }
    const row *r = s->rows, *end = s->rows + s->count;
    for (long line = 0; n && r < end; ++r, line += per_row) {
        int some = 0;
        for (int k = 0; k < n; ++k) {
            for (long i = line; i < line + per_row && i < lines[k]; ++i, some = 1) {
                /* into the second-level cache: the nearest is full of what is computed with */
                __builtin_prefetch(ahead[k] + i * LANES * (long)sizeof(real), 0, 2);
            }
        }
        if (!some) {
            break;
        }
        r->run(arena, r->at, r->c);
    }
    for (; r < end; ++r) {
        r->run(arena, r->at, r->c);
    }
}

/* The status of states, -2 where a result is not finite: where `nothing` is not zero. */
static inline vec with_lost(vec status, vec nothing)
{
    return choose((ivec)(nothing == V(0)), status, V(-2));
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
            run_rows(s, arena, again > 0);
        }
        vec nothing = V(0);
        for (long k = 0; k < s->output_count; ++k) {
            nothing += store(&outputs[k], arena + s->outputs[k].place, state, valid, last);
        }
        found |= note(with_lost(arena[0], nothing), statuses + state, valid);
    }
    STREAMED();
    return found;
}

/* ---- unlike robots ---- */

/* The states of one robot: who takes a piece of them says so in `next`. */
typedef struct {
    const sequence *s;
    const strided *inputs, *outputs;
    real *statuses;
    int64_t states, repeats, next, found;
} task;

/* Does tasks until none is left; any number of threads at once. Pieces are whole blocks of lanes. Returns 0 if there is no memory, of
   which one arena of so many vectors serves all robots. */
int work(task *tasks, long count, long vectors, long piece)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, (size_t)vectors * sizeof(vec)) != 0) {
        return 0;
    }
    for (task *t = tasks; t < tasks + count; ++t) {
        int made = 0;
        for (;;) {
            const int64_t first = __atomic_load_n(&t->next, __ATOMIC_RELAXED) < t->states
                ? __atomic_fetch_add(&t->next, piece, __ATOMIC_RELAXED) : t->states;
            if (first >= t->states) {
                break;
            }
            if (!made) {
                fill_arena(t->s, memory);
                made = 1;
            }
            const int64_t last = t->states - first < piece ? t->states : first + piece;
            if (run(t->s, memory, first, last, t->inputs, t->outputs, t->repeats, t->statuses)) {
                __atomic_store_n(&t->found, 1, __ATOMIC_RELAXED);
            }
        }
    }
    free(memory);
    return 1;
}

#if LANES == 1
/* -1 if all numbers are finite, else 0. */
static inline ivec all_finite(const real *x, long n)
{
    ivec finite = -1;
    for (long i = 0; i < n; ++i) {
        finite &= -(ivec)((x[i] <= LARGEST) & (x[i] >= -LARGEST));
    }
    return finite;
}

/* One state: inputs and outputs are plain arrays. Returns its status. */
real once(const sequence *s, real *arena, const real *const *inputs, real *const *outputs, long repeats)
{
    arena[0] = 0;
    for (long k = 0; k < s->input_count; ++k) {
        memcpy(arena + s->inputs[k].place, inputs[k], (size_t)s->inputs[k].entries * sizeof(real));
    }
    for (long again = 0; again < repeats; ++again) {
        run_rows(s, arena, again > 0);
    }
    ivec finite = -1;
    for (long k = 0; k < s->output_count; ++k) {
        memcpy(outputs[k], arena + s->outputs[k].place, (size_t)s->outputs[k].entries * sizeof(real));
        finite &= all_finite(arena + s->outputs[k].place, s->outputs[k].entries);
    }
    return finite ? arena[0] : -2;
}
#else
enum { FEW = 1024, MOST_ARRAYS = 16 };

static strided few_rows(const real *data, ptrdiff_t stride, long entries, long states)
{
    return (strided){(char *)(uintptr_t)data, stride, sizeof(real), entries, states};
}

/* A few states, FEW at most: inputs are plain arrays (states, entries), outputs have `row_bytes` to a row. Returns whether any has a status
   other than zero. */
real several(const sequence *s, vec *arena, const real *const *inputs, real *const *outputs, long states)
{
    strided in[MOST_ARRAYS], out[MOST_ARRAYS];
    real statuses[FEW];
    if (s->input_count > MOST_ARRAYS || s->output_count > MOST_ARRAYS || states > FEW) {
        return 1;
    }
    const ptrdiff_t size = sizeof(real);
    for (long k = 0; k < s->input_count; ++k) {
        in[k] = few_rows(inputs[k], s->inputs[k].entries * size, s->inputs[k].entries, states);
    }
    for (long k = 0; k < s->output_count; ++k) {
        out[k] = few_rows(outputs[k], row_bytes(s->outputs[k].entries * size), s->outputs[k].entries, states);
    }
    return (real)run(s, arena, 0, states, in, out, 1, statuses);
}
#endif
