// Cooperative grids: all blocks at once, and barriers of all of them.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Jacobi steps of a row of cells from one buffer to the other, a barrier of the grid between them.
extern "C" __global__ void grid_steps(int *a, int *b, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        for (unsigned i = grid.thread_rank(); i < (unsigned)n; i += grid.size())
            b[i] = a[(i + n - 1) % n] - 2 * a[i] + 3 * a[(i + 1) % n];
        grid.sync();
        int *other = a;
        a = b, b = other;
    }
}

// Sums in three parts: of a thread, of a block, of the grid; every block then takes the whole away.
extern "C" __global__ void grid_center(const int *x, int *part, int *out, int n) {
    cg::grid_group grid = cg::this_grid();
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (unsigned i = grid.thread_rank(); i < (unsigned)n; i += grid.size()) atomicAdd(&sum, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) part[blockIdx.x] = sum;
    grid.sync();
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; b++) all += part[b];
    for (unsigned i = grid.thread_rank(); i < (unsigned)n; i += grid.size()) out[i] = x[i] * n - all;
}

// Arriving early, waiting late: what lies between needs nobody else.
extern "C" __global__ void grid_split(int *x, int *out, int rounds) {
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank(), n = (unsigned)grid.size();
    int own = 0;
    for (int r = 0; r < rounds; r++) {
        x[r * n + i] = (int)i + r;
        auto token = grid.barrier_arrive();
        own = own * 3 + r;
        grid.barrier_wait(std::move(token));
        own += x[r * n + (n - 1 - i)];
    }
    out[i] = own;
}
