/* One state, or several, from Python, with as little as possible in between. Anything unusual returns None: `running.run` does it then. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <string.h>

#include "prelude.h"

/* `number`: how many times on end for one state, or how many states. Returns zero if all is well. */
typedef double function(const void *sequence, void *arena, const void *const *inputs, void *const *outputs, long number);

enum { MOST_INPUTS = 16, MOST_OUTPUTS = 8, MOST_AXES = 4 };

typedef struct {
    void *sequence, *arena;
    function *run;
    int many; /* whether arrays have a first axis over states */
    int type; /* of numbers: NPY_DOUBLE or NPY_FLOAT */
    int busy; /* whether a thread works in the arena that all calls share */
    int inputs, outputs;
    long entries[MOST_INPUTS];
    int axes[MOST_OUTPUTS];
    npy_intp shape[MOST_OUTPUTS][MOST_AXES];
    double shortest, longest; /* squares of lengths that quaternions may have */
    Py_ssize_t quaternions;
    long at[]; /* where each quaternion begins in the first input */
} bound;

/* How many states an array (states, entries) has; -1 if it is none. */
static long states_of(PyObject *object)
{
    const int is_array = PyArray_CheckExact(object) && PyArray_NDIM((PyArrayObject *)object) == 2;
    return is_array ? (long)PyArray_DIM((PyArrayObject *)object, 0) : -1;
}

/* Whether n numbers are finite. */
#define FINITE(name, number)                                                                                        \
    static int name(const number *x, long n)                                                                        \
    {                                                                                                               \
        typedef number line __attribute__((vector_size(LINE), aligned(sizeof(number)), may_alias));                 \
        enum { WIDTH = LINE / sizeof(number) };                                                                     \
        volatile number zero = 0; /* as the compiler must not know: gcc takes a vector times zero for zero */       \
        const number none = zero;                                                                                   \
        line nothing = {0}; /* sums that do not wait for each other */                                              \
        number all = 0;                                                                                             \
        long i = 0;                                                                                                 \
        for (; i + WIDTH <= n; i += WIDTH) {                                                                        \
            nothing += *(const line *)(const void *)(x + i) * none;                                                 \
        }                                                                                                           \
        for (; i < n; ++i) {                                                                                        \
            all += x[i] * none;                                                                                     \
        }                                                                                                           \
        for (int k = 0; k < WIDTH; ++k) {                                                                           \
            all += nothing[k];                                                                                      \
        }                                                                                                           \
        return all == 0;                                                                                            \
    }
FINITE(doubles_are_finite, double)
FINITE(floats_are_finite, float)

/* The n numbers of an array if they are finite, or NULL. */
static const void *all_finite(PyArrayObject *array, long n)
{
    const void *const x = PyArray_DATA(array);
    const int finite = PyArray_TYPE(array) == NPY_FLOAT ? floats_are_finite((const float *)x, n) : doubles_are_finite((const double *)x, n);
    return finite ? x : NULL;
}

/* Results are checked too: inputs of more numbers, which would be read from beyond the caches twice, are looked at where those are not finite. */
enum { CHECKED = 20000 };

/* The numbers of a plain array of finite numbers of a type, (n,), or (states, n) if there are states, or NULL. */
static const void *numbers(PyObject *object, int type, long states, long n)
{
    if (!PyArray_CheckExact(object)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    const int axes = states > 0 ? 2 : 1;
    if (PyArray_TYPE(array) != type || PyArray_NDIM(array) != axes || PyArray_DIM(array, axes - 1) != n || !PyArray_ISCARRAY_RO(array)) {
        return NULL;
    }
    if (states > 0 && PyArray_DIM(array, 0) != states) {
        return NULL;
    }
    const long all = states > 0 ? states * n : n;
    return all > CHECKED ? PyArray_DATA(array) : all_finite(array, all);
}

/* The numbers of a plain matrix (4, 4) of finite doubles, or NULL. */
static const void *matrix(PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    const int is_matrix = PyArray_CheckExact(object) && PyArray_NDIM(array) == 2 && PyArray_DIM(array, 0) == 4 && PyArray_DIM(array, 1) == 4;
    return is_matrix && PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array) ? all_finite(array, 16) : NULL;
}

