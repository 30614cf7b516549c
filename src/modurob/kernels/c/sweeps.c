/* The slopes of forward dynamics: columns over a tree, as `algorithms.acceleration_slopes` defines them. A tree is cut into segments, which end at
   leaves and at junctions, bodies with several branches. A column is propagated from its own joint to the end of its segment. The wrenches of
   columns beyond a junction are propagated inward to it, and all entries between rates beyond a junction and rates before it, or between two of
   its branches, are inner products there: by reciprocity a wrench on a body has the same effect on a rate as a torque along that rate has on
   the body. On any kind of cells.

   All arithmetic of rates and columns is that of the local steps of `algorithms.acceleration_slopes`, written for some columns at once
   (`kernels.sweep_steps`, whose text stands before this one). */
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

/* A node holds the wrenches, with their sign changed, that the columns of a rate by displacement, rate and torque exert on a body before it; and
   d, with which that body's turning velocity w adds d . w to the last. */
enum { NODE_P = 0, NODE_T = 12, NODE_D = 18, NODE = 21 };

/* A response holds the inverse inertia of the body behind a rate, 21 numbers of a symmetric matrix that takes a wrench on it to its acceleration,
   and the accelerations by a unit torque along the rate: of that body (later: of the body at the end of the segment), and of the rate. For a leaf
   the acceleration of the body before stands in place of the matrix. */
enum { RESPONSE_A = 21, RESPONSE_X = 27, RESPONSE = 28 };

/* A wrench beyond a junction moves it along the rates before it alone: where these are few, their projections are used instead of six numbers. */
enum { FEW_RATES = 5, SHARES = FEW_RATES * (FEW_RATES + 1) / 2 };

/* A rate in depth-first order: its row, what it has, the first and the last of its joint, the end of what its joint carries, the rate
   before it (-1: the world), the block of its joint's own rates (0: none), the end of its segment, and whether a displacement along it moves
   the whole robot freely, so that it changes no acceleration behind it. */
typedef struct {
    int32_t row, at, first, last, end, before, block, stop, free;
} spot;

/* The places that a sweep works in. */
typedef struct {
    cells arena, slopes, zeros, nodes, responses, shares, reached;
    const spot *spots;
    int32_t n, count;
} swept;

INLINED cells rate_of(const swept *w, int32_t i)
{
    return w->arena + w->spots[i].at;
}

INLINED cells node_of(const swept *w, int32_t i)
{
    return w->nodes + NODE * i;
}

/* The derivatives of rate i's acceleration by those of the rates before a junction, from the junction inward, for 1, 2, ... FEW_RATES of them. */
INLINED cells shares_of(const swept *w, int32_t i, int32_t depth)
{
    return w->shares + SHARES * i + depth * (depth - 1) / 2;
}

/* The inverse inertia of the body behind rate i, or zeros for the world. */
INLINED cells inverse_of(const swept *w, int32_t i)
{
    return i < 0 ? w->zeros : w->responses + RESPONSE * i;
}

/* Whether rate i is the last one of a branch. */
INLINED int carries_nothing(const swept *w, int32_t i)
{
    return w->spots[i].end == i + 1;
}

/* Whether the segment of rate i ends at a junction. */
INLINED int goes_on(const swept *w, int32_t i)
{
    return w->spots[i].end > w->spots[i].stop;
}

/* The rate behind whose body the wrenches of rate i stand: a whole number, in the memory of one. */
#ifdef CELLS
INLINED int32_t reached(const swept *w, int32_t i)
{
    return (int32_t)w->reached[i];
}

INLINED void reach(const swept *w, int32_t i, int32_t to)
{
    w->reached[i] = (real)to;
}
#else
INLINED int32_t reached(const swept *w, int32_t i)
{
    return ((const int32_t *)(const void *)w->reached)[i];
}

INLINED void reach(const swept *w, int32_t i, int32_t to)
{
    ((int32_t *)(void *)w->reached)[i] = to;
}
#endif

/* which: by displacement, by rate, by torque. */
INLINED cells entry(const swept *w, int32_t row, int32_t column, int which)
{
    return w->slopes + w->n * (3 * w->spots[row].row + which) + w->spots[column].row;
}

OF_ANY INLINED void copy(these to, those x)
{
    UNROLL for (int k = 0; k < 6; ++k) {
        to[k] = x[k];
    }
}

/* ---- what belongs to a rate ---- */

