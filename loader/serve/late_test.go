package serve_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/serve"
	"github.com/penstock-go/penstock/sampler"
)

// TestALateEpochKeepsNobodyWaiting: one request for it takes no longer than any other.
func TestALateEpochKeepsNobodyWaiting(t *testing.T) {
	const n = 1000
	for name, order := range map[string]sampler.Sampler{
		"Shuffle":         sampler.Shuffle(n, 1),
		"Torch":           sampler.Torch(n, 1),
		"TorchManualSeed": sampler.TorchManualSeed(n, 1),
	} {
		s := newServer(t, samples(n), serve.Loader(loader.BatchSize(10), loader.Sampler(order)))
		epoch := math.MaxInt32 - 1
		hostile.Bounded(t, 0, 0, func() {
			epoch-- // no answer is known from the last time
			if w := get(s, fmt.Sprintf("%d/0-1", epoch)); w.Code != 200 {
				t.Errorf("%s, epoch %d: status %d: %s", name, epoch, w.Code, w.Body)
			}
		})
	}
}

// TestAnyWorldAndDrawTakesLittle: numbers in paths decide neither memory nor time.
func TestAnyWorldAndDrawTakesLittle(t *testing.T) {
	s := newServer(t, samples(1_300_000), serve.Loader(loader.BatchSize(128), loader.Shuffle(true), loader.Seed(7)))
	for path, want := range map[string]int{
		"0/0-1":                                200,
		"0/0-2147483646":                       200,
		"0/2147483645-2147483646":              200,
		"0/0-2147483647":                       400,
		"2147483645/5-64":                      200,
		"2147483647/0-1":                       400,
		fmt.Sprint("0/0-1?draw=", math.MaxInt): 404,
		"0/0-1?draw=9223372036854775808":       400,
		"0/0-3?draw=1299999":                   200,
		"0/0-2147483646/0":                     200,
		"7/0-7/100":                            200,
		"0/3-1000003/0?draw=17":                200,
		"2147483646/0-1/3":                     200,
		"2147483646/0-1/2147483646":            404,
		"2147483646/0-1/99999999999999999":     400,
	} {
		hostile.Bounded(t, len(path), 4<<20, func() { // the memory of a loop
			if w := get(s, path); w.Code != want {
				t.Errorf("%s: status %d, want %d: %.200s", path, w.Code, want, w.Body)
			}
		})
	}
	if w := request(s, "GET", "/metrics", nil); w.Code != 200 || w.Body.Len() > 4<<10 {
		t.Errorf("metrics: status %d, %d bytes", w.Code, w.Body.Len())
	}
}
