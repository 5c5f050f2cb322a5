//go:build cgo

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/examples/onnx/model"
)

// TestAnswersAreThoseOfPyTorch sends photos to the whole program, several at a time.
func TestAnswersAreThoseOfPyTorch(t *testing.T) {
	const dir = "../../../../shared/photos"
	if _, err := model.Find(model.Folder()); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the model is not installed: ", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared, next to the repository, is missing: it holds the photos")
	}
	golden, err := os.Open("../testdata/golden.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer golden.Close()
	rows, err := csv.NewReader(golden).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addr, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		o := options{addr: "127.0.0.1:0", model: model.Folder(), batch: 8, queue: 64, maxBytes: 8 << 20, pixels: 50e6, memory: 1 << 30}
		ended <- run(ctx, o, func(a net.Addr) { addr <- a })
	}()
	var url string
	select {
	case a := <-addr:
		url = "http://" + a.String() + "/classify"
	case err := <-ended:
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var group sync.WaitGroup
	for first := range 8 {
		group.Go(func() {
			for i := first; i < len(rows); i += 48 {
				photo, err := os.ReadFile(filepath.Join(dir, rows[i][0]))
				if err != nil {
					t.Error(err)
					return
				}
				response, err := client.Post(url, "image/jpeg", bytes.NewReader(photo))
				if err != nil {
					t.Error(err)
					return
				}
				var a answer
				err = json.NewDecoder(response.Body).Decode(&a)
				response.Body.Close()
				want, _ := strconv.Atoi(rows[i][1])
				if err != nil || len(a.Classes) != 5 || a.Classes[0].Index != want || a.Classes[0].Name == "" {
					t.Errorf("%s: got %s, %+v, %v, want class %d", rows[i][0], response.Status, a, err, want)
				}
			}
		})
	}
	group.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
