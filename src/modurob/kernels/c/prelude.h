/* Vectors of LANES states. Every state has a lane to itself; lanes never mix but in the transposition at the edges. */
#ifndef MODUROB_PRELUDE_H
#define MODUROB_PRELUDE_H

#ifdef __CUDACC_RTC__ /* has no headers */
typedef int int32_t;
typedef long long int64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#else
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef SINGLE
typedef float real;
typedef int32_t whole;
#define MAGIC 12582912.0f /* 1.5 * 2^23: adding it rounds to a whole number */
#define FARTHEST 8192.0f
#define LARGEST FLT_MAX
#define TINIEST FLT_MIN
#define SIGN_BIT INT32_MIN
#else
typedef double real;
typedef int64_t whole;
#define MAGIC 6755399441055744.0 /* 1.5 * 2^52 */
#define FARTHEST 1048576.0
#define LARGEST DBL_MAX
#define TINIEST DBL_MIN
#define SIGN_BIT INT64_MIN
#endif

/* always, so that the code of a function does not depend on what is compiled with it */
#define INLINED static inline __attribute__((always_inline))
#ifdef __clang__
#define SEPARATE static __attribute__((noinline))
#else
#define SEPARATE static __attribute__((noipa))
#endif

/* Bytes from a row of results to the next: long rows begin with a line of the cache, as in `kernels.memory`. */
enum { LINE = 64, LONG_ROW = 1024 };
INLINED int64_t row_bytes(int64_t bytes)
{
    return bytes >= LONG_ROW ? (bytes + LINE - 1) / LINE * LINE : bytes;
}

#define BYTES (LANES * (int)sizeof(real))
#if LANES == 1
typedef real vec;
typedef whole ivec;
#define V(x) ((real)(x))
#else
typedef real vec __attribute__((vector_size(BYTES), aligned(BYTES)));
typedef whole ivec __attribute__((vector_size(BYTES), aligned(BYTES)));
#define V(x) ((vec){0} + (real)(x))
#endif

#if LANES > 1
/* Lane i of the result is lane pick[i] of a and b laid end to end. */
INLINED vec shuffle(vec a, vec b, ivec pick)
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
INLINED void swap_squares(vec *rows, const int half)
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

INLINED void transpose(vec *rows)
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

#ifndef CELLS
/* A part of the arena, and where a step finds one; places of steps are in bytes. */
typedef vec *cells;
#define AT(k) ((cells)((char *)arena + at[k]))
#else
/* One state in each thread of a GPU: its numbers stand STRIDE apart. Places of steps are in numbers. */
struct cells {
    real *first;
    real &operator[](int32_t k) const { return first[(int64_t)k * STRIDE]; }
    cells operator+(int32_t k) const { return cells{first + (int64_t)k * STRIDE}; }
};
#define AT(k) (arena + at[k])
#endif

/* A row of a sequence: a step, the places in the arena it reads and writes, and its constants. */
typedef void step(cells arena, const int32_t *at, const real *c);
typedef struct {
    step *run;
    const int32_t *at;
    const real *c;
} row;

INLINED vec choose(ivec mask, vec yes, vec no)
{
#if LANES == 1
    return mask ? yes : no;
#else
    return (vec)(((ivec)yes & mask) | ((ivec)no & ~mask));
#endif
}
#if defined(__AVX512F__) && LANES * 8 == 64 && !defined(SINGLE)
#define WIDE
/* The instructions that no expression yields, in all lanes (255, the results elsewhere do not matter), rounded as ever (4). Where gcc has
   them by these names, its header of all its instructions, which takes longer to read than many a unit to compile, is left out. */
#ifndef __has_builtin
#define __has_builtin(name) 0
#endif
#if __has_builtin(__builtin_ia32_cmppd512_mask) && __has_builtin(__builtin_ia32_blendmpd_512_mask) \
    && __has_builtin(__builtin_ia32_minpd512_mask) && __has_builtin(__builtin_ia32_maxpd512_mask) \
    && __has_builtin(__builtin_ia32_rndscalepd_mask) && __has_builtin(__builtin_ia32_rcp14pd512_mask) \
    && __has_builtin(__builtin_ia32_rsqrt14pd512_mask)
