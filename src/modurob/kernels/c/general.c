/* Candidates of six turns without special geometry, from the eigenvalues of a 16 x 16 matrix: the steps of kinematics/inverse/general.py,
   one pose after the other. Poses for which something is in doubt are left to that. */
#include <float.h>
#include <math.h>
#include <string.h>

/* angles closer than this, and complex ones this near to the real line, are left to others */
#define APART 1e-9
#define NEARLY_REAL 1e-6
/* pivots over the largest below which a matrix is not taken for regular, and above which it is good enough */
#define SINGULAR_PIVOT 1e-7
#define GOOD_PIVOT 0.02

/* The constants of a pencil, as compiled.py lays them out. */
typedef struct {
    double first, backwards, outer, inner; /* joint of the eigenvalue; whether the chain is reversed; how many matrices stand before and behind T */
    double X0[12], scale;                  /* X_0^-1, one over the size */
    double axes[6][9];                     /* h, o, u */
    double left[3][14 * 9];
    double frame[24][16], corner[16][16]; /* complement of the roots at +-i; what of the matrix is constant */
    double before[9 * 14 * 15], behind[9 * 15];
} pencil;

/* The matrix by which a motion moves the fifteen numbers of a line. */
static void lift(const double T[3][4], double Z[15][15])
{
    memset(Z, 0, 15 * 15 * sizeof(double));
    const double t[3] = {T[0][3], T[1][3], T[2][3]};
    const double tt = t[0] * t[0] + t[1] * t[1] + t[2] * t[2];
    double row[3];
    for (int j = 0; j < 3; ++j) {
        row[j] = T[0][j] * t[0] + T[1][j] * t[1] + T[2][j] * t[2];
    }
    for (int i = 0; i < 3; ++i) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        for (int j = 0; j < 3; ++j) {
            const double turned = t[a] * T[b][j] - t[b] * T[a][j];
            Z[i][j] = Z[3 + i][3 + j] = Z[6 + i][6 + j] = Z[9 + i][9 + j] = T[i][j];
            Z[6 + i][3 + j] = turned;
            Z[9 + i][6 + j] = -2 * turned;
            Z[9 + i][3 + j] = tt * T[i][j] - 2 * t[i] * row[j];
        }
        Z[i][14] = t[i];
        Z[9 + i][13] = -2 * t[i];
        Z[12][i] = 2 * row[i];
        Z[13][3 + i] = row[i];
    }
    Z[12][12] = Z[13][13] = Z[14][14] = 1;
    Z[12][14] = tt;
}

/* M = (1, c, s) x (1, c', s') equations, 6 x 9, as 12 x 12: times cos h and sin h. */
static void twelve(const double M[6][9], double out[12][12])
{
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double one = M[i][j], c = M[i][3 + j] / 2, s = M[i][6 + j] / 2;
            out[i][j] = one + c;
            out[i][3 + j] = s;
            out[i][6 + j] = c;
            out[i][9 + j] = s;
            out[6 + i][j] = s;
            out[6 + i][3 + j] = one - c;
            out[6 + i][6 + j] = -s;
            out[6 + i][9 + j] = c;
        }
    }
}

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

