/* Walks the tree for every block of states. */
#include "prelude.h"

#include <stdlib.h>
#include <string.h>

/* An array over states and entries, at any strides; an input may stand still over states. */
typedef struct {
    char *data;
    ptrdiff_t state_stride, entry_stride;
    long entries, states;
} strided;

/* Whether vectors may be moved from (or to) the rows of LANES states although rows are shorter than a vector: what is moved
   too much then lies in rows that follow, all before state `end`. */
static inline int reaches_into_next_rows(const strided *array, long first, long end)
{
    return array->entries > 0 && array->state_stride == array->entries * (ptrdiff_t)sizeof(real)
        && first + LANES + (LANES - 1) / array->entries + 1 <= end;
}

typedef struct {
    long bodies, passes;
    const long *outward;        /* for each pass, whether it goes outward */
    step **steps;               /* passes x bodies; for the mass matrix two more rows, lift and project */
    const long *tree;           /* place of the parent among the bodies, -1 for the world */
    const long *parent;         /* place of the parent's fields, for each body */
    const long *own;            /* place of its own */
    const long *children;       /* slot it receives in */
    const long *sent;           /* slot it sends to */
    const long *q, *v, *u, *out;  /* its first coordinate, rate, other input and result */
    const long *rates;          /* how many rates it has */
    const long *constants;      /* its first constant */
    const real *table;
    long fields, slots, slot_size;  /* vectors needed */
    const real *world;          /* fields of the world */
    long world_fields;
} robot;

/* The memory of one walker: what each joint sees, and the vectors behind it. */
typedef struct {
    const robot *r;
    joint_view *view;
    vec *q, *v, *u, *out, *lifted;
    long out_entries;
} work;

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

/* Where the next block of states begins in each array, NULL where it is not in one piece. It is asked for line by line while this one is
   computed: asking for all of it at once was slower. */
typedef struct {
    const char *arrays[4];
} ahead;

static inline const char *begin(const strided *array, long state, long last)
{
    const int whole = array->entries > 0 && array->entry_stride == (ptrdiff_t)sizeof(real)
        && array->state_stride == array->entries * (ptrdiff_t)sizeof(real);
    return whole && state < last ? array->data + state * array->state_stride : NULL;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Memory for inputs and results of so many entries; NULL if there is none. */
work *make_work(const robot *r, long nq, long nv, long nu, long nout)
{
    const long climbing = 3 * 6; /* momentum of a unit rate, here and at the parent, and what the joint feels of it */
    const long vectors = nq + nv + nu + nout + climbing + r->fields + r->slots * r->slot_size + 1;
    const size_t views = rounded((size_t)r->bodies * sizeof(joint_view)), head = rounded(sizeof(work));
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, head + views + (size_t)vectors * sizeof(vec)) != 0) {
        return NULL;
    }
    memset(memory, 0, head + views + (size_t)vectors * sizeof(vec));
    work *w = (work *)memory;
    w->r = r;
    w->out_entries = nout;
    w->view = (joint_view *)(memory + head);
    w->q = (vec *)(memory + head + views);
    w->v = w->q + nq;
    w->u = w->v + nv;
    w->out = w->u + nu;
    w->lifted = w->out + nout;
    vec *fields = w->lifted + climbing, *slot = fields + r->fields;
    for (long i = 0; i < r->world_fields; ++i) {
        const vec zero = {0};
        fields[i] = zero + r->world[i];
    }
    for (long i = 0; i < r->bodies; ++i) {
        const joint_view one = {
            r->table + r->constants[i], w->q + r->q[i], w->v + r->v[i], w->u + r->u[i],
            fields + r->parent[i], fields + r->own[i],
            slot + r->children[i] * r->slot_size, slot + r->sent[i] * r->slot_size, w->out + r->out[i],
        };
        w->view[i] = one;
    }
    return w;
}

void free_work(work *w)
{
    free(w);
}

static void walk(const work *w, const ahead *next)
{
    const robot *r = w->r;
    for (long p = 0; p < r->passes; ++p) {
        step **steps = r->steps + p * r->bodies;
        if (p == 0 && next != NULL) {
            for (long i = 0; i < r->bodies; ++i) {
                for (int k = 0; k < 4; ++k) {
                    if (next->arrays[k] != NULL) {
                        __builtin_prefetch(next->arrays[k] + 64 * i);
                    }
                }
                steps[i](&w->view[i]);
            }
        } else if (r->outward[p]) {
            for (long i = 0; i < r->bodies; ++i) {
                steps[i](&w->view[i]);
            }
        } else {
            for (long i = r->bodies - 1; i >= 0; --i) {
                steps[i](&w->view[i]);
            }
        }
    }
}

/* The mass matrix, from what the walk left: each joint's momentum per unit rate, lifted from body to body towards the world, and what
   the joints on the way feel of it. */