/* Whether all quaternions of all states may be meant. */
static int has_quaternions(const bound *b, const void *q, long states)
{
    for (long i = 0; i < states; ++i) {
        for (Py_ssize_t k = 0; k < b->quaternions; ++k) {
            const long at = i * b->entries[0] + b->at[k];
            double square = 0;
            for (long j = at; j < at + 4; ++j) {
                const double x = b->type == NPY_FLOAT ? ((const float *)q)[j] : ((const double *)q)[j];
                square += x * x;
            }
            if (!(square > b->shortest && square < b->longest)) {
                return 0;
            }
        }
    }
    return 1;
}

static PyObject *finished(PyObject **results, int n)
{
    if (n == 1) {
        return results[0];
    }
    PyObject *all = PyTuple_New(n);
    for (int i = 0; i < n; ++i) {
        if (all != NULL) {
            PyTuple_SET_ITEM(all, i, results[i]);
        } else {
            Py_DECREF(results[i]);
        }
    }
    return all;
}

/* An array of these axes in memory that has a line of the cache to spare, with `row_bytes` to an entry of its first axis. */
static PyObject *in_lines(PyObject *memory, int type, int axes, npy_intp *shape, npy_intp row, npy_intp item)
{
    if (memory == NULL) {
        return NULL;
    }
    npy_intp strides[MOST_AXES];
    for (npy_intp i = axes - 1, step = item; i >= 0; step *= shape[i--]) {
        strides[i] = i ? step : row;
    }
    char *const data = (char *)PyArray_DATA((PyArrayObject *)memory);
    char *const first = data + (-(uintptr_t)data & (LINE - 1));
    PyObject *array = PyArray_New(&PyArray_Type, axes, shape, type, strides, first, 0, NPY_ARRAY_BEHAVED, NULL);
    if (array == NULL) {
        Py_DECREF(memory);
    } else if (PyArray_SetBaseObject((PyArrayObject *)array, memory) != 0) {
        Py_CLEAR(array);
    }
    return array;
}

/* What gives memory of so many bytes or more, which is used again, as `kernels.memory` has it. */
static PyObject *memory_function = NULL;
static npy_intp large = NPY_MAX_INTP;

/* use(function of bytes, from how many on) */
static PyObject *use(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *function;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(arguments, "On", &function, &bytes)) {
        return NULL;
    }
    Py_INCREF(function);
    Py_XSETREF(memory_function, function);
    large = bytes;
    Py_RETURN_NONE;
}

/* An array of so many bytes or more. */
static PyObject *memory_of(npy_intp bytes)
{
    if (bytes >= large) {
        return PyObject_CallFunction(memory_function, "n", (Py_ssize_t)bytes);
    }
    return PyArray_SimpleNew(1, &bytes, NPY_UINT8);
}

/* An array for results, whose first axis is over states if there are many. */
static PyObject *new_array(int type, int many, int axes, npy_intp *shape)
{
    const npy_intp item = type == NPY_FLOAT ? sizeof(float) : sizeof(double);
    npy_intp bytes = item;
    for (int i = many; i < axes; ++i) {
        bytes *= shape[i];
    }
    const npy_intp row = row_bytes(bytes), whole = shape[0] * row;
    if (!many || (bytes < LONG_ROW && whole < large)) {
        return PyArray_SimpleNew(axes, shape, type);
    }
    return in_lines(memory_of(whole + LINE), type, axes, shape, row, item);
}

/* From so many numbers on, other threads of the interpreter go on meanwhile. */
enum { MANY_NUMBERS = 10000 };

