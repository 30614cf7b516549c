/* Candidates of six turns without special geometry, from the eigenvalues of a 16 x 16 matrix, as kinematics/inverse/general.py has them; what
   is called and not defined here is traced from that. Pose by pose but for the eigenvalues, which poses in lanes look for together. Poses for
   which something is in doubt are left to that file. */
#include <float.h>
#include <math.h>
#include <string.h>

/* angles closer than this, and complex ones this near to the real line, are left to others */
#define APART 1e-9
#define NEARLY_REAL 1e-6
/* pivots over the largest below which a matrix is not taken for regular, and above which it is good enough */
#define SINGULAR_PIVOT 1e-7
#define GOOD_PIVOT 0.02

/* The constants of a pencil, as general_steps.py lays them out. */
typedef struct {
    double first, backwards, outer, inner; /* joint of the eigenvalue; whether the chain is reversed; how many matrices stand before and behind T */
    double others[2];                      /* the two joints on the other side */
    double frame_at_zero[13];              /* X_0^-1, one over the size */
    double axes[6][6];                     /* h, u */
    double left[3][14 * 9];
    double frame[24][16], corner[16][16]; /* complement of the roots at +-i; what of the matrix is constant */
    double before[9 * 14 * 15], behind[9 * 15];
} pencil;

/* Rows of [A | B], 12 by width, made upper triangular with row pivots; returns the least pivot over the largest. */
static inline __attribute__((always_inline)) double eliminated(double *A, const int width)
{
    double least = DBL_MAX, largest = 0;
    for (int k = 0; k < 12; ++k) {
        int best = k;
        for (int i = k + 1; i < 12; ++i) {
            best = fabs(A[i * width + k]) > fabs(A[best * width + k]) ? i : best;
        }
        if (best != k) {
            for (int j = 0; j < width; ++j) {
                const double x = A[k * width + j];
                A[k * width + j] = A[best * width + j];
                A[best * width + j] = x;
            }
        }
        const double pivot = A[k * width + k], size = fabs(pivot);
        least = size < least ? size : least;
        largest = size > largest ? size : largest;
        const double over = size > 0 ? 1 / pivot : 0;
        for (int i = k + 1; i < 12; ++i) {
            const double factor = A[i * width + k] * over;
            for (int j = 0; j < width; ++j) {
                A[i * width + j] -= factor * A[k * width + j];
            }
            A[i * width + k] = factor;
        }
    }
    return largest > 0 ? least / largest : 0;
}

/* ---- eigenvalues of a real 16 x 16 matrix ---- */

enum { N = 16 };

/* Similar upper Hessenberg matrices, lane by lane, by Householder's reflections. */
static void hessenberg(vec H[N][N])
{
    for (int k = 0; k < N - 2; ++k) {
        vec v[N], norm = V(0);
        for (int i = k + 1; i < N; ++i) {
            v[i] = H[i][k];
            norm += v[i] * v[i];
        }
        const vec size = square_root(norm), length = SELECT(V(0), v[k + 1], -size, size);
        const vec first = v[k + 1] - length, square = norm - v[k + 1] * v[k + 1] + first * first;
        const vec beta = SELECT(V(0), square, 2 / SELECT(V(0), square, square, V(1)), V(0));
        v[k + 1] = first;
        for (int j = k + 1; j < N; ++j) {
            vec sum = V(0);
            for (int i = k + 1; i < N; ++i) {
                sum += v[i] * H[i][j];
            }
            sum *= beta;
            for (int i = k + 1; i < N; ++i) {
                H[i][j] -= sum * v[i];
            }
        }
        for (int i = 0; i < N; ++i) {
            vec sum = V(0);
            for (int j = k + 1; j < N; ++j) {
                sum += H[i][j] * v[j];
            }
            sum *= beta;
            for (int j = k + 1; j < N; ++j) {
                H[i][j] -= sum * v[j];
            }
        }
        H[k + 1][k] = length;
        for (int i = k + 2; i < N; ++i) {
            H[i][k] = V(0);
        }
    }
}