/* The response of rate i, from the inverse inertia of the body before it. */
APART void response_of_rate(const swept *w, int32_t i)
{
    const cells of = rate_of(w, i), to = inverse_of(w, i), M = inverse_of(w, w->spots[i].before);
    vec A[1][6], u[1][6], x;
    torque_response(of, M, A, u, &x, 1);
    copy(to + RESPONSE_A, A[0]);
    to[RESPONSE_X] = x;
    if (carries_nothing(w, i)) {
        copy(to, u[0]);
    } else {
        inverse_inertia_past_rate(of, M, u, &x, to, 1);
    }
}

/* ---- columns in their own joint ---- */

/* The column by torque of rate i: afterwards its acceleration is that of the joint's body. */
APART void begin_torque(const swept *w, int32_t i)
{
    const cells response = inverse_of(w, i);
    vec A[1][6], x;
    copy(A[0], response + RESPONSE_A);
    entry(w, i, i, 2)[0] = response[RESPONSE_X];
    for (int32_t k = i + 1; k <= w->spots[i].last; ++k) {
        torque_past_rate(rate_of(w, k), A, &x, 1);
        entry(w, k, i, 2)[0] = entry(w, i, k, 2)[0] = x;
    }
    copy(response + RESPONSE_A, A[0]);
}

/* Both columns, by displacement and by rate, of a rate h of a joint on the world: responses to the wrenches on its body, by reciprocity. */
INLINED void joint_columns_on_world(const swept *w, int32_t h, vec out[2][6])
{
    const spot *const own = w->spots + h;
    const cells of = rate_of(w, h);
    vec p[2][6], x[2];
    UNROLL for (int k = 0; k < 6; ++k) {
        p[0][k] = -of[OF_BY_Q + k];
        p[1][k] = -of[OF_BY_V + k];
        out[0][k] = out[1][k] = V(0);
    }
    for (int32_t k = own->first; k <= own->last; ++k) {
        products(inverse_of(w, k) + RESPONSE_A, p, x, 2);
        entry(w, k, h, 0)[0] = x[0];
        entry(w, k, h, 1)[0] = x[1];
        drive_past_rate(rate_of(w, k), out, x, 2);
    }
}

/* The same of any joint: the wrenches on the body before are kept in the node. */
INLINED void joint_columns(const swept *w, int32_t h, vec out[2][6])
{
    const spot *const own = w->spots + h;
    const cells of = rate_of(w, h), left = node_of(w, h) + NODE_P;
    const int32_t first = own->first, nv = own->last - first + 1;
    vec p[2][6], moved[6][2], x[2];
    copy(p[0], of + OF_BY_Q);
    copy(p[1], of + OF_BY_V);
    for (int32_t k = nv - 1; k >= 0; --k) {
        const vec torque = own->block ? w->arena[own->block + k * nv] : V(0);
        wrench_past_rate(rate_of(w, first + k), &torque, p, moved[k], 2);
    }
    UNROLL for (int k = 0; k < 6; ++k) {
        left[k] = p[0][k] = -(p[0][k] + of[OF_F + k]);
        left[6 + k] = p[1][k] = -p[1][k];
    }
    if (nv == 1 && carries_nothing(w, h)) {
        /* by reciprocity, from the response of the body before to the torque */
        products(inverse_of(w, h), p, x, 2);
        entry(w, h, h, 0)[0] = moved[0][0] + x[0];
        entry(w, h, h, 1)[0] = moved[0][1] + x[1];
        return;
    }
    symmetric_product(inverse_of(w, w->spots[first].before), p, out, 2);
    for (int32_t k = 0; k < nv; ++k) {
        push_past_rate(rate_of(w, first + k), out, moved[k], x, 2);
        entry(w, first + k, h, 0)[0] = x[0];
        entry(w, first + k, h, 1)[0] = x[1];
    }
}

/* Both columns of rate h in its own joint. Unless its body is a leaf, the accelerations of that body replace the wrenches they begin with. */
APART void begin_motion(const swept *w, int32_t h)
{
    const spot *const own = w->spots + h;
    const cells of = rate_of(w, h);
    vec out[2][6];
    if (w->spots[own->first].before < 0 && !own->block) {
        joint_columns_on_world(w, h, out);
    } else {
        joint_columns(w, h, out);
    }
    if (own->end == own->last + 1) {
        return;
    }
    UNROLL for (int k = 0; k < 6; ++k) {
        of[OF_BY_Q + k] = out[0][k] + of[OF_DD + k];
        of[OF_BY_V + k] = out[1][k] + of[OF_E + k];
    }
}

/* ---- columns in their own segment ---- */

