/* Runs sequences of rows for every block of states. */
#include "prelude.h"

#include <stdlib.h>
#include <string.h>

/* An array over states and entries, at any strides; an input may stand still over states. */
typedef struct {
    char *data;
    ptrdiff_t state_stride, entry_stride;
    int64_t entries, states;
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
    long idle; /* rows at the beginning that do not touch what results stand in */
    const uint8_t *empty; /* whether a tile of results is always zero, for all tiles of all results; NULL if none is known to be */
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

/* Whether vectors in rows lie in whole lines, and may pass the caches by. */
static inline int in_lines(const strided *to)
{
    return ((uintptr_t)to->data | (uintptr_t)to->state_stride) % LINE == 0 && BYTES == LINE;
}

#if LANES > 1
/* A tile of whole vectors, to rows of so many bytes; `past`: by the caches. Returns what `store_tile` does. */
static inline __attribute__((always_inline)) vec store_vectors(char *to, ptrdiff_t stride, vec rows[LANES], int past, vec none)
{
    vec nothing = V(0), odd = V(0);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i += 2) {
        nothing += rows[i] * none;
        odd += rows[i + 1] * none;
    }
    transpose(rows);
    if (past) {
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            STREAM(to + i * stride, rows[i]);
        }
    } else {
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            memcpy(to + i * stride, &rows[i], sizeof(vec));
        }
    }
    return nothing + odd;
}
#endif

#if LANES > 1
/* A tile of zeros, likewise. */
static inline __attribute__((always_inline)) void store_zeros(char *to, ptrdiff_t stride, int past)
{
    const vec zero = {0};
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
        if (past) {
            STREAM(to + i * stride, zero);
        } else {
            memcpy(to + i * stride, &zero, sizeof(vec));
        }
    }
}
#endif

/* Entries from k on, a tile of LANES at most, of a block of states. Results of states before `end` may still be written over: they come later.
   Returns what is zero in lanes whose results are all finite: `none`, which is zero but the compiler does not know, times them. */