#define IS_LESS(a, b) __builtin_ia32_cmppd512_mask(a, b, 17, (uint8_t)255, 4)
#define BLEND(mask, no, yes) __builtin_ia32_blendmpd_512_mask(no, yes, mask)
#define MINIMUM(a, b) __builtin_ia32_minpd512_mask(a, b, V(0), (uint8_t)255, 4)
#define GREATER(a, b) __builtin_ia32_maxpd512_mask(a, b, V(0), (uint8_t)255, 4)
#define each_rint(x) __builtin_ia32_rndscalepd_mask(x, 0, V(0), (uint8_t)255, 4)
#define GUESSED_RECIPROCAL(x) __builtin_ia32_rcp14pd512_mask(x, V(0), (uint8_t)255)
#define GUESSED_ROOT_RECIPROCAL(x) __builtin_ia32_rsqrt14pd512_mask(x, V(0), (uint8_t)255)
#else
#include <immintrin.h>
#define IS_LESS(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ)
#define BLEND(mask, no, yes) ((vec)_mm512_mask_blend_pd(mask, (__m512d)(no), (__m512d)(yes)))
#define MINIMUM(a, b) ((vec)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define GREATER(a, b) ((vec)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define each_rint(x) ((vec)_mm512_roundscale_pd((__m512d)(x), 0))
#define GUESSED_RECIPROCAL(x) ((vec)_mm512_rcp14_pd((__m512d)(x)))
#define GUESSED_ROOT_RECIPROCAL(x) ((vec)_mm512_rsqrt14_pd((__m512d)(x)))
#endif
/* one comparison and one blend, which gcc does not make of masks; minimum and maximum take the second where one is not a number, as
   the choices do */
#define SELECT(a, b, x, y) BLEND(IS_LESS(a, b), y, x)
#define MAXIMUM(a, b) GREATER(b, a)
#else
#define SELECT(a, b, x, y) choose((ivec)((a) < (b)), x, y)
#define MINIMUM(a, b) SELECT(a, b, a, b)
#define MAXIMUM(a, b) SELECT(a, b, b, a)
#endif

/* A number that is read here, and stays in a register: gcc would else read it again at every use. */
#if defined(WIDE) && defined(__GNUC__)
#define HELD(x) __asm__("" : "+v"(x))
#else
#define HELD(x) ((void)0)
#endif

/* Whether a number is negative in some lane. */
INLINED int any_negative(vec x)
{
#if LANES == 1
    return x < 0;
#elif defined(WIDE)
    return IS_LESS(x, V(0)) != 0;
#else
    int found = 0;
    for (int i = 0; i < LANES; ++i) {
        found |= x[i] < 0;
    }
    return found;
#endif
}

#if LANES == 1
#define EACH(name, expression)                   \
    INLINED vec each_##name(vec x)               \
    {                                            \
        const real a = x;                        \
        return (real)(expression);               \
    }
#else
#define EACH(name, expression)                   \
    INLINED vec each_##name(vec x)               \
    {                                            \
        vec y;                                   \
        for (int i = 0; i < LANES; ++i) {        \
            const real a = x[i];                 \
            y[i] = (real)(expression);           \
        }                                        \
        return y;                                \
    }
#endif
EACH(exp, exp((double)a))
EACH(log, log((double)a))
EACH(tanh, tanh((double)a))
#ifndef WIDE
EACH(rint, rint((double)a))
#endif
EACH(root, sizeof(real) == 8 ? (real)sqrt((double)a) : (real)sqrtf((float)a))
#define square_root each_root

/* One over x, over the root of x, and that root, good to the last bit or two: where the processor has a first guess of 14 bits they are made from that, since
   its divisions and roots of vectors take many times as long as multiplications. */
INLINED vec reciprocal(vec x)
{
#ifdef WIDE
    vec y = GUESSED_RECIPROCAL(x);
    y += y * (1.0 - x * y);
    return y + y * (1.0 - x * y);
#elif defined(__CUDA_ARCH__) && defined(SINGLE)
    vec y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#elif defined(__CUDA_ARCH__)
    vec y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y += y * (1.0 - x * y);
    return y + y * (1.0 - x * y);
#else
    return V(1) / x;
#endif
}

INLINED vec root_reciprocal(vec x)
{
#ifdef WIDE
    const vec y = GUESSED_ROOT_RECIPROCAL(x), e = 1.0 - x * y * y;
    return y + y * e * (0.5 + e * (0.375 + e * 0.3125));
#else
    return V(1) / square_root(x);
#endif
}

INLINED vec quick_root(vec x)
{
#ifdef WIDE
    const vec y = GUESSED_ROOT_RECIPROCAL(GREATER(x, V(1e-300))), r = x * y, e = 1.0 - r * y;
    return r + r * e * (0.5 + e * (0.375 + e * 0.3125));
#else
    return square_root(x);
#endif
}

/* |x|, and x >= 0 with the sign of y. */
INLINED vec magnitude(vec x)
{
#if LANES == 1
    return sizeof(real) == 8 ? (real)fabs((double)x) : (real)fabsf((float)x);
#else
    return (vec)((ivec)x & ~SIGN_BIT);
#endif
}

INLINED vec with_sign(vec x, vec y)
{
#if LANES == 1
    return y < 0 ? -x : x;
#else
    return (vec)((ivec)x | ((ivec)y & SIGN_BIT));
#endif
}