/* Some columns by displacement and by rate pass rate i. at: where they stand in a row; turns: the turning velocity of each. */
INLINED void pass_motion(const swept *w, int32_t i, const int32_t *at, vec A[][6], const cells *turns, const int columns)
{
    const cells line = w->slopes + 3 * w->n * w->spots[i].row;
    vec x[4];
    motion_past_rate(rate_of(w, i), A, turns, x, columns);
    UNROLL for (int c = 0; c < columns; ++c) {
        line[at[c]] = x[c];
    }
}

/* The columns of two rates of a segment, by displacement and by rate. */
APART void sweep_motion(const swept *w, int32_t first)
{
    const spot *const spots = w->spots;
    const int32_t last = spots[first + 1].last, stop = spots[first].stop;
    const int columns = 4;
    vec A[4][6];
    cells turns[4];
    int32_t at[4];
    UNROLL for (int g = 0; g < 2; ++g) {
        copy(A[2 * g], rate_of(w, first + g) + OF_BY_Q);
        copy(A[2 * g + 1], rate_of(w, first + g) + OF_BY_V);
        at[2 * g] = spots[first + g].row;
        at[2 * g + 1] = w->n + at[2 * g];
        turns[2 * g] = rate_of(w, first + g) + OF_DW;
        turns[2 * g + 1] = rate_of(w, first + g) + OF_S + 3;
    }
    for (int32_t i = spots[first].last + 1; i <= last; ++i) {
        pass_motion(w, i, at, A, turns, 2);
    }
    for (int32_t i = last + 1; i < stop; ++i) {
        pass_motion(w, i, at, A, turns, columns);
    }
    if (goes_on(w, first)) {
        UNROLL for (int g = 0; g < 2; ++g) {
            copy(rate_of(w, first + g) + OF_BY_Q, A[2 * g]);
            copy(rate_of(w, first + g) + OF_BY_V, A[2 * g + 1]);
        }
    }
}

/* Columns by torque, of the rates from `first` on, pass rate i; the acceleration of the body before a joint gives the entries of the joint's
   columns in their rows. Their own entries are symmetric. */
INLINED void pass_torque(const swept *w, int32_t i, int32_t first, vec A[][6], const int columns)
{
    const spot *const spots = w->spots;
    vec x[4];
    if (i == spots[i].first) {
        for (int32_t h = i; h <= spots[i].last; ++h) {
            const cells p = node_of(w, h) + NODE_P;
            UNROLL for (int which = 0; which < 2; ++which) {
                products(p + 6 * which, A, x, columns);
                UNROLL for (int c = 0; c < columns; ++c) {
                    entry(w, first + c, h, which)[0] = x[c];
                }
            }
        }
    }
    torque_past_rate(rate_of(w, i), A, x, columns);
    UNROLL for (int c = 0; c < columns; ++c) {
        entry(w, i, first + c, 2)[0] = entry(w, first + c, i, 2)[0] = x[c];
    }
}

/* The column of a rate by torque, from its own joint to rate `last`: A is the acceleration of that rate's body. */
APART void follow_torque(const swept *w, int32_t first, int32_t last, vec *A)
{
    vec own[1][6];
    copy(own[0], inverse_of(w, first) + RESPONSE_A);
    for (int32_t i = w->spots[first].last + 1; i <= last; ++i) {
        pass_torque(w, i, first, own, 1);
    }
    copy(A, own[0]);
}

/* The columns of four rates of a segment, by torque. */
INLINED void sweep_torque(const swept *w, int32_t first)
{
    const int few = 4;
    const int32_t last = w->spots[first + few - 1].last, stop = w->spots[first].stop;
    vec A[4][6], begun[6];
    UNROLL for (int c = 0; c < few; ++c) {
        follow_torque(w, first + c, last, begun);
        copy(A[c], begun);
    }
    for (int32_t i = last + 1; i < stop; ++i) {
        pass_torque(w, i, first, A, few);
    }
    if (goes_on(w, first)) {
        UNROLL for (int c = 0; c < few; ++c) {
            copy(inverse_of(w, first + c) + RESPONSE_A, A[c]);
        }
    }
}