/* The function, run. */
static double worked(bound *b, const void *const *inputs, void *const *outputs, long states, long repeats)
{
    if (states * b->entries[0] <= MANY_NUMBERS) {
        return b->run(b->sequence, b->arena, inputs, outputs, b->many ? states : repeats);
    }
    double status;
    b->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    status = b->run(b->sequence, b->arena, inputs, outputs, states);
    Py_END_ALLOW_THREADS
    b->busy = 0;
    return status;
}

/* call(handle, repeats of one state, inputs as a tuple): the results, or None */
static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    if (count != 3 || !PyTuple_CheckExact(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "call(handle, repeats, inputs)");
        return NULL;
    }
    bound *b = (bound *)PyCapsule_GetPointer(arguments[0], NULL);
    if (b == NULL) {
        return NULL;
    }
    const long repeats = PyLong_AsLong(arguments[1]);
    if (repeats == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (b->busy || PyTuple_GET_SIZE(arguments[2]) != b->inputs) {
        Py_RETURN_NONE;
    }
    const long states = b->many && b->inputs ? states_of(PyTuple_GET_ITEM(arguments[2], 0)) : 0;
    if (b->many && states < 1) {
        Py_RETURN_NONE;
    }
    const void *inputs[MOST_INPUTS];
    for (int i = 0; i < b->inputs; ++i) {
        inputs[i] = numbers(PyTuple_GET_ITEM(arguments[2], i), b->type, states, b->entries[i]);
        if (inputs[i] == NULL) {
            Py_RETURN_NONE;
        }
    }
    if (b->quaternions && !has_quaternions(b, inputs[0], b->many ? states : 1)) {
        Py_RETURN_NONE;
    }
    void *outputs[MOST_OUTPUTS];
    PyObject *results[MOST_OUTPUTS];
    for (int i = 0; i < b->outputs; ++i) {
        npy_intp shape[MOST_AXES] = {states};
        memcpy(shape + b->many, b->shape[i], (size_t)b->axes[i] * sizeof *shape);
        results[i] = new_array(b->type, b->many, b->many + b->axes[i], shape);
        if (results[i] == NULL) {
            while (i-- > 0) {
                Py_DECREF(results[i]);
            }
            return NULL;
        }
        outputs[i] = PyArray_DATA((PyArrayObject *)results[i]);
    }
    if (worked(b, inputs, outputs, states, repeats) != 0) {
        for (int i = 0; i < b->outputs; ++i) {
            Py_DECREF(results[i]);
        }
        Py_RETURN_NONE;
    }
    return finished(results, b->outputs);
}

/* rows(handle, pose (4, 4), start): as many rows of the one output as the function counts, or None */
static PyObject *rows(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "rows(handle, pose, start)");
        return NULL;
    }
    const bound *b = (const bound *)PyCapsule_GetPointer(arguments[0], NULL);
    if (b == NULL) {
        return NULL;
    }
    const void *const inputs[2] = {matrix(arguments[1]), numbers(arguments[2], NPY_DOUBLE, 0, b->entries[1])};
    double counted;
    void *const outputs[2] = {b->arena, &counted};
    if (inputs[0] == NULL || inputs[1] == NULL || b->run(b->sequence, b->arena, inputs, outputs, 1) != 0) {
        Py_RETURN_NONE;
    }
    npy_intp shape[2] = {(npy_intp)counted, b->shape[0][1]};
    PyObject *found = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
    if (found != NULL) {
        memcpy(PyArray_DATA((PyArrayObject *)found), b->arena, (size_t)(shape[0] * shape[1]) * sizeof(double));
    }
    return found;
}

