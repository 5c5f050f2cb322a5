package tokens_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/tokens"
)

// Documents of Megatron's files are packed into rows.
func ExampleOpen() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	w, err := tokens.Create(ctx, filepath.Join(folder, "train"), dataset.Uint16, "three sentences")
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	// A program that was killed goes on at w.Next().
	if err := w.Append(3, []int32{11, 12, 13}, []int32{21, 22}, []int32{31, 32, 33}); err != nil {
		log.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		log.Fatal(err)
	}

	f, err := tokens.Open(os.DirFS(folder), "train.idx")
	if err != nil {
		log.Fatal(err)
	}
	lengths, err := f.Lengths(ctx)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := tokens.Pack(f, lengths, 4, tokens.Wrap, tokens.Fields("input_ids"))
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, rows, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Len(), f.Tokens(), lengths, s["input_ids"].Data())
	// Output: 3 8 [3 2 3] [22 31 32 33]
}

// Rows of nanoGPT's file of uint16, with a token more for targets.
func ExampleFile_Rows() {
	var train []byte // usually train.bin in an os.DirFS
	for v := range 10 {
		train = binary.LittleEndian.AppendUint16(train, uint16(v))
	}
	f, err := tokens.Open(fstest.MapFS{"train.bin": {Data: train}}, "train.bin", tokens.Raw(dataset.Uint16), tokens.As(dataset.Int64))
	if err != nil {
		log.Fatal(err)
	}
	const block = 4
	rows, err := f.Rows(block+1, block)
	if err != nil {
		log.Fatal(err)
	}
	for i := range rows.Len() {
		s, err := dataset.At(context.Background(), rows, i)
		if err != nil {
			log.Fatal(err)
		}
		row := dataset.ValuesOf[int64](s["tokens"])
		fmt.Println(row[:block], row[1:])
	}
	// Output:
	// [0 1 2 3] [1 2 3 4]
	// [4 5 6 7] [5 6 7 8]
}
