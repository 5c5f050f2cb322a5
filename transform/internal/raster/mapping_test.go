package raster

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// bigSin is the sine of x with 200 bits, by its series.
func bigSin(x *big.Float) *big.Float {
	sum, term := new(big.Float).Set(x), new(big.Float).Set(x)
	square := new(big.Float).Mul(x, x)
	for n := int64(2); n < 400; n += 2 {
		term.Mul(term, square).Quo(term, big.NewFloat(float64(-n*(n+1))))
		sum.Add(sum, term)
	}
	return sum
}

func TestAnglesAreRoundedCorrectly(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(240).SetFloat64(v) }
	halfPi, _, err := big.ParseFloat("1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931401741267105853399107404326", 10, 240, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		x := (r.Float64() - 0.5) * 40
		sin, cos := sincos(x)
		wantSin := bigSin(exact(x))
		wantCos := bigSin(new(big.Float).Add(exact(x), halfPi))
		if want, _ := wantSin.Float64(); sin != want {
			t.Errorf("sin(%v) = %v, want %v", x, sin, want)
		}
		if want, _ := wantCos.Float64(); cos != want {
			t.Errorf("cos(%v) = %v, want %v", x, cos, want)
		}
		if want, _ := new(big.Float).Quo(wantSin, wantCos).Float64(); tangent(x) != want {
			t.Errorf("tan(%v) = %v, want %v", x, tangent(x), want)
		}
		// The tangent of the result's neighbours is farther away from v.
		v := r.Float64()*4 - 2
		y := arctangent(v)
		for _, other := range []float64{math.Nextafter(y, 9), math.Nextafter(y, -9)} {
			middle := new(big.Float).Quo(new(big.Float).Add(exact(y), exact(other)), big.NewFloat(2))
			tan := new(big.Float).Quo(bigSin(middle), bigSin(new(big.Float).Add(middle, halfPi)))
			if (tan.Cmp(exact(v)) < 0) != (other < y) {
				t.Errorf("atan(%v) = %v: %v is nearer", v, y, other)
			}
		}
	}
}

func TestDecimalsAreRoundedAsDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 100000 {
		v := 2*r.Float64() - 1
		if r.IntN(2) == 0 {
			v = math.Ldexp(float64(r.IntN(1<<20)-1<<19), -r.IntN(54)) // sometimes a half of the last digit
		}
		if math.Abs(v) > 1 {
			continue
		}
		want, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 15, 64), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := decimals(v); got != want {
			t.Fatalf("decimals(%v) = %v, want %v", v, got, want)
		}
	}
}
