package tests

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/examples/pretrain/texts"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/loader/share"
)

// serveTexts is the program that gives Python the batches of examples/pretrain.
func serveTexts(dir, out string) error {
	var memory share.Memory
	l, err := texts.New(context.Background(), dir, out, loader.Memory(&memory))
	if err != nil {
		return err
	}
	defer l.Close()
	return share.Serve(context.Background(), l, &memory)
}

const readTexts = `
import hashlib, json, sys, numpy, penstock

loader, sums = penstock.Loader(sys.argv[1:]), []
for _, batch in zip(range(8), loader):
    assert batch.input_ids.shape == (8, 64) and (batch.labels[:, :-1] == batch.input_ids[:, 1:])[batch.loss_mask[:, :-1] == 1].all()
    h = hashlib.sha256()
    for field in batch:
        h.update(numpy.asarray(field).tobytes())
    sums.append(h.hexdigest())
print(json.dumps([len(loader), sums]))
`

// What examples/pretrain trains on with GoMLX is what a training in Python gets.
func TestPretrainsBatchesAreTheSameInPython(t *testing.T) {
	path, env := python(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const dir = "../../.."
	out := t.TempDir()
	l, err := texts.New(t.Context(), dir, out)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var want []string
	for batch, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if want = append(want, sum(batch)); len(want) == 8 {
			break
		}
	}
	cmd := exec.CommandContext(t.Context(), path, "-c", readTexts, self, "texts", dir, out)
	cmd.Env, cmd.Stderr = env, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var batches int
	var got []string
	if err := json.Unmarshal(text, &[]any{&batches, &got}); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	// Python has begun one loop, so it counts the batches of the epoch after it.
	if n, err := l.Len(l.Position(1)); err != nil || batches != n || !slices.Equal(got, want) {
		t.Errorf("%d batches, of which the first are %q, want %d and %q", batches, got, n, want)
	}
}
