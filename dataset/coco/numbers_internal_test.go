package coco

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestNumbersAreThoseOfParseFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"0", "-0", "-0.0", "1e5", "1E-7", "123456789012345678", "0.1234567890123456789", "900719925474099", "9007199254740993", "-1.5e+3", "0.000000000000001"}
	for range 20000 {
		texts = append(texts, strconv.FormatFloat((r.Float64()-0.5)*1000, 'f', r.IntN(18), 64), fmt.Sprint(r.NormFloat64()))
	}
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, rest, err := appendNumbers(nil, []byte("[ 7 ,\n"+text+" ,8]!"))
		if err != nil || len(got) != 3 || got[0] != 7 || got[1] != want || got[2] != 8 || string(rest) != "!" {
			t.Errorf("%s: got %v, rest %q, error %v", text, got, rest, err)
		}
	}
}
