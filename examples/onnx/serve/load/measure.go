package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// figures are of one measurement: milliseconds, and images per second.
type figures struct{ p50, p99, rate float64 }

// measure has n clients send photos, each one after another.
func measure(ctx context.Context, s target, photos [][]byte, n int, o options) (figures, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	if _, err := classify(ctx, client, s.url, photos[0]); err != nil {
		return figures{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		group sync.WaitGroup
		sent  atomic.Int64
		took  = make([][]time.Duration, n)
		begun = time.Now()
	)
	for k := range n {
		group.Go(func() {
			for time.Since(begun) < o.time && ctx.Err() == nil {
				i := int(sent.Add(1)) - 1
				if i >= o.limit {
					return
				}
				at := time.Now()
				if _, err := classify(ctx, client, s.url, photos[i%len(photos)]); err != nil {
					cancel(err)
					return
				}
				took[k] = append(took[k], time.Since(at))
			}
		})
	}
	group.Wait()
	elapsed := time.Since(begun)
	if err := context.Cause(ctx); err != nil {
		return figures{}, err
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	at := func(q float64) float64 { return 1000 * all[int(q*float64(len(all)-1)+0.5)].Seconds() }
	return figures{p50: at(0.5), p99: at(0.99), rate: float64(len(all)) / elapsed.Seconds()}, nil
}

// classify sends one photo and returns the most probable class.
func classify(ctx context.Context, client *http.Client, url string, photo []byte) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(photo))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "image/jpeg")
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", err
	}
	var answer struct {
		Classes []struct{ Name string }
	}
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode != http.StatusOK || len(answer.Classes) == 0 {
		return "", fmt.Errorf("status %s: %.200s", response.Status, text)
	}
	return answer.Classes[0].Name, nil
}

// compare sends every photo to every server once, and says of how many photos they
// name the same class first.
func compare(ctx context.Context, servers []target, photos [][]byte) error {
	client := &http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	same := 0
	for _, photo := range photos {
		names := map[string]bool{}
		for _, s := range servers {
			name, err := classify(ctx, client, s.url, photo)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			names[name] = true
		}
		if len(names) == 1 {
			same++
		}
	}
	fmt.Printf("%d photos; of %d all servers name the same class first\n\n", len(photos), same)
	return nil
}
