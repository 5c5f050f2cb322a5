package jsonl_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/jsonl"
)

// Any line can be read at once. The index is made by the first Open, and kept beside the file.
func ExampleOpen() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	const texts = `{"id": 7, "text": "a penstock"}` + "\n" + `{"id": 8, "text": "carries water"}` + "\n"
	if err := os.WriteFile(filepath.Join(folder, "texts.jsonl"), []byte(texts), 0o666); err != nil {
		log.Fatal(err)
	}
	ds, err := jsonl.Open(ctx, os.DirFS(folder), "texts.jsonl",
		[]jsonl.Column{jsonl.Text("text", "text"), jsonl.Scalar[int64]("id", "id"), jsonl.Line("line")},
		jsonl.Index(filepath.Join(folder, "texts.index")))
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d lines; %v: %s in %s\n", ds.Len(), s["id"].Data(), s["text"].Bytes(), s["line"].Bytes())
	// Output: 2 lines; 8: carries water in {"id": 8, "text": "carries water"}
}
