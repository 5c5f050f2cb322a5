// Package sound has the computations of transform/audio that have kernels: power spectra of frames of real samples, several frames at a
// time, in float64, what is done before and after that, and products of filters.
package sound

//go:generate sh -c "cd ../../tools/asm && GOWORK=off go run ./sound -out ../../internal/sound/avx2_amd64.s -stubs ../../internal/sound/avx2_amd64.go -pkg sound"
//go:generate sh -c "cd ../../tools/asm && GOWORK=off go run ./neon -kernels sound -out ../../internal/sound/neon_arm64.s"

import (
	"fmt"
	"math"
	"unsafe"
)

// Lanes is how many frames are computed at a time. A value of each lies next to those of the others. What is in one
// lane does not change the result of another one.
const Lanes = 4

// A Vec has a value of every lane.
type Vec [Lanes]float64

// A Complex is a complex number of every lane.
type Complex struct{ Re, Im Vec }

// A Plan computes the spectra of frames of n samples. Several goroutines may use it at once.
type Plan struct {
	n      int
	m      int // the length of the complex transform: n/2, or n if that is odd
	stages []stage
	places []int32      // where the stages leave the frequencies: in bytes, of 0 to m-1
	twist  []complex128 // exp(-2πik/n) for k up to m/2
}

// A stage makes radix transforms of the length m of every transform of the length radix·m, in the same place.
type stage struct {
	radix, m, blocks int          // a block is such a transform
	twiddles         []complex128 // exp(-2πipk/(radix·m)) for p up to m-1 and k from 1 to radix-1
	roots            []complex128 // exp(-2πik/radix), of a radix that has no code of its own
}

// MaxFactor is the greatest prime factor of a length, but for one factor 2.
const MaxFactor = 127

// New makes a plan for frames of n samples.
func New(n int) (*Plan, error) {
	if n < 2 {
		return nil, fmt.Errorf("want a Fourier transform of 2 samples or more, not of %d", n)
	}
	p := &Plan{n: n, m: n}
	if n%2 == 0 {
		p.m = n / 2
		p.twist = make([]complex128, p.m/2+1)
		for k := range p.twist {
			p.twist[k] = root(k, n)
		}
	}
	left, blocks := p.m, 1
	for left > 1 {
		radix := factor(left)
		if radix > MaxFactor {
			return nil, fmt.Errorf("want a Fourier transform of a length without prime factors above %d, not of %d", MaxFactor, n)
		}
		p.stages = append(p.stages, newStage(radix, left/radix, blocks))
		left, blocks = left/radix, blocks*radix
	}
	for k := range p.m {
		place := 0
		for _, s := range p.stages {
			place, k = place+k%s.radix*s.m, k/s.radix
		}
		p.places = append(p.places, int32(place*int(unsafe.Sizeof(Complex{}))))
	}
	return p, nil
}

// factor is 4, 2, 3, 5, or the least factor of n.
func factor(n int) int {
	for _, f := range []int{4, 2, 3} {
		if n%f == 0 {
			return f
		}
	}
	for f := 5; f*f <= n; f += 2 {
		if n%f == 0 {
			return f
		}
	}
	return n
}

func newStage(radix, m, blocks int) stage {
	s := stage{radix: radix, m: m, blocks: blocks}
	for p := range m {
		for k := 1; k < radix; k++ {
			s.twiddles = append(s.twiddles, root(p*k, radix*m))
		}
	}
	if radix > 5 {
		for k := range radix {
			s.roots = append(s.roots, root(k, radix))
		}
	}
	return s
}

// root is exp(-2πik/n).
func root(k, n int) complex128 {
	sin, cos := math.Sincos(2 * math.Pi * float64(k%n) / float64(n))
	return complex(cos, -sin)
}

// Bins is how many frequencies a spectrum has.
func (p *Plan) Bins() int { return p.n/2 + 1 }

// Scale is what frames must be multiplied by before Power: 1, or 1/2, so that Power has no numbers to halve.
func (p *Plan) Scale() float64 { return float64(p.m) / float64(p.n) }

// Work is how many numbers of memory Power needs.
func (p *Plan) Work() int {
	if p.m < p.n {
		return 0
	}
	return p.m
}