/* All three columns of a rate. */
INLINED void sweep_all(const swept *w, int32_t first)
{
    const int32_t next = w->spots[first].last + 1, stop = w->spots[first].stop;
    const int32_t at[2] = {w->spots[first].row, w->n + w->spots[first].row};
    const cells of = rate_of(w, first), response = inverse_of(w, first), turns[2] = {of + OF_DW, of + OF_S + 3};
    vec A[3][6];
    copy(A[0], of + OF_BY_Q);
    copy(A[1], of + OF_BY_V);
    copy(A[2], response + RESPONSE_A);
    for (int32_t i = next; i < stop; ++i) {
        pass_motion(w, i, at, A, turns, 2);
        pass_torque(w, i, first, A + 2, 1);
    }
    if (goes_on(w, first)) {
        copy(of + OF_BY_Q, A[0]);
        copy(of + OF_BY_V, A[1]);
        copy(response + RESPONSE_A, A[2]);
    }
}

/* ---- columns beyond junctions ---- */

/* The wrenches of the last `few` columns of rate h, propagated inward from the body behind rate i to that behind rate c, in p, and the d of
   the last; and the shares of the rate, where the `depth` rates before the junction are few. */
INLINED void propagate_inward(const swept *w, int32_t h, int32_t i, int32_t c, int32_t depth, const int few, vec p[][6], vec *d)
{
    const cells kept = node_of(w, h) + NODE_P + 6 * (3 - few), turning = node_of(w, h) + NODE_D;
    UNROLL for (int k = 0; k < few; ++k) {
        copy(p[k], kept + 6 * k);
    }
    UNROLL for (int k = 0; k < 3; ++k) {
        d[k] = turning[k];
    }
    for (; i != c; i = w->spots[i].before) {
        taken_past_rate(rate_of(w, i), p, d, few);
    }
    UNROLL for (int k = 0; k < few; ++k) {
        copy(kept + 6 * k, p[k]);
    }
    UNROLL for (int k = 0; k < 3; ++k) {
        turning[k] = d[k];
    }
    if (depth <= FEW_RATES) {
        const cells to = shares_of(w, h, depth);
        for (int32_t k = 0; k < depth; ++k, c = w->spots[c].before) {
            vec x;
            products(rate_of(w, c) + OF_S, p + few - 1, &x, 1);
            to[k] = x;
        }
    }
}

/* Entries in the rows of rates from `first` on: those of the segment that ends at the junction c, or those of its branch from `begin` to `end`, with
   the columns of all other branches. */
INLINED void cross_entries(const swept *w, int32_t c, int32_t first, int32_t begin, int32_t end, const int few)
{
    const spot *const spots = w->spots;
    const int32_t n = w->n;
    vec A[4][6], T[1][6];
    cells line[4];
    UNROLL for (int r = 0; r < few; ++r) {
        line[r] = w->slopes + 3 * n * spots[first + r].row;
        if (first > c) {
            copy(T[0], node_of(w, first + r) + NODE_T);
            symmetric_product(inverse_of(w, c), T, A + r, 1);
        } else {
            copy(A[r], inverse_of(w, first + r) + RESPONSE_A);
        }
    }
    for (int32_t h = c + 1; h < spots[c].end; ++h) {
        if (h == begin) {
            h = end - 1;
            continue;
        }
        const cells p = node_of(w, h) + NODE_P;
        const int32_t column = spots[h].row;
        vec x[4];
        UNROLL for (int which = 0; which < 2; ++which) {
            products(p + 6 * which, A, x, few);
            UNROLL for (int r = 0; r < few; ++r) {
                line[r][which * n + column] = x[r];
            }
        }
        if (h > begin) {
            products(p + 12, A, x, few);
            UNROLL for (int r = 0; r < few; ++r) {
                line[r][2 * n + column] = entry(w, h, first + r, 2)[0] = x[r];
            }
        }
    }
}

/* The accelerations of the end of its segment by the columns of rate a, by displacement and by rate, and their turning velocities. */
INLINED void begun(const swept *w, int32_t a, vec A[2][6], vec t[2][3])
{
    const cells of = rate_of(w, a);
    copy(A[0], of + OF_BY_Q);
    copy(A[1], of + OF_BY_V);
    UNROLL for (int k = 0; k < 3; ++k) {
        t[0][k] = of[OF_DW + k];
        t[1][k] = of[OF_S + 3 + k];
    }
}

/* The entries of both in all rows beyond the junction there. */
APART void reach_beyond(const swept *w, int32_t a)
{
    const spot *const own = w->spots + a;
    vec A[2][6], t[2][3];
    begun(w, a, A, t);
    for (int32_t h = own->stop; h < own->end; ++h) {
        const cells to = entry(w, h, a, 0);
        vec x[2];
        rate_acceleration(node_of(w, h) + NODE_T, A, t, x, 2);
        to[0] = own->free ? V(0) : x[0];
        to[w->n] = x[1];
    }
}

