/* The slopes of forward dynamics: columns over a tree, as `algorithms.acceleration_slopes` has them. A column is followed only into what its
   joint carries. Elsewhere it is known by reciprocity: what a wrench on a body does to a rate is what a torque along that rate
   does to the body. On any kind of cells. */
#define INLINE static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))
#ifdef __CUDACC_RTC__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* Functions take cells and arrays of their callers alike. */
#ifdef CELLS
#define OF_ANY template <class these, class those>
#else
#define OF_ANY
typedef vec *these, *those;
#endif

/* What a rate has, as `FORWARD_DERIVATIVES` leaves it. */
enum { OF_S = 0, OF_U = 6, OF_C = 12, OF_R = 15, OF_DD = 16, OF_E = 22, OF_DW = 28, BY_Q = 31, BY_V = 37, OF_F = 43 };

/* A node is what columns meet of a rate, packed so that it stays in the nearest cache: -r C, S, -r U, and the wrenches, with their sign changed,
   that the columns by displacement, rate and torque leave on a body before it. */
enum { NODE_C = 0, NODE_S = 3, NODE_K = 9, NODE_P = 15, NODE = 33 };

/* An answer is what a wrench on the body behind a rate accelerates it by, 21 numbers of a symmetric matrix, and what a torque along the rate
   does: the acceleration of that body, and of the rate. Where the body carries nothing, the acceleration of the body before stands in place of the matrix. */
enum { ANSWER_A = 21, ANSWER_X = 27, ANSWER = 28 };

/* A rate in depth-first order: its row, what it has, the first and the last of its joint, the end of what its joint carries, the rate
   it hangs on (-1: the world), the block of its joint's own rates (0: none), and where accelerations are kept for the branches
   that hang on it (-1: one at most does). */
typedef struct {
    int32_t row, at, first, last, end, before, block, to;
} spot;

/* The places that a sweep works in. */
typedef struct {
    cells arena, slopes, kept, zeros, nodes, answers, reached;
    const spot *spots;
    int32_t n, count;
} swept;

INLINE cells rate_of(const swept *w, int32_t i)
{
    return w->arena + w->spots[i].at;
}

INLINE cells node_of(const swept *w, int32_t i)
{
    return w->nodes + NODE * i;
}

/* What accelerates the body behind rate i, or the world. */
INLINE cells inverse_of(const swept *w, int32_t i)
{
    return i < 0 ? w->zeros : w->answers + ANSWER * i;
}

/* Whether rate i is the last one of a branch. */
INLINE int carries_nothing(const swept *w, int32_t i)
{
    return w->spots[i].end == i + 1;
}

/* The rate behind whose body the wrenches of rate i stand: a whole number, in the memory of one. */
#ifdef CELLS
INLINE int32_t reached(const swept *w, int32_t i)
{
    return (int32_t)w->reached[i];
}

INLINE void reach(const swept *w, int32_t i, int32_t to)
{
    w->reached[i] = (real)to;
}
#else
INLINE int32_t reached(const swept *w, int32_t i)
{
    return ((const int32_t *)(const void *)w->reached)[i];
}

INLINE void reach(const swept *w, int32_t i, int32_t to)
{
    ((int32_t *)(void *)w->reached)[i] = to;
}
#endif

/* which: by displacement, by rate, by torque. */
INLINE cells entry(const swept *w, int32_t row, int32_t column, int which)
{
    return w->slopes + w->n * (3 * w->spots[row].row + which) + w->spots[column].row;
}