// Power computes the squares of the magnitudes of the spectrum of frames, as NumPy does where it stores a spectrum as
// complex64: real and imaginary parts are rounded to float32. frames has n values, times Scale, which may be overwritten.
func (p *Plan) Power(power, frames []Vec, work []Complex) {
	power, frames = power[:p.Bins()], frames[:p.n]
	if p.m == p.n {
		z := work[:p.m]
		for k := range z {
			z[k] = Complex{Re: frames[k]}
		}
		p.transform(z)
		for k := range power {
			c := p.at(z, k)
			square(&power[k], &c.Re, &c.Im)
		}
		return
	}
	z := unsafe.Slice((*Complex)(unsafe.Pointer(unsafe.SliceData(frames))), p.m) // an even sample and an odd one are a complex number
	p.transform(z)
	p.split(power, z)
}

func (p *Plan) transform(z []Complex) {
	for i := range p.stages {
		p.stages[i].run(z)
	}
}

// at is the number of a frequency after all stages.
func (p *Plan) at(z []Complex, k int) *Complex {
	return &z[p.places[k]/int32(unsafe.Sizeof(Complex{}))]
}

// split makes the spectrum of n real numbers from that of n/2 complex ones.
func (p *Plan) split(power []Vec, z []Complex) {
	m := p.m
	first := &z[0]
	for l := range Lanes {
		sum, difference := float64(float32(2*(first.Re[l]+first.Im[l]))), float64(float32(2*(first.Re[l]-first.Im[l])))
		power[0][l], power[m][l] = sum*sum, difference*difference
	}
	if splitKernel(power, z, p.places, p.twist, m) {
		return
	}
	for k := 1; k <= m/2; k++ {
		a, b, w := p.at(z, k), p.at(z, m-k), p.twist[k]
		wr, wi := real(w), imag(w)
		var lowRe, lowIm, highRe, highIm Vec
		for l := range Lanes {
			er, ei := a.Re[l]+b.Re[l], a.Im[l]-b.Im[l]
			dr, di := a.Re[l]-b.Re[l], a.Im[l]+b.Im[l]
			or, oi := fma(di, wr, dr*wi), fma(di, wi, -dr*wr)
			lowRe[l], lowIm[l] = er+or, ei+oi
			highRe[l], highIm[l] = er-or, ei-oi
		}
		square(&power[k], &lowRe, &lowIm)
		square(&power[m-k], &highRe, &highIm)
	}
}

// square is the square of the magnitude of a number of type complex64.
func square(power, re, im *Vec) {
	for l := range Lanes {
		r, i := float64(float32(re[l])), float64(float32(im[l]))
		power[l] = float64(r*r) + float64(i*i)
	}
}

// run does the stage. A sum of products is always written with fma, because on some processors compilers fuse the others.
func (s *stage) run(z []Complex) {
	if s.kernel(z) {
		return
	}
	switch s.radix {
	case 2:
		s.run2(z)
	case 3:
		s.run3(z)
	case 4:
		s.run4(z)
	case 5:
		s.run5(z)
	default:
		s.runAny(z)
	}
}

// turn multiplies the number by w. The twiddles of the last stage, whose m is 1, are all 1, and it leaves them out.
func (s *stage) turn(c *Complex, w complex128) {
	if s.m == 1 {
		return
	}
	for l := range Lanes {
		c.Re[l], c.Im[l] = turn(c.Re[l], c.Im[l], w)
	}
}

// turn multiplies the number (re, im) by w.
func turn(re, im float64, w complex128) (float64, float64) {
	return fma(re, real(w), -im*imag(w)), fma(re, imag(w), im*real(w))
}

func (s *stage) run2(z []Complex) {
	for ; len(z) > 0; z = z[2*s.m:] {
		for p := range s.m {
			a, b := &z[p], &z[p+s.m]
			for l := range Lanes {
				a.Re[l], a.Im[l], b.Re[l], b.Im[l] = a.Re[l]+b.Re[l], a.Im[l]+b.Im[l], a.Re[l]-b.Re[l], a.Im[l]-b.Im[l]
			}
			s.turn(b, s.twiddles[p])
		}
	}
}

func (s *stage) run3(z []Complex) {
	const sin = 0.86602540378443864676372317075293618 // of 2π/3
	for ; len(z) > 0; z = z[3*s.m:] {
		for p := range s.m {
			a, b, c := &z[p], &z[p+s.m], &z[p+2*s.m]
			for l := range Lanes {
				tr, ti := b.Re[l]+c.Re[l], b.Im[l]+c.Im[l]
				dr, di := b.Re[l]-c.Re[l], b.Im[l]-c.Im[l]
				mr, mi := fma(-0.5, tr, a.Re[l]), fma(-0.5, ti, a.Im[l])
				a.Re[l], a.Im[l] = a.Re[l]+tr, a.Im[l]+ti
				b.Re[l], b.Im[l] = fma(sin, di, mr), fma(-sin, dr, mi)
				c.Re[l], c.Im[l] = fma(-sin, di, mr), fma(sin, dr, mi)
			}
			s.turn(b, s.twiddles[2*p])
			s.turn(c, s.twiddles[2*p+1])
		}
	}
}

