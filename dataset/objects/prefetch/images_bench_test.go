//go:build unix

package prefetch_test

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/objects/cache"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

const (
	benchImages = 3000
	serverEnv   = "PENSTOCK_TEST_SERVER"
)

// photo is a JPEG image of 500×375 pixels and about 100 kB.
func photo(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	img := image.NewRGBA(image.Rect(0, 0, 500, 375))
	for y := range 375 {
		for x := range 500 {
			noise := r.IntN(70)
			img.Set(x, y, color.RGBA{uint8(x/4 + noise), uint8(y/3 + noise), uint8((x+y)/5 + noise), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 85}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// photos is a folder of images, which share 16 files.
func photos() fstest.MapFS {
	files := fstest.MapFS{}
	for i := range benchImages {
		name := fmt.Sprintf("class%d/%05d.jpg", i%10, i)
		if i < 16 {
			files[name] = &fstest.MapFile{Data: photo(uint64(i)), ModTime: time.Unix(1e9, 0)}
			continue
		}
		files[name] = files[fmt.Sprintf("class%d/%05d.jpg", i%16%10, i%16)]
	}
	return files
}

// TestServer is the process that BenchmarkImages starts. It answers after a random time:
// lognormal, with a median of 30 ms.
func TestServer(t *testing.T) {
	if os.Getenv(serverEnv) == "" {
		t.Skip("started by BenchmarkImages")
	}
	files := http.FileServerFS(photos())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(0.030 * math.Exp(0.3*rand.NormFloat64()) * float64(time.Second)))
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	fmt.Println(server.URL)
	_, _ = bufio.NewReader(os.Stdin).ReadString(0) // until the parent ends
}

// BenchmarkImages loads an epoch of JPEG images of 100 kB, resized to 224×224, in as many
// workers as there are processors: from local files, and from a server in another process
// whose first byte comes after 30 ms (lognormal). Processor time does not include the
// server's.
func BenchmarkImages(b *testing.B) {
	server := exec.Command(os.Args[0], "-test.run=^TestServer$")
	server.Env = append(os.Environ(), serverEnv+"=1")
	in, err := server.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = server.Wait()
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	files := photos()
	dir := b.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		b.Fatal(err)
	}
	var listing []objects.Object
	for name, f := range files {
		listing = append(listing, objects.Object{Name: name, Size: int64(len(f.Data)), Version: f.ModTime.UTC().Format(http.TimeFormat)})
	}
	client := func() *objects.Client {
		s, err := objects.HTTP(strings.TrimSpace(url), objects.Listing(listing...))
		if err != nil {
			b.Fatal(err)
		}
		c, err := objects.NewClient(s)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	disk, err := cache.New(client(), filepath.Join(b.TempDir(), "blocks"), 4<<30)
	if err != nil {
		b.Fatal(err)
	}
	defer disk.Close()
	for _, c := range []struct {
		name  string
		store objects.Store
	}{
		{"local", nil},
		{"prefetched", newPrefetcher(b, client())},
		{"cached", newPrefetcher(b, disk)},
		{"local again", nil},
	} {
		var fsys fs.FS = os.DirFS(dir)
		if c.store != nil {
			if fsys, err = objects.NewFS(b.Context(), c.store, ""); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(c.name, func(b *testing.B) { loadImages(b, fsys) })
	}
}

func loadImages(b *testing.B, fsys fs.FS) {
	folder, err := dataset.ImageFolder(fsys)
	if err != nil {
		b.Fatal(err)
	}
	ds, err := transform.Images(folder, transform.Resize(256), transform.CenterCrop(224), transform.ToTensor())
	if err != nil {
		b.Fatal(err)
	}
	l, err := loader.New(ds, loader.BatchSize(64), loader.Shuffle(true))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	epoch, n := 0, 0
	begin, used := time.Now(), processorTime(b)
	for b.Loop() {
		for batch, err := range l.Epoch(b.Context(), epoch) {
			if err != nil {
				b.Fatal(err)
			}
			n += batch.Len()
		}
		epoch++
	}
	b.ReportMetric(float64(n)/time.Since(begin).Seconds(), "images/s")
	b.ReportMetric(float64((processorTime(b)-used).Microseconds())/float64(n), "cpu-µs/image")
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