/* How many rates move the body behind rate c. */
static inline int32_t depth_of(const swept *w, int32_t c)
{
    int32_t depth = 0;
    for (; c >= 0; c = w->spots[c].before) {
        ++depth;
    }
    return depth;
}

/* As `cross_entries`, of a branch, where the columns' entries in the rows before the junction are known. */
INLINED void cross_entries_by_shares(const swept *w, int32_t c, int32_t first, int32_t begin, int32_t end, const int few)
{
    const spot *const spots = w->spots;
    const int32_t n = w->n, depth = depth_of(w, c);
    cells line[4], share[4], above[FEW_RATES];
    UNROLL for (int r = 0; r < few; ++r) {
        line[r] = w->slopes + 3 * n * spots[first + r].row;
        share[r] = shares_of(w, first + r, depth);
    }
    for (int32_t a = c, k = 0; k < depth; a = spots[a].before, ++k) {
        above[k] = w->slopes + 3 * n * spots[a].row;
    }
    for (int32_t h = c + 1; h < spots[c].end; ++h) {
        if (h == begin) {
            h = end - 1;
            continue;
        }
        const int32_t column = spots[h].row;
        vec sums[3][4];
        UNROLL for (int which = 0; which < 3; ++which) {
            const vec from = above[0][column + which * n];
            UNROLL for (int r = 0; r < few; ++r) {
                sums[which][r] = share[r][0] * from;
            }
        }
        for (int32_t k = 1; k < depth; ++k) {
            UNROLL for (int which = 0; which < 3; ++which) {
                const vec from = above[k][column + which * n];
                UNROLL for (int r = 0; r < few; ++r) {
                    sums[which][r] += share[r][k] * from;
                }
            }
        }
        UNROLL for (int which = 0; which < 3; ++which) {
            UNROLL for (int r = 0; r < few; ++r) {
                line[r][column + which * n] = sums[which][r];
            }
        }
    }
}

/* Both for one to four rows, each written out once. */
#define CROSS_ENTRIES(name, how, few) \
    APART void name(const swept *w, int32_t c, int32_t first, int32_t begin, int32_t end) \
    { \
        how(w, c, first, begin, end, few); \
    }
CROSS_ENTRIES(cross_four, cross_entries, 4)
CROSS_ENTRIES(cross_three, cross_entries, 3)
CROSS_ENTRIES(cross_two, cross_entries, 2)
CROSS_ENTRIES(cross_one, cross_entries, 1)
CROSS_ENTRIES(cross_four_by_shares, cross_entries_by_shares, 4)
CROSS_ENTRIES(cross_three_by_shares, cross_entries_by_shares, 3)
CROSS_ENTRIES(cross_two_by_shares, cross_entries_by_shares, 2)
CROSS_ENTRIES(cross_one_by_shares, cross_entries_by_shares, 1)

/* All rates from `first` on to `last`. */
static inline void all_cross_entries(const swept *w, int32_t c, int32_t first, int32_t last, int32_t begin, int32_t end, int by_shares)
{
    for (int32_t few; first < last; first += few) {
        few = last - first < 4 ? last - first : 4;
        if (few == 4) {
            (by_shares ? cross_four_by_shares : cross_four)(w, c, first, begin, end);
        } else if (few == 3) {
            (by_shares ? cross_three_by_shares : cross_three)(w, c, first, begin, end);
        } else if (few == 2) {
            (by_shares ? cross_two_by_shares : cross_two)(w, c, first, begin, end);
        } else {
            (by_shares ? cross_one_by_shares : cross_one)(w, c, first, begin, end);
        }
    }
}

/* All entries between the branches of junction c. */
APART void join_branches(const swept *w, int32_t c, int by_shares)
{
    for (int32_t first = c + 1, last; first < w->spots[c].end; first = last) {
        last = w->spots[first].end;
        all_cross_entries(w, c, first, last, first, last, by_shares);
    }
}

/* Whether the body behind rate i has several branches. */
static inline int is_junction(const swept *w, int32_t i)
{
    return w->spots[i].stop == i + 1 && goes_on(w, i);
}

/* Whether there are junctions. */
static inline int branches(const swept *w)
{
    for (int32_t i = 0; i < w->count; ++i) {
        if (is_junction(w, i)) {
            return 1;
        }
    }
    return 0;
}

