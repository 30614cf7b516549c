/* One state from Python, with as little as possible in between. Anything unusual returns None, and the caller takes the long way. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <math.h>

typedef void once(void *work, const double *q, const double *v, const double *u, double *out, long extra);

typedef struct {
    void *work;
    once *run;
    long entries[3];    /* of q, v and the third input */
    long rows, columns; /* of the result; no columns for a vector */
    long extra;         /* freedoms for the mass matrix, steps for a stepper */
    double largest;     /* results beyond this are looked at again */
} bound;

static const double *numbers(PyObject *object, long n)
{
    if (!PyArray_CheckExact(object)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != NPY_DOUBLE || PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != n
        || !PyArray_IS_C_CONTIGUOUS(array) || !PyArray_ISALIGNED(array)) {
        return NULL;
    }
    const double *x = (const double *)PyArray_DATA(array);
    for (long i = 0; i < n; ++i) {
        if (!isfinite(x[i])) {
            return NULL;
        }
    }
    return x;
}

/* call(robot, q[, v[, u[, how often]]]) */
static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    const bound *b = (const bound *)PyCapsule_GetPointer(arguments[0], NULL);
    if (b == NULL) {
        return NULL;
    }
    const double *inputs[3] = {NULL, NULL, NULL};
    const long extra = count > 4 ? PyLong_AsLong(arguments[4]) : b->extra;
    if (extra == -1 && PyErr_Occurred()) {
        return NULL;
    }
    for (Py_ssize_t i = 1; i < count && i < 4; ++i) {
        inputs[i - 1] = numbers(arguments[i], b->entries[i - 1]);
        if (inputs[i - 1] == NULL) {
            Py_RETURN_NONE;
        }
    }
    npy_intp shape[2] = {b->rows, b->columns};
    PyObject *result = PyArray_SimpleNew(b->columns ? 2 : 1, shape, NPY_DOUBLE);
    if (result == NULL) {
        return NULL;
    }
    double *out = (double *)PyArray_DATA((PyArrayObject *)result);
    b->run(b->work, inputs[0], inputs[1], inputs[2], out, extra);
    const long n = b->columns ? b->rows * b->columns : b->rows;
    for (long i = 0; i < n; ++i) {
        if (!(fabs(out[i]) < b->largest)) {
            Py_DECREF(result);
            Py_RETURN_NONE;
        }
    }
    return result;
}

static void forget(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, NULL));
}

/* bind(work, run, nq, nv, nu, rows, columns, extra, largest) */
static PyObject *bind(PyObject *self, PyObject *arguments)
{
    (void)self;
    bound *b = (bound *)PyMem_Malloc(sizeof(bound));
    unsigned long long work, run;
    if (b == NULL) {
        return PyErr_NoMemory();
    }
    if (!PyArg_ParseTuple(arguments, "KKllllll" "d", &work, &run, &b->entries[0], &b->entries[1], &b->entries[2], &b->rows,
                          &b->columns, &b->extra, &b->largest)) {
        PyMem_Free(b);
        return NULL;
    }
    b->work = (void *)(uintptr_t)work;
    b->run = (once *)(uintptr_t)run;
    return PyCapsule_New(b, NULL, forget);
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL},
    {"bind", bind, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "modurob_single", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_modurob_single(void)
{
    import_array();
    return PyModule_Create(&definition);
}
