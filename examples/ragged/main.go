// Ragged loads sentences of different lengths. A ragged batch has all words one after the
// other, and offsets that say where each sentence begins. A padded batch is a rectangle. It
// prints both, writes nothing, and takes less than a second.
//
//	go run ./examples/ragged
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

var sentences = []string{
	"a penstock carries water from the reservoir to the turbine",
	"water falls",
	"the gate opens and the pipe fills",
	"pressure rises",
	"the turbine turns faster than before",
	"no drop is lost",
	"a valve closes",
	"the reservoir is full again after the night",
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	words, numbers := vocabulary(sentences)
	spec := dataset.Spec{
		{Name: "words", Dtype: dataset.Int64, Ragged: true},
		{Name: "text", Dtype: dataset.Uint8, Ragged: true},
	}
	ds := dataset.Func(len(sentences), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		split := strings.Fields(sentences[i])
		row := dataset.Grow[int64](dst, 0, len(split))
		for k, word := range split {
			row[k] = numbers[word]
		}
		copy(dataset.Grow[uint8](dst, 1, len(sentences[i])), sentences[i])
		return nil
	})

	// Batches of similar length need little padding.
	lengths := make([]int, len(sentences))
	for i, s := range sentences {
		lengths[i] = len(strings.Fields(s))
	}
	l, err := loader.New(ds, loader.Workers(2), loader.BatchSampler(sampler.ByLength(lengths, 1, sampler.BatchSize(3))))
	if err != nil {
		return err
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return err
		}
		fmt.Printf("%d words, sentences begin at %v\n", batch.Tensor("words").Shape()[0], batch.Offsets("words")[:batch.Len()])
		padded := loader.Padded(batch, "words", int64(0))
		words, length := dataset.ValuesOf[int64](padded), padded.Shape()[1]
		for k, text := range batch.Strings("text") {
			fmt.Printf("  %v  %s\n", words[k*length:(k+1)*length], text)
		}
	}
	fmt.Println("word 5 is", words[5])
	return nil
}

// vocabulary numbers the words from 1 on; 0 is the padding.
func vocabulary(sentences []string) (words []string, numbers map[string]int64) {
	words, numbers = []string{""}, map[string]int64{}
	for _, word := range strings.Fields(strings.Join(sentences, " ")) {
		if numbers[word] == 0 {
			numbers[word] = int64(len(words))
			words = append(words, word)
		}
	}
	return words, numbers
}
