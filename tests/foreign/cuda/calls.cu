/* Calls that are more than copies of a body: through pointers, of virtual functions, of themselves; memory that grows. */
#include <cstdint>

typedef int (*binary)(int, int);

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ binary table[3] = {add, subtract, multiply};
__device__ binary chosen = subtract;

extern "C" __global__ void pointers(const int *which, const int *x, int *out) {
    int i = threadIdx.x;
    binary f = table[which[i]];
    out[i] = f(x[i], i) * 100 + chosen(i, 3);
}

struct Shape {
    double width;
    __device__ explicit Shape(double w) : width(w) {}
    __device__ virtual double area() const { return width * width; }
    __device__ virtual double scaled(double by) const { return by * area(); }
};
struct Circle : Shape {
    __device__ explicit Circle(double w) : Shape(w) {}
    __device__ double area() const override { return 3 * width * width; }
};
struct Thin : Shape {
    double height;
    __device__ Thin(double w, double h) : Shape(w), height(h) {}
    __device__ double area() const override { return width * height; }
    __device__ double scaled(double by) const override { return Shape::scaled(by) + 1; }
};

extern "C" __global__ void virtual_functions(const int *which, double *out) {
    int i = threadIdx.x;
    Shape square(i);
    Circle circle(i);
    Thin thin(i, 2);
    const Shape *shape = which[i] == 0 ? &square : which[i] == 1 ? (const Shape *)&circle : &thin;
    out[i] = shape->scaled(2);
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
__device__ __noinline__ bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

extern "C" __global__ void recursion(int *out) {
    int i = threadIdx.x;
    out[3 * i] = fibonacci(i % 11);
    out[3 * i + 1] = ackermann(i % 3, i % 4);
    out[3 * i + 2] = is_even(i % 13) * 2 + is_odd(i % 7);
}

/* The addresses of a caller's variables, while the callee is the same function. */
struct Node {
    const Node *up;
    int value;
    double weight;
};
__device__ __noinline__ double climb(const Node *node) {
    double sum = 0;
    for (; node; node = node->up) sum += node->value * node->weight;
    return sum;
}
__device__ __noinline__ double descend(const Node *up, int depth, float step) {
    Node here = {up, depth, (double)step};
    if (depth == 0) return climb(&here);
    return depth % 2 ? descend(&here, depth - 1, step + 1) : descend(&here, depth - 1, step * 2) + depth;
}
__device__ __noinline__ void sort(float *x, int low, int high) {
    if (low >= high) return;
    float pivot = x[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (x[i] < pivot) i++;
        while (x[j] > pivot) j--;
        if (i <= j) {
            float t = x[i];
            x[i++] = x[j];
            x[j--] = t;
        }
    }
    sort(x, low, j);
    sort(x, i, high);
}
extern "C" __global__ void frames(float *x, double *out, int n) {
    int i = threadIdx.x;
    out[i] = descend(nullptr, i % 5, i);
    sort(x + i * n, 0, n - 1);
}

extern "C" __global__ void growing(const int *sizes, int *out) {
    int i = threadIdx.x, n = sizes[i];
    int *squares = (int *)alloca(n * sizeof(int));
    for (int k = 0; k < n; k++) squares[k] = k * k;
    int *sums = (int *)alloca((n + 1) * sizeof(int));
    sums[0] = i;
    for (int k = 0; k < n; k++) sums[k + 1] = sums[k] + squares[k];
    out[i] = sums[n];
}

extern "C" __global__ void heap(int *out) {
    int i = threadIdx.x;
    int *mine = (int *)malloc((i + 1) * sizeof(int));
    for (int k = 0; k <= i; k++) mine[k] = k;
    int sum = 0;
    for (int k = 0; k <= i; k++) sum += mine[k];
    free(mine);
    out[i] = sum;
}
