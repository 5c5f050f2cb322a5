package sampler_test

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/sampler"
)

// Three of four samples come from web, whose samples are 0 to 8. Those of code are 9 to 11. An
// epoch ends when code is exhausted, and web goes on in the next one.
func ExampleMix() {
	web := sampler.Source{Samples: 9, Sampler: sampler.Sequential(9)}
	code := sampler.Source{Samples: 3, Sampler: sampler.Sequential(3)}
	m, err := sampler.Mix([]sampler.Source{web, code}, sampler.Stage{Proportions: []int{3, 1}})
	if err != nil {
		panic(err)
	}
	show(m.Epoch(0))
	show(m.Epoch(1))
	// Output:
	// 0 1 9 2 3 4 10 5 6 7 11
	// 8 0 9 1 2 3 10 4 5 6 11
}

// Weights of a temperature T are the numbers of samples to the power 1/T. Until all sources
// are exhausted, the small one repeats.
func ExampleStage_temperature() {
	samples := []int{4, 64}
	const T = 2
	var sources []sampler.Source
	var weights []float64
	for i, n := range samples {
		sources = append(sources, sampler.Source{Samples: n, Sampler: sampler.Shuffle(n, uint64(i))})
		weights = append(weights, math.Pow(float64(n), 1.0/T))
	}
	m, err := sampler.Mix(sources, sampler.Stage{Weights: weights, AllExhausted: true})
	if err != nil {
		panic(err)
	}
	draws := m.Epoch(0).Len()
	fmt.Println(draws, m.Drawn(0, draws))
	// Output: 80 [16 64]
}

// A curriculum goes from the first source to the second.
func ExampleStage_curriculum() {
	sources := []sampler.Source{
		{Samples: 10, Sampler: sampler.Sequential(10)},
		{Samples: 10, Sampler: sampler.Sequential(10)},
	}
	var stages []sampler.Stage
	for step := range 4 {
		stages = append(stages, sampler.Stage{Proportions: []int{3 - step, step}, Draws: 3})
	}
	m, err := sampler.Mix(sources, stages...)
	if err != nil {
		panic(err)
	}
	show(m.Epoch(0))
	// Output: 0 1 2 3 10 4 11 5 12 13 14 15
}

// A loader refuses to resume at a position of a mixture with another identity.
func ExampleMixture_Identity() {
	mix := func(proportions ...int) *sampler.Mixture {
		source := sampler.Source{Samples: 9, Sampler: sampler.Shuffle(9, 1)}
		m, err := sampler.Mix([]sampler.Source{source, source}, sampler.Stage{Proportions: proportions, Draws: 8})
		if err != nil {
			panic(err)
		}
		return m
	}
	fmt.Println(mix(1, 1).Identity() == mix(2, 2).Identity())
	fmt.Println(mix(1, 1).Identity() == mix(1, 3).Identity())
	// Output:
	// true
	// false
}

// Where the proportions change, Drawn says where each source stands.
func ExampleMixture_Drawn() {
	n := 1_000_000
	web := sampler.Source{Samples: n, Sampler: sampler.Shuffle(n, 1)}
	code := sampler.Source{Samples: n, Sampler: sampler.Shuffle(n, 2)}
	m, err := sampler.Mix([]sampler.Source{web, code},
		sampler.Stage{Proportions: []int{7, 3}, Draws: 10_000},
		sampler.Stage{Proportions: []int{1, 1}, Draws: 10_000})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Drawn(0, 10_000), m.Drawn(0, 20_000), m.Drawn(2, 0))
	// Output: [7000 3000] [12000 8000] [24000 16000]
}