/* Scales rows and columns by powers of two to like sizes (Parlett and Reinsch). */
static void balance(double H[N][N])
{
    for (int sweep = 0, changed = 1; changed && sweep < 10; ++sweep) {
        changed = 0;
        for (int i = 0; i < N; ++i) {
            double row = 0, column = 0;
            for (int j = 0; j < N; ++j) {
                if (j != i) {
                    column += fabs(H[j][i]);
                    row += fabs(H[i][j]);
                }
            }
            if (row == 0 || column == 0) {
                continue;
            }
            double factor = 1;
            const double sum = row + column;
            while (column < row / 2) {
                factor *= 2;
                column *= 4;
            }
            while (column > row * 2) {
                factor /= 2;
                column /= 4;
            }
            if ((column + row) / factor < 0.95 * sum) {
                changed = 1;
                for (int j = 0; j < N; ++j) {
                    H[i][j] /= factor;
                }
                for (int j = 0; j < N; ++j) {
                    H[j][i] *= factor;
                }
            }
        }
    }
}

/* The part of a matrix that a lane works on, rows and columns low to high, and for how long. */
typedef struct {
    int low, high, tries;
} window;

#define ENTRY(H, i, j, lane) (((real *)&(H)[i][j])[lane])

/* Where the last part of a lane's matrix begins that does not fall apart. */
static int beginning(vec H[N][N], int high, int lane)
{
    int low = high;
    for (; low > 0; --low) {
        const double size = fabs(ENTRY(H, low - 1, low - 1, lane)) + fabs(ENTRY(H, low, low, lane));
        if (fabs(ENTRY(H, low, low - 1, lane)) <= DBL_EPSILON * size) {
            ENTRY(H, low, low - 1, lane) = 0;
            break;
        }
    }
    return low;
}

/* The eigenvalues that have come off at the end of a lane's matrix. */
static window deflated(vec H[N][N], window w, int lane, vec re[N], vec im[N])
{
    for (;;) {
        const int high = w.high;
        w.low = high < 0 ? 0 : beginning(H, high, lane);
        if (high < 0 || w.low < high - 1) {
            return w;
        }
        double x = ENTRY(H, high, high, lane), one = x, two = x, apart = 0;
        if (w.low == high - 1) {
            const double y = ENTRY(H, high - 1, high - 1, lane), product = ENTRY(H, high, high - 1, lane) * ENTRY(H, high - 1, high, lane);
            const double p = (y - x) / 2, d = p * p + product, z = sqrt(fabs(d)), far = p + (p >= 0 ? z : -z);
            one = d < 0 ? x + p : far != 0 ? x - product / far : x;
            two = d < 0 ? x + p : x + far;
            apart = d < 0 ? z : 0;
            ((real *)&re[high - 1])[lane] = two;
            ((real *)&im[high - 1])[lane] = apart;
        }
        ((real *)&re[high])[lane] = one;
        ((real *)&im[high])[lane] = -apart;
        w = (window){0, w.low - 1, 0};
    }
}

/* x + y and x y of the shifts x, y of a double step: the eigenvalues of the last two rows, now and then others. */
static void shifts(vec H[N][N], window w, int lane, double *sum, double *product)
{
    const int h = w.high;
    const double last = ENTRY(H, h, h, lane), before = ENTRY(H, h - 1, h - 1, lane);
    *sum = last + before;
    *product = last * before - ENTRY(H, h, h - 1, lane) * ENTRY(H, h - 1, h, lane);
    if (w.tries % 10 == 9) {
        const double size = fabs(ENTRY(H, h, h - 1, lane)) + fabs(ENTRY(H, h - 1, h - 2, lane)), at = last + 0.75 * size;
        *sum = 2 * at;
        *product = at * at + 0.4375 * size * size;
    }
}