/* The angle of the point (x, y): a quotient of at most tan(pi/8) by one division, and the polynomial of Sun's fdlibm there. Inlined, since a
   call would cost more: no vector register outlives one. */
INLINED vec each_atan2(vec y, vec x)
{
    const vec wide = magnitude(x), high = magnitude(y);
    const vec big = MAXIMUM(wide, high), small = MINIMUM(wide, high); /* of which one is not a number if x or y is not */
    const vec bound = big * (real)0.41421356237309503;
    const vec above = SELECT(bound, small, small - big, small), below = SELECT(bound, small, small + big, big);
    const vec t = above * reciprocal(below + TINIEST); /* what is not a number stays so, the angle of no point is zero */
    const vec z = t * t, w = z * z;
    const vec even = z * (V(3.33333333333329318027e-01) + w * (V(1.42857142725034663711e-01) + w * (V(9.09088713343650656196e-02)
        + w * (V(6.66107313738753120669e-02) + w * (V(4.97687799461593236017e-02) + w * V(1.62858201153657823623e-02))))));
    const vec odd = w * (V(-1.99999999998764832476e-01) + w * (V(-1.11111104054623557880e-01) + w * (V(-7.69187620504482999495e-02)
        + w * (V(-5.83357013379057348645e-02) + w * V(-3.65315727442169155270e-02)))));
    vec angle = t - t * (even + odd) + SELECT(bound, small, V(0.78539816339744831), V(0));
    angle = SELECT(wide, high, V(1.57079632679489662) - angle, angle);
    angle = SELECT(x, V(0), V(3.14159265358979324) - angle, angle);
    return with_sign(angle, y);
}

/* Numbers of two words: a GPU reads them from where constants stand, instead of making them up at every use, and has polynomials
   whose parts do not wait for each other. */
#ifdef __CUDACC_RTC__
#define CONSTANTS_OF __constant__
#define POLYNOMIAL(c, z) (c[0] + z * c[1] + (z * z) * (c[2] + z * c[3] + (z * z) * (c[4] + z * c[5])))
#else
#define CONSTANTS_OF static const
#define POLYNOMIAL(c, z) (c[0] + z * (c[1] + z * (c[2] + z * (c[3] + z * (c[4] + z * c[5])))))
#endif

#ifndef SINGLE
CONSTANTS_OF double QUARTER_TURNS[] = {0.63661977236758134308, 1.57079632673412561417e+00, 6.07710050630396597660e-11,
                               2.02226624879595063154e-21};
CONSTANTS_OF double SINE_TERMS[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                               2.75573137070700676789e-06,  -2.50507602534068634195e-08, 1.58969099521155010221e-10};
CONSTANTS_OF double COSINE_TERMS[] = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                                 -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};
#endif

/* Sine and cosine together: x = k pi/2 + r by Cody and Waite in three parts, polynomials on |r| <= pi/4. Good to the last bit or
   two; not a number for angles beyond FARTHEST, which the caller then takes another way. */
INLINED void sine_cosine(vec angle, vec *sine, vec *cosine)
{
    const vec x = SELECT(magnitude(angle), V(FARTHEST), angle, V(NAN));
#ifdef SINGLE
    const vec shifted = x * 0.636619772367581343f + MAGIC;
    const vec k = shifted - MAGIC;
    const vec r = ((x - k * 1.5703125f) - k * 4.837512969970703125e-4f) - k * 7.54978995489188216e-8f;
    const vec z = r * r;
    const vec s = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
    const vec c = 1.0f - 0.5f * z + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
#else
    const vec shifted = x * QUARTER_TURNS[0] + MAGIC;
    const vec k = shifted - MAGIC;
    const vec r = ((x - k * QUARTER_TURNS[1]) - k * QUARTER_TURNS[2]) - k * QUARTER_TURNS[3];
    const vec z = r * r;
    const vec s = r + r * z * POLYNOMIAL(SINE_TERMS, z);
    const vec c = 1.0 - 0.5 * z + z * z * POLYNOMIAL(COSINE_TERMS, z);
#endif
    const int top = 8 * (int)sizeof(real) - 2; /* moves bit 1 to the sign */
#if LANES == 1
    union { vec number; ivec bits; } quadrant = { shifted }, a, b;
    const int n = (int)quadrant.bits;
    a.number = n & 1 ? c : s, b.number = n & 1 ? s : c;
    a.bits ^= (ivec)((unsigned long long)(n & 2) << top), b.bits ^= (ivec)((unsigned long long)((n + 1) & 2) << top);
    *sine = a.number, *cosine = b.number;
#else
    const ivec n = (ivec)shifted;
    const ivec odd = -(n & 1);
    *sine = (vec)((ivec)choose(odd, c, s) ^ ((n & 2) << top));
    *cosine = (vec)((ivec)choose(odd, s, c) ^ (((n + 1) & 2) << top));
#endif
}

#endif