static void climb(const work *w, long nv)
{
    const robot *r = w->r;
    step **lift = r->steps + r->passes * r->bodies, **project = lift + r->bodies;
    vec *momentum = w->lifted, *above = momentum + 6, *felt = above + 6;
    for (long i = 0; i < r->bodies; ++i) {
        for (long c = 0; c < r->rates[i]; ++c) {
            const long column = r->v[i] + c;
            memcpy(momentum, w->view[i].own + r->world_fields + 6 * c, 6 * sizeof(vec));
            for (long j = i; j >= 0; j = r->tree[j]) {
                joint_view view = w->view[j];
                view.children = momentum;
                view.sent = above;
                view.out = felt;
                project[j](&view);
                for (long k = 0; k < r->rates[j]; ++k) {
                    const long row = r->v[j] + k;
                    if (j != i || k <= c) {
                        w->out[row * nv + column] = w->out[column * nv + row] = felt[k];
                    }
                }
                lift[j](&view);
                vec *const lifted = above;
                above = momentum;
                momentum = lifted;
            }
        }
    }
}

/* Whether all results are smaller than `largest`, which nothing that is not a number is. */
static int ordinary(const vec *results, long n, real largest)
{
    ivec all = -(ivec){0} - 1;
    for (long k = 0; k < n; ++k) {
        all &= (ivec)(results[k] < largest) & (ivec)(results[k] > -largest);
    }
    const whole *lane = (const whole *)&all;
    for (int i = 0; i < LANES; ++i) {
        if (!lane[i]) {
            return 0;
        }
    }
    return 1;
}

/* States first to last - 1: loads a block of them into lanes, walks the tree, stores the results. `nv` is not zero for the mass matrix.
   Returns whether all results are smaller than `largest`. */
int run(work *w, long first, long last, const strided *q, const strided *v, const strided *u, const strided *out, long nv, real largest)
{
    int fine = 1;
    for (long state = first; state < last; state += LANES) {
        const long valid = last - state < LANES ? last - state : LANES;
        load(w->q, q, state, valid);
        load(w->v, v, state, valid);
        load(w->u, u, state, valid);
        const long next = state + LANES;
        const ahead of_next = {{begin(q, next, last), begin(v, next, last), begin(u, next, last), begin(out, next, last)}};
        walk(w, &of_next);
        if (nv) {
            climb(w, nv);
        }
        fine &= ordinary(w->out, w->out_entries, largest);
        store(out, w->out, state, valid, last);
    }
    return fine;
}

#if LANES == 1
/* One state, its numbers one after another. */
void once(work *w, const real *q, const real *v, const real *u, real *out, long nv)
{
    memcpy(w->q, q, (size_t)(w->v - w->q) * sizeof(real));
    if (v != NULL) {
        memcpy(w->v, v, (size_t)(w->u - w->v) * sizeof(real));
    }
    if (u != NULL) {
        memcpy(w->u, u, (size_t)(w->out - w->u) * sizeof(real));
    }
    walk(w, NULL);
    if (nv) {
        climb(w, nv);
    }
    memcpy(out, w->out, (size_t)w->out_entries * sizeof(real));
}
#endif

/* ---- steps through time ---- */

/* The rule, and what the joints do by themselves. */
typedef struct {
    long nq, nv, runge_kutta;
    real dt, stiffness, loss;
    const real *damping, *lower, *upper; /* over rates */
    const long *coordinate;              /* the coordinate of each rate that has limits */
} motion;

typedef struct {
    const motion *m;
    work *dynamics, *integrate, *rate;
    vec *q, *v, *held, *q_slope, *v_slope; /* state, torques, and sums of slopes */
} stepper;

void free_stepper(stepper *s)
{
    if (s != NULL) {
        free_work(s->dynamics);
        free_work(s->integrate);
        free_work(s->rate);
        free(s);
    }
}

stepper *make_stepper(const motion *m, const robot *dynamics, const robot *integrate, const robot *rate)
{
    const size_t head = rounded(sizeof(stepper)), vectors = (size_t)(2 * m->nq + 3 * m->nv + 1);
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, head + vectors * sizeof(vec)) != 0) {
        return NULL;
    }
    memset(memory, 0, head + vectors * sizeof(vec));
    stepper *s = (stepper *)memory;
    s->m = m;
    s->dynamics = make_work(dynamics, m->nq, m->nv, m->nv, m->nv);
    s->integrate = make_work(integrate, m->nq, m->nv, 0, m->nq);
    s->rate = make_work(rate, m->nq, m->nv, 0, m->nq);
    s->q = (vec *)(memory + head);
    s->v = s->q + m->nq;
    s->held = s->v + m->nv;
    s->q_slope = s->held + m->nv;
    s->v_slope = s->q_slope + m->nq;
    if (s->dynamics == NULL || s->integrate == NULL || s->rate == NULL) {
        free_stepper(s);
        return NULL;
    }
    return s;
}