/* Francis's double step in the window of each lane; a lane without one has its low at N. */
static void double_step(vec H[N][N], vec low, vec high, vec sum, vec product, int begin, int end)
{
    vec p = V(0), q = V(0), r = V(0);
    for (int k = begin; k < end; ++k) {
        /* the first column of (H - x)(H - y), then what stands below the diagonal */
        const ivec first = MASK(low == V(k)), inside = MASK(low <= V(k)) & MASK(V(k) < high), three = MASK(V(k + 1) < high);
        const int third = k + 2 < N ? k + 2 : k + 1;
        if (k > begin) {
            p = H[k][k - 1];
            q = H[k + 1][k - 1];
            r = choose(three, H[third][k - 1], V(0));
        }
        const vec a0 = H[k][k] * (H[k][k] - sum) + product + H[k][k + 1] * H[k + 1][k], a1 = H[k + 1][k] * (H[k][k] + H[k + 1][k + 1] - sum);
        p = choose(first, a0, p);
        q = choose(first, a1, q);
        r = choose(first, H[third][k + 1] * H[k + 1][k], r);
        const vec size = square_root(p * p + q * q + r * r), s = SELECT(p, V(0), -size, size);
        const ivec turns = inside & MASK(size > V(0));
        const vec over = 1 / choose(turns, s, V(1)), away = 1 / choose(turns, p + s, V(1));
        const vec a = choose(turns, (p + s) * over, V(0)), b = choose(turns, q * over, V(0)), c = choose(turns, r * over, V(0));
        const vec u = choose(turns, q * away, V(0)), w = choose(turns, r * away, V(0));
        if (k > begin) {
            const ivec after = turns & ~first;
            H[k][k - 1] = choose(after, -s, H[k][k - 1]);
            H[k + 1][k - 1] = choose(after, V(0), H[k + 1][k - 1]);
            H[third][k - 1] = choose(after & three, V(0), H[third][k - 1]);
        }
        if (third == k + 1) {
            for (int j = k; j <= end; ++j) {
                const vec along = H[k][j] + u * H[k + 1][j];
                H[k][j] -= along * a;
                H[k + 1][j] -= along * b;
            }
            for (int i = begin; i <= end; ++i) {
                const vec along = a * H[i][k] + b * H[i][k + 1];
                H[i][k] -= along;
                H[i][k + 1] -= along * u;
            }
            continue;
        }
        for (int j = k; j <= end; ++j) {
            const vec along = H[k][j] + u * H[k + 1][j] + w * H[k + 2][j];
            H[k][j] -= along * a;
            H[k + 1][j] -= along * b;
            H[k + 2][j] -= along * c;
        }
        for (int i = begin; i <= (end < k + 3 ? end : k + 3); ++i) {
            const vec along = a * H[i][k] + b * H[i][k + 1] + c * H[i][k + 2];
            H[i][k] -= along;
            H[i][k + 1] -= along * u;
            H[i][k + 2] -= along * w;
        }
    }
}

/* The eigenvalues of upper Hessenberg matrices, lane by lane, by double steps side by side; lanes whose are not found are not fine. */
static void eigenvalues(vec H[N][N], vec re[N], vec im[N], int fine[LANES])
{
    window windows[LANES];
    for (int lane = 0; lane < LANES; ++lane) {
        windows[lane] = (window){0, N - 1, 0};
    }
    for (;;) {
        vec low = V(N), high = V(0), sum = V(0), product = V(0);
        int begin = N, end = 0;
        for (int lane = 0; lane < LANES; ++lane) {
            window *const w = &windows[lane];
            *w = deflated(H, *w, lane, re, im);
            if (w->high < 0) {
                continue;
            }
            if (w->tries++ == 60) {
                fine[lane] = 0;
                w->high = -1;
                continue;
            }
            double x, y;
            shifts(H, *w, lane, &x, &y);
            ((real *)&low)[lane] = w->low;
            ((real *)&high)[lane] = w->high;
            ((real *)&sum)[lane] = x;
            ((real *)&product)[lane] = y;
            begin = w->low < begin ? w->low : begin;
            end = w->high > end ? w->high : end;
        }
        if (begin == N) {
            return;
        }
        double_step(H, low, high, sum, product, begin, end);
    }
}

/* ---- one pose ---- */

