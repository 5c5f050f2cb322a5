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

// Texts of different lengths for a model such as BERT, in which 0 pads, 101 begins, 102 ends and 103 masks a text. In an epoch of a
// loader they are masked anew, and padded in its loop.
func ExampleMask() {
	spec := dataset.Spec{{Name: "input_ids", Dtype: dataset.Int64, Ragged: true}}
	text := dataset.Func(2, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[int64](dst, 0, 9-3*i), []int64{101, 2023, 2003, 1037, 6251, 1997, 2616, 1012, 102}[3*i:])
		return nil
	})
	masked, err := tokens.Mask(text, 103, 30522, []int{0, 101, 102}, tokens.MaskRates(0.3, 0.8, 0.1))
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(masked, loader.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		eight := loader.PadToMultiple(8)
		fmt.Println(loader.Padded[int64](batch, "input_ids", 0, eight).Shape(), loader.Padded[int64](batch, "labels", -100, eight).Shape(),
			loader.Mask[int64](batch, "input_ids", eight).Data().([]int64)[8:16])
	}
	// Output: (2, 16) (2, 16) [1 0 0 0 0 0 0 0]
}

// The masks that transformers makes with seed=7 of numpy, of whole words: here, tokens from 10 on continue a word.
func ExampleNumPy() {
	spec := dataset.Spec{{Name: "input_ids", Dtype: dataset.Int32, Shape: dataset.Shape{10}}}
	text := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Row[int32](dst, 0), []int32{1, 5, 10, 11, 6, 12, 7, 8, 9, 2})
		return nil
	})
	masked, err := tokens.Mask(text, 3, 20, []int{0, 1, 2}, tokens.NumPy(7), tokens.MaskRates(0.3, 1, 0),
		tokens.WholeWords(func(token int) bool { return token >= 10 }))
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), masked, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s["input_ids"].Data())
	fmt.Println(s["labels"].Data())
	// Output:
	// [1 5 10 11 3 3 3 8 9 2]
	// [-100 -100 -100 -100 6 12 7 -100 -100 -100]
}

// Documents of code that end with token 0, for a model that fills in the middle, with the special tokens 1, 2 and 3 of StarCoder.
func ExampleFillInTheMiddle() {
	spec := dataset.Spec{{Name: "tokens", Dtype: dataset.Int32, Ragged: true}}
	code := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Grow[int32](dst, 0, 8), []int32{11, 12, 13, 14, 15, 16, 17, 0})
		return nil
	})
	rows, err := tokens.Pack(code, []int32{8}, 12, tokens.Wrap, tokens.FillInTheMiddle(1, 0, 1, 2, 3, 0), tokens.Fields("input_ids"))
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), rows, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s["input_ids"].Data())
	// Output: [1 11 12 13 3 16 17 2 14 15 0 0]
}