/* The wrench of the column of rate i by torque on the body before its joint. */
APART void begin_outside(const swept *w, int32_t i)
{
    const int32_t before = w->spots[w->spots[i].first].before;
    copy(node_of(w, i) + NODE_T, rate_of(w, i) + OF_K);
    UNROLL for (int k = 0; k < 3; ++k) {
        node_of(w, i)[NODE_D + k] = rate_of(w, i)[OF_C + k];
    }
    reach(w, i, before);
    if (w->spots[i].before != before) {
        vec p[1][6], d[3];
        propagate_inward(w, i, w->spots[i].before, before, FEW_RATES + 1, 1, p, d);
    }
}

/* The wrenches of all columns beyond junction c, propagated inward to it. */
APART void propagate_all_inward(const swept *w, int32_t c, int32_t depth)
{
    vec p[3][6], d[3];
    for (int32_t h = c + 1; h < w->spots[c].end; ++h) {
        propagate_inward(w, h, reached(w, h), c, depth, 3, p, d);
        reach(w, h, c);
    }
}

/* The same, and what `cross_entries` and `reach_beyond` do for a segment of one rate, while all is in registers. */
APART void join_one(const swept *w, int32_t c, int32_t depth)
{
    const cells response = inverse_of(w, c) + RESPONSE_A;
    const int free = w->spots[c].free;
    vec p[3][6], d[3], A[2][6], t[2][3], x[3];
    begun(w, c, A, t);
    for (int32_t h = c + 1; h < w->spots[c].end; ++h) {
        propagate_inward(w, h, reached(w, h), c, depth, 3, p, d);
        reach(w, h, c);
        products(response, p, x, 3);
        const cells row = entry(w, c, h, 0), column = entry(w, h, c, 0);
        row[0] = x[0];
        row[w->n] = x[1];
        row[2 * w->n] = column[2 * w->n] = x[2];
        rate_acceleration(node_of(w, h) + NODE_T, A, t, x, 2);
        column[0] = free ? V(0) : x[0];
        column[w->n] = x[1];
    }
}

/* All entries between rates beyond junction c and its segment, and between its branches unless the rates before it are few. */
APART void join(const swept *w, int32_t c)
{
    const spot *const spots = w->spots;
    const int32_t depth = depth_of(w, c);
    int32_t start = c;
    while (start > 0 && spots[start - 1].stop == c + 1) {
        --start;
    }
    if (start == c) {
        join_one(w, c, depth);
    } else {
        propagate_all_inward(w, c, depth);
        all_cross_entries(w, c, start, c + 1, 0, 0, 0);
        for (int32_t a = start; a <= c; ++a) {
            reach_beyond(w, a);
        }
    }
    if (depth > FEW_RATES) {
        join_branches(w, c, 0);
    }
}

/* at: n, the slopes (n, 3 n), work, rates, 21 zeros; then the spots. */
void sweep(cells arena, const int32_t *at, const real *c)
{
    (void)c;
    const int32_t count = at[3];
    const cells nodes = arena + at[2], responses = nodes + NODE * count, shares = responses + RESPONSE * count;
    const swept w = {arena, arena + at[1], arena + at[4], nodes, responses, shares, shares + SHARES * count,
        (const spot *)(const void *)(at + 5), at[0], count};
    for (int32_t i = 0, last; i < count; i = last + 1) {
        last = w.spots[i].last;
        for (int32_t k = i; k <= last; ++k) {
            response_of_rate(&w, k);
        }
        for (int32_t k = i; k <= last; ++k) {
            begin_torque(&w, k);
        }
        for (int32_t k = i; k <= last; ++k) {
            begin_motion(&w, k);
        }
    }
    for (int32_t i = 0, few; i < count; i += few) {
        const int32_t next = w.spots[i].last + 1, stop = w.spots[i].stop;
        few = next == stop ? stop - i : stop - i >= 4 ? 4 : 1;
        if (next == stop) {
            continue;
        }
        if (few == 4) {
            sweep_motion(&w, i);
            sweep_motion(&w, i + 2);
            sweep_torque(&w, i);
        } else {
            sweep_all(&w, i);
        }
    }
    if (!branches(&w)) {
        return;
    }
    for (int32_t i = 0; i < count; ++i) {
        begin_outside(&w, i);
    }
    for (int32_t i = count - 1; i >= 0; --i) {
        if (is_junction(&w, i)) {
            join(&w, i);
        }
    }
    for (int32_t i = 0; i < count; ++i) {
        if (is_junction(&w, i) && depth_of(&w, i) <= FEW_RATES) {
            join_branches(&w, i, 1);
        }
    }
}