/* The equations: W by columns, the first behind the waves of the six others, made triangular. Returns the least diagonal entry over the largest. */
static double reduced(const pencil *p, const double T[12], double E[14][36])
{
    double V[9][15];
    const int outer = (int)p->outer, inner = (int)p->inner;
    for (int j = 0; j < inner; ++j) {
        moved_line(T, p->behind + j * 15, V[j]);
    }
    /* columns: eight with waves, the constant one, left 0, 1, 2 */
    for (int i = 0; i < outer; ++i) {
        for (int j = 0; j < inner; ++j) {
            const int column = i * inner + j;
            for (int a = 0; a < 14; ++a) {
                double sum = 0;
                for (int b = 0; b < 15; ++b) {
                    sum += p->before[(i * 14 + a) * 15 + b] * V[j][b];
                }
                E[a][column ? column - 1 : 8] = sum;
            }
        }
    }
    for (int a = 0; a < 14; ++a) {
        for (int k = 0; k < 3; ++k) {
            memcpy(&E[a][9 + 9 * k], &p->left[k][9 * a], 9 * sizeof(double));
        }
        E[a][9] -= E[a][8];
    }
    double least = DBL_MAX, largest = 0;
    for (int k = 0; k < 8; ++k) {
        double v[14] = {0}, norm = 0, w[36] = {0};
        for (int i = k; i < 14; ++i) {
            v[i] = E[i][k];
            norm += v[i] * v[i];
        }
        const double size = sqrt(norm), length = v[k] > 0 ? -size : size, first = v[k] - length;
        least = size < least ? size : least;
        largest = size > largest ? size : largest;
        const double square = norm - v[k] * v[k] + first * first;
        const double beta = square > 0 ? 2 / square : 0;
        v[k] = first;
        for (int i = k; i < 14; ++i) {
            for (int j = 0; j < 36; ++j) {
                w[j] += v[i] * E[i][j];
            }
        }
        for (int i = k; i < 14; ++i) {
            const double factor = beta * v[i];
            for (int j = 0; j < 36; ++j) {
                E[i][j] -= factor * w[j];
            }
        }
    }
    return largest > 0 ? least / largest : 0;
}

/* The 16 x 16 matrix with 12 x 12 A, B, C turned by the first of eight angles that makes P2 regular enough, or by the best; the angle, and how regular
   P2 is. */
static double companion(const pencil *p, double ABC[3][12][12], double *phi, double H[N][N])
{
    static const double turns[8] = {0, 3, 6, 1, 4, 7, 2, 5};
    double P[12][40], best = -1, at = 0;
    for (int try = 0; try < 9; ++try) {
        const double angle = try < 8 ? turns[try] * 0.78539816339744831 : at, waves[2] = {cos(angle), sin(angle)};
        for (int i = 0; i < 12; ++i) {
            for (int j = 0; j < 12; ++j) {
                const double own[3] = {ABC[0][i][j], ABC[1][i][j], ABC[2][i][j]};
                polynomial(own, waves, &P[i][j], &P[i][24 + j], &P[i][12 + j]);
            }
            memset(&P[i][36], 0, 4 * sizeof(double));
        }
        const double regular = eliminated(&P[0][0], 40);
        if (regular > GOOD_PIVOT || try == 8) {
            *phi = angle;
            best = regular;
            break;
        }
        if (regular > best) {
            best = regular;
            at = angle;
        }
    }
    if (best < SINGULAR_PIVOT) {
        return best;
    }
    /* K = -P2^-1 (P0, P1), from the last row up */
    double K[12][24];
    for (int i = 11; i >= 0; --i) {
        double row[24];
        for (int j = 0; j < 24; ++j) {
            row[j] = -P[i][12 + j];
        }
        for (int k = i + 1; k < 12; ++k) {
            for (int j = 0; j < 24; ++j) {
                row[j] -= P[i][k] * K[k][j];
            }
        }
        for (int j = 0; j < 24; ++j) {
            K[i][j] = row[j] / P[i][i];
        }
    }
    double KF[12][16];
    memset(KF, 0, sizeof KF);
    for (int i = 0; i < 12; ++i) {
        for (int k = 0; k < 24; ++k) {
            for (int j = 0; j < 16; ++j) {
                KF[i][j] += K[i][k] * p->frame[k][j];
            }
        }
    }
    memcpy(H, p->corner, sizeof p->corner);
    for (int k = 0; k < 12; ++k) {
        for (int i = 0; i < 16; ++i) {
            for (int j = 0; j < 16; ++j) {
                H[i][j] += p->frame[12 + k][i] * KF[k][j];
            }
        }
    }
    return best;
}