static inline vec store_tile(const strided *to, const vec *from, long k, long first, long valid, long end, int past, vec none)
{
    char *const base = to->data + first * to->state_stride;
    vec nothing = V(0);
#if LANES > 1
    const int whole = to->entries - k >= LANES, in_rows = valid == LANES && to->entry_stride == (ptrdiff_t)sizeof(real);
    if (in_rows && (to->entries >= LANES || reaches_into_next_rows(to, first, end))) {
        /* the last tile fills the line, where rows end with one, or reaches back over the one before, or into the next row */
        const int back = !whole && !past && to->entries >= LANES;
        k = back ? to->entries - LANES : k;
        const vec zero = {0};
        vec rows[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            rows[i] = whole || back || k + i < to->entries ? from[k + i] : zero;
        }
        return store_vectors(base + k * (ptrdiff_t)sizeof(real), to->state_stride, rows, past, none);
    }
#endif
    (void)end, (void)past;
    for (long last = k + LANES < to->entries ? k + LANES : to->entries; k < last; ++k) {
        const real *lane = (const real *)&from[k];
        nothing += from[k] * none;
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

/* Results of a block on their way out of the arena: the states, and the tile that is next. */
typedef struct {
    const sequence *s;
    const vec *arena;
    const strided *outputs;
    long first, valid, end;
    long output, entry;
    const uint8_t *empty; /* of this output */
    int beyond; /* whether results are more than the caches hold */
    vec status, nothing, none;
} leaving;

#if LANES > 1
/* Whole tiles of an array in rows leave, so many at most; returns how many. */
static inline __attribute__((always_inline)) long leave_whole(leaving *l, const strided *to, const vec *from, long tiles, const int past, const uint8_t *empty)
{
    char *const base = to->data + l->first * to->state_stride;
    const ptrdiff_t stride = to->state_stride;
    const long last = to->entries / LANES, first = l->entry / LANES, end = tiles < 0 || last - first < tiles ? last : first + tiles;
    vec nothing = l->nothing;
    const vec none = l->none;
    for (long k = first; k < end; ++k) {
        vec rows[LANES];
        if (empty && empty[k]) {
            store_zeros(base + k * (ptrdiff_t)sizeof(vec), stride, past);
            continue;
        }
#pragma GCC unroll 16
        for (int i = 0; i < LANES; ++i) {
            rows[i] = from[LANES * k + i];
        }
        nothing += store_vectors(base + k * (ptrdiff_t)sizeof(vec), stride, rows, past, none);
    }
    l->nothing = nothing;
    l->entry = LANES * end;
    return end - first;
}
#endif

/* So many tiles leave, or as many as there are. */
static __attribute__((noinline)) void leave(leaving *l, long tiles)
{
    while (l->output < l->s->output_count) {
        const strided *const to = &l->outputs[l->output];
        const vec *const from = l->arena + l->s->outputs[l->output].place;
        const int past = l->beyond && in_lines(to);
#if LANES > 1
        if (l->valid == LANES && to->entry_stride == (ptrdiff_t)sizeof(real) && l->entry + LANES <= to->entries) {
            const long left = past ? l->empty ? leave_whole(l, to, from, tiles, 1, l->empty) : leave_whole(l, to, from, tiles, 1, NULL)
                : l->empty ? leave_whole(l, to, from, tiles, 0, l->empty) : leave_whole(l, to, from, tiles, 0, NULL);
            tiles = tiles < 0 ? tiles : tiles - left;
        }
#endif
        vec nothing = l->nothing;
        for (; l->entry < to->entries; l->entry += LANES) {
            if (tiles-- == 0) {
                l->nothing = nothing;
                return;
            }
            nothing += store_tile(to, from, l->entry, l->first, l->valid, l->end, past, l->none);
        }
        l->nothing = nothing;
        l->entry = 0;
        l->empty = l->empty ? l->empty + (to->entries + LANES - 1) / LANES : NULL;
        ++l->output;
    }
}

/* Tiles of a block, and bytes of all results. */
static void measure(const sequence *s, const strided *outputs, long *tiles, ptrdiff_t *bytes)
{
    for (long k = 0; k < s->output_count; ++k) {
        *tiles += (outputs[k].entries + LANES - 1) / LANES;
        *bytes += outputs[k].states * outputs[k].state_stride;
    }
}

/* Lines of the next block, which are asked for ahead, some before each row: asking for all at once was slower. */
enum { MOST_AHEAD = 8 };
typedef struct {
    const char *at, *end; /* of the array whose lines are next */
    const char *begin[MOST_AHEAD];
    ptrdiff_t bytes[MOST_AHEAD], total;
    int arrays, next;
} asking;

static void ask_for(asking *a, const strided *array, long state, long last)
{
    const ptrdiff_t padding = array->state_stride - array->entries * (ptrdiff_t)sizeof(real);
    const int whole = array->entries > 1 && array->entry_stride == (ptrdiff_t)sizeof(real) && padding >= 0 && padding < LINE;
    if (whole && state < last && a->arrays < MOST_AHEAD) {
        a->begin[a->arrays] = array->data + state * array->state_stride;
        a->bytes[a->arrays] = LANES * array->state_stride;
        a->total += a->bytes[a->arrays++];
    }
}

/* So many lines, or as many as are left. */
static inline void ask(asking *a, long lines)
{
    for (; lines > 0; --lines, a->at += LINE) {
        if (a->at >= a->end) {
            if (a->next == a->arrays) {
                return;
            }
            a->at = a->begin[a->next];
            a->end = a->at + a->bytes[a->next++];
        }
        /* into the second-level cache: the nearest is full of what is computed with */
        __builtin_prefetch(a->at, 0, 2);
    }
}

/* All rows, but for the first ones if they ran already. Between those that do not touch results the last block leaves. */
static inline void run_and_leave(const sequence *s, vec *arena, int again, asking *ahead, leaving *l, long tiles)
{
    const row *r = s->rows + (again ? s->once : 0), *const end = s->rows + s->count, *const idle = s->rows + s->idle;
    const long lines = ahead->total / (LINE * s->count) + 1;
    for (; r < idle; ++r) {
        ask(ahead, lines);
        r->run(arena, r->at, r->c);
        if (l->output < s->output_count) {
            leave(l, tiles);
        }
    }
    for (; r < end; ++r) {
        ask(ahead, lines);
        r->run(arena, r->at, r->c);
    }
}

/* The status of states, -2 where a result is not finite: where `nothing` is not zero. */
static inline vec with_lost(vec status, vec nothing)
{
    return choose((ivec)(nothing == V(0)), status, V(-2));
}

/* The status of the states of a block goes to `statuses`, if one of them has any; returns whether. */
static inline int note(vec status, real *statuses, long valid)
{
    const real *lane = (const real *)&status;
    if (!any_negative(-magnitude(status))) {
        return 0;
    }
    for (long i = 0; statuses && i < valid; ++i) {
        if (lane[i] != 0) {
            statuses[i] = lane[i];
        }
    }
    return 1;
}

/* The rest of a block leaves, if there is one, and its status; returns whether there is any. */
static __attribute__((noinline)) int leave_all(leaving *l, real *statuses)
{
    leave(l, -1);
    const int found = l->valid && note(with_lost(l->status, l->nothing), statuses ? statuses + l->first : NULL, l->valid);
    l->valid = 0;
    return found;
}

/* States first to last - 1: loads a block of them into lanes, runs the rows `repeats` times, stores the results: while the next block is computed, where
   rows do not touch them yet. A status other than zero goes to `statuses`, unless that is NULL; returns whether there is any. */
int run(const sequence *s, vec *arena, long first, long last, const strided *inputs, const strided *outputs, long repeats, real *statuses)
{
    volatile real zero = 0;
    int found = 0;
    long tiles = 0;
    ptrdiff_t bytes = 0;
    measure(s, outputs, &tiles, &bytes);
    leaving l = {s, arena, outputs, first, 0, last, s->output_count, 0, NULL, bytes >= BEYOND_CACHE, V(0), V(0), V(zero)};
    for (long state = first; state < last; state += LANES) {
        arena[0] = V(0);
        const long valid = last - state < LANES ? last - state : LANES;
        asking ahead = {.arrays = 0};
        for (long k = 0; k < s->input_count; ++k) {
            load(arena + s->inputs[k].place, &inputs[k], state, valid);
            ask_for(&ahead, &inputs[k], state + LANES, last);
        }
        for (long k = 0; k < s->output_count; ++k) {
            if (!s->idle && !(l.beyond && in_lines(&outputs[k]))) {
                ask_for(&ahead, &outputs[k], state + LANES, last);
            }
        }
        for (long again = 0; again < repeats - 1; ++again) {
            run_rows(s, arena, again > 0);
        }
        run_and_leave(s, arena, repeats > 1, &ahead, &l, s->idle ? tiles / s->idle + 1 : 0);
        found |= leave_all(&l, statuses);
        l.first = state, l.valid = valid, l.output = l.entry = 0, l.empty = s->empty, l.status = arena[0], l.nothing = V(0);
        if (!s->idle) {
            found |= leave_all(&l, statuses);
        }
    }
    found |= leave_all(&l, statuses);
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
enum { MOST_ARRAYS = 16 };

static strided plain_rows(const real *data, ptrdiff_t stride, long entries, long states)
{
    return (strided){(char *)(uintptr_t)data, stride, sizeof(real), entries, states};
}

/* Several states: inputs are plain arrays (states, entries), outputs have `row_bytes` to a row. Returns whether any has a status other than
   zero. */
double several(const sequence *s, vec *arena, const real *const *inputs, real *const *outputs, long states)
{
    strided in[MOST_ARRAYS], out[MOST_ARRAYS];
    if (s->input_count > MOST_ARRAYS || s->output_count > MOST_ARRAYS) {
        return 1;
    }
    const ptrdiff_t size = sizeof(real);
    for (long k = 0; k < s->input_count; ++k) {
        in[k] = plain_rows(inputs[k], s->inputs[k].entries * size, s->inputs[k].entries, states);
    }
    for (long k = 0; k < s->output_count; ++k) {
        out[k] = plain_rows(outputs[k], row_bytes(s->outputs[k].entries * size), s->outputs[k].entries, states);
    }
    return run(s, arena, 0, states, in, out, 1, NULL);
}
#endif