/* vdot at the state in `dynamics`, from the torques held, damping, and the springs of limits. */
static void accelerate(const stepper *s)
{
    const motion *m = s->m;
    const work *d = s->dynamics;
    const vec zero = {0};
    for (long i = 0; i < m->nv; ++i) {
        vec force = s->held[i] - m->damping[i] * d->v[i];
        if (m->lower[i] > -__builtin_inf() || m->upper[i] < __builtin_inf()) {
            const vec x = d->q[m->coordinate[i]];
            const vec above = choose((ivec)(x > m->upper[i]), x - m->upper[i], zero);
            const vec below = choose((ivec)(x < m->lower[i]), x - m->lower[i], zero);
            const vec depth = above + below;
            force -= m->stiffness * depth + choose((ivec)(depth != 0), m->loss * d->v[i], zero);
        }
        d->u[i] = force;
    }
    walk(d, NULL);
}

/* q moved for one second with the rates given to `integrate`. */
static void turn(const stepper *s)
{
    memcpy(s->integrate->q, s->q, (size_t)s->m->nq * sizeof(vec));
    walk(s->integrate, NULL);
    memcpy(s->q, s->integrate->out, (size_t)s->m->nq * sizeof(vec));
}

static void semi_implicit_euler(const stepper *s)
{
    const motion *m = s->m;
    memcpy(s->dynamics->q, s->q, (size_t)m->nq * sizeof(vec));
    memcpy(s->dynamics->v, s->v, (size_t)m->nv * sizeof(vec));
    accelerate(s);
    for (long i = 0; i < m->nv; ++i) {
        s->v[i] += m->dt * s->dynamics->out[i];
        s->integrate->v[i] = m->dt * s->v[i];
    }
    turn(s);
}

static void runge_kutta_4(const stepper *s)
{
    const motion *m = s->m;
    const real ahead[4] = {0, m->dt / 2, m->dt / 2, m->dt}, weight[4] = {m->dt / 6, m->dt / 3, m->dt / 3, m->dt / 6};
    work *d = s->dynamics, *r = s->rate;
    const vec zero = {0};
    for (int stage = 0; stage < 4; ++stage) {
        for (long i = 0; i < m->nq; ++i) {
            d->q[i] = r->q[i] = stage ? s->q[i] + ahead[stage] * r->out[i] : s->q[i];
        }
        for (long i = 0; i < m->nv; ++i) {
            d->v[i] = r->v[i] = stage ? s->v[i] + ahead[stage] * d->out[i] : s->v[i];
        }
        accelerate(s);
        walk(r, NULL);
        for (long i = 0; i < m->nq; ++i) {
            s->q_slope[i] = (stage ? s->q_slope[i] : zero) + weight[stage] * r->out[i];
        }
        for (long i = 0; i < m->nv; ++i) {
            s->v_slope[i] = (stage ? s->v_slope[i] : zero) + weight[stage] * d->out[i];
        }
    }
    for (long i = 0; i < m->nq; ++i) {
        s->q[i] += s->q_slope[i];
    }
    for (long i = 0; i < m->nv; ++i) {
        s->v[i] += s->v_slope[i];
        s->integrate->v[i] = zero;
    }
    turn(s); /* by nothing: back to length one */
}

static void step_once(const stepper *s)
{
    if (s->m->runge_kutta) {
        runge_kutta_4(s);
    } else {
        semi_implicit_euler(s);
    }
}

/* States first to last - 1, so many steps each; the torques of a step lie `stride` bytes behind those of the step before. */
void advance(stepper *s, long first, long last, const strided *q, const strided *v, const strided *u, const strided *q_out,
             const strided *v_out, long steps, ptrdiff_t stride)
{
    for (long state = first; state < last; state += LANES) {
        const long valid = last - state < LANES ? last - state : LANES;
        load(s->q, q, state, valid);
        load(s->v, v, state, valid);
        strided torques = *u;
        for (long k = 0; k < steps; ++k) {
            if (k == 0 || stride) {
                load(s->held, &torques, state, valid);
                torques.data += stride;
            }
            step_once(s);
        }
        store(q_out, s->q, state, valid, last);
        store(v_out, s->v, state, valid, last);
    }
}

#if LANES == 1
/* One state under one torque; the result is q, then v. */
void advance_once(stepper *s, const real *q, const real *v, const real *u, real *out, long steps)
{
    memcpy(s->q, q, (size_t)s->m->nq * sizeof(real));
    memcpy(s->v, v, (size_t)s->m->nv * sizeof(real));
    memcpy(s->held, u, (size_t)s->m->nv * sizeof(real));
    for (long k = 0; k < steps; ++k) {
        step_once(s);
    }
    memcpy(out, s->q, (size_t)s->m->nq * sizeof(real));
    memcpy(out + s->m->nq, s->v, (size_t)s->m->nv * sizeof(real));
}
#endif