/* Numbers of several roots side by side. */
enum { ROOTS = 8 };
typedef double several __attribute__((vector_size(8 * ROOTS)));
typedef int64_t several_masks __attribute__((vector_size(8 * ROOTS)));

static inline several chosen(several_masks mask, several yes, several no)
{
    return (several)(((several_masks)yes & mask) | ((several_masks)no & ~mask));
}

static inline several absolute(several x)
{
    return (several)((several_masks)x & INT64_MAX);
}

/* Rows of 12 x 13 made upper triangular: the larger of two neighbours eliminates the other. */
static void triangular(several M[12][13])
{
    for (int k = 0; k < 11; ++k) {
        for (int i = 11; i > k; --i) {
            const several_masks larger = (several_masks)(absolute(M[i][k]) > absolute(M[i - 1][k]));
            const several one = chosen(larger, M[i][k], M[i - 1][k]), two = chosen(larger, M[i - 1][k], M[i][k]);
            const several factor = two / chosen((several_masks)(one == 0), one + 1, one);
            M[i - 1][k] = one;
            for (int j = k + 1; j < 13; ++j) {
                const several a = chosen(larger, M[i][j], M[i - 1][j]), b = chosen(larger, M[i - 1][j], M[i][j]);
                M[i - 1][j] = a;
                M[i][j] = b - factor * a;
            }
        }
    }
}

/* Vectors that A + B c + C s takes to nothing, by two steps of inverse iteration, for as many angles as stand side by side. */
static void null_vectors(double ABC[3][12][12], several angle, several v[12])
{
    several M[12][13], c, s;
    for (int r = 0; r < ROOTS; ++r) {
        c[r] = cos(angle[r]);
        s[r] = sin(angle[r]);
    }
    for (int i = 0; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
            M[i][j] = ABC[0][i][j] + ABC[1][i][j] * c + ABC[2][i][j] * s;
        }
        M[i][12] = 0 * c + (1 + 0.1 * i);
    }
    triangular(M);
    for (int step = 0; step < 2; ++step) {
        several size = 0 * c;
        for (int i = 11; i >= 0; --i) {
            several sum = M[i][12];
            for (int k = i + 1; k < 12; ++k) {
                sum -= M[i][k] * v[k];
            }
            const several pivot = M[i][i];
            v[i] = sum / chosen((several_masks)(absolute(pivot) > 1e-300), pivot, 0 * c + 1e-300);
            size = chosen((several_masks)(absolute(v[i]) > size), absolute(v[i]), size);
        }
        /* the second right side: the upper triangle alone, which has the same null vector */
        for (int i = 0; i < 12; ++i) {
            M[i][12] = v[i] = v[i] / size;
        }
    }
}

static void turn_back(const double axis[6], const double *q, double u[3])
{
    double turned[3];
    turned_back(axis, q, u, turned);
    memcpy(u, turned, sizeof turned);
}

/* The two joints on the other side from the triangular equations, and the last from the rotation. */
static void others(const pencil *p, const double E[14][36], const double T[12], double q[6])
{
    const int first = (int)p->first, last = first + 3;
    double weights[27], y[8], outer[2], u[3], w[3];
    products_of_weights(q + first, weights);
    for (int i = 7; i >= 0; --i) {
        double sum = 0;
        for (int k = 0; k < 27; ++k) {
            sum += weights[k] * E[i][9 + k];
        }
        for (int k = i + 1; k < 8; ++k) {
            sum -= E[i][k] * y[k];
        }
        y[i] = sum / E[i][i];
    }
    outer_angles(y, outer);
    q[(int)p->others[0]] = outer[0];
    q[(int)p->others[1]] = outer[1];
    memcpy(u, p->axes[last] + 3, sizeof u);
    for (int k = last + 1; k < 6; ++k) {
        turn_back(p->axes[k], &q[k], u);
    }
    for (int i = 0; i < 3; ++i) {
        w[i] = T[4 * i] * u[0] + T[4 * i + 1] * u[1] + T[4 * i + 2] * u[2];
    }
    for (int k = 0; k < last; ++k) {
        turn_back(p->axes[k], &q[k], w);
    }
    angle_about(p->axes[last], p->axes[last] + 3, w, &q[last]);
}