OF_ANY INLINE vec dot(these a, those b)
{
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* The same in one chain: fewer operations, a longer wait. */
OF_ANY INLINE vec dot_in_turn(these a, those b)
{
    vec sum = a[0] * b[0];
    UNROLL for (int k = 1; k < 6; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

OF_ANY INLINE void copy(these to, those x)
{
    UNROLL for (int k = 0; k < 6; ++k) {
        to[k] = x[k];
    }
}

/* to += scale x. */
OF_ANY INLINE void add(these to, those x, vec scale)
{
    UNROLL for (int k = 0; k < 6; ++k) {
        to[k] += scale * x[k];
    }
}

/* out = M p of a symmetric matrix. */
OF_ANY INLINE void accelerated(these M, those p, vec *out)
{
    UNROLL for (int i = 0; i < 6; ++i) {
        out[i] = V(0);
    }
    int at = 0;
    UNROLL for (int i = 0; i < 6; ++i) {
        UNROLL for (int j = i; j < 6; ++j, ++at) {
            out[i] += M[at] * p[j];
            if (j != i) {
                out[j] += M[at] * p[i];
            }
        }
    }
}

/* ---- what belongs to a rate ---- */

/* What columns meet of rate i. */
static inline void pack(const swept *w, int32_t i)
{
    const cells from = rate_of(w, i), to = node_of(w, i);
    const vec r = -from[OF_R];
    UNROLL for (int k = 0; k < 6; ++k) {
        to[NODE_S + k] = from[OF_S + k];
        to[NODE_K + k] = to[NODE_P + 12 + k] = r * from[OF_U + k];
    }
    UNROLL for (int k = 0; k < 3; ++k) {
        to[NODE_C + k] = r * from[OF_C + k];
    }
}

/* M_i = (1 + S K^T) M (1 + K S^T) + r S S^T, M that of the rate before. */
APART void answer_to_torque(const swept *w, int32_t i)
{
    const cells S = node_of(w, i) + NODE_S, K = node_of(w, i) + NODE_K, to = inverse_of(w, i);
    const cells M = inverse_of(w, w->spots[i].before);
    vec u[6], A[6];
    accelerated(M, K, u);
    const vec x = rate_of(w, i)[OF_R] + dot(K, u);
    UNROLL for (int k = 0; k < 6; ++k) {
        A[k] = u[k] + (real)0.5 * x * S[k];
        to[ANSWER_A + k] = u[k] + x * S[k];
    }
    to[ANSWER_X] = x;
    if (carries_nothing(w, i)) {
        copy(to, u);
        return;
    }
    int at = 0;
    UNROLL for (int a = 0; a < 6; ++a) {
        UNROLL for (int b = a; b < 6; ++b, ++at) {
            to[at] = M[at] + S[a] * A[b] + A[a] * S[b];
        }
    }
}

/* ---- columns by displacement and by rate ---- */

/* Both columns of a rate h in its own joint. What they accelerate the joint's body by, if it carries anything, stands in the place of the wrenches they
   begin with. */
APART void begin_motion(const swept *w, int32_t h)
{
    const spot *const own = w->spots + h;
    const cells of = rate_of(w, h), left = node_of(w, h) + NODE_P;
    const int32_t first = own->first, nv = own->last - first + 1, before = w->spots[first].before;
    vec p[2][6], out[2][6], moved[2][6];
    copy(p[0], of + BY_Q);
    copy(p[1], of + BY_V);
    for (int32_t k = nv - 1; k >= 0; --k) {
        const cells r = node_of(w, first + k);
        const vec scale = -rate_of(w, first + k)[OF_R];
        UNROLL for (int c = 0; c < 2; ++c) {
            vec felt = dot(r + NODE_S, p[c]);
            if (own->block && !c) {
                felt += w->arena[own->block + k * nv];
            }
            moved[c][k] = scale * felt;
            add(p[c], r + NODE_K, felt);
        }
    }
    UNROLL for (int k = 0; k < 6; ++k) {
        left[k] = p[0][k] = -(p[0][k] + of[OF_F + k]);
        left[6 + k] = p[1][k] = -p[1][k];
    }
    if (nv == 1 && carries_nothing(w, h)) {
        /* by reciprocity, what the torque does to the body before */
        UNROLL for (int c = 0; c < 2; ++c) {
            entry(w, h, h, c)[0] = moved[c][0] + dot(inverse_of(w, h), p[c]);
        }
        return;
    }
    UNROLL for (int c = 0; c < 2; ++c) {
        accelerated(inverse_of(w, before), p[c], out[c]);
    }
    for (int32_t k = 0; k < nv; ++k) {
        const cells r = node_of(w, first + k);
        UNROLL for (int c = 0; c < 2; ++c) {
            const vec x = moved[c][k] + dot(r + NODE_K, out[c]);
            entry(w, first + k, h, c)[0] = x;
            add(out[c], r + NODE_S, x);
        }
    }
    UNROLL for (int k = 0; k < 6; ++k) {
        of[BY_Q + k] = out[0][k] + of[OF_DD + k];
        of[BY_V + k] = out[1][k] + of[OF_E + k];
    }
}

/* A is kept for the branches that hang on rate i, if there are several. */
INLINE void keep(const swept *w, int32_t i, vec A[][6], const int columns)
{
    if (w->spots[i].to >= 0) {
        const cells to = w->kept + 24 * w->spots[i].to;
        UNROLL for (int c = 0; c < columns; ++c) {
            copy(to + 6 * c, A[c]);
        }
    }
}

/* A comes to rate i from the one it hangs on. */
INLINE void arrive(const swept *w, int32_t i, vec A[][6], const int columns)
{
    const int32_t place = w->spots[w->spots[i].before].to;
    if (place >= 0) {
        const cells from = w->kept + 24 * place;
        UNROLL for (int c = 0; c < columns; ++c) {
            copy(A[c], from + 6 * c);
        }
    }
}

/* Some columns by displacement and by rate pass rate i. at: where they stand in a row; turns: what each turns with. */
INLINE void pass_motion(const swept *w, int32_t i, const int32_t *at, vec A[][6], const cells *turns, const int columns)
{
    const cells r = node_of(w, i), K = r + NODE_K, line = w->slopes + 3 * w->n * w->spots[i].row;
    vec x[4];
    UNROLL for (int c = 0; c < columns; ++c) {
        const cells t = turns[c];
        x[c] = (r[NODE_C] * t[0] + r[NODE_C + 1] * t[1] + r[NODE_C + 2] * t[2] + K[0] * A[c][0] + K[1] * A[c][1])
            + (K[2] * A[c][2] + K[3] * A[c][3] + K[4] * A[c][4] + K[5] * A[c][5]);
        line[at[c]] = x[c];
    }
    UNROLL for (int c = 0; c < columns; ++c) {
        add(A[c], r + NODE_S, x[c]);
    }
}

/* The columns of two rates, one hanging on the other, in what they carry. */
APART void sweep_motion(const swept *w, int32_t first)
{
    const spot *const spots = w->spots;
    const int32_t last = spots[first + 1].last, end = spots[first + 1].end;
    const int columns = 4;
    vec A[4][6];
    cells turns[4];
    int32_t at[4];
    UNROLL for (int g = 0; g < 2; ++g) {
        copy(A[2 * g], rate_of(w, first + g) + BY_Q);
        copy(A[2 * g + 1], rate_of(w, first + g) + BY_V);
        at[2 * g] = spots[first + g].row;
        at[2 * g + 1] = w->n + at[2 * g];
        turns[2 * g] = rate_of(w, first + g) + OF_DW;
        turns[2 * g + 1] = rate_of(w, first + g) + OF_S + 3;
    }
    for (int32_t i = spots[first].last + 1; i <= last; ++i) {
        pass_motion(w, i, at, A, turns, 2);
    }
    keep(w, last, A, columns);
    for (int32_t i = last + 1; i < end; ++i) {
        arrive(w, i, A, columns);
        pass_motion(w, i, at, A, turns, columns);
        keep(w, i, A, columns);
    }
}

/* ---- columns by torque ---- */

/* Columns by torque, of the rates from `first` on, pass rate i; what they do to the body before a joint gives the entries of its columns in
   their rows. Their own entries are symmetric. */
INLINE void pass_torque(const swept *w, int32_t i, int32_t first, vec A[][6], const int columns)
{
    const spot *const spots = w->spots;
    const int32_t n = w->n;
    const cells r = node_of(w, i);
    vec x[4];
    if (i == spots[i].first) {
        for (int32_t h = i; h <= spots[i].last; ++h) {
            const cells p = node_of(w, h) + NODE_P;
            UNROLL for (int c = 0; c < columns; ++c) {
                const cells to = w->slopes + 3 * n * spots[first + c].row + spots[h].row;
                to[0] = dot_in_turn(p, A[c]);
                to[n] = dot_in_turn(p + 6, A[c]);
            }
        }
    }
    UNROLL for (int c = 0; c < columns; ++c) {
        x[c] = dot_in_turn(r + NODE_K, A[c]);
        entry(w, i, first + c, 2)[0] = entry(w, first + c, i, 2)[0] = x[c];
    }
    UNROLL for (int c = 0; c < columns; ++c) {
        add(A[c], r + NODE_S, x[c]);
    }
}

/* The column of a rate, from there on to rate `last`: A is what it accelerates that one's body by. */
APART void begin_torque(const swept *w, int32_t first, int32_t last, vec *A)
{
    vec own[1][6];
    copy(own[0], inverse_of(w, first) + ANSWER_A);
    entry(w, first, first, 2)[0] = inverse_of(w, first)[ANSWER_X];
    for (int32_t i = first + 1; i <= last; ++i) {
        pass_torque(w, i, first, own, 1);
    }
    copy(A, own[0]);
}

/* The columns of four rates, one hanging on the other, in what they carry. */
INLINE void sweep_torque(const swept *w, int32_t first)
{
    const int few = 4;
    const int32_t lowest = first + few - 1, end = w->spots[lowest].end;
    vec A[4][6], begun[6];
    UNROLL for (int c = 0; c < few; ++c) {
        begin_torque(w, first + c, lowest, begun);
        copy(A[c], begun);
    }
    keep(w, lowest, A, few);
    for (int32_t i = lowest + 1; i < end; ++i) {
        arrive(w, i, A, few);
        pass_torque(w, i, first, A, few);
        keep(w, i, A, few);
    }
}

/* All three columns of a rate, in what it carries. */
INLINE void sweep_all(const swept *w, int32_t first)
{
    const int32_t last = w->spots[first].last, end = w->spots[first].end;
    const int32_t at[2] = {w->spots[first].row, w->n + w->spots[first].row};
    const cells of = rate_of(w, first), turns[2] = {of + OF_DW, of + OF_S + 3};
    vec A[3][6], begun[6];
    begin_torque(w, first, last, begun);
    copy(A[0], of + BY_Q);
    copy(A[1], of + BY_V);
    copy(A[2], begun);
    keep(w, last, A, 3);
    for (int32_t i = last + 1; i < end; ++i) {
        arrive(w, i, A, 3);
        pass_motion(w, i, at, A, turns, 2);
        pass_torque(w, i, first, A + 2, 1);
        keep(w, i, A, 3);
    }
}

/* ---- columns in other branches ---- */

/* The wrenches of the last `few` columns of rate h, taken in from the body behind rate i to that behind rate c. */
INLINE void take_in(const swept *w, int32_t h, int32_t i, int32_t c, const int few)
{
    const cells kept = node_of(w, h) + NODE_P + 6 * (3 - few);
    vec p[3][6];
    UNROLL for (int k = 0; k < few; ++k) {
        copy(p[k], kept + 6 * k);
    }
    for (; i != c; i = w->spots[i].before) {
        UNROLL for (int k = 0; k < few; ++k) {
            add(p[k], node_of(w, i) + NODE_K, dot(node_of(w, i) + NODE_S, p[k]));
        }
    }
    UNROLL for (int k = 0; k < few; ++k) {
        copy(kept + 6 * k, p[k]);
    }
}

/* Entries of rates from `first` on, of a branch that begins and ends there, with those of the other branches of the body behind rate c. */
INLINE void meet(const swept *w, int32_t c, int32_t first, int32_t begin, int32_t end, const int few)
{
    const spot *const spots = w->spots;
    const int32_t n = w->n;
    vec A[4][6];
    cells line[4];
    UNROLL for (int r = 0; r < few; ++r) {
        accelerated(inverse_of(w, c), node_of(w, first + r) + NODE_P + 12, A[r]);
        line[r] = w->slopes + 3 * n * spots[first + r].row;
    }
    for (int32_t h = c + 1; h < spots[c].end; ++h) {
        if (h == begin) {
            h = end - 1;
            continue;
        }
        const cells p = node_of(w, h) + NODE_P;
        const int32_t column = spots[h].row;
        UNROLL for (int r = 0; r < few; ++r) {
            line[r][column] = dot_in_turn(p, A[r]);
            line[r][n + column] = dot_in_turn(p + 6, A[r]);
        }
        if (h > begin) {
            UNROLL for (int r = 0; r < few; ++r) {
                line[r][2 * n + column] = entry(w, h, first + r, 2)[0] = dot_in_turn(p + 12, A[r]);
            }
        }
    }
}

/* The two widths of it, each written out once. */
APART void meet_four(const swept *w, int32_t c, int32_t first, int32_t begin, int32_t end)
{
    meet(w, c, first, begin, end, 4);
}

APART void meet_one(const swept *w, int32_t c, int32_t first, int32_t begin, int32_t end)
{
    meet(w, c, first, begin, end, 1);
}

/* All entries of rates in different branches of the body behind rate c. */
APART void join(const swept *w, int32_t c)
{
    const spot *const spots = w->spots;
    const int32_t end = spots[c].end;
    for (int32_t h = c + 1; h < end; ++h) {
        take_in(w, h, reached(w, h), c, 3);
        reach(w, h, c);
    }
    for (int32_t first = c + 1, last; first < end; first = last) {
        last = spots[first].end;
        for (int32_t i = first, few; i < last; i += few) {
            few = last - i >= 4 ? 4 : 1;
            (few == 4 ? meet_four : meet_one)(w, c, i, first, last);
        }
    }
}

/* Whether four rates from i on hang one on the other, with nothing else in between. */
static inline int four_in_a_row(const swept *w, int32_t i)
{
    int32_t few = 1;
    while (few < 4 && i + few < w->count && w->spots[i + few].before == i + few - 1 && w->spots[i + few - 1].to < 0) {
        ++few;
    }
    return few == 4;
}

/* at: n, the slopes (n, 3 n), work, accelerations that are kept, rates, 21 zeros; then the spots. */
void sweep(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    const int32_t count = at[4];
    const cells nodes = arena + at[2], answers = nodes + NODE * count;
    const swept w = {arena, arena + at[1], arena + at[3], arena + at[5], nodes, answers, answers + ANSWER * count,
        (const spot *)(const void *)(at + 6), at[0], count};
    for (int32_t i = 0; i < count; ++i) {
        pack(&w, i);
    }
    for (int32_t i = 0; i < count; ++i) {
        answer_to_torque(&w, i);
        begin_motion(&w, i);
    }
    for (int32_t i = 0, few; i < count; i += few) {
        few = four_in_a_row(&w, i) ? 4 : 1;
        if (few == 4) {
            sweep_motion(&w, i);
            sweep_motion(&w, i + 2);
            sweep_torque(&w, i);
        } else {
            sweep_all(&w, i);
        }
    }
    for (int32_t i = 0; i < count; ++i) {
        const int32_t before = w.spots[w.spots[i].first].before;
        reach(&w, i, before);
        take_in(&w, i, w.spots[i].before, before, 1);
    }
    for (int32_t i = count - 1; i >= 0; --i) {
        if (w.spots[i].to >= 0) {
            join(&w, i);
        }
    }
}
