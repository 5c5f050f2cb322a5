package tokens_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// texts are documents as a tokenizer leaves them.
var texts = [][]int32{{11, 12, 13}, {21, 22, 23, 24, 25, 26, 27}, {31, 32}, {41}, {51, 52, 53, 54, 55}}

func documents() (ds dataset.Dataset, lengths []int32) {
	for _, text := range texts {
		lengths = append(lengths, int32(len(text)))
	}
	spec := dataset.Spec{{Name: "tokens", Dtype: dataset.Int32, Ragged: true}}
	return dataset.Func(len(texts), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[int32](dst, 0, len(texts[i])), texts[i])
		return nil
	}), lengths
}

// Documents that stay whole where that is possible, for training with a mask per document.
func ExamplePack() {
	ds, lengths := documents()
	rows, err := tokens.Pack(ds, lengths, 6, tokens.BestFit, tokens.Fields("input_ids", "labels", "position_ids", "segment_ids"))
	if err != nil {
		log.Fatal(err)
	}
	for k := range rows.Len() {
		s, err := dataset.At(context.Background(), rows, k)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s["input_ids"].Data(), s["labels"].Data(), s["position_ids"].Data(), s["segment_ids"].Data())
	}
	// Output:
	// [21 22 23 24 25 26] [-100 22 23 24 25 26] [0 1 2 3 4 5] [1 1 1 1 1 1]
	// [51 52 53 54 55 27] [-100 52 53 54 55 -100] [0 1 2 3 4 0] [1 1 1 1 1 2]
	// [11 12 13 31 32 41] [-100 12 13 -100 32 -100] [0 1 2 0 1 0] [1 1 1 2 2 3]
}

// Three epochs of documents in random order, as one text that is cut into rows: what GPT models are trained on.
func ExamplePack_joined() {
	ds, lengths := documents()
	rows, err := tokens.Pack(ds, lengths, 8, tokens.Wrap, tokens.Joined(), tokens.Shifted(), tokens.Passes(3),
		tokens.Order(sampler.Shuffle(len(lengths), 1)), tokens.Pad(0), tokens.Fields("input_ids", "labels"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Len(), rows.Spec())
	// Output: 7 input_ids int32 (8), labels int32 (8)
}

// FirstFit keeps the order of the documents best: here it fills two rows at a time. What is longer than a row is cut off.
func ExampleTruncate() {
	ds, lengths := documents()
	rows, err := tokens.Pack(ds, lengths, 6, tokens.FirstFit, tokens.Window(2), tokens.Truncate(), tokens.Fields("input_ids"))
	if err != nil {
		log.Fatal(err)
	}
	for k := range rows.Len() {
		s, err := dataset.At(context.Background(), rows, k)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s["input_ids"].Data())
	}
	// Output:
	// [11 12 13 31 32 41]
	// [21 22 23 24 25 26]
	// [51 52 53 54 55 0]
}

// A run that was begun with Megatron goes on with its own samples.
func ExampleMegatron() {
	ds, lengths := documents()
	rows, err := tokens.Pack(ds, lengths, 8, tokens.Wrap, tokens.Megatron(4, 1234))
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), rows, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Len(), s["input_ids"].Data(), s["labels"].Data())
	// Output: 4 [55 11 12 13 21 22 23 24] [11 12 13 21 22 23 24 25]
}

// FlashAttention's functions for sequences of varying length take the tokens of a batch without its rows.
func ExampleCuSeqlens() {
	ds, lengths := documents()
	rows, err := tokens.Pack(ds, lengths, 6, tokens.BestFit, tokens.Fields("input_ids", "sequence_lengths"))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(rows, loader.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	var memory []int32
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		cumulative, longest := tokens.CuSeqlens(memory, batch, "sequence_lengths")
		fmt.Println(loader.Values[int32](batch, "input_ids"), cumulative, longest)
		memory = cumulative
	}
	// Output:
	// [21 22 23 24 25 26 51 52 53 54 55 27] [0 6 11 12] 6
	// [11 12 13 31 32 41] [0 3 5 6] 3
}
