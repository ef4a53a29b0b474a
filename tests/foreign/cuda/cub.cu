// CUB's building blocks for blocks and warps: code that nobody wrote with a simulator in mind.
#include <cub/cub.cuh>

extern "C" __global__ __launch_bounds__(128) void cub_sort(const unsigned *keys, const int *values, unsigned *sorted, int *moved) {
    using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
    using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Load::TempStorage load;
    } temp;
    unsigned k[4];
    int v[4];
    Load(temp.load).Load(keys, k);
    cub::LoadDirectBlocked(threadIdx.x, values, v);
    __syncthreads();
    Sort(temp.sort).Sort(k, v);
    cub::StoreDirectBlocked(threadIdx.x, sorted, k);
    cub::StoreDirectBlocked(threadIdx.x, moved, v);
}

extern "C" __global__ __launch_bounds__(128) void cub_scan(const int *x, int *inclusive, int *total, float *biggest) {
    using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Reduce::TempStorage reduce;
    int v[3], sum;
    cub::LoadDirectBlocked(threadIdx.x, x, v);
    float most = Reduce(reduce).Reduce((float)max(v[0], max(v[1], v[2])), [](float a, float b) { return a > b ? a : b; });
    Scan(scan).InclusiveSum(v, v, sum);
    cub::StoreDirectBlocked(threadIdx.x, inclusive, v);
    if (threadIdx.x == 0) *total = sum, *biggest = most;
}

extern "C" __global__ __launch_bounds__(64) void cub_histogram(const unsigned char *x, unsigned *bins, int *heads) {
    using Histogram = cub::BlockHistogram<unsigned char, 64, 8, 256, cub::BLOCK_HISTO_SORT>;
    using Heads = cub::BlockDiscontinuity<unsigned char, 64>;
    __shared__ unsigned counts[256];
    __shared__ typename Histogram::TempStorage temp;
    __shared__ typename Heads::TempStorage flags;
    unsigned char v[8];
    int head[8];
    cub::LoadDirectBlocked(threadIdx.x, x, v);
    Heads(flags).FlagHeads(head, v, [](unsigned char a, unsigned char b) { return a != b; });
    cub::StoreDirectBlocked(threadIdx.x, heads, head);
    Histogram(temp).Histogram(v, counts);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 64) bins[i] = counts[i];
}

extern "C" __global__ __launch_bounds__(64) void cub_warps(const int *x, int *sorted, int *sums) {
    using Merge = cub::WarpMergeSort<int, 4, 16>;
    using Scan = cub::WarpScan<int, 8>;
    __shared__ typename Merge::TempStorage merge[4];
    __shared__ typename Scan::TempStorage scan[8];
    int v[4];
    cub::LoadDirectBlocked(threadIdx.x, x, v);
    int sum;
    Scan(scan[threadIdx.x / 8]).ExclusiveSum(v[0], sum);
    sums[threadIdx.x] = sum;
    Merge(merge[threadIdx.x / 16]).Sort(v, [](int a, int b) { return a < b; });
    cub::StoreDirectBlocked(threadIdx.x, sorted, v);
}