static void hessenberg(double H[N][N])
{
    for (int k = 0; k < N - 2; ++k) {
        double v[N] = {0}, norm = 0;
        for (int i = k + 1; i < N; ++i) {
            v[i] = H[i][k];
            norm += v[i] * v[i];
        }
        if (norm == 0) {
            continue;
        }
        const double length = v[k + 1] > 0 ? -sqrt(norm) : sqrt(norm);
        const double first = v[k + 1] - length;
        const double beta = 2 / (norm - v[k + 1] * v[k + 1] + first * first);
        v[k + 1] = first;
        double w[N] = {0};
        for (int i = k + 1; i < N; ++i) {
            for (int j = 0; j < N; ++j) {
                w[j] += v[i] * H[i][j];
            }
        }
        for (int i = k + 1; i < N; ++i) {
            const double factor = beta * v[i];
            for (int j = 0; j < N; ++j) {
                H[i][j] -= factor * w[j];
            }
        }
        for (int i = 0; i < N; ++i) {
            double sum = 0;
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
            H[i][k] = 0;
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

/* The eigenvalues of an upper Hessenberg matrix by Francis's double steps; returns whether all were found. */
static int eigenvalues(double H[N][N], double re[N], double im[N])
{
    double norm = 0, shift = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = i > 0 ? i - 1 : 0; j < N; ++j) {
            norm += fabs(H[i][j]);
        }
    }
    for (int high = N - 1, tries = 0; high >= 0;) {
        int low = high;
        for (; low > 0; --low) {
            double size = fabs(H[low - 1][low - 1]) + fabs(H[low][low]);
            size = size == 0 ? norm : size;
            if (fabs(H[low][low - 1]) <= DBL_EPSILON * size) {
                H[low][low - 1] = 0;
                break;
            }
        }
        double x = H[high][high];
        if (low == high) {
            re[high] = x + shift;
            im[high--] = 0;
            tries = 0;
            continue;
        }
        double y = H[high - 1][high - 1], w = H[high][high - 1] * H[high - 1][high];
        if (low == high - 1) {
            const double p = (y - x) / 2, d = p * p + w, z = sqrt(fabs(d));
            x += shift;
            if (d >= 0) {
                const double far = p + (p >= 0 ? z : -z);
                re[high - 1] = re[high] = x + far;
                if (far != 0) {
                    re[high] = x - w / far;
                }
                im[high - 1] = im[high] = 0;
            } else {
                re[high - 1] = re[high] = x + p;
                im[high - 1] = z;
                im[high] = -z;
            }
            high -= 2;
            tries = 0;
            continue;
        }
        if (tries == 60) {
            return 0;
        }
        if (tries == 10 || tries == 20 || tries == 40) {
            shift += x;
            for (int i = 0; i <= high; ++i) {
                H[i][i] -= x;
            }
            const double s = fabs(H[high][high - 1]) + fabs(H[high - 1][high - 2]);
            x = y = 0.75 * s;
            w = -0.4375 * s * s;
        }
        ++tries;
        int m = high - 2;
        double p = 0, q = 0, r = 0;
        for (; m >= low; --m) {
            const double z = H[m][m], u = x - z, v = y - z;
            p = (u * v - w) / H[m + 1][m] + H[m][m + 1];
            q = H[m + 1][m + 1] - z - u - v;
            r = H[m + 2][m + 1];
            const double s = fabs(p) + fabs(q) + fabs(r);
            p /= s;
            q /= s;
            r /= s;
            if (m == low) {
                break;
            }
            const double small = fabs(H[m][m - 1]) * (fabs(q) + fabs(r));
            const double size = fabs(p) * (fabs(H[m - 1][m - 1]) + fabs(z) + fabs(H[m + 1][m + 1]));
            if (small <= DBL_EPSILON * size) {
                break;
            }
        }
        for (int i = m + 2; i <= high; ++i) {
            H[i][i - 2] = 0;
            if (i != m + 2) {
                H[i][i - 3] = 0;
            }
        }
        for (int k = m; k <= high - 1; ++k) {
            double scale = 1;
            const int three = k != high - 1;
            if (k != m) {
                p = H[k][k - 1];
                q = H[k + 1][k - 1];
                r = three ? H[k + 2][k - 1] : 0;
                scale = fabs(p) + fabs(q) + fabs(r);
                if (scale == 0) {
                    continue;
                }
                p /= scale;
                q /= scale;
                r /= scale;
            }
            const double root = sqrt(p * p + q * q + r * r), s = p >= 0 ? root : -root;
            if (s == 0) {
                continue;
            }
            if (k == m) {
                if (low != m) {
                    H[k][k - 1] = -H[k][k - 1];
                }
            } else {
                H[k][k - 1] = -s * scale;
            }
            p += s;
            const double a = p / s, b = q / s, c = r / s;
            q /= p;
            r /= p;
            if (three) {
                for (int j = k; j <= high; ++j) {
                    const double sum = H[k][j] + q * H[k + 1][j] + r * H[k + 2][j];
                    H[k][j] -= sum * a;
                    H[k + 1][j] -= sum * b;
                    H[k + 2][j] -= sum * c;
                }
                const int end = high < k + 3 ? high : k + 3;
                for (int i = low; i <= end; ++i) {
                    const double sum = a * H[i][k] + b * H[i][k + 1] + c * H[i][k + 2];
                    H[i][k] -= sum;
                    H[i][k + 1] -= sum * q;
                    H[i][k + 2] -= sum * r;
                }
            } else {
                for (int j = k; j <= high; ++j) {
                    const double sum = H[k][j] + q * H[k + 1][j];
                    H[k][j] -= sum * a;
                    H[k + 1][j] -= sum * b;
                }
                for (int i = low; i <= high; ++i) {
                    const double sum = a * H[i][k] + b * H[i][k + 1];
                    H[i][k] -= sum;
                    H[i][k + 1] -= sum * q;
                }
            }
        }
    }
    return 1;
}

/* ---- one pose ---- */

/* The equations: W by columns, the first behind the waves of the six others, made triangular. Returns the least diagonal entry over the largest. */
static double reduced(const pencil *p, const double T[3][4], double E[14][36])
{
    double Z[15][15], V[9][15] = {{0}};
    lift(T, Z);
    const int outer = (int)p->outer, inner = (int)p->inner;
    for (int j = 0; j < inner; ++j) {
        for (int a = 0; a < 15; ++a) {
            for (int b = 0; b < 15; ++b) {
                V[j][a] += Z[a][b] * p->behind[j * 15 + b];
            }
        }
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
        const double angle = try < 8 ? turns[try] * 0.78539816339744831 : at, c = cos(angle), s = sin(angle);
        for (int i = 0; i < 12; ++i) {
            for (int j = 0; j < 12; ++j) {
                const double a = ABC[0][i][j], b = ABC[1][i][j] * c + ABC[2][i][j] * s;
                P[i][j] = a - b;
                P[i][12 + j] = a + b;
                P[i][24 + j] = 2 * (ABC[2][i][j] * c - ABC[1][i][j] * s);
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

/* A vector that A + B c + C s takes to nothing, by two steps of inverse iteration. */
static void null_vector(double ABC[3][12][12], double angle, double v[12])
{
    double M[12][13];
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
            M[i][j] = ABC[0][i][j] + ABC[1][i][j] * c + ABC[2][i][j] * s;
        }
        M[i][12] = 1 + 0.1 * i;
    }
    eliminated(&M[0][0], 13);
    for (int step = 0; step < 2; ++step) {
        double size = 0;
        for (int i = 11; i >= 0; --i) {
            double sum = M[i][12];
            for (int k = i + 1; k < 12; ++k) {
                sum -= M[i][k] * v[k];
            }
            const double pivot = M[i][i];
            v[i] = sum / (fabs(pivot) > 1e-300 ? pivot : 1e-300);
            size = fmax(size, fabs(v[i]));
        }
        for (int i = 0; i < 12; ++i) {
            v[i] /= size;
        }
        /* the second right side: the upper triangle alone, which has the same null vector */
        for (int i = 0; i < 12; ++i) {
            M[i][12] = v[i];
        }
    }
}

/* The angles of the two joints that a null vector stands for. */
static void two_angles(const double v[12], double *b, double *c)
{
    double re = 0, im = 0, x = 0, y = 0;
    for (int j = 0; j < 3; ++j) {
        const double c1 = v[j], s1 = v[3 + j], c3 = v[6 + j], s3 = v[9 + j];
        /* conj(e_k) e_{k+1} for exp(-3ih), exp(-ih), exp(ih), exp(3ih): the first and the last are conjugates of each other's factors */
        re += 2 * (c3 * c1 + s3 * s1) + c1 * c1 - s1 * s1;
        im += 2 * (s3 * c1 - c3 * s1) + 2 * c1 * s1;
    }
    for (int k = 0; k < 4; ++k) {
        x += v[3 * k] * v[3 * k + 1];
        y += v[3 * k] * v[3 * k + 2];
    }
    *b = atan2(im, re);
    *c = atan2(y, x);
}

static void turn(const double *axis, double angle, double v[3])
{
    const double c = cos(angle), s = sin(angle), d = (1 - c) * (axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]);
    const double x = axis[1] * v[2] - axis[2] * v[1], y = axis[2] * v[0] - axis[0] * v[2], z = axis[0] * v[1] - axis[1] * v[0];
    v[0] = c * v[0] + s * x + d * axis[0];
    v[1] = c * v[1] + s * y + d * axis[1];
    v[2] = c * v[2] + s * z + d * axis[2];
}

/* The two joints on the other side from the triangular equations, and the last from the rotation. */
static void others(const pencil *p, const double E[14][36], const double T[3][4], double q[6])
{
    const int first = (int)p->first;
    double m[3][3], wave[9], y[8];
    for (int k = 0; k < 3; ++k) {
        m[k][0] = 1;
        m[k][1] = cos(q[first + k]);
        m[k][2] = sin(q[first + k]);
    }
    for (int i = 0; i < 9; ++i) {
        wave[i] = m[1][i / 3] * m[2][i % 3];
    }
    for (int i = 7; i >= 0; --i) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) {
            for (int j = 0; j < 9; ++j) {
                sum += m[0][k] * wave[j] * E[i][9 + 9 * k + j];
            }
        }
        for (int k = i + 1; k < 8; ++k) {
            sum -= E[i][k] * y[k];
        }
        y[i] = sum / E[i][i];
    }
    const int place[3][2] = {{5, 4}, {0, 5}, {1, 0}};
    q[place[first][0]] = atan2(y[5], y[2]);
    q[place[first][1]] = atan2(y[1], y[0]);
    const int last = first + 3;
    double u[3], w[3];
    memcpy(u, p->axes[last] + 6, sizeof u);
    for (int k = last + 1; k < 6; ++k) {
        /* behind it: (R_{last+1} ... R_6)^-1 is R_6^-1 ... last, applied from the right */
        turn(p->axes[k], -q[k], u);
    }
    for (int i = 0; i < 3; ++i) {
        w[i] = T[i][0] * u[0] + T[i][1] * u[1] + T[i][2] * u[2];
    }
    for (int k = 0; k < last; ++k) {
        turn(p->axes[k], -q[k], w);
    }
    const double *h = p->axes[last], *a = p->axes[last] + 6;
    const double side[3] = {h[1] * a[2] - h[2] * a[1], h[2] * a[0] - h[0] * a[2], h[0] * a[1] - h[1] * a[0]};
    q[last] = atan2(w[0] * side[0] + w[1] * side[1] + w[2] * side[2], w[0] * a[0] + w[1] * a[1] + w[2] * a[2]);
}

