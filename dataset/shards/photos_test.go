package shards_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
	"github.com/penstock-go/penstock/transform"
)

// peersPython is the environment variable with the Python that runs testdata/peers.py.
const peersPython = "PENSTOCK_PEERS"

// photoShards are shards of the shared photos.
type photoShards struct {
	what   string
	format shards.Format
	dir    string
	names  []string
	image  string // column
	label  string // column
	key    string // column, or "" if it is the name
}

// TestPhotosInShardsAreTorchvisions compares the pixels of photos in shards with the
// golden file: in tar shards that WriteTar made, in TFRecord and MDS that this test makes, and in
// those of the peers' own writers if there is a Python that has them.
func TestPhotosInShardsAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	if testing.Short() {
		t.Skip("334 photos take minutes in an emulator")
	}
	text, err := os.ReadFile("../../../shared/golden/photos.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared, next to the repository, is missing: it holds the photos and their golden sums")
	}
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Photos map[string]struct{ Eval string }
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../../shared/photos")
	if err != nil {
		t.Fatal(err)
	}
	photos, err := dataset.ImageFolder(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if photos.Len() != len(golden.Photos) {
		t.Fatalf("%d photos, %d golden ones", photos.Len(), len(golden.Photos))
	}
	labels := map[string]int64{}
	for i := range photos.Len() {
		labels[keyOf(photos.Name(i))] = int64(photos.Labels()[i])
	}
	made := ownShards(t, photos)
	if python := os.Getenv(peersPython); python != "" {
		made = append(made, peersShards(t, python, root)...)
	}
	for _, c := range made {
		t.Run(c.what, func(t *testing.T) {
			store := objects.Folder(c.dir)
			fields := []shards.Field{shards.Bytes("image", c.image), shards.Scalar[int64]("label", c.label)}
			if c.key != "" {
				fields = append(fields, shards.Bytes("key", c.key))
			}
			ds := open(t, store, c.format, scan(t, store, c.format, 1<<20, c.names...), fields...)
			if ds.Len() != photos.Len() {
				t.Fatalf("%d photos, want %d", ds.Len(), photos.Len())
			}
			pixels, err := transform.Images(ds, transform.Resize(256), transform.CenterCrop(224), transform.Layout(transform.HWC))
			if err != nil {
				t.Fatal(err)
			}
			l, err := loader.New(pixels, loader.BatchSize(16), loader.Sampler(sampler.Grouped(ds.Ends(), 1, sampler.Together(4))))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			seen := map[string]bool{}
			for batch, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				for row := range batch.Len() {
					key := path.Base(batch.Name(row))
					if c.key != "" {
						offsets := batch.Offsets("key")
						key = string(batch.Bytes("key")[offsets[row]:offsets[row+1]])
					}
					seen[key] = true
					size := len(batch.Bytes("image")) / batch.Len()
					sum := sha256.Sum256(batch.Bytes("image")[row*size:][:size])
					if got := hex.EncodeToString(sum[:]); got != golden.Photos[key+".JPEG"].Eval {
						t.Errorf("%s has other pixels than torchvision's", key)
					}
					if got := loader.Values[int64](batch, "label")[row]; got != labels[key] {
						t.Errorf("%s has the label %d, want %d", key, got, labels[key])
					}
				}
			}
			if len(seen) != photos.Len() {
				t.Errorf("%d photos in an epoch, want %d", len(seen), photos.Len())
			}
		})
	}
}

func keyOf(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// ownShards writes the photos in all formats.
func ownShards(t *testing.T, photos *dataset.Folder) []photoShards {
	t.Helper()
	dir := t.TempDir()
	columns := []shards.Column{{Field: "image", Extension: "jpg"}, {Field: "label", Extension: "cls"}}
	err := shards.WriteTar(t.Context(), dir+"/%03d.tar", photos, columns, shards.MaxShardBytes(8<<20), shards.Keys(func(i int) string { return keyOf(photos.Name(i)) }))
	if err != nil {
		t.Fatal(err)
	}
	var tfrecord bytes.Buffer
	var samples [][]byte
	err = dataset.Each(context.Background(), photos, func(i int, s dataset.Slot) error {
		image, key := s.Cell(0).Bytes(), []byte(keyOf(photos.Name(i)))
		label := dataset.Row[int64](s, 1)[0]
		tfrecord.Write(record(example(
			feature("image", message(1, message(1, image))),
			feature("label", message(3, message(1, binary.AppendUvarint(nil, uint64(label))))),
			feature("key", message(1, message(1, key))))))
		var sample []byte
		sample = binary.LittleEndian.AppendUint32(sample, uint32(len(image)))
		sample = binary.LittleEndian.AppendUint32(sample, uint32(len(key)))
		sample = append(append(sample, image...), key...)
		samples = append(samples, binary.LittleEndian.AppendUint64(sample, uint64(label)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mds, index := mdsShard(samples, `"column_names": ["image", "key", "label"], "column_encodings": ["jpeg", "str", "int"], "column_sizes": [null, null, 8]`)
	for name, data := range map[string][]byte{"a.tfrecord": tfrecord.Bytes(), "shard.00000.mds": mds, "index.json": index} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return []photoShards{
		{"tar", shards.WebDataset(), dir, []string{"*.tar"}, "jpg", "cls", ""},
		{"TFRecord", shards.TFRecord(), dir, []string{"a.tfrecord"}, "image", "label", "key"},
		{"MDS", shards.MDS(), dir, []string{"index.json"}, "image", "label", "key"},
	}
}

// mdsShard makes an MDS shard and its index.json. columns is a part of that.
func mdsShard(samples [][]byte, columns string) (shard, index []byte) {
	at := uint32(4 * (len(samples) + 2))
	shard = binary.LittleEndian.AppendUint32(nil, uint32(len(samples)))
	shard = binary.LittleEndian.AppendUint32(shard, at)
	for _, s := range samples {
		at += uint32(len(s))
		shard = binary.LittleEndian.AppendUint32(shard, at)
	}
	shard = append(shard, bytes.Join(samples, nil)...)
	return shard, fmt.Appendf(nil, `{"version": 2, "shards": [{%s, "format": "mds", "version": 2, "samples": %d, "compression": null,
		"raw_data": {"basename": "shard.00000.mds", "bytes": %d}, "zip_data": null}]}`, columns, len(samples), len(shard))
}

// peersShards lets the peers write the photos.
func peersShards(t *testing.T, python, photos string) []photoShards {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "testdata/peers.py", photos, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []photoShards{
		{"WebDataset's tar", shards.WebDataset(), dir, []string{"webdataset/*.tar"}, "jpg", "cls", ""},
		{"tfrecord's TFRecord", shards.TFRecord(), dir, []string{"tfrecord/train.tfrecord"}, "image", "label", "key"},
		{"MosaicML's MDS", shards.MDS(), dir, []string{"mds/index.json"}, "image", "label", "key"},
		{"MosaicML's MDS with zstd", shards.MDS(), dir, []string{"mds-zstd/index.json"}, "image", "label", "key"},
	}
}
