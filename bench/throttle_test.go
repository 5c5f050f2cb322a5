package bench_test

import (
	"io"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/bench"
)

func TestThrottledFilesTakeTheirTime(t *testing.T) {
	plain := fstest.MapFS{"a/b.bin": {Data: make([]byte, 1e6)}}
	small := fstest.MapFS{"a/small.bin": {Data: []byte("TestFS reads this byte by byte")}}
	for _, c := range []struct {
		throttle bench.Throttle
		want     time.Duration
		text     string
	}{
		{bench.Throttle{Latency: 40 * time.Millisecond}, 40 * time.Millisecond, "files throttled to 40ms"},
		{bench.Throttle{Latency: 40 * time.Millisecond, BytesPerSecond: 50e6}, 60 * time.Millisecond, "files throttled to 40ms and 50 MB/s"},
	} {
		if got := c.throttle.String(); got != c.text {
			t.Errorf("got %q, want %q", got, c.text)
		}
		synctest.Test(t, func(t *testing.T) {
			if err := fstest.TestFS(c.throttle.FS(small), "a/small.bin"); err != nil {
				t.Error(err)
			}
			fsys := c.throttle.FS(plain)
			begun := time.Now()
			f, err := fsys.Open("a/b.bin")
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, f); n != 1e6 || err != nil {
				t.Errorf("read %d bytes, %v", n, err)
			}
			f.Close()
			if got := time.Since(begun).Round(time.Millisecond); got != c.want {
				t.Errorf("%v: took %v, want %v", c.throttle, got, c.want)
			}
		})
	}
}