/* views(list of arrays with two axes, where): what the driver needs of each (its `strided`), one after another from there on. */
static PyObject *views(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *arrays;
    unsigned long long where;
    if (!PyArg_ParseTuple(arguments, "O!K", &PyList_Type, &arrays, &where)) {
        return NULL;
    }
    int64_t *to = (int64_t *)(uintptr_t)where;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arrays); ++i, to += 5) {
        PyArrayObject *const x = (PyArrayObject *)PyList_GET_ITEM(arrays, i);
        if (!PyArray_Check((PyObject *)x) || PyArray_NDIM(x) != 2) {
            PyErr_SetString(PyExc_TypeError, "views(list of arrays with two axes, where)");
            return NULL;
        }
        const int64_t view[5] = {(int64_t)(intptr_t)PyArray_DATA(x), PyArray_STRIDE(x, 0), PyArray_STRIDE(x, 1), PyArray_DIM(x, 1), PyArray_DIM(x, 0)};
        memcpy(to, view, sizeof view);
    }
    Py_RETURN_NONE;
}

static void forget(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, NULL));
    Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
}

/* bind(sequence, arena, run, whether for many states, whether of floats, entries of inputs, shapes of outputs, where quaternions begin in the first input, the shortest
   and the longest they may be, who owns all that) */
static PyObject *bind(PyObject *self, PyObject *arguments)
{
    (void)self;
    unsigned long long sequence, arena, run;
    int many, floats;
    double shortest, longest;
    PyObject *entries, *shapes, *quaternions, *owner;
    if (!PyArg_ParseTuple(arguments, "KKKppO!O!O!ddO", &sequence, &arena, &run, &many, &floats, &PyTuple_Type, &entries, &PyTuple_Type, &shapes,
            &PyTuple_Type, &quaternions, &shortest, &longest, &owner)) {
        return NULL;
    }
    const Py_ssize_t inputs = PyTuple_GET_SIZE(entries), outputs = PyTuple_GET_SIZE(shapes), count = PyTuple_GET_SIZE(quaternions);
    if (inputs > MOST_INPUTS || outputs > MOST_OUTPUTS || outputs < 1) {
        PyErr_SetString(PyExc_ValueError, "too many inputs or outputs");
        return NULL;
    }
    bound *b = (bound *)PyMem_Calloc(1, sizeof(bound) + (size_t)count * sizeof(long));
    if (b == NULL) {
        return PyErr_NoMemory();
    }
    b->sequence = (void *)(uintptr_t)sequence;
    b->arena = (void *)(uintptr_t)arena;
    b->run = (function *)(uintptr_t)run;
    b->many = many;
    b->type = floats ? NPY_FLOAT : NPY_DOUBLE;
    b->inputs = (int)inputs;
    b->outputs = (int)outputs;
    b->shortest = shortest * shortest;
    b->longest = longest * longest;
    b->quaternions = count;
    for (Py_ssize_t i = 0; i < count; ++i) {
        b->at[i] = PyLong_AsLong(PyTuple_GET_ITEM(quaternions, i));
    }
    for (Py_ssize_t i = 0; i < inputs; ++i) {
        b->entries[i] = PyLong_AsLong(PyTuple_GET_ITEM(entries, i));
    }
    for (Py_ssize_t i = 0; i < outputs; ++i) {
        PyObject *shape = PyTuple_GET_ITEM(shapes, i);
        b->axes[i] = (int)PyTuple_Size(shape);
        for (int k = 0; k < b->axes[i] && k < MOST_AXES - 1; ++k) {
            b->shape[i][k] = (npy_intp)PyLong_AsLong(PyTuple_GET_ITEM(shape, k));
        }
    }
    if (PyErr_Occurred()) {
        PyMem_Free(b);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(b, NULL, forget);
    if (capsule == NULL) {
        PyMem_Free(b);
        return NULL;
    }
    Py_INCREF(owner);
    PyCapsule_SetContext(capsule, owner);
    return capsule;
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL},
    {"rows", (PyCFunction)(void (*)(void))rows, METH_FASTCALL, NULL},
    {"bind", bind, METH_VARARGS, NULL},
    {"use", use, METH_VARARGS, NULL},
    {"views", views, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "modurob_single", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_modurob_single(void)
{
    import_array();
    return PyModule_Create(&definition);
}
