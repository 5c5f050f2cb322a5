package gpu_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/penstock-go/penstock/gpu"
	"github.com/penstock-go/penstock/loader"
)

// A position goes into the checkpoint, with the weights. It is that of the delivered batch:
// batches that were uploaded in advance come again.
func ExampleStage_From() {
	var stage *gpu.Stage // see the example of Stage

	ctx := context.Background()
	for batch, err := range stage.Epoch(ctx, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if batch.Number()%100 == 99 {
			state, err := json.Marshal(batch.Position())
			if err != nil {
				log.Fatal(err)
			}
			if err := os.WriteFile("position.json", state, 0o666); err != nil {
				log.Fatal(err)
			}
		}
	}

	// After a restart, the loop continues with the batch after that one.
	state, err := os.ReadFile("position.json")
	if err != nil {
		log.Fatal(err)
	}
	var position loader.Position
	if err := json.Unmarshal(state, &position); err != nil {
		log.Fatal(err)
	}
	for batch, err := range stage.From(ctx, position, 10) { // up to epoch 9
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Epoch(), batch.Number())
	}
}

// Download shows what has arrived on the device, here the first eight bytes of a field.
func ExampleBatch_Download() {
	var stage *gpu.Stage // see the example of Stage

	for batch, err := range stage.Epoch(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		first := make([]byte, 8)
		n, err := batch.Download(first, "x")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("sample %d begins with % x\n", batch.Indices()[0], first[:n])
		break
	}
}

// The samples of a ragged field lie one after the other. Offsets, which count elements, give
// the device address of each.
func ExampleColumn() {
	var batch *gpu.Batch // with a ragged field "tokens" of dtype int64, see the example of Stage

	tokens := batch.Column("tokens")
	element := uintptr(tokens.Shape[1:].Elements() * tokens.Dtype.Size()) // bytes
	for row := range batch.Len() {
		from, to := tokens.Offsets[row], tokens.Offsets[row+1]
		fmt.Printf("row %d: %d elements at %#x\n", row, to-from, tokens.Pointer+uintptr(from)*element)
	}
}

// After ErrLost no call of the device succeeds in this process. A supervisor that starts the
// program again continues from the last checkpoint.
func ExampleErrLost() {
	var stage *gpu.Stage // see the example of Stage

	const again = 75 // the exit code for which the supervisor starts the program again
	for _, err := range stage.Epoch(context.Background(), 0) {
		if errors.Is(err, gpu.ErrLost) {
			log.Print(err)
			os.Exit(again)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