/* What becomes of one pose between its matrix and its candidates. */
typedef struct {
    double T[12], E[14][36], ABC[3][12][12], phi;
} loop;

/* The loop of one pose, and the matrix whose eigenvalues belong to it; returns whether it is regular. */
static int closed(const pencil *p, const double *X, loop *l, double H[N][N])
{
    double T[12];
    loop_motion(X, p->frame_at_zero, T);
    if (p->backwards != 0) {
        inverse_motion(T, l->T);
    } else {
        memcpy(l->T, T, sizeof T);
    }
    if (!(reduced(p, l->T, l->E) >= SINGULAR_PIVOT)) {
        return 0;
    }
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 6; ++i) {
            twelve(&l->E[8 + i][9 + 9 * k], l->ABC[k][i], l->ABC[k][6 + i]);
        }
    }
    if (!(companion(p, l->ABC, &l->phi, H) >= SINGULAR_PIVOT)) {
        return 0;
    }
    balance(H);
    return 1;
}

/* The candidates of one pose, 16 rows of six angles, by the eigenvalues of its matrix; returns how many, or -1 in doubt. */
static int opened(const pencil *p, loop *l, const double re[N], const double im[N], double *rows)
{
    double angles[N];
    int n = 0;
    for (int k = 0; k < N; ++k) {
        if (im[k] == 0) {
            angles[n++] = l->phi + 2 * atan(re[k]);
        } else if (!(2 * fabs(im[k]) >= NEARLY_REAL * (1 + re[k] * re[k]))) {
            return -1;
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            if (!(fabs(remainder(angles[i] - angles[j], 6.283185307179586)) >= APART)) {
                return -1;
            }
        }
    }
    const int first = (int)p->first;
    for (int begin = 0; begin < n; begin += ROOTS) {
        several some, v[12];
        for (int r = 0; r < ROOTS; ++r) {
            some[r] = angles[begin + r < n ? begin + r : begin];
        }
        null_vectors(l->ABC, some, v);
        for (int r = 0; r < ROOTS && begin + r < n; ++r) {
            double own[12], q[6];
            for (int k = 0; k < 12; ++k) {
                own[k] = v[k][r];
            }
            q[first] = some[r];
            single_angles(own, &q[first + 1]);
            others(p, l->E, l->T, q);
            for (int j = 0; j < 6; ++j) {
                rows[6 * (begin + r) + j] = p->backwards != 0 ? q[5 - j] : q[j];
            }
        }
    }
    return n;
}

/* As the candidates of closed forms: room 1 where there is one, -1 where there is none; no lever in doubt. */
void candidates(const vec *x, vec *y, const real *c)
{
    const pencil *const p = (const pencil *)(const void *)c;
    loop loops[LANES];
    vec H[N][N], re[N], im[N];
    int fine[LANES];
    for (int lane = 0; lane < LANES; ++lane) {
        double X[12], own[N][N];
        for (int k = 0; k < 12; ++k) {
            X[k] = ((const real *)&x[k])[lane];
        }
        fine[lane] = closed(p, X, &loops[lane], own);
        for (int k = 0; k < N * N; ++k) {
            ((real *)&H[k / N][k % N])[lane] = fine[lane] ? own[k / N][k % N] : (real)(k / N == k % N);
        }
    }
    hessenberg(H);
    eigenvalues(H, re, im, fine);
    for (int lane = 0; lane < LANES; ++lane) {
        double rows[16 * 6] = {0}, real_part[N], imaginary[N];
        for (int k = 0; k < N; ++k) {
            real_part[k] = ((const real *)&re[k])[lane];
            imaginary[k] = ((const real *)&im[k])[lane];
        }
        const int n = fine[lane] ? opened(p, &loops[lane], real_part, imaginary, rows) : -1;
        for (int k = 0; k < 16; ++k) {
            ((real *)&y[2 * k])[lane] = k < n || (n < 0 && k == 0) ? 1 : -1;
            ((real *)&y[2 * k + 1])[lane] = n < 0 ? 0 : 1;
        }
        for (int k = 0; k < 16 * 6; ++k) {
            ((real *)&y[2 * 16 + 1 + k])[lane] = rows[k];
        }
    }
}
