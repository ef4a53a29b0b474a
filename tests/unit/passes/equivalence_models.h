// Functions to compare before and after each pass. What an input is filled with goes by the first
// letters of its name:
//   q..     multiples of 1/4 between -2 and 2, with ties, NaN and infinities
//   z..     multiples of 1/4, finite
//   p..     positive
//   k..     indices -2 to 6
//   others  about normal; integers -9 to 9; bools either
// dims: cases, divided by ";". `[general]` behind a case: base addresses are aligned to one element
// only.
typedef struct {
    const char *name, *dims, *text;
} model;

static const model models[] = {
    {"saxpy", "N=1; N=7; N=1024; N=1027 [general]; N=4096; N=0",
     "func @f(%a: f32[], %x: f32[N], %y: f32[N]) -> (z: f32[N]) dims {N: 0..2147483647} {\n"
     "  %0 = broadcast %a : f32[N]\n"
     "  %1 = mul %0, %x : f32[N]\n"
     "  %2 = add %1, %y : f32[N]\n"
     "  return %2\n}\n"},
    {"small_floats", "M=3,N=50; M=2,N=64; M=5,N=33 [general]; M=0,N=4",
     "func @f(%q: f8e5m2[M, N], %x: f8e4m3[M, N], %s: f8e8m0[N], %z: f8e4m3fnuz[N]) -> (a: "
     "f8e5m2[N, "
     "M], b: f8e4m3[M, N], c: f8e8m0[M], d: f8e5m2fnuz[M, N], e: bool[M, N], g: f8e4m3fnuz[N], h: "
     "f8e5m2[M]) dims {M: 0..1000, N: 0..100000} {\n"
     "  %a = transpose %q {perm = [1, 0]} : f8e5m2[N, M]\n"
     "  %0 = cast %x {dtype = f32} : f32[M, N]\n"
     "  %1 = cast %s {dtype = f32} : f32[N]\n"
     "  %2 = broadcast %1 : f32[M, N]\n"
     "  %3 = mul %0, %2 : f32[M, N]\n"
     "  %4 = cast %3 {dtype = f8e4m3} : f8e4m3[M, N]\n"
     "  %b = min %4, %x : f8e4m3[M, N]\n"
     "  %5 = broadcast %s : f8e8m0[M, N]\n"
     "  %c = amax %5 {axes = [1]} : f8e8m0[M]\n"
     "  %d = cast %3 {dtype = f8e5m2fnuz} : f8e5m2fnuz[M, N]\n"
     "  %e = lt %4, %x : bool[M, N]\n"
     "  %g = neg %z : f8e4m3fnuz[N]\n"
     "  %h = amax %q {axes = [1]} : f8e5m2[M]\n"
     "  return %a, %b, %c, %d, %e, %g, %h\n}\n"},
    {"rope", "B=2,S=3,D=8; B=1,S=5,D=6 [general]; B=2,S=2,D=64; B=1,S=1,D=2; B=0,S=1,D=4",
     "func @f(%x: f16[B, S, D], %c: f32[S, D/2], %s: f32[S, D/2]) -> (y: f16[B, S, D], z: f32[B, "
     "S, D]) dims {B: "
     "0..1000, S: 0..1000, D: 0..1000 multiple 2} {\n"
     "  %0 = cast %x {dtype = f32} : f32[B, S, D]\n"
     "  %1 = broadcast %c : f32[B, S, D/2]\n"
     "  %2 = broadcast %s : f32[B, S, D/2]\n"
     "  %z = rope %0, %1, %2 : f32[B, S, D]\n"
     "  %y = cast %z {dtype = f16} : f16[B, S, D]\n"
     "  return %y, %z\n}\n"},
    {"scales", "M=3,K=64; M=2,K=96 [general]; M=1,K=32; M=0,K=32",
     "func @f(%x: f32[M, K], %p: f32[M, K/32], %pr: f32[M, 1], %pk: f32[K], %p1: f32[1, K/32]) -> "
     "(a: i8[M, K], b: "
     "f8e4m3[M, K], c: f32[M, K], d: u8[M, K], e: f32[M, K]) dims {M: 0..1000, K: 0..1000 multiple "
     "32} {\n"
     "  %0 = const {value = 0.01} : f32[]\n"
     "  %1 = mul %pr, %pr : f32[M, 1]\n"
     "  %a = quantize %x, %p {block = 32, dtype = i8} : i8[M, K]\n"
     "  %b = quantize %x, %1 {dtype = f8e4m3} : f8e4m3[M, K]\n"
     "  %c = dequantize %x, %p1 {block = 32} : f32[M, K]\n"
     "  %d = quantize %x, %0 {dtype = u8} : u8[M, K]\n"
     "  %e = dequantize %x, %pk {block = 1} : f32[M, K]\n"
     "  return %a, %b, %c, %d, %e\n}\n"},
    {"packed", "M=3,N=50; M=2,N=64; M=5,N=34 [general]; M=1,N=2; M=4,N=0",
     "func @f(%a: i4[M, N], %b: i4[M, N]@[2*N + 6, 1], %x: f4e2m1[2*M, N]) -> (y: i4[M, N], t: "
     "i4[N, "
     "2*M], c: f4e2m1[2*M, N]@[N + 2, 1], n: i32[M], d: f4e2m1[2*M, N]) dims {M: 0..1000, N: "
     "0..100000 multiple 2} {\n"
     "  %0 = mul %a, %b : i4[M, N]\n"
     "  %y = sub %0, %b : i4[M, N]\n"
     "  %1 = concat %a, %b {axis = 0} : i4[2*M, N]\n"
     "  %t = transpose %1 {perm = [1, 0]} : i4[N, 2*M]\n"
     "  %c = abs %x : f4e2m1[2*M, N]\n"
     "  %2 = cast %0 {dtype = i32} : i32[M, N]\n"
     "  %n = sum %2 {axes = [1]} : i32[M]\n"
     "  %3 = cast %x {dtype = f32} : f32[2*M, N]\n"
     "  %4 = add %3, %3 : f32[2*M, N]\n"
     "  %d = cast %4 {dtype = f4e2m1} : f4e2m1[2*M, N]\n"
     "  return %y, %t, %c, %n, %d\n}\n"},
    {"functions", "N=129; N=256",
     "func @f(%x: f32[N], %p: f32[N]) -> (a: f32[N], b: f32[N], c: f32[N]) dims {N: 0..100000} {\n"
     "  %0 = exp %x : f32[N]\n"
     "  %1 = log %p : f32[N]\n"
     "  %2 = tanh %x : f32[N]\n"
     "  %3 = sqrt %p : f32[N]\n"
     "  %4 = rsqrt %p : f32[N]\n"
     "  %5 = add %0, %1 : f32[N]\n"
     "  %6 = mul %2, %3 : f32[N]\n"
     "  %7 = erf %4 : f32[N]\n"
     "  return %5, %6, %7\n}\n"},
    {"activations", "M=3,N=50; M=2,N=64",
     "func @f(%x: f32[M, N]) -> (a: f32[M, N], b: f32[M, N], c: f32[M, N], d: f32[M, N], e: f32[M, "
     "N]) dims {M: 0..1000, N: 0..100000} {\n"
     "  %a = sigmoid %x : f32[M, N]\n"
     "  %b = gelu %x : f32[M, N]\n"
     "  %c = gelu_tanh %x : f32[M, N]\n"
     "  %d = silu %x : f32[M, N]\n"
     "  %e = relu %x : f32[M, N]\n"
     "  return %a, %b, %c, %d, %e\n}\n"},
    {"half_in_half_out", "N=5; N=1000; N=2048",
     "func @f(%x: f16[N], %y: bf16[N]) -> (z: f16[N], w: bf16[N]) dims {N: 0..2147483647} {\n"
     "  %0 = cast %x {dtype = f32} : f32[N]\n"
     "  %1 = cast %y {dtype = f32} : f32[N]\n"
     "  %2 = mul %0, %1 : f32[N]\n"
     "  %3 = cast %2 {dtype = f16} : f16[N]\n"
     "  %4 = add %0, %1 : f32[N]\n"
     "  %5 = cast %4 {dtype = bf16} : bf16[N]\n"
     "  return %3, %5\n}\n"},
    {"integers", "N=300",
     "func @f(%x: i32[N], %y: i32[N], %b: i8[N], %u: u8[N]) -> (z: i32[N], w: i8[N], v: i64[N]) "
     "dims {N: 0..100000} {\n"
     "  %c = const {integer = 3} : i32[N]\n"
     "  %0 = mul %x, %y : i32[N]\n"
     "  %1 = floordiv %0, %c : i32[N]\n"
     "  %2 = mod %x, %c : i32[N]\n"
     "  %3 = sub %1, %2 : i32[N]\n"
     "  %4 = mul %b, %b : i8[N]\n"
     "  %5 = abs %4 : i8[N]\n"
     "  %6 = cast %u {dtype = i64} : i64[N]\n"
     "  %7 = cast %x {dtype = i64} : i64[N]\n"
     "  %8 = max %6, %7 : i64[N]\n"
     "  return %3, %5, %8\n}\n"},
    {"select_and_compare", "N=257; N=1024",
     "func @f(%q: f32[N], %q2: f32[N], %c: bool[N]) -> (z: f32[N], w: bool[N]) dims {N: 0..100000} "
     "{\n"
     "  %0 = lt %q, %q2 : bool[N]\n"
     "  %1 = and %0, %c : bool[N]\n"
     "  %2 = select %1, %q, %q2 : f32[N]\n"
     "  %3 = max %q, %q2 : f32[N]\n"
     "  %4 = min %2, %3 : f32[N]\n"
     "  %5 = ne %q, %q : bool[N]\n"
     "  %6 = or %5, %1 : bool[N]\n"
     "  return %4, %6\n}\n"},
    {"broadcast_row_and_column",
     "M=5,N=9; M=64,N=64; M=1,N=1; M=130,N=1; M=1,N=130; M=33,N=68 [general]",
     "func @f(%x: f32[M, N], %r: f32[N], %c: f32[M]) -> (z: f32[M, N]) dims {M: 0..100000, N: "
     "0..100000} {\n"
     "  %0 = broadcast %r : f32[M, N]\n"
     "  %1 = reshape %c : f32[M, 1]\n"
     "  %2 = broadcast %1 : f32[M, N]\n"
     "  %3 = mul %x, %0 : f32[M, N]\n"
     "  %4 = add %3, %2 : f32[M, N]\n"
     "  return %4\n}\n"},
    {"strided", "M=5,N=8,ld=8; M=5,N=9,ld=11; M=3,N=4,ld=20",
     "func @f(%x: f32[M, N]@[ld, 1]) -> (z: f32[M, N]) dims {M: 0..1000, N: 0..1000, ld} {\n"
     "  %0 = add %x, %x : f32[M, N]\n"
     "  return %0\n}\n"},
    {"in_place", "N=77; N=2048",
     "func @f(%x: f32[N]) -> (z: f32[N] alias x) dims {N: 0..100000} {\n"
     "  %0 = exp %x : f32[N]\n"
     "  return %0\n}\n"},
    {"in_place_sum", "N=77; N=2048",
     "func @f(%x: f32[N]) -> (z: f32[N] alias x) dims {N: 1..100000} {\n"
     "  %0 = mean %x {axes = [0], keepdims = 1} : f32[1]\n"
     "  %1 = broadcast %0 : f32[N]\n"
     "  %2 = sub %x, %1 : f32[N]\n"
     "  return %2\n}\n"},

    // ---- reductions
    {"sum_last",
     "M=4,N=1; M=3,N=7; M=5,N=128; M=2,N=1000; M=2,N=1024; M=1,N=9000; M=2,N=20000; M=3,N=0; "
     "M=0,N=4; M=3,N=130 [general]",
     "func @f(%x: f32[M, N]) -> (z: f32[M]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = sum %x {axes = [1]} : f32[M]\n"
     "  return %0\n}\n"},
    {"sum_first", "M=1,N=4; M=7,N=3; M=128,N=5; M=1000,N=6; M=9000,N=2; M=40,N=64",
     "func @f(%x: f32[M, N]) -> (z: f32[N]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = sum %x {axes = [0]} : f32[N]\n"
     "  return %0\n}\n"},
    {"sum_middle", "A=2,B=5,C=3; A=3,B=70,C=32; A=1,B=1,C=1",
     "func @f(%x: f32[A, B, C]) -> (z: f32[A, 1, C]) dims {A: 0..1000, B: 0..1000, C: 0..1000} {\n"
     "  %0 = sum %x {axes = [1], keepdims = 1} : f32[A, 1, C]\n"
     "  return %0\n}\n"},
    {"sum_outer_two", "A=2,B=5,C=3; A=9,B=4,C=33",
     "func @f(%x: f32[A, B, C]) -> (z: f32[B]) dims {A: 0..1000, B: 0..1000, C: 0..1000} {\n"
     "  %0 = sum %x {axes = [0, 2]} : f32[B]\n"
     "  return %0\n}\n"},
    {"sum_all", "M=3,N=5; M=64,N=65; M=1,N=1; M=120,N=100",
     "func @f(%x: f32[M, N]) -> (z: f32[]) dims {M: 0..1000, N: 0..1000} {\n"
     "  %0 = sum %x {axes = [0, 1]} : f32[]\n"
     "  return %0\n}\n"},
    {"sums_of_integers", "M=3,N=50; M=2,N=300",
     "func @f(%x: i32[M, N], %y: i64[M, N]) -> (z: i32[M], w: i64[M], v: i32[M]) dims {M: 0..1000, "
     "N: 0..1000} {\n"
     "  %0 = sum %x {axes = [1]} : i32[M]\n"
     "  %1 = prod %y {axes = [1]} : i64[M]\n"
     "  %2 = amin %x {axes = [1]} : i32[M]\n"
     "  return %0, %1, %2\n}\n"},
    {"largest_with_nan", "M=40,N=3; M=3,N=77; M=2,N=2000; M=5,N=1; M=2,N=0",
     "func @f(%q: f32[M, N], %h: f16[M, N]) -> (z: f32[M], w: f32[M], v: f16[M]) dims {M: "
     "0..100000, N: 0..100000} {\n"
     "  %0 = amax %q {axes = [1]} : f32[M]\n"
     "  %1 = amin %q {axes = [1]} : f32[M]\n"
     "  %2 = amax %h {axes = [1]} : f16[M]\n"
     "  return %0, %1, %2\n}\n"},
    {"prod", "M=3,N=9; M=2,N=40",
     "func @f(%x: f32[M, N]) -> (z: f32[M]) dims {M: 0..1000, N: 0..1000} {\n"
     "  %0 = prod %x {axes = [1]} : f32[M]\n"
     "  return %0\n}\n"},
    {"argmax_ties_and_nan", "M=40,N=3; M=30,N=17; M=4,N=1500; M=3,N=1; M=2,N=10000",
     "func @f(%q: f32[M, N]) -> (z: i64[M], w: i64[M]) dims {M: 0..100000, N: 1..100000} {\n"
     "  %0 = argmax %q {axes = [1]} : i64[M]\n"
     "  %1 = argmin %q {axes = [1]} : i64[M]\n"
     "  return %0, %1\n}\n"},
    {"argmax_ties", "M=30,N=17; M=4,N=1500",
     "func @f(%z: f32[M, N]) -> (i: i64[M]) dims {M: 0..100000, N: 1..100000} {\n"
     "  %0 = argmax %z {axes = [1]} : i64[M]\n"
     "  return %0\n}\n"},
    {"argmax_first_axis", "M=5,N=30; M=300,N=7",
     "func @f(%q: f32[M, N]) -> (z: i64[1, N]) dims {M: 1..100000, N: 0..100000} {\n"
     "  %0 = argmax %q {axes = [0], keepdims = 1} : i64[1, N]\n"
     "  return %0\n}\n"},
    {"argmin_flat", "M=5,N=30; M=40,N=50",
     "func @f(%z: i32[M, N]) -> (i: i64[]) dims {M: 1..1000, N: 1..1000} {\n"
     "  %0 = argmin %z {axes = [0, 1]} : i64[]\n"
     "  return %0\n}\n"},
    {"mean_and_variance", "M=4,N=33; M=2,N=512; M=2,N=9001",
     "func @f(%x: f32[M, N]) -> (m: f32[M], v: f32[M]) dims {M: 0..100000, N: 1..100000} {\n"
     "  %0 = mean %x {axes = [1]} : f32[M]\n"
     "  %1 = mul %x, %x : f32[M, N]\n"
     "  %2 = mean %1 {axes = [1]} : f32[M]\n"
     "  %3 = mul %0, %0 : f32[M]\n"
     "  %4 = sub %2, %3 : f32[M]\n"
     "  return %0, %4\n}\n"},
    {"reduce_prologue_epilogue", "M=4,N=33; M=2,N=512",
     "func @f(%x: f16[M, N], %s: f32[M]) -> (z: f16[M]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = cast %x {dtype = f32} : f32[M, N]\n"
     "  %1 = exp %0 : f32[M, N]\n"
     "  %2 = sum %1 {axes = [1]} : f32[M]\n"
     "  %3 = mul %2, %s : f32[M]\n"
     "  %4 = cast %3 {dtype = f16} : f16[M]\n"
     "  return %4\n}\n"},
    {"sum_of_sums", "M=7,N=33",
     "func @f(%x: f32[M, N]) -> (z: f32[]) dims {M: 0..1000, N: 0..1000} {\n"
     "  %0 = sum %x {axes = [1]} : f32[M]\n"
     "  %1 = exp %0 : f32[M]\n"
     "  %2 = sum %1 {axes = [0]} : f32[]\n"
     "  return %2\n}\n"},

    // ---- rows
    {"softmax",
     "M=3,N=5; M=2,N=128; M=2,N=1000; M=3,N=1024; M=1,N=8192; M=2,N=10001; M=0,N=4; M=4,N=130 "
     "[general]",
     "func @f(%x: f32[M, N]) -> (z: f32[M, N]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = softmax %x {axis = 1} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"softmax_first_axis", "M=5,N=3; M=130,N=40",
     "func @f(%x: f32[M, N]) -> (z: f32[M, N]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = softmax %x {axis = 0} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"softmax_special", "M=40,N=6",
     "func @f(%q: f32[M, N]) -> (z: f32[M, N]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = softmax %q {axis = 1} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"log_softmax", "M=3,N=5; M=2,N=1000",
     "func @f(%x: f32[M, N]) -> (z: f32[M, N]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = log_softmax %x {axis = 1} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"layernorm", "M=3,N=5; M=2,N=768; M=2,N=10000",
     "func @f(%x: f32[M, N], %g: f32[N], %b: f32[N]) -> (z: f32[M, N]) dims {M: 0..100000, N: "
     "1..100000} {\n"
     "  %0 = layernorm %x, %g, %b {axis = 1, eps = 0.00001} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"layernorm_half", "M=2,N=96",
     "func @f(%x: f16[M, N], %g: f16[N], %b: f16[N]) -> (z: f16[M, N]) dims {M: 0..100000, N: "
     "1..100000} {\n"
     "  %0 = cast %x {dtype = f32} : f32[M, N]\n"
     "  %1 = cast %g {dtype = f32} : f32[N]\n"
     "  %2 = cast %b {dtype = f32} : f32[N]\n"
     "  %3 = layernorm %0, %1, %2 {axis = 1, eps = 0.00001} : f32[M, N]\n"
     "  %4 = cast %3 {dtype = f16} : f16[M, N]\n"
     "  return %4\n}\n"},
    {"rmsnorm_middle", "A=2,B=6,C=5; A=2,B=40,C=33",
     "func @f(%x: f32[A, B, C], %g: f32[B]) -> (z: f32[A, B, C]) dims {A: 0..1000, B: 1..1000, C: "
     "0..1000} {\n"
     "  %0 = rmsnorm %x, %g {axis = 1, eps = 0.000001} : f32[A, B, C]\n"
     "  return %0\n}\n"},

    // ---- products
    {"matmul",
     "M=1,N=1,K=1; M=5,N=7,K=3; M=64,N=64,K=16; M=65,N=130,K=33; M=16,N=16,K=100; M=3,N=4,K=0; "
     "M=0,N=4,K=4; M=33,N=36,K=20 [general]",
     "func @f(%x: f32[M, K], %w: f32[K, N]) -> (y: f32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  %0 = matmul %x, %w : f32[M, N]\n"
     "  return %0\n}\n"},
    {"matmul_transposed_a", "M=5,N=7,K=3; M=65,N=33,K=18; M=64,N=64,K=32",
     "func @f(%x: f32[K, M], %w: f32[K, N]) -> (y: f32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  %0 = matmul %x, %w {transpose_a = 1} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"matmul_transposed_b", "M=5,N=7,K=3; M=65,N=33,K=18; M=15,N=64,K=32",
     "func @f(%x: f32[M, K], %w: f32[N, K]) -> (y: f32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  %0 = matmul %x, %w {transpose_b = 1} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"matmul_transposed_both", "M=5,N=7,K=3; M=65,N=33,K=18",
     "func @f(%x: f32[K, M], %w: f32[N, K]) -> (y: f32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  %0 = matmul %x, %w {transpose_a = 1, transpose_b = 1} : f32[M, N]\n"
     "  return %0\n}\n"},
    {"matmul_batched", "B=3,M=5,N=7,K=9; B=2,M=64,N=20,K=16",
     "func @f(%x: f32[B, M, K], %w: f32[B, K, N]) -> (y: f32[B, M, N]) dims {B: 0..1000, M: "
     "0..100000, K: 0..100000, N: 0..100000} {\n"
     "  %0 = matmul %x, %w : f32[B, M, N]\n"
     "  return %0\n}\n"},
    {"matmul_broadcast_batch", "B=3,M=5,N=7,K=9",
     "func @f(%x: f32[B, M, K], %w: f32[K, N]) -> (y: f32[B, M, N]) dims {B: 0..1000, M: "
     "0..100000, K: 0..100000, N: 0..100000} {\n"
     "  %w2 = broadcast %w : f32[B, K, N]\n"
     "  %0 = matmul %x, %w2 : f32[B, M, N]\n"
     "  return %0\n}\n"},
    {"matmul_integer", "M=5,N=7,K=30; M=64,N=70,K=33",
     "func @f(%x: i8[M, K], %w: i8[K, N]) -> (y: i32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  %0 = matmul %x, %w : i32[M, N]\n"
     "  return %0\n}\n"},
    {"conv2d",
     "N=1,C=1,H=3,W=3,O=1; N=2,C=3,H=7,W=9,O=5; N=1,C=17,H=10,W=13,O=66; N=1,C=4,H=8,W=8,O=8; "
     "N=0,C=2,H=5,W=5,O=3; N=1,C=0,H=5,W=5,O=3; N=1,C=5,H=6,W=7,O=9 [general]",
     "func @f(%x: f32[N, C, H, W], %w: f32[O, C, 3, 3]) -> (y: f32[N, O, H, W]) dims {N: 0..1000, "
     "C: "
     "0..1000, H: 1..1000, W: 1..1000, O: 0..1000} {\n"
     "  %0 = conv2d %x, %w {steps = [1, 1], low = [1, 1], high = [1, 1], dilation = [1, 1], groups "
     "= 1} : f32[N, O, H, W]\n"
     "  return %0\n}\n"},
    {"conv2d_strided", "N=2,C=3,H=9,W=12,O=5; N=1,C=2,H=5,W=4,O=3; N=1,C=1,H=2,W=1,O=3",
     "func @f(%x: f16[N, C, H, W], %w: f16[O, C, 2, 3]) -> (y: f32[N, O, (H + 2) // 2, max(0, (W - "
     "1) "
     "// 3 + 1)]) dims {N: 0..1000, C: 0..1000, H: 1..1000, W: 0..1000, O: 0..1000} {\n"
     "  %0 = conv2d %x, %w {steps = [2, 3], low = [1, 0], high = [1, 4], dilation = [1, 2], groups "
     "= 1} : f32[N, O, (H + 2) // 2, max(0, (W - 1) // 3 + 1)]\n"
     "  return %0\n}\n"},
    {"conv2d_groups", "N=2,G=2,H=5,W=6; N=1,G=1,H=1,W=1; N=1,G=7,H=9,W=2",
     "func @f(%x: i8[N, 3 * G, H, W], %w: i8[5 * G, 3, 3, 3]) -> (y: i32[N, 5 * G, H, W]) dims {N: "
     "0..1000, G: 1..1000, H: 1..1000, W: 1..1000} {\n"
     "  %0 = conv2d %x, %w {steps = [1, 1], low = [1, 1], high = [1, 1], dilation = [1, 1], groups "
     "= G} : i32[N, 5 * G, H, W]\n"
     "  return %0\n}\n"},
    {"conv2d_depthwise", "N=2,C=3,H=5,W=6; N=1,C=1,H=1,W=1; N=1,C=40,H=9,W=8",
     "func @f(%x: f32[N, C, H, W], %w: f32[C, 1, 3, 3], %b: f32[C, 1, 1]) -> (y: f32[N, C, H, W]) "
     "dims {N: 0..1000, C: 1..1000, H: 1..1000, W: 1..1000} {\n"
     "  %0 = conv2d %x, %w {steps = [1, 1], low = [1, 1], high = [1, 1], dilation = [1, 1], groups "
     "= C} : f32[N, C, H, W]\n"
     "  %1 = broadcast %b : f32[N, C, H, W]\n"
     "  %2 = add %0, %1 : f32[N, C, H, W]\n"
     "  %3 = add %2, %x : f32[N, C, H, W]\n"
     "  return %3\n}\n"},
    {"conv2d_pointwise", "N=2,C=3,H=5,W=6,O=4; N=1,C=20,H=8,W=12,O=70; N=3,C=1,H=1,W=1,O=2",
     "func @f(%x: f32[N, C, H, W], %w: f32[O, C, 1, 1]) -> (y: f32[N, O, H, W]) dims {N: 0..1000, "
     "C: "
     "0..1000, H: 0..1000, W: 0..1000, O: 0..1000} {\n"
     "  %0 = relu %x : f32[N, C, H, W]\n"
     "  %1 = conv2d %0, %w {steps = [1, 1], low = [0, 0], high = [0, 0], dilation = [1, 1], groups "
     "= 1} : f32[N, O, H, W]\n"
     "  %2 = gelu %1 : f32[N, O, H, W]\n"
     "  return %2\n}\n"},
    {"conv2d_of_itself", "N=1,H=1,W=1; N=5,H=4,W=3",
     "func @f(%x: f32[N, N, H, W]) -> (y: f32[N, N, 1, 1]) dims {N: 0..1000, H: 1..1000, W: "
     "1..1000} {\n"
     "  %0 = conv2d %x, %x {steps = [1, 1], low = [0, 0], high = [0, 0], dilation = [1, 1], groups "
     "= 1} : f32[N, N, 1, 1]\n"
     "  return %0\n}\n"},
    {"linear_gelu", "M=5,N=7,K=9; M=70,N=65,K=48; M=1,N=64,K=64",
     "func @f(%x: f16[M, K], %w: f16[K, N], %b: f16[N]) -> (y: f16[M, N]) dims {M: 0..100000, K: "
     "0..100000, N: 0..100000} {\n"
     "  %h = matmul %x, %w : f32[M, N]\n"
     "  %0 = cast %b {dtype = f32} : f32[N]\n"
     "  %1 = broadcast %0 : f32[M, N]\n"
     "  %2 = add %h, %1 : f32[M, N]\n"
     "  %3 = gelu %2 : f32[M, N]\n"
     "  %4 = cast %3 {dtype = f16} : f16[M, N]\n"
     "  return %4\n}\n"},
    {"matrix_vector", "M=5,K=9; M=1,K=1; M=70,K=300; M=3,K=5000",
     "func @f(%x: f32[M, K], %w: f32[K, 1]) -> (y: f32[M, 1]) dims {M: 0..100000, K: 0..100000} {\n"
     "  %0 = matmul %x, %w : f32[M, 1]\n"
     "  return %0\n}\n"},
    {"vector_matrix", "N=5,K=9; N=70,K=300",
     "func @f(%x: f32[1, K], %w: f32[K, N]) -> (y: f32[1, N]) dims {N: 0..100000, K: 0..100000} {\n"
     "  %0 = matmul %x, %w : f32[1, N]\n"
     "  return %0\n}\n"},
    {"mlp", "M=5",
     "func @f(%x: f32[M, 20], %v: f32[20, 30], %w: f32[30, 10]) -> (y: f32[M, 10], i: i64[M]) dims "
     "{M: 0..100000} {\n"
     "  %0 = matmul %x, %v : f32[M, 30]\n"
     "  %1 = relu %0 : f32[M, 30]\n"
     "  %2 = matmul %1, %w : f32[M, 10]\n"
     "  %3 = softmax %2 {axis = 1} : f32[M, 10]\n"
     "  %4 = argmax %2 {axes = [1]} : i64[M]\n"
     "  return %3, %4\n}\n"},

    // ---- movement
    {"transpose", "M=5,N=9; M=64,N=64; M=100,N=77; M=1,N=200; M=68,N=132",
     "func @f(%x: f32[M, N]) -> (y: f32[N, M]) dims {M: 0..100000, N: 0..100000} {\n"
     "  %0 = transpose %x {perm = [1, 0]} : f32[N, M]\n"
     "  return %0\n}\n"},
    {"transpose_three", "A=3,B=5,C=7; A=33,B=2,C=40",
     "func @f(%x: f16[A, B, C]) -> (y: f16[C, A, B]) dims {A: 0..1000, B: 0..1000, C: 0..1000} {\n"
     "  %0 = transpose %x {perm = [2, 0, 1]} : f16[C, A, B]\n"
     "  return %0\n}\n"},
    {"reshape", "M=6,N=10; M=1,N=4",
     "func @f(%x: f32[M, N]) -> (y: f32[M * N], z: f32[M, N // 2, 2]) dims {M: 0..1000, N: 0..1000 "
     "multiple 2} {\n"
     "  %0 = reshape %x : f32[M * N]\n"
     "  %1 = reshape %x : f32[M, N // 2, 2]\n"
     "  return %0, %1\n}\n"},
    {"reshape_regroup", "",
     "func @f(%x: f32[6, 10]) -> (y: f32[4, 15]) {\n"
     "  %0 = exp %x : f32[6, 10]\n"
     "  %1 = reshape %0 : f32[4, 15]\n"
     "  return %1\n}\n"},
    {"slice", "M=9,N=12; M=9,N=40",
     "func @f(%x: f32[M, N]) -> (y: f32[M - 2, 3], z: f32[M, N]) dims {M: 4..1000, N: 9..1000} {\n"
     "  %0 = slice %x {starts = [1, 7], steps = [1, -2]} : f32[M - 2, 3]\n"
     "  %1 = slice %x {starts = [M - 1, 0], steps = [-1, 1]} : f32[M, N]\n"
     "  return %0, %1\n}\n"},
    {"concat", "M=3,N=5,P=4; M=3,N=0,P=4; M=20,N=64,P=64",
     "func @f(%x: f32[M, N], %y: f32[M, P], %w: f32[M, N]) -> (z: f32[M, N + P + N]) dims {M: "
     "0..1000, N: 0..1000, P: 0..1000} {\n"
     "  %0 = exp %y : f32[M, P]\n"
     "  %1 = concat %x, %0, %w {axis = 1} : f32[M, N + P + N]\n"
     "  return %1\n}\n"},
    {"concat_rows", "M=3,N=5,P=4",
     "func @f(%x: f32[N, M], %y: f32[P, M]) -> (z: f32[N + P, M]) dims {M: 0..1000, N: 0..1000, P: "
     "0..1000} {\n"
     "  %1 = concat %x, %y {axis = 0} : f32[N + P, M]\n"
     "  return %1\n}\n"},
    {"pad", "M=3,N=5; M=30,N=64",
     "func @f(%x: f32[M, N], %y: i32[M, N]) -> (z: f32[M + 3, N + 2], w: i32[M, N + 1]) dims {M: "
     "0..1000, N: 0..1000} {\n"
     "  %0 = pad %x {low = [1, 0], high = [2, 2], value = 1.5} : f32[M + 3, N + 2]\n"
     "  %1 = pad %y {low = [0, 1], high = [0, 0], value = -7} : i32[M, N + 1]\n"
     "  return %0, %1\n}\n"},
    {"pad_then_sum", "M=3,N=5",
     "func @f(%x: f32[M, N]) -> (z: f32[M + 1]) dims {M: 0..1000, N: 0..1000} {\n"
     "  %0 = pad %x {low = [1, 0], high = [0, 2], value = 0.5} : f32[M + 1, N + 2]\n"
     "  %1 = sum %0 {axes = [1]} : f32[M + 1]\n"
     "  return %1\n}\n"},
    {"gather_rows", "M=4,N=5,P=9; M=4,N=64,P=40",
     "func @f(%x: f32[M, N], %k: i64[P]) -> (z: f32[P, N]) dims {M: 1..1000, N: 0..1000, P: "
     "0..1000} {\n"
     "  %0 = gather %x, %k {axis = 0} : f32[P, N]\n"
     "  return %0\n}\n"},
    {"gather_columns", "M=4,N=5,P=3,Q=2",
     "func @f(%x: f32[M, N], %k: i32[P, Q]) -> (z: f32[M, P, Q]) dims {M: 1..1000, N: 1..1000, P: "
     "0..1000, Q: 0..1000} {\n"
     "  %0 = gather %x, %k {axis = 1} : f32[M, P, Q]\n"
     "  return %0\n}\n"},
    {"iota_and_sym", "M=4,N=50",
     "func @f(%x: f32[M, N]) -> (z: f32[M, N]) dims {M: 0..1000, N: 0..1000} {\n"
     "  %0 = iota {axis = 1} : i64[M, N]\n"
     "  %1 = cast %0 {dtype = f32} : f32[M, N]\n"
     "  %2 = sym {expr = M * N + 1} : f32[]\n"
     "  %3 = broadcast %2 : f32[M, N]\n"
     "  %4 = mul %1, %3 : f32[M, N]\n"
     "  %5 = add %4, %x : f32[M, N]\n"
     "  return %5\n}\n"},
    {"transpose_then_matmul", "M=5,N=7,K=9",
     "func @f(%x: f32[K, M], %w: f32[N, K]) -> (y: f32[N, M]) dims {M: 0..1000, N: 0..1000, K: "
     "0..1000} {\n"
     "  %0 = transpose %x {perm = [1, 0]} : f32[M, K]\n"
     "  %1 = matmul %0, %w {transpose_b = 1} : f32[M, N]\n"
     "  %2 = transpose %1 {perm = [1, 0]} : f32[N, M]\n"
     "  return %2\n}\n"},
    {"transpose_then_softmax", "M=5,N=7",
     "func @f(%x: f32[N, M]) -> (y: f32[M, N]) dims {M: 0..1000, N: 0..1000} {\n"
     "  %0 = transpose %x {perm = [1, 0]} : f32[M, N]\n"
     "  %1 = softmax %0 {axis = 1} : f32[M, N]\n"
     "  return %1\n}\n"},
    {"attention_by_hand", "S=9,D=8",
     "func @f(%q1: f32[S, D], %w: f32[S, D], %v: f32[S, D]) -> (y: f32[S, D]) dims {S: 1..1000, D: "
     "1..1000} {\n"
     "  %n = exp %w : f32[S, D]\n"
     "  %0 = matmul %n, %w {transpose_b = 1} : f32[S, S]\n"
     "  %1 = softmax %0 {axis = 1} : f32[S, S]\n"
     "  %2 = matmul %1, %v : f32[S, D]\n"
     "  return %2\n}\n"},
    {"identity", "N=6; N=1024",
     "func @f(%x: f32[N]) -> (y: f32[N], z: f32[N]) dims {N: 0..1000000} {\n"
     "  %0 = exp %x : f32[N]\n"
     "  return %x, %0\n}\n"},
    {"same_output_twice", "N=6",
     "func @f(%x: f32[N]) -> (y: f32[N], z: f32[N]) dims {N: 0..1000000} {\n"
     "  %0 = exp %x : f32[N]\n"
     "  return %0, %0\n}\n"},
    {"constant_output", "N=6",
     "func @f(%x: f32[N]) -> (y: f32[N], z: i64[N]) dims {N: 0..1000000} {\n"
     "  %0 = const {value = 0.1} : f32[N]\n"
     "  %1 = iota {axis = 0} : i64[N]\n"
     "  return %0, %1\n}\n"},
    {"fixed_sizes", "",
     "func @f(%x: f32[24, 100], %w: f32[100, 12]) -> (y: f32[24, 12], s: f32[24]) {\n"
     "  %0 = matmul %x, %w : f32[24, 12]\n"
     "  %1 = sum %0 {axes = [1]} : f32[24]\n"
     "  return %0, %1\n}\n"},
    {"double_precision", "M=3,N=50",
     "func @f(%x: f64[M, N]) -> (y: f64[M, N], s: f64[M]) dims {M: 0..1000, N: 0..1000} {\n"
     "  %0 = softmax %x {axis = 1} : f64[M, N]\n"
     "  %1 = sum %x {axes = [1]} : f64[M]\n"
     "  return %0, %1\n}\n"},

    // ---- schedules
    {"matmul_in_parts", "M=5,N=7,K=40; M=33,N=64,K=130; M=16,N=16,K=2; M=4,N=8,K=0",
     "func @f(%x: f32[M, K], %w: f32[N, K], %b: f32[N]) -> (y: f32[M, N]) dims {M: 0..4096, N: "
     "0..4096, K: 0..4096} {\n"
     "  schedule {kernel = \"y\", split = 3, raster = \"grouped:2\", tile = [16, 16, 16]}\n"
     "  %h = matmul %x, %w {transpose_b = 1} : f32[M, N]\n"
     "  %0 = broadcast %b : f32[M, N]\n"
     "  %y = add %h, %0 : f32[M, N]\n"
     "  return %y\n}\n"},
    {"reduction_in_parts", "M=5,N=700; M=1,N=3; M=3,N=0",
     "func @f(%x: f32[M, N]) -> (y: f32[M]) dims {M: 0..4096, N: 0..4096} {\n"
     "  schedule {split = 4}\n  %y = sum %x {axes = [1]} : f32[M]\n  return %y\n}\n"},
    {"softmax_of_matmul", "M=5,K=7; M=33,K=40; M=0,K=8",
     "func @f(%x: f16[M, K], %w: f16[40, K]) -> (y: f32[M, 40]) dims {M: 0..1000, K: 0..64} {\n"
     "  %0 = matmul %x, %w {transpose_b = 1} : f32[M, 40]\n"
     "  %1 = softmax %0 {axis = 1} : f32[M, 40]\n"
     "  return %1\n}\n"},
    {"softmax_of_few_columns", "M=5,N=0,K=7; M=33,N=1,K=16; M=17,N=48,K=40",
     "func @f(%x: f32[M, K], %w: f32[K, N]) -> (y: f32[M, N]) dims {M: 0..1000, N: 0..64, K: 0..64} "
     "{\n"
     "  %0 = matmul %x, %w : f32[M, N]\n"
     "  %1 = softmax %0 {axis = 1} : f32[M, N]\n"
     "  return %1\n}\n"},
    {"rmsnorm_of_matmul_batched", "B=2,M=5,K=7; B=3,M=17,K=32",
     "func @f(%x: f16[B, M, K], %w: f16[B, K, 24], %s: f32[24]) -> (y: f32[B, M, 24], p: f32[B, M, "
     "24]) dims {B: 1..9, M: 1..1000, K: 1..64} {\n"
     "  %0 = matmul %x, %w : f32[B, M, 24]\n"
     "  %1 = rmsnorm %0, %s {axis = 2, eps = 1e-6} : f32[B, M, 24]\n"
     "  return %1, %0\n}\n"},
    {"columns_of_matmul", "N=5,K=7; N=33,K=40",
     "func @f(%x: f32[20, K], %w: f32[K, N]) -> (y: f32[N], z: i64[N]) dims {N: 0..1000, K: 0..64} "
     "{\n"
     "  %0 = matmul %x, %w : f32[20, N]\n"
     "  %1 = sum %0 {axes = [0], keepdims = 0} : f32[N]\n"
     "  %2 = argmax %0 {axes = [0], keepdims = 0} : i64[N]\n"
     "  return %1, %2\n}\n"},
    {"all_of_matmul", "K=7; K=40",
     "func @f(%x: f32[20, K], %w: f32[K, 12]) -> (y: f32[], z: f32[20, 12]) dims {K: 0..64} {\n"
     "  %0 = matmul %x, %w : f32[20, 12]\n"
     "  %1 = sum %0 {axes = [0, 1], keepdims = 0} : f32[]\n"
     "  %2 = exp %0 : f32[20, 12]\n"
     "  return %1, %2\n}\n"},
    {"rows_and_columns_of_matmul", "K=7; K=40",
     "func @f(%x: f32[20, K], %w: f32[K, 12]) -> (y: f32[20], z: f32[12]) dims {K: 0..64} {\n"
     "  %0 = matmul %x, %w : f32[20, 12]\n"
     "  %1 = sum %0 {axes = [1], keepdims = 0} : f32[20]\n"
     "  %2 = sum %0 {axes = [0], keepdims = 0} : f32[12]\n"
     "  return %1, %2\n}\n"},
    {"long_rows_of_matmul", "M=5,N=7,K=7; M=17,N=130,K=16; M=3,N=0,K=4",
     "func @f(%x: f16[M, K], %w: f16[K, N], %b: f32[N]) -> (y: f32[M]) dims {M: 0..1000, N: "
     "0..100000, K: 0..64} {\n"
     "  %0 = matmul %x, %w : f32[M, N]\n"
     "  %1 = reshape %b : f32[1, N]\n"
     "  %2 = broadcast %1 : f32[M, N]\n"
     "  %3 = sub %0, %2 : f32[M, N]\n"
     "  %4 = mul %3, %3 : f32[M, N]\n"
     "  %5 = sum %4 {axes = [1], keepdims = 0} : f32[M]\n"
     "  return %5\n}\n"},
    {"long_columns_of_matmul", "B=2,M=70,N=5,K=7; B=1,M=300,N=20,K=16",
     "func @f(%x: f32[B, M, K], %w: f32[B, K, N]) -> (y: f32[B, N], z: i64[B, N]) dims {B: 1..9, "
     "M: 1..100000, N: 0..1000, K: 0..64} {\n"
     "  %0 = matmul %x, %w : f32[B, M, N]\n"
     "  %1 = amax %0 {axes = [1], keepdims = 0} : f32[B, N]\n"
     "  %2 = exp %w : f32[B, K, N]\n"
     "  %3 = matmul %x, %2 : f32[B, M, N]\n"
     "  %4 = argmin %3 {axes = [1], keepdims = 0} : i64[B, N]\n"
     "  return %1, %4\n}\n"},
    {"all_of_long_matmul", "M=70,N=150; M=3,N=2",
     "func @f(%x: f32[M, 20], %w: f32[20, N]) -> (y: f32[]) dims {M: 1..100000, N: 1..100000} {\n"
     "  %0 = matmul %x, %w : f32[M, N]\n"
     "  %1 = exp %0 : f32[M, N]\n"
     "  %2 = sum %1 {axes = [0, 1], keepdims = 0} : f32[]\n"
     "  return %2\n}\n"},
    {"matmul_small_tiles", "M=5,N=7,K=9; M=33,N=40,K=50",
     "func @f(%x: f32[M, K], %w: f32[K, N]) -> (y: f32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  schedule {kernel = \"h\", tile = [16, 32, 8], warps = 2, stages = 1}\n  %h = matmul %x, %w "
     ": f32[M, N]\n  return %h\n}\n"},
    {"matmul_large_tiles", "M=5,N=7,K=9; M=140,N=70,K=40; M=64,N=64,K=64",
     "func @f(%x: f16[M, K], %w: f16[K, N]) -> (y: f32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  schedule {kernel = \"h\", tile = [128, 64, 32], warps = 8}\n  %h = matmul %x, %w : f32[M, "
     "N]\n  return %h\n}\n"},
    {"matmul_repeated_tiles", "M=100,N=200,K=40",
     "func @f(%x: f16[M, K], %w: f16[K, N]) -> (y: f32[M, N]) dims {M: 0..100000, K: 0..100000, N: "
     "0..100000} {\n"
     "  schedule {kernel = \"h\", tile = [64, 96, 16], warps = 4}\n  %h = matmul %x, %w : f32[M, "
     "N]\n  return %h\n}\n"},
    {"rows_of_one_warp", "M=9,N=100; M=3,N=600",
     "func @f(%x: f32[M, N]) -> (y: f32[M, N]) dims {M: 0..100000, N: 0..1000} {\n"
     "  schedule {warps = 1}\n  %h = softmax %x {axis = 1} : f32[M, N]\n  return %h\n}\n"},
    {"rows_of_sixteen_warps", "M=3,N=100; M=3,N=6000",
     "func @f(%x: f32[M, N]) -> (y: f32[M, N]) dims {M: 0..100000, N: 0..100000} {\n"
     "  schedule {warps = 16, vector = 4}\n  %h = softmax %x {axis = 1} : f32[M, N]\n  return "
     "%h\n}\n"},
    {"narrow_vectors", "N=5000",
     "func @f(%x: f16[N]) -> (y: f16[N]) dims {N: 0..100000} {\n"
     "  schedule {tile = [512], warps = 2, vector = 4}\n  %h = neg %x : f16[N]\n  return %h\n}\n"},

    // ---- what random functions found
    {"argmax_rank_3", "K=3,M=4,N=5",
     "func @f(%q: f32[K, M, N]) -> (y: i64[K, M], z: i64[1, M, N]) dims {K: 1..1000, M: 1..1000, "
     "N: 1..1000} {\n"
     "  %0 = argmax %q {axes = [2]} : i64[K, M]\n  %1 = argmax %q {axes = [0], keepdims = 1} : "
     "i64[1, M, N]\n  return %0, %1\n}\n"},
    {"broadcast_first_of_three", "K=3,M=64,N=8; K=2,M=5,N=7 [general]",
     "func @f(%x: f32[K, 1, 1]) -> (y: f32[K, M, N]) dims {K: 0..1000, M: 0..1000, N: 0..1000} {\n"
     "  %0 = broadcast %x : f32[K, M, N]\n  return %0\n}\n"},
    {"rows_of_one_element", "",
     "func @f(%x: f32[7, 7]) -> (a: f32[1, 1], b: f32[7, 7], c: f32[1, 1]) {\n"
     "  %0 = sum %x {axes = [0, 1], keepdims = 1} : f32[1, 1]\n  %1 = softmax %0 {axis = 1} : "
     "f32[1, 1]\n"
     "  %2 = broadcast %1 : f32[7, 7]\n  %3 = log_softmax %0 {axis = 1} : f32[1, 1]\n  return %3, "
     "%2, %0\n}\n"},
    {"in_place_beside_a_reader", "",
     "func @f(%x: f32[12, 4], %w: f32[12, 4]) -> (a: f32[12, 4] alias x, b: f32[12, 4]) {\n"
     "  %0 = mul %x, %w : f32[12, 4]\n  %1 = neg %w : f32[12, 4]\n  return %1, %0\n}\n"},
    {"inout_row", "S=5,D=8; S=1,D=1; S=130,D=64; S=0,D=4; S=9,D=33 [general]",
     "func @f(%n: f32[D], %k: i64[], %cache: f16[S, D]) -> (cache: f16[S, D] alias cache) dims {S: "
     "0..100000, D: 0..100000} {\n"
     "  %0 = iota {axis = 0} : i64[S]\n"
     "  %1 = broadcast %k : i64[S]\n"
     "  %2 = eq %0, %1 : bool[S]\n"
     "  %3 = reshape %2 : bool[S, 1]\n"
     "  %4 = broadcast %3 : bool[S, D]\n"
     "  %5 = broadcast %n : f32[S, D]\n"
     "  %6 = cast %cache {dtype = f32} : f32[S, D]\n"
     "  %7 = select %4, %5, %6 : f32[S, D]\n"
     "  %8 = cast %7 {dtype = f16} : f16[S, D]\n"
     "  return %8\n}\n"},
    {"inout_concat",
     "P=0,R=1,Q=0,D=4; P=3,R=2,Q=7,D=16; P=100,R=3,Q=33,D=5; P=2,R=0,Q=2,D=8 [general]",
     "func @f(%n: f32[R, D], %cache: f32[P + R + Q, D]) -> (cache: f32[P + R + Q, D] alias cache) "
     "dims {P: 0..10000, R: 0..100000, Q: 0..10000, D: 0..100000} {\n"
     "  %0 = slice %cache {starts = [0, 0], steps = [1, 1]} : f32[P, D]\n"
     "  %1 = slice %cache {starts = [P + R, 0], steps = [1, 1]} : f32[Q, D]\n"
     "  %2 = concat %0, %n, %1 {axis = 0} : f32[P + R + Q, D]\n"
     "  return %2\n}\n"},
    {"inout_shifted", "N=1; N=7; N=1027; N=4096",
     "func @f(%x: f32[N]) -> (x: f32[N] alias x) dims {N: 1..100000} {\n"
     "  %0 = slice %x {starts = [1], steps = [1]} : f32[N - 1]\n"
     "  %1 = pad %0 {low = [0], high = [1], value = 7} : f32[N]\n"
     "  return %1\n}\n"},
    {"inout_swap", "N=1; N=7; N=1027; N=4096; N=0",
     "func @f(%a: f32[N], %b: f32[N]) -> (a: f32[N] alias a, b: f32[N] alias b) dims {N: "
     "0..100000} "
     "{\n"
     "  return %b, %a\n}\n"},
    {"inout_used", "S=5,D=8; S=1,D=1; S=130,D=64; S=33,D=1500",
     "func @f(%k: i64[], %cache: f32[S, D]) -> (cache: f32[S, D] alias cache, old: f32[S], new: "
     "f32[S]) "
     "dims {S: 0..100000, D: 0..100000} {\n"
     "  %0 = iota {axis = 0} : i64[S, D]\n"
     "  %1 = broadcast %k : i64[S, D]\n"
     "  %2 = eq %0, %1 : bool[S, D]\n"
     "  %3 = const {value = 3} : f32[S, D]\n"
     "  %4 = select %2, %3, %cache : f32[S, D]\n"
     "  %5 = sum %cache {axes = [1]} : f32[S]\n"
     "  %6 = sum %4 {axes = [1]} : f32[S]\n"
     "  return %4, %5, %6\n}\n"},
    {"inout_nested", "N=1; N=31; N=1024; N=1030 [general]",
     "func @f(%a: i16[N], %b: i16[N], %x: i16[N]) -> (x: i16[N] alias x, y: i16[N]) dims {N: "
     "0..100000} "
     "{\n"
     "  %0 = lt %a, %x : bool[N]\n"
     "  %1 = lt %b, %x : bool[N]\n"
     "  %2 = select %0, %a, %x : i16[N]\n"
     "  %3 = select %0, %x, %b : i16[N]\n"
     "  %4 = select %1, %2, %3 : i16[N]\n"
     "  %5 = add %x, %4 : i16[N]\n"
     "  return %4, %5\n}\n"},
    {"inout_softmax", "M=5,N=9; M=2,N=1500; M=1,N=9000",
     "func @f(%q: f32[M, N], %k: i64[], %x: f32[M, N]) -> (x: f32[M, N] alias x) dims {M: 0..1000, "
     "N: "
     "0..100000} {\n"
     "  %0 = iota {axis = 1} : i64[M, N]\n"
     "  %1 = broadcast %k : i64[M, N]\n"
     "  %2 = lt %0, %1 : bool[M, N]\n"
     "  %3 = softmax %q {axis = 1} : f32[M, N]\n"
     "  %4 = select %2, %3, %x : f32[M, N]\n"
     "  return %4\n}\n"},
    {"constants", "M=1; M=7; M=64 [general]",
     "func @f(%x: f16[M, 16], %w: f16[16, 24] constant "
     "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\", %b: f32[24] constant "
     "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\") -> (y: f32[M, 24], z: "
     "f16[24, 16]) dims {M: 1..1000} {\n"
     "  %0 = matmul %x, %w : f32[M, 24]\n"
     "  %1 = broadcast %b : f32[M, 24]\n"
     "  %2 = add %0, %1 : f32[M, 24]\n"
     "  %3 = transpose %w {perm = [1, 0]} : f16[24, 16]\n"
     "  return %2, %3\n}\n"},
    {"running_sums",
     "M=3,N=1; M=2,N=31; M=5,N=130; M=2,N=4097; M=1,N=9000; M=0,N=4; M=4,N=0; M=1,N=9000 [general]",
     "func @f(%x: f16[M, N], %i: i32[M, N]) -> (y: f32[M, N], j: i32[M, N]) dims {M: "
     "0..2147483647, N: 0..2147483647} {\n"
     "  %f = cast %x {dtype = f32} : f32[M, N]\n"
     "  %0 = cumsum %f {axis = 1} : f32[M, N]\n"
     "  %1 = cumsum %i {axis = 1} : i32[M, N]\n"
     "  return %0, %1\n}\n"},
    {"running_sums_of_columns", "M=1,N=5; M=40,N=9; M=700,N=3; M=33,N=256; M=9001,N=1",
     "func @f(%x: f32[M, N]) -> (y: f32[M, N], z: f32[M, N]) dims {M: 0..2147483647, N: "
     "0..2147483647} {\n"
     "  %0 = cumsum %x {axis = 0} : f32[M, N]\n"
     "  %1 = cumsum %0 {axis = 0} : f32[M, N]\n"
     "  return %0, %1\n}\n"},
    {"running_sum_in_the_middle", "A=2,B=3,C=5; A=3,B=70,C=16; A=1,B=300,C=40",
     "func @f(%x: f32[A, B, C]) -> (y: f32[A, B, C]) dims {A: 0..1000, B: 0..2147483647, C: "
     "0..100000} {\n"
     "  %0 = cumsum %x {axis = 1} : f32[A, B, C]\n"
     "  return %0\n}\n"},
    {"scans_and_reductions", "M=2,N=3; M=3,N=1000; M=2,N=5000; M=1,N=17000",
     "func @f(%x: f32[M, N]) -> (y: f32[M, N], s: f32[M], t: f32[M, N]) dims {M: 0..1000, N: "
     "0..2147483647} {\n"
     "  %p = softmax %x {axis = 1} : f32[M, N]\n"
     "  %c = cumsum %p {axis = 1} : f32[M, N]\n"
     "  %m = sum %c {axes = [1]} : f32[M]\n"
     "  %r = reshape %m : f32[M, 1]\n"
     "  %b = broadcast %r : f32[M, N]\n"
     "  %d = div %c, %b : f32[M, N]\n"
     "  %e = cumsum %d {axis = 1} : f32[M, N]\n"
     "  return %d, %m, %e\n}\n"},
    {"scan_of_affine_maps", "M=2,N=7; M=3,N=600; M=1,N=9000",
     "func @f(%x: f32[M, N], %z: f32[M, N]) -> (y: f32[M, N]) dims {M: 0..1000, N: 0..2147483647} "
     "{\n"
     "  %h = const {value = 0.125} : f32[M, N]\n"
     "  %k = mul %z, %h : f32[M, N]\n"
     "  %s, %t = scan %k, %x {axes = [1], init = [1, 0]} : f32[M, N], f32[M, N] {\n"
     "  ^(%a: f32[], %b: f32[], %c: f32[], %d: f32[]):\n"
     "    %0 = mul %a, %c : f32[]\n"
     "    %1 = mul %b, %c : f32[]\n"
     "    %2 = add %1, %d : f32[]\n"
     "    yield %0, %2\n  }\n"
     "  return %t\n}\n"},
    {"running_argmax", "M=5,N=33; M=300,N=2; M=9000,N=1",
     "func @f(%z: f32[M, N]) -> (v: f32[M, N], i: i64[M, N]) dims {M: 0..2147483647, N: 0..1000} "
     "{\n"
     "  %0 = iota {axis = 0} : i64[M, N]\n"
     "  %v, %i = scan %z, %0 {axes = [0], init = [-inf, inf]} : f32[M, N], i64[M, N] {\n"
     "  ^(%a: f32[], %b: i64[], %c: f32[], %d: i64[]):\n"
     "    %keep = ge %a, %c : bool[]\n"
     "    %1 = select %keep, %a, %c : f32[]\n"
     "    %2 = select %keep, %b, %d : i64[]\n"
     "    yield %1, %2\n  }\n"
     "  return %v, %i\n}\n"},
};
