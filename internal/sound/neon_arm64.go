//go:build arm64 && !purego

package sound

// pass2 is run2 of a stage.
func pass2(z *float64, twiddles *float64, m int, blocks int)

// last2 is run2 of a stage whose m is 1.
func last2(z *float64, blocks int)

// pass4 is run4 of a stage.
func pass4(z *float64, twiddles *float64, m int, blocks int)

// last4 is run4 of a stage whose m is 1.
func last4(z *float64, blocks int)

// pass5 is run5 of a stage.
func pass5(z *float64, twiddles *float64, m int, blocks int)

// last5 is run5 of a stage whose m is 1.
func last5(z *float64, blocks int)

// splitPower is what split does for k from 1 to n.
func splitPower(power *float64, z *float64, places *int32, twist *float64, m int, n int)

// windows4 multiplies n times four samples of four frames.
func windows4(dst *float64, a *float32, b *float32, c *float32, d *float32, window *float64, n int)

// sums is Sum of n filters.
func sums(dst *float64, power *float64, spans *int32, weights *float64, n int)

// logs is Logs of n values. If it is not usual, there are numbers for which math.Log is wanted, and dst is undefined.
func logs(dst *float32, src *float64, n int, floor float64, offset float64, factor float64) (usual bool)

// greatest8 is the greatest of n times eight numbers, if numbers says that all are.
func greatest8(x *float32, n int) (greatest float32, numbers bool)

// level8 is Level of n times eight numbers.
func level8(x *float32, n int, least float32, mean float32, std float32)

// product4 is Product of n times four numbers.
func product4(weights *float32, samples *float32, n int) float64
