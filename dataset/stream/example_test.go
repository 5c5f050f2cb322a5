package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/stream"
	"github.com/penstock-go/penstock/loader"
)

func folder() string {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// Values come from a goroutine. They are shuffled in windows of five.
func Example() {
	type measurement struct {
		value float32
		class int64
	}
	c := make(chan measurement)
	go func() {
		defer close(c)
		for i := range 12 {
			c <- measurement{float32(i) / 2, int64(i % 3)}
		}
	}()
	spec := dataset.Spec{{Name: "value", Dtype: dataset.Float32}, {Name: "class", Dtype: dataset.Int64}}
	source := stream.Channel(c, spec, func(m measurement, dst dataset.Slot) error {
		dataset.Set(dst, 0, m.value)
		dataset.Set(dst, 1, m.class)
		return nil
	})

	dir := folder()
	defer os.RemoveAll(dir)
	ds, err := stream.New(source, dir, stream.Window(5), stream.Seed(1))
	if err != nil {
		log.Fatal(err)
	}
	defer ds.Close()
	l, err := loader.New(ds, loader.BatchSize(4))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(loader.Values[float32](batch, "value"), loader.Values[int64](batch, "class"))
		// Save the model's weights and batch.Position() here. Then:
		if err := ds.Commit(batch.Position().Draw); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// [0 0.5 2 1] [0 1 1 2]
	// [1.5 3.5 4 2.5] [0 1 2 2]
	// [4.5 3 5.5 5] [0 0 2 1]
}

// Lines of JSON are parsed by all workers.
func ExampleLines() {
	const text = `{"text": "first", "label": 0}
{"text": "second", "label": 1}
`
	dir := folder()
	defer os.RemoveAll(dir)
	lines, err := stream.New(stream.Lines(strings.NewReader(text), "json"), dir)
	if err != nil {
		log.Fatal(err)
	}
	defer lines.Close()
	spec := dataset.Spec{{Name: "text", Dtype: dataset.Uint8, Ragged: true}, {Name: "label", Dtype: dataset.Int64}}
	ds, err := dataset.Map(lines, spec, func(dst, src dataset.Slot) error {
		var record struct {
			Text  string
			Label int64
		}
		if err := json.Unmarshal(dataset.Row[byte](src, 0), &record); err != nil {
			return err
		}
		copy(dataset.Grow[byte](dst, 0, len(record.Text)), record.Text)
		dataset.Set(dst, 1, record.Label)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for batch, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Strings("text"), loader.Values[int64](batch, "label"))
	}
	// Output:
	// [first second] [0 1]
}
