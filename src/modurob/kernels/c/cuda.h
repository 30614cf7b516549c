/* One state in each thread of a GPU. Compiled by NVRTC, and by a C++ compiler where a test plays the GPU. */
#ifdef SINGLE
typedef float real;
typedef int whole;
#define MAGIC 12582912.0f /* 1.5 * 2^23: adding it rounds to a whole number */
#define FARTHEST 8192.0f
#else
typedef double real;
typedef long long whole;
#define MAGIC 6755399441055744.0 /* 1.5 * 2^52 */
#define FARTHEST 1048576.0
#endif

#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define V(x) ((real)(x))
#define INLINE static __device__ __forceinline__

INLINE real reciprocal(real x)
{
#ifndef __CUDA_ARCH__
    return 1 / x;
#elif defined(SINGLE)
    return __frcp_rn(x);
#else
    return __drcp_rn(x);
#endif
}

/* Sine and cosine together: x = k pi/2 + r by Cody and Waite in three parts, polynomials on |r| <= pi/4. Not a number for angles beyond
   FARTHEST, which the caller then takes another way. */
INLINE void sine_cosine(real angle, real *sine, real *cosine)
{
    const real x = (angle < 0 ? -angle : angle) < FARTHEST ? angle : (real)NAN;
#ifdef SINGLE
    const real shifted = x * 0.636619772367581343f + MAGIC;
    const real k = shifted - MAGIC;
    const real r = ((x - k * 1.5703125f) - k * 4.837512969970703125e-4f) - k * 7.54978995489188216e-8f;
    const real z = r * r;
    const real s = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
    const real c = 1.0f - 0.5f * z + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
#else
    const real shifted = x * 0.63661977236758134308 + MAGIC;
    const real k = shifted - MAGIC;
    const real r = ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
    const real z = r * r;
    const real s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03
        + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06
        + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const real c = 1.0 - 0.5 * z + z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03
        + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07
        + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
#endif
    union { real number; whole bits; } quadrant;
    quadrant.number = shifted;
    const int n = (int)quadrant.bits;
    const real a = n & 1 ? c : s, b = n & 1 ? s : c;
    *sine = n & 2 ? -a : a;
    *cosine = (n + 1) & 2 ? -b : b;
}

/* A robot of a fleet: its tables, and where its states stand. Arrays are data, stride of states, stride of entries. */
typedef struct {
    const int *rows;
    const real *constants;
    long long joints, numbers, states; /* numbers: how many constants */
    real *status;
    long long arrays[3 * ARRAYS];
} robot;

/* A row of a joint. */
enum { TYPE, Q, RATE, BODY, OWN, PARENT, FLAGS, TAKE, PUT, CONSTANTS, SAVED, ROW = 12 };
enum { LOADS = 1, SAVES = 2, TIP = 4, TAKES_CARRIED = 8, TAKES_SLOT = 16, PUTS = 32, ADDS = 64 };

/* Numbers and rows come in fours, which are read at once; unrolled code has them in itself. */
#if defined(__CUDA_ARCH__) && !defined(UNROLLED)
INLINE void read_four(const real *from, real *to)
{
#ifdef SINGLE
    const float4 x = *(const float4 *)from;
    to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
#else
    const double2 x = *(const double2 *)from, y = *(const double2 *)(from + 2);
    to[0] = x.x, to[1] = x.y, to[2] = y.x, to[3] = y.y;
#endif
}

INLINE void read_row(const int *from, int *to)
{
    for (int k = 0; k < ROW; k += 4) {
        const int4 x = *(const int4 *)(from + k);
        to[k] = x.x, to[k + 1] = x.y, to[k + 2] = x.z, to[k + 3] = x.w;
    }
}
#else
INLINE void read_four(const real *from, real *to)
{
    for (int k = 0; k < 4; ++k) {
        to[k] = from[k];
    }
}

INLINE void read_row(const int *from, int *to)
{
    for (int k = 0; k < ROW; ++k) {
        to[k] = from[k];
    }
}
#endif

/* What the children of a joint sent: that of the next joint, which is still in registers, and what stands in a slot. */
INLINE void take(int flags, const real *slot, real *sum)
{
    if (!(flags & TAKES_CARRIED)) {
        for (int k = 0; k < SENT; ++k) {
            sum[k] = 0;
        }
    }
    if (flags & TAKES_SLOT) {
        for (int k = 0; k < SENT; ++k) {
            sum[k] += slot[k * STRIDE];
        }
    }
}

/* What a joint sends to a body other than the one before it goes to a slot. */
INLINE void put(int flags, real *slot, const real *sum)
{
    if (flags & PUTS) {
        for (int k = 0; k < SENT; ++k) {
            slot[k * STRIDE] = flags & ADDS ? slot[k * STRIDE] + sum[k] : sum[k];
        }
    }
}