/* The candidates of one pose, 16 rows of six angles; returns how many, or -1 in doubt. */
static int general(const pencil *p, const double *X, double *rows)
{
    double T[3][4], back[3][4];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            T[i][j] = j == 3 ? X[4 * i + 3] * p->scale : 0;
            for (int k = 0; k < 3; ++k) {
                T[i][j] += X[4 * i + k] * p->X0[4 * k + j];
            }
        }
    }
    if (p->backwards != 0) {
        for (int i = 0; i < 3; ++i) {
            back[i][3] = 0;
            for (int j = 0; j < 3; ++j) {
                back[i][j] = T[j][i];
                back[i][3] -= T[j][i] * T[j][3];
            }
        }
        memcpy(T, back, sizeof T);
    }
    double E[14][36], ABC[3][12][12], H[N][N], re[N], im[N], phi;
    if (reduced(p, T, E) < SINGULAR_PIVOT) {
        return -1;
    }
    for (int k = 0; k < 3; ++k) {
        double M[6][9];
        for (int i = 0; i < 6; ++i) {
            memcpy(M[i], &E[8 + i][9 + 9 * k], sizeof M[i]);
        }
        twelve(M, ABC[k]);
    }
    if (companion(p, ABC, &phi, H) < SINGULAR_PIVOT) {
        return -1;
    }
    balance(H);
    hessenberg(H);
    if (!eigenvalues(H, re, im)) {
        return -1;
    }
    double angles[N];
    int n = 0;
    for (int k = 0; k < N; ++k) {
        if (im[k] == 0) {
            angles[n++] = phi + 2 * atan(re[k]);
        } else if (2 * fabs(im[k]) < NEARLY_REAL * (1 + re[k] * re[k])) {
            return -1;
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            if (fabs(remainder(angles[i] - angles[j], 6.283185307179586)) < APART) {
                return -1;
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        double v[12], q[6];
        null_vector(ABC, angles[i], v);
        const int first = (int)p->first;
        q[first] = angles[i];
        two_angles(v, &q[first + 1], &q[first + 2]);
        others(p, E, T, q);
        for (int j = 0; j < 6; ++j) {
            rows[6 * i + j] = p->backwards != 0 ? q[5 - j] : q[j];
        }
    }
    return n;
}

/* As the candidates of closed forms: room 1 where there is one, -1 where there is none; no lever in doubt. */
void candidates(const vec *x, vec *y, const real *c)
{
    for (int lane = 0; lane < LANES; ++lane) {
        double X[12], rows[16 * 6] = {0};
        for (int k = 0; k < 12; ++k) {
            X[k] = ((const real *)&x[k])[lane];
        }
        const int n = general((const pencil *)(const void *)c, X, rows);
        for (int k = 0; k < 16; ++k) {
            ((real *)&y[2 * k])[lane] = k < n || (n < 0 && k == 0) ? 1 : -1;
            ((real *)&y[2 * k + 1])[lane] = n < 0 ? 0 : 1;
        }
        for (int k = 0; k < 16 * 6; ++k) {
            ((real *)&y[2 * 16 + k])[lane] = rows[k];
        }
    }
}