func (s *stage) run4(z []Complex) {
	for ; len(z) > 0; z = z[4*s.m:] {
		for p := range s.m {
			a, b, c, d := &z[p], &z[p+s.m], &z[p+2*s.m], &z[p+3*s.m]
			for l := range Lanes {
				sumR, sumI := a.Re[l]+c.Re[l], a.Im[l]+c.Im[l]
				difR, difI := a.Re[l]-c.Re[l], a.Im[l]-c.Im[l]
				oddR, oddI := b.Re[l]+d.Re[l], b.Im[l]+d.Im[l]
				turnR, turnI := b.Im[l]-d.Im[l], d.Re[l]-b.Re[l] // -i(b-d)
				a.Re[l], a.Im[l] = sumR+oddR, sumI+oddI
				b.Re[l], b.Im[l] = difR+turnR, difI+turnI
				c.Re[l], c.Im[l] = sumR-oddR, sumI-oddI
				d.Re[l], d.Im[l] = difR-turnR, difI-turnI
			}
			s.turn(b, s.twiddles[3*p])
			s.turn(c, s.twiddles[3*p+1])
			s.turn(d, s.twiddles[3*p+2])
		}
	}
}

// The cosines and sines of 2π/5 and 4π/5.
const (
	cos1  = 0.30901699437494742410229341718281906
	cos2  = -0.80901699437494742410229341718281906
	sin1  = 0.95105651629515357211643933337938214
	sin2  = 0.58778525229247312916870595463907277
	ratio = sin2 / sin1
)

func (s *stage) run5(z []Complex) {
	for ; len(z) > 0; z = z[5*s.m:] {
		for p := range s.m {
			w := s.twiddles[4*p : 4*p+4 : 4*p+4]
			a, b, c, d, e := &z[p], &z[p+s.m], &z[p+2*s.m], &z[p+3*s.m], &z[p+4*s.m]
			for l := range Lanes {
				s1r, s1i, d1r, d1i := b.Re[l]+e.Re[l], b.Im[l]+e.Im[l], b.Re[l]-e.Re[l], b.Im[l]-e.Im[l]
				s2r, s2i, d2r, d2i := c.Re[l]+d.Re[l], c.Im[l]+d.Im[l], c.Re[l]-d.Re[l], c.Im[l]-d.Im[l]
				m1r, m1i := fma(cos2, s2r, fma(cos1, s1r, a.Re[l])), fma(cos2, s2i, fma(cos1, s1i, a.Im[l]))
				m2r, m2i := fma(cos1, s2r, fma(cos2, s1r, a.Re[l])), fma(cos1, s2i, fma(cos2, s1i, a.Im[l]))
				n1r, n1i := fma(ratio, d2r, d1r), fma(ratio, d2i, d1i) // times sin1
				n2r, n2i := fma(ratio, d1r, -d2r), fma(ratio, d1i, -d2i)
				a.Re[l], a.Im[l] = a.Re[l]+s1r+s2r, a.Im[l]+s1i+s2i
				b.Re[l], b.Im[l] = fma(sin1, n1i, m1r), fma(-sin1, n1r, m1i)
				c.Re[l], c.Im[l] = fma(sin1, n2i, m2r), fma(-sin1, n2r, m2i)
				d.Re[l], d.Im[l] = fma(-sin1, n2i, m2r), fma(sin1, n2r, m2i)
				e.Re[l], e.Im[l] = fma(-sin1, n1i, m1r), fma(sin1, n1r, m1i)
			}
			s.turn(b, w[0])
			s.turn(c, w[1])
			s.turn(d, w[2])
			s.turn(e, w[3])
		}
	}
}

// runAny is for a radix that is a prime number above 5.
func (s *stage) runAny(z []Complex) {
	var all [MaxFactor]Complex
	for ; len(z) > 0; z = z[s.radix*s.m:] {
		for p := range s.m {
			for k := range s.radix {
				sum := &all[k]
				*sum = Complex{}
				for j := range s.radix {
					a, w := &z[p+j*s.m], s.roots[j*k%s.radix]
					for l := range Lanes {
						re, im := turn(a.Re[l], a.Im[l], w)
						sum.Re[l] += re
						sum.Im[l] += im
					}
				}
				if k > 0 {
					s.turn(sum, s.twiddles[(s.radix-1)*p+k-1])
				}
			}
			for k := range s.radix {
				z[p+k*s.m] = all[k]
			}
		}
	}
}
